from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.core import Calls, Case, FaultyCase, Reply, Verdict
from pytest_fcall.core.extension import Figure, about_of
from pytest_fcall.core.reply import Call
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.suites.acebench.suite import AceBenchSuite
from tests.unit.suites.acebench.data import MOOR, SAIL, cases, question, write

SAIL_TO_OSLO = question("normal_atom_bool_0", {"boat_sail": {"port": "Oslo", "crew": 2}})


def judged(case: Case, text: str, profile: Any = "original") -> Verdict:
    own = replace(case, rules=case.rules._replace(profile=profile))
    assert own.judge is not None
    reply = Reply(text, decoder=case.decoder)
    return own.judge(own, reply, decode(reply, case.tools))


def test_prompts_are_those_of_the_checkout_with_functions_as_python_writes_them(tmp_path: Path) -> None:
    write(tmp_path, "normal_atom_bool", [SAIL_TO_OSLO])
    write(tmp_path, "normal_preference", [question("normal_preference_0", {"boat_sail": {"port": "Oslo"}})])
    write(tmp_path, "special_irrelevant", [question("special_irrelevant_0", "Due to …")])
    found = {
        part: cases(tmp_path, f"en_{part}")[0]
        for part in ("normal_atom_bool", "normal_preference", "special_irrelevant")
    }
    said = {part: [message["content"] for message in case.turns[0].messages] for part, case in found.items()}
    functions = str([SAIL, MOOR])
    asked = "Said:\nuser: Sail to Oslo.\n"
    assert said == {
        "normal_atom_bool": [f"Answer in calls.\nIt is noon.\nFunctions: {functions}", asked],
        "normal_preference": [f"For {{'name': 'Ann'}}: {functions}", asked],
        "special_irrelevant": [f"Name problems. It is noon. {functions}", asked],
    }
    case = found["normal_atom_bool"]
    assert (case.id, case.category, case.rules.profile) == ("en_normal_atom_bool_0", "en_normal_atom_bool", "original")
    assert case.proposed_settings == {"temperature": 0.7, "max_tokens": 1200}
    assert case.tools_in_messages


def test_languages_are_parts_of_their_own(tmp_path: Path) -> None:
    write(tmp_path / "ACEBench", "normal_atom_bool", [SAIL_TO_OSLO])
    write(tmp_path / "ACEBench", "normal_atom_bool", [SAIL_TO_OSLO], language="zh")
    assert [case.id for part in ("en", "zh") for case in cases(tmp_path, f"{part}_normal_atom_bool")] == [
        "en_normal_atom_bool_0",
        "zh_normal_atom_bool_0",
    ]
    about = about_of("acebench", AceBenchSuite(), tmp_path)
    assert {part.name for part in about.parts if part.cases} == {"en_normal_atom_bool", "zh_normal_atom_bool"}
    assert about.groups["zh_multi_turn"] == ("zh_normal_multi_turn_user_switch", "zh_normal_multi_turn_user_adjust")
    assert about_of("acebench", AceBenchSuite(), None).place is None


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ("quiz", "no part 'quiz' in suite acebench; available: en_normal_atom_bool"),
        ("en_normal_atom", "did you mean"),
        ("zh_agent_multi_turn", "needs a model that plays the user"),
        ("en_special_irrelevant", "no questions of en_special_irrelevant in .*chenchen0103/ACEBench"),
        ("zh_normal_atom_bool", "no model_inference/prompt_zh.py in "),
    ],
)
def test_what_is_not_there_is_said(tmp_path: Path, part: str, why: str) -> None:
    write(tmp_path, "normal_atom_bool", [SAIL_TO_OSLO])
    with pytest.raises(ValueError, match=why):
        list(AceBenchSuite().cases(part, tmp_path))


def test_prompts_without_the_originals_names_are_told(tmp_path: Path) -> None:
    write(tmp_path, "normal_atom_bool", [SAIL_TO_OSLO])
    (tmp_path / "model_inference" / "prompt_en.py").write_text("USER_PROMPT_EN = 1")
    with pytest.raises(ValueError, match="it has no text SYSTEM_PROMPT_FOR_NORMAL_DATA_EN"):
        list(AceBenchSuite().cases("en_normal_atom_bool", tmp_path))


@pytest.mark.parametrize(
    ("said", "original", "strict"),
    [
        ("[boat_sail(port='Oslo', crew=2)]", None, True),
        ("Sure: [boat_sail(port='oslo!', crew=2)]", None, False),
        ("[boat_sail(port='Oslo', crew=7)]", None, False),  # numbers are not compared
        ("[boat_sail(port='Oslo', crew='2')]", "type_error", False),
        ("[boat_sail(port='Bergen', crew=2)]", "value_error:string", False),
        ("[boat_sail(crew=2)]", "lack_args", False),
        ("[boat_sail(port='Oslo', crew=2, sails=[])]", "addition_args", False),
        ("[boat_moor()]", "function_mismatch", False),
        ("[boat_sail(port='Oslo', crew=2), boat_moor()]", "wrong functions number", False),
        ("boat_sail(port='Oslo', crew=2)", "wrong_output_format", True),
        ("I cannot sail.", "wrong_output_format", False),
        ("[boat_sail(port='Oslo', crew=open('x'))]", "type_error", False),
        ("[boat_sail(port=1 + __import__('os').getpid())]", "wrong_output_format", False),
    ],
)
def test_calls_are_judged_by_the_profile(tmp_path: Path, said: str, original: str | None, strict: bool) -> None:
    write(tmp_path, "normal_atom_bool", [SAIL_TO_OSLO])
    (case,) = cases(tmp_path, "en_normal_atom_bool")
    verdict = judged(case, said)
    assert (verdict.valid, verdict.error_type) == (original is None, original)
    assert bool(verdict.reasons) is not verdict.valid
    assert judged(case, said, "strict").valid is strict


def test_calls_of_a_baseline_and_of_an_app_are_judged_without_text(tmp_path: Path) -> None:
    write(tmp_path, "normal_atom_bool", [SAIL_TO_OSLO])
    (case,) = cases(tmp_path, "en_normal_atom_bool")
    assert case.judge is not None
    assert case.judge(case, Reply("(not kept)"), Calls((Call("boat_sail", {"port": "Oslo"}),))).valid
    assert case.judge(case, Reply("(not kept)"), Calls()).error_type == "wrong functions number"


def test_blanks_do_not_count_in_dialogues_and_brackets_do(tmp_path: Path) -> None:
    row = question("normal_multi_turn_user_switch_3_0", {"boat_sail": {"route": {"via": "New York"}, "port": "Oslo"}})
    write(tmp_path, "normal_multi_turn_user_switch", [row])
    (case,) = cases(tmp_path, "en_normal_multi_turn_user_switch")
    assert judged(case, "[ boat_sail(port='O s l o', route={'via': 'New York'}) ]").valid
    assert judged(case, "So: [boat_sail(port='Oslo')]").error_type == "wrong_output_format"


PORT = {"boat_sail": ["port"]}
PROBLEMS = [
    (
        "special_incomplete",
        {"boat_sail": ["port"]},
        "Missing necessary parameters (port) for the api (boat_sail)",
        None,
    ),
    ("special_incomplete", {"boat_sail": ["port"]}, "Missing necessary parameters (port)", "error_correction"),
    ("special_incomplete", {"boat_sail": ["port"]}, "Which port?", "error_detection"),
    ("special_error_param", {"port": ["O5lo"]}, "There is incorrect value (O5lo) for it", None),
    ("special_error_param", {"port": ["O5lo"]}, "There is incorrect value", "error_correction"),
    ("special_irrelevant", "Due to …", "Due to the limitations of the function, no.", None),
    ("special_irrelevant", "Due to …", "No.", "error_detection"),
]


@pytest.mark.parametrize(("category", "truth", "said", "error"), PROBLEMS)
def test_problems_are_named_in_the_words_of_the_prompt(
    tmp_path: Path, category: str, truth: Any, said: str, error: str | None
) -> None:
    write(tmp_path, category, [question(f"{category}_0", truth)])
    (case,) = cases(tmp_path, f"en_{category}")
    verdict = judged(case, f'["{said}"]')
    assert (verdict.valid, verdict.error_type) == (error is None, error)
    assert judged(case, said, "strict").valid is (error is None)
    # Both name a problem and call: that is right by the original rule alone.
    assert judged(case, f"{said}\n[boat_moor()]").valid is (error is None)
    assert not judged(case, f"{said}\n[boat_moor()]", "strict").valid


def test_a_baseline_without_its_answer_is_not_judged_by_it(tmp_path: Path) -> None:
    write(tmp_path, "special_irrelevant", [question("special_irrelevant_0", "Due to …")])
    (case,) = cases(tmp_path, "en_special_irrelevant")
    assert case.judge is not None
    unanswered = replace(case, turns=(replace(case.turns[0], answer=None),))
    assert case.judge(unanswered, Reply("(not kept)"), Calls()).valid


def test_alternatives_and_numbered_calls_are_expected(tmp_path: Path) -> None:
    several = {"boat_sail_1": {"port": "Oslo"}, "boat_sail_2": {"port": "Bergen"}}
    rows = [
        question("normal_atom_bool_0", [{"boat_sail": {"port": "Oslo"}}, {"boat_sail": {"port": "Bergen"}}]),
        question("normal_atom_bool_1", several),
        question("normal_atom_bool_2", {"boat_2": {"a": 1}}, function=[{"name": "boat_2", "parameters": {}}]),
    ]
    write(tmp_path, "normal_atom_bool", rows)
    either, both, own = cases(tmp_path, "en_normal_atom_bool")
    for profile in ("original", "strict"):
        assert judged(either, "[boat_sail(port='Bergen')]", profile).valid
        assert judged(both, "[boat_sail(port='Bergen'), boat_sail(port='Oslo')]", profile).valid
        assert not judged(both, "[boat_sail(port='Bergen'), boat_sail(port='Rome')]", profile).valid
    assert own.expected_calls[0].tool == "boat_2"
    assert judged(own, "[boat_2(a=1)]").error_type == "function_mismatch"  # the original takes its number off


def test_what_is_right_fits_the_function_that_forbids_it(tmp_path: Path) -> None:
    parameters = {
        "type": "object",
        "properties": {"at": {"type": "string", "enum": ["noon"]}},
        "required": ["at", "by"],
    }
    row = question("normal_atom_bool_0", {"sail": {"at": "one"}}, function=[{"name": "sail", "parameters": parameters}])
    write(tmp_path, "normal_atom_bool", [row])
    (case,) = cases(tmp_path, "en_normal_atom_bool")
    assert judged(case, "[sail(at='one')]", "strict").valid
    assert not judged(case, "[sail(at='two')]", "strict").valid


def test_a_function_that_is_not_described_breaks_the_rule_alone(tmp_path: Path) -> None:
    write(tmp_path, "normal_atom_bool", [question("normal_atom_bool_0", {"boat_moor": {"a": 1}})])
    (case,) = cases(tmp_path, "en_normal_atom_bool")
    assert judged(case, "[boat_moor(a=1)]").error_type == "case_error:KeyError"


def test_a_plain_case_offers_functions_as_tools_and_problems_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, "normal_atom_bool", [SAIL_TO_OSLO])
    write(tmp_path, "special_irrelevant", [question("special_irrelevant_0", "Due to …")])
    (case,) = AceBenchSuite().plain("en_normal_atom_bool", tmp_path)
    assert isinstance(case, Case)
    assert case.turns[0].messages == (
        {"role": "system", "content": "It is noon."},
        {"role": "user", "content": "user: Sail to Oslo.\n"},
    )
    assert (case.judge, case.rules.profile, case.decoder, case.tools_in_messages) == (None, "strict", None, False)
    (problem,) = AceBenchSuite().plain("en_special_irrelevant", tmp_path)
    assert isinstance(problem, FaultyCase)
    assert "names a problem in words" in problem.faults[0].message


def test_scores_have_the_originals_names_and_weights() -> None:
    normal = {
        **{f"en_normal_atom_{each}_0": (1, 1) for each in ("bool", "enum", "number", "list", "object_deep")},
        "en_normal_atom_object_short_0": (0, 1),
        "en_normal_single_turn_single_function_0": (1, 1),
        "en_normal_single_turn_parallel_function_0": (1, 1),
        **{f"en_normal_multi_turn_user_switch_0_{turn}": (1, 1) for turn in range(3)},
        "en_normal_multi_turn_user_switch_1_0": (1, 1),
        "en_normal_multi_turn_user_switch_1_1": (0, 1),
        "en_normal_multi_turn_user_adjust_0_0": (1, 1),
        "en_normal_similar_api_0": (1, 1),
        "en_normal_preference_0": (1, 1),
    }
    special = {"en_special_incomplete_0": (1, 3), "en_special_error_param_0": (1, 1), "en_special_irrelevant_0": (1, 1)}
    found = {each.title: each.share for each in AceBenchSuite().case_figures({**normal, **special, "mine": (1, 1)})}
    assert found["multiple_turn_switch[en]"] == 0.5
    assert found["multiple_turn[en]"] == 0.75
    assert found["atom[en]"] == 0.833
    assert found["normal_summary[en]"] == 0.875
    assert found["incomplete[en]"] == 1 / 3
    assert found["special_summary[en]"] == 0.778
    assert found["Summary[en]"] == 0.714
    partly = AceBenchSuite().case_figures({**normal, "zh_special_irrelevant_0": (1, 1)})
    assert [each for each in partly if each.name == "Summary"] == [
        Figure("Summary", None, "en"),
        Figure("Summary", None, "zh"),
    ]
    assert [each.share for each in partly if each.of == "zh"] == [1.0, None, None]


@pytest.mark.parametrize(
    ("asked", "right", "why"),
    [
        ({"id": "normal_atom_enum_0"}, {}, "`id` must be that of a question of normal_atom_bool"),
        ({"id": "en_normal_atom_bool_0"}, {}, "`id` must be that of a question"),
        ({"id": 5}, {}, "`id` must be a non-empty string"),
        ({}, {"id": "normal_atom_bool_1"}, "the row of possible answers in the same place is for 'normal_atom_bool_1'"),
        ({}, {"ground_truth": "x"}, "`ground_truth` must be an object"),
        ({}, {"ground_truth": []}, "`ground_truth` must be an object"),
        ({"function": "x"}, {}, "`function` must be a list of objects"),
        ({"function": [{"name": 5}]}, {}, "`function`: a tool's name must be"),
        ({"question": 5}, {}, "`question` must be a string"),
        ({"time": 5}, {}, "`time` must be a string"),
    ],
)
def test_a_broken_row_is_a_case_with_a_fault(tmp_path: Path, asked: Any, right: Any, why: str) -> None:
    row, answer = SAIL_TO_OSLO
    other = question("normal_atom_bool_1", {"boat_sail": {"port": "Oslo"}})
    file = write(tmp_path, "normal_atom_bool", [({**row, **asked}, {**answer, **right}), other])
    broken, whole = AceBenchSuite().cases("en_normal_atom_bool", tmp_path)
    assert isinstance(broken, FaultyCase)
    assert why in broken.faults[0].message
    assert (broken.location.path, broken.location.line) == (str(file), 1)
    assert isinstance(whole, Case)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{", "not JSON"),
        (b'{"id": "\xff"}', "not UTF-8"),
        (b'{"function": ' + b"[" * 100_000, "nested too deeply"),
        (b"[]", "expected a JSON object"),
    ],
)
@pytest.mark.parametrize("folder", [".", "possible_answer"])
def test_a_line_that_cannot_be_read_is_a_case_with_a_fault(tmp_path: Path, folder: str, line: bytes, why: str) -> None:
    file = write(tmp_path, "normal_atom_bool", [SAIL_TO_OSLO])
    (file.parent / folder / file.name).write_bytes(line)
    (broken,) = AceBenchSuite().cases("en_normal_atom_bool", tmp_path)
    assert isinstance(broken, FaultyCase)
    assert why in broken.faults[0].message


def test_rows_without_a_partner_are_told(tmp_path: Path) -> None:
    file = write(tmp_path, "normal_atom_bool", [SAIL_TO_OSLO])
    text = file.read_text()
    file.write_text(text * 2)
    _, unanswered = AceBenchSuite().cases("en_normal_atom_bool", tmp_path)
    assert isinstance(unanswered, FaultyCase)
    assert "the file of possible answers has no row for it" in unanswered.faults[0].message
    file.write_text("")
    (unasked,) = AceBenchSuite().cases("en_normal_atom_bool", tmp_path)
    assert isinstance(unasked, FaultyCase)
    assert "no question for this possible answer" in unasked.faults[0].message


def test_a_schema_of_many_levels_is_a_fault_and_no_crash(tmp_path: Path) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    for _ in range(400):
        schema = {"type": "object", "properties": {"a": schema}}
    row, answer = SAIL_TO_OSLO
    write(tmp_path, "normal_atom_bool", [({**row, "function": [{"name": "f", "parameters": schema}]}, answer)])
    (broken,) = AceBenchSuite().cases("en_normal_atom_bool", tmp_path)
    assert isinstance(broken, FaultyCase)
    assert "nested too deeply" in broken.faults[0].message
