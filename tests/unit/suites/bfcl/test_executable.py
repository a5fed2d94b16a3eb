from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.core import Calls, Case, FaultyCase, Json, RawCall, Reply, Verdict
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.suites.bfcl.answers import BfclAnswer
from pytest_fcall.suites.bfcl.case_index import CaseIndex
from pytest_fcall.suites.bfcl.executable import ExecutedJudge
from pytest_fcall.suites.bfcl.judge import BfclJudge
from pytest_fcall.suites.bfcl.suite import BfclSuite
from tests.bfcl_data import question, write_rows

OFFERED: dict[str, Json] = {
    "calculate_mean": {},
    "math_gcd": {},
    "math_factorial": {},
    "get_weather_data": {"city": {"type": "string"}},
}
DOCUMENTS: list[Json] = [
    {"name": name, "description": name, "parameters": {"type": "dict", "properties": properties, "required": []}}
    for name, properties in OFFERED.items()
]


def write(folder: Path, category: str, *truths: tuple[list[Json], list[Json]]) -> None:
    names = [f"{category}_{number}" for number in range(len(truths))]
    retired = folder / "unused_datasets"
    write_rows(
        retired / "question" / f"BFCL_v4_{category}.json", [question(name, "How much?", *DOCUMENTS) for name in names]
    )
    write_rows(
        retired / "possible_answer" / f"BFCL_v4_{category}.json",
        [
            {"id": name, "ground_truth": calls, "execution_result_type": rules}
            for name, (calls, rules) in zip(names, truths, strict=True)
        ],
    )


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    folder = tmp_path_factory.mktemp("data")
    exact: list[Json] = ["exact_match"]
    write(
        folder,
        "exec_simple",
        (["calculate_mean([1, 2])"], exact),
        (["get_weather_data(city='Oslo')"], exact),
        (["math_gcd(a=1)"], exact),
        (["math_gcd(a=4, b=6)"], ["some_match"]),
    )
    write(folder, "exec_parallel_multiple", (["math_gcd(a=4, b=6)", "math_factorial(n=3)"], exact * 2))
    suite = BfclSuite()
    read = [case for part in ("exec_simple", "exec_parallel_multiple") for case in suite.cases(part, folder)]
    return {case.id: case for case in read if isinstance(case, Case)}


def judged(case: Case, said: str, profile: str = "bfcl") -> Verdict:
    case = replace(case, rules=case.rules._replace(profile="strict" if profile == "strict" else "bfcl"))
    reply = Reply(said, decoder="bfcl")
    assert case.judge is not None
    return case.judge(case, reply, decode(reply, case.tools))


def test_calls_are_carried_out_where_that_takes_no_network(cases: dict[str, Case]) -> None:
    executed = [id_ for id_, case in cases.items() if isinstance(case.judge, ExecutedJudge)]
    assert executed == ["exec_simple_0", "exec_simple_2", "exec_parallel_multiple_0"]
    assert type(cases["exec_simple_1"].judge) is BfclJudge


@pytest.mark.parametrize("said", ["[calculate_mean(numbers=[1, 2])]", "calculate_mean(numbers=[1.5])"])
def test_any_call_with_the_same_result_is_right(cases: dict[str, Case], said: str) -> None:
    assert judged(cases["exec_simple_0"], said).valid


@pytest.mark.parametrize(
    ("said", "error", "kind"),
    [
        ("[calculate_mean(numbers=[1, 3])]", "executable_checker:wrong_result", "wrong_result"),
        ("[calculate_mean(numbers=[])]", "executable_checker:execution_error", "wrong_result"),
        ("[open(file='/etc/passwd')]", "executable_checker:execution_error", "wrong_result"),
        ("[calculate_mean(numbers=[1]), math_gcd(a=1, b=1)]", "simple_exec_checker:wrong_count", "wrong_count"),
        ("[]", "executable_decoder:wrong_output_format", "no_call"),
        ("The mean is 1.5.", "executable_decoder:decoder_failed", "malformed"),
    ],
)
def test_what_is_wrong_has_its_official_name(cases: dict[str, Case], said: str, error: str, kind: str) -> None:
    verdict = judged(cases["exec_simple_0"], said)
    assert (verdict.valid, verdict.error_type) == (False, error)
    assert {reason.kind for reason in verdict.reasons} == {kind}


def test_results_of_several_calls_may_come_in_any_order(cases: dict[str, Case]) -> None:
    case = cases["exec_parallel_multiple_0"]
    verdict = judged(case, "[math_factorial(n=3), math_gcd(a=2, b=4)]")
    assert (verdict.valid, verdict.pairs) == (True, ((0, 1), (1, 0)))
    assert judged(case, "[math_factorial(n=3)]").error_type == "value_error:exec_result_count"
    wrong = judged(case, "[math_factorial(n=4), math_gcd(a=2, b=4)]")
    assert wrong.error_type == "executable_checker:cannot_find_match"
    assert [reason.path for reason in wrong.reasons] == ["calls[0].result"]
    assert wrong.reasons[0].expected == 6


def test_native_calls_and_those_of_baselines_are_carried_out_too(cases: dict[str, Case]) -> None:
    case = cases["exec_simple_0"]
    assert case.judge is not None
    native = Reply(tool_calls=(RawCall("calculate_mean", '{"numbers": [1, 2]}'),))
    assert case.judge(case, native, decode(native, case.tools)).valid
    assert case.judge(case, Reply("(not kept)"), decode(native, case.tools)).valid
    assert case.judge(case, Reply("It is 1.5."), Calls()).error_type == "executable_decoder:decoder_failed"


def test_the_strict_profile_reads_what_the_official_decoder_cannot(cases: dict[str, Case]) -> None:
    fenced = "```python\n[calculate_mean(numbers=[1, 2])]\n```"
    assert judged(cases["exec_simple_0"], fenced).error_type == "executable_decoder:decoder_failed"
    assert judged(cases["exec_simple_0"], fenced, "strict").valid


def test_a_right_call_that_fails_is_told_as_the_fault_of_the_case(cases: dict[str, Case]) -> None:
    verdict = judged(cases["exec_simple_2"], "[math_gcd(a=1)]")
    assert verdict.error_type == "case_error:truth"
    assert "An expected call cannot be executed" in verdict.reasons[0].message


def test_no_case_file_says_what_is_judged_by_results(tmp_path: Path) -> None:
    write(
        tmp_path,
        "exec_multiple",
        (["math_gcd(a=4, b=6)"], ["exact_match"]),
        (["get_weather_data(city='Oslo')"], ["exact_match"]),
    )
    executed, compared = BfclSuite().plain("exec_multiple", tmp_path)
    assert isinstance(executed, FaultyCase)
    assert "judged by the results of its calls" in executed.faults[0].message
    assert isinstance(compared, Case)


def test_stored_answers_find_who_carries_their_calls_out(tmp_path: Path) -> None:
    write(tmp_path, "exec_multiple", (["math_gcd(a=4, b=6)"], ["exact_match"]), (["fly()"], ["exact_match"]))
    book = CaseIndex(tmp_path)
    judge = book.executed_judge({"category": "exec_multiple", "id": "exec_multiple_0"})
    assert judge is not None
    assert judge.verdict(BfclAnswer("prompt", "[math_gcd(a=2, b=4)]")).valid
    assert book.executed_judge({"category": "exec_multiple", "id": "exec_multiple_1"}) is None
    assert book.executed_judge({"category": "simple_python", "id": "simple_python_0"}) is None
