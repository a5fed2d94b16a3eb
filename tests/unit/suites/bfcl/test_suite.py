from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.core import Case, FaultyCase, Json, RawCall, Reply
from pytest_fcall.core.expectation import Expectation, Profile
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.suites.bfcl.categories import RIGHT_REQUESTS
from pytest_fcall.suites.bfcl.suite import BfclSuite
from tests.bfcl_data import PACK, SAIL, question, truth, write_category, write_leaderboard, write_rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_leaderboard(tmp_path / "data")


def cases(part: str, folder: Path) -> dict[str, Case]:
    found = list(BfclSuite().cases(part, folder))
    return {case.id: case for case in found if isinstance(case, Case)}


def test_a_part_is_a_category(folder: Path) -> None:
    found = cases("simple_python", folder)
    assert list(found) == [f"simple_python_{n}" for n in range(4)]
    assert {case.category for case in found.values()} == {"simple_python"}
    assert found["simple_python_0"].turns[0].messages == ({"role": "user", "content": "Sail to Oslo with 0."},)


def test_the_profile_of_a_suite_is_the_official_one(folder: Path) -> None:
    assert cases("simple_python", folder)["simple_python_0"].rules.profile == "bfcl"


def test_a_part_that_is_not_known_is_told_with_those_that_are(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"no part 'simple_pyton' in suite bfcl; did you mean `simple_python`\?$"):
        cases("simple_pyton", folder)
    with pytest.raises(ValueError, match=r"no part 'quiz' in suite bfcl; available: simple_python, .*; groups: "):
        cases("quiz", folder)


def test_a_folder_without_data_is_told_with_the_way_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pip install --no-deps bfcl-eval"):
        cases("simple_python", tmp_path)


def test_a_category_whose_file_is_missing_is_told(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot read .*BFCL_v4_live_simple\.json: No such file"):
        cases("live_simple", folder)


@pytest.mark.parametrize("inside", ["data", "bfcl_eval/data", ""])
def test_the_data_is_found_in_the_package_too(tmp_path: Path, inside: str) -> None:
    write_leaderboard(tmp_path / inside)
    assert len(cases("simple_python", tmp_path)) == 4


def test_functions_are_told_with_a_hint_and_the_types_of_json_schema(folder: Path) -> None:
    (tool, _) = cases("parallel_multiple", folder)["parallel_multiple_0"].tools
    assert tool.description == "Packs a bag. Note that the provided function is in Python 3 syntax."
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": {"type": "string"}, "description": "What goes in."},
            "weight": {
                "type": "number",
                "format": "float",
                "description": "In kilograms. This is a float type value.",
            },
            "note": {"type": "string", "description": "What to write on it."},
        },
        "required": ["items"],
    }


def test_arguments_of_java_are_told_as_source_text(folder: Path) -> None:
    (tool,) = cases("simple_java", folder)["simple_java_0"].tools
    assert tool.parameters["properties"] == {
        "row": {
            "type": "string",
            "description": "Which row. This is Java integer type parameter in string representation.",
        },
        "books": {
            "type": "string",
            "description": "Which books. This is Java ArrayList type parameter in string representation. "
            "The list elements are of type String; they are not in string representation.",
        },
    }


def test_a_broken_row_is_a_faulty_case_and_its_neighbours_are_not(folder: Path) -> None:
    broken_row: dict[str, Json] = {"id": "multiple_1", "question": 3, "function": []}
    rows = [question("multiple_0", "Sail.", SAIL, PACK), broken_row]
    write_category(folder, "multiple", rows, [truth("multiple_0", {"sail": {"port": ["Oslo"]}}), truth("multiple_1")])
    with (folder / "BFCL_v4_multiple.json").open("a") as file:
        file.write("no json\n" + json.dumps(question("multiple_3", "Sail.", SAIL)) + "\n")
    first, *broken = BfclSuite().cases("multiple", folder)
    assert isinstance(first, Case)
    told = [case.faults[0].message for case in broken if isinstance(case, FaultyCase)]
    assert [case.id for case in broken] == ["multiple_1", "multiple_2", "multiple_3"]
    assert "`question` must be a list of turns" in told[0]
    assert "not JSON" in told[1]
    assert "no ground truth in possible_answer/BFCL_v4_multiple.json" in told[2]


def test_retired_calls_are_expected_as_their_source_has_them(folder: Path) -> None:
    expect = cases("exec_simple", folder)["exec_simple_0"].turns[0].expect
    assert expect is not None
    ((call,),) = expect.stages
    assert (call.tool, call.arguments) == ("sail", {"port": "Oslo", "crew": 2})


@pytest.mark.parametrize("profile", ["bfcl", "strict"])
def test_of_rest_the_recorded_response_decides_and_not_any_call_is_right(folder: Path, profile: Profile) -> None:
    right: dict[str, Json] = {"idx": 0, "ground_truth": "requests.get(url='https://sea.example/says')"}
    write_rows(folder / RIGHT_REQUESTS, [right])
    case = cases("rest", folder)["rest_0"]
    case = replace(case, rules=case.rules._replace(profile=profile))
    assert case.turns[0].expect == Expectation(kind="any_call")
    assert case.skip == ()
    assert callable(case.judge)
    sent = [RawCall("requests.get", json.dumps({"url": f"https://sea.example/{path}"})) for path in ("says", "sings")]
    answers = [Reply(tool_calls=(sent[0],)), Reply(tool_calls=(sent[1],)), Reply("No."), Reply(tool_calls=(*sent,))]
    assert [case.judge(case, reply, decode(reply)).error_type for reply in answers] == [
        None,
        "case_error:unrecorded_response",
        "executable_decoder:decoder_failed",
        "executable_decoder:rest_wrong_output_format",
    ]


def test_rest_without_a_recorded_response_is_skipped(folder: Path) -> None:
    retired = folder / "unused_datasets" / "possible_answer" / "BFCL_v4_rest.json"
    write_rows(retired, [{"id": "rest_0", "ground_truth": "no JSON"}])
    assert [skip.reason for skip in cases("rest", folder)["rest_0"].skip] == ["no recorded response"]


@pytest.mark.parametrize("asked", [[], [[]], None, [[{"role": "user", "content": 5}]], [[{"role": "user"}]]])
def test_a_row_that_asks_nothing_is_a_fault(folder: Path, asked: Json) -> None:
    write_category(folder, "multiple", [{**question("multiple_0", "", SAIL), "question": asked}], [truth("multiple_0")])
    (case,) = BfclSuite().cases("multiple", folder)
    assert isinstance(case, FaultyCase)
    assert "`question` must hold messages with text" in case.faults[0].message


def test_chatting_is_making_no_call(folder: Path) -> None:
    (case,) = cases("chatable", folder).values()
    assert case.id == "chatable_0"
    assert callable(case.judge)
    said = [Reply("Hello!"), Reply(tool_calls=(RawCall("sail", "{}"),))]
    verdicts = [case.judge(case, reply, decode(reply)) for reply in said]
    assert [(each.valid, each.error_type) for each in verdicts] == [
        (True, None),
        (False, "irrelevance_error:decoder_success"),
    ]


def test_the_suite_says_what_there_is(folder: Path) -> None:
    about = BfclSuite().about(folder)
    parts = {part.name: part for part in about.parts}
    assert about.licence == "Apache-2.0"
    assert parts["simple_python"].cases == 4
    assert parts["simple_python"].size == sum(
        (folder / name / "BFCL_v4_simple_python.json").stat().st_size for name in ("", "possible_answer")
    )
    assert parts["live_simple"].cases is None
    assert "executed if they need no network" in parts["exec_simple"].note
    assert "live_simple" in about.groups["live"]
