from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.core import Call, Calls, Case, RawCall, Reply, Verdict
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.suites.bfcl.suite import BfclSuite
from tests.bfcl_data import write_leaderboard


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_leaderboard(tmp_path)


def judged(folder: Path, id_: str, reply: Reply, profile: str = "bfcl") -> Verdict:
    found = {case.id: case for case in BfclSuite().cases(id_.rpartition("_")[0], folder) if isinstance(case, Case)}
    case = found[id_]
    case = replace(case, rules=case.rules._replace(profile="strict" if profile == "strict" else "bfcl"))
    assert case.judge is not None
    return case.judge(case, reply, decode(reply, case.tools))


def native(*calls: tuple[str, object]) -> Reply:
    return Reply(tool_calls=tuple(RawCall(name, arguments) for name, arguments in calls))  # type: ignore[arg-type]


def test_native_calls_are_judged_officially(folder: Path) -> None:
    assert judged(folder, "simple_python_1", native(("sail", '{"port": "BERGEN", "crew": 1}'))).valid
    wrong = judged(folder, "simple_python_1", native(("sail", '{"port": "Oslo"}')))
    assert (wrong.valid, wrong.error_type) == (False, "value_error:string")
    assert [(reason.kind, reason.path) for reason in wrong.reasons] == [("wrong_value", "calls[0].args.port")]


def test_arguments_may_be_values_as_well_as_text(folder: Path) -> None:
    assert judged(folder, "simple_python_1", native(("sail", {"port": "Bergen"}))).valid


def test_the_category_and_not_the_number_of_tools_chooses_the_rule(folder: Path) -> None:
    wrong = judged(folder, "parallel_multiple_0", native(("sail", '{"port": "Oslo"}')))
    assert wrong.error_type == "parallel_function_checker_no_order:wrong_count"


@pytest.mark.parametrize(
    "text", ["[sail(port='Turku')]", "sail(port='turku', crew=2)", "```\n[sail(port='Turku')]\n```"]
)
def test_prompted_text_is_read_officially(folder: Path, text: str) -> None:
    assert judged(folder, "simple_python_2", Reply(text, decoder="bfcl")).valid


def test_a_tuple_is_no_list_to_the_official_checker(folder: Path) -> None:
    text = "[trip.pack(items=('tent', 'rope')), sail(port='Oslo')]"
    wrong = judged(folder, "parallel_multiple_0", Reply(text, decoder="bfcl"))
    assert wrong.error_type == "parallel_function_checker_no_order:cannot_find_match"
    assert judged(folder, "parallel_multiple_0", Reply(text, decoder="bfcl"), "strict").valid


def test_text_that_the_official_decoder_cannot_read_is_said_to_be_so(folder: Path) -> None:
    wrong = judged(folder, "simple_python_2", Reply("```python\n[sail(port='Turku')]\n```", decoder="bfcl"))
    assert wrong.error_type == "ast_decoder:decoder_failed"
    assert wrong.reasons


def test_words_instead_of_a_call_are_an_abstention(folder: Path) -> None:
    assert judged(folder, "irrelevance_0", Reply("Very deep.")).valid
    wrong = judged(folder, "irrelevance_0", native(("swim", "{}")))
    assert wrong.error_type == "irrelevance_error:decoder_success"
    assert [reason.kind for reason in wrong.reasons] == ["unexpected_call"]


def test_another_decoder_gives_the_calls(folder: Path) -> None:
    said = '<tool_call>\n{"name": "sail", "arguments": {"port": "Turku"}}\n</tool_call>'
    assert judged(folder, "simple_python_2", Reply(said, decoder="hermes")).valid


def test_calls_that_a_baseline_kept_are_judged_again(folder: Path) -> None:
    found = {case.id: case for case in BfclSuite().cases("simple_python", folder) if isinstance(case, Case)}
    case = found["simple_python_2"]
    assert case.judge is not None
    kept = Calls((Call("sail", {"port": "Turku"}),))
    assert case.judge(case, Reply("(not kept)"), kept).valid


@pytest.mark.parametrize("books", ['new ArrayList<String>(Arrays.asList("A", "B"))', 'List.of("A", "B")'])
def test_source_text_of_java_is_read_by_both_profiles(folder: Path, books: str) -> None:
    reply = native(("Shelf.put", {"row": "3", "books": books}))
    assert judged(folder, "simple_java_0", reply).valid is ("Arrays" in books)
    assert judged(folder, "simple_java_0", reply, "strict").valid


def test_strict_is_as_careful_as_anywhere(folder: Path) -> None:
    wrong = judged(folder, "simple_python_1", native(("sail", '{"port": "Bergen", "crew": "1"}')), "strict")
    assert [reason.kind for reason in wrong.reasons] == ["wrong_type"]
    assert judged(folder, "simple_python_1", native(("sail", '{"port": "bergen"}')), "strict").valid
