from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.core import Calls, Case, FaultyCase, Json, Reply
from pytest_fcall.core.extension import Measured
from pytest_fcall.decoding import decode
from pytest_fcall.matching import judge_turn
from pytest_fcall.suites.api_blend.files import set_files
from pytest_fcall.suites.api_blend.prompt import written
from pytest_fcall.suites.api_blend.sets import SETS
from pytest_fcall.suites.api_blend.suite import ApiBlendSuite

REMIND = {
    "input": "Remind me to write to Joy tonight",
    "apis": ['SEND_MESSAGE(CONTENT_EXACT, RECIPIENT = "Joy")', 'CREATE_REMINDER(DATE_TIME = "tonight")'],
}
ROWS: dict[str, tuple[dict[str, Any], str]] = {
    "seq_atis": (
        {
            "text": "Flights to Oslo, and fares",
            "APIs": [{"API": "flight", "Parameters": {"city": ["Oslo"]}}, {"API": "airfare", "Parameters": {}}],
        },
        '[{"API": "flight", "Parameters": {"city": ["Oslo"]}}, {"API": "airfare", "Parameters": {}}]',
    ),
    "seq_snips": (
        {"text": "Play jazz", "APIs": [{"API": "PlayMusic", "Parameters": {"genre": ["jazz"]}}]},
        '[{"API": "PlayMusic", "Parameters": {"genre": ["jazz"]}}]',
    ),
    "seq_topv2": (REMIND, 'SEND_MESSAGE(CONTENT_EXACT, RECIPIENT = "Joy"), CREATE_REMINDER(DATE_TIME = "tonight")'),
    "seq_sgd": (
        {"input": "A hotel", "output": "FindHotel(city = Oslo ; stars = 4) [SEP] ReserveHotel(hotel = Bristol)"},
        "FindHotel(city = Oslo ; stars = 4) [SEP] ReserveHotel(hotel = Bristol)",
    ),
    "seq_multiwoz": ({"input": "A taxi", "output": "find_taxi(to = Oslo)"}, "find_taxi(to = Oslo)"),
    "seq_toolqa": (
        {"question": "How many?", "apis": ["LoadDB[flights]", "FilterDB[Origin=OSL, Dest=CPH]"], "answer": "3"},
        "LoadDB[flights], FilterDB[Origin=OSL, Dest=CPH]",
    ),
    "toolllm_g1": (
        {
            "query": "Show cats",
            "api_list": [
                {"tool_name": "Cat API", "api_name": "List all"},
                {"tool_name": "Dog", "api_name": "bark"},
            ],
            "relevant APIs": [["Cat API", "List all"]],
        },
        "Cat_API.List_all(whatever = x)",
    ),
    "api_bank_2": (
        {"input": "User: My health data", "expected_output": "API-Request: [QueryHealthData(user_id='J4', n='3')]"},
        "[QueryHealthData(user_id='J4', n='3')]",
    ),
    "toolalpaca": (
        {
            "Function_Description": {"search": "…", "getRandom": "…", "components": ""},
            "Instructions": ["A wild one"],
            "Golden_Answers": [[{"Action": "search", "Action_Input": '{"color": "wild", "page": 2}'}]],
        },
        "[search(color='wild', page=2)]",
    ),
    "toolbench_home_search": (
        {"prompt": "A home", "completion": ['API.set_location("Oslo")\nAPI.select_home_type(["House"])\nAPI.search()']},
        'API.set_location("Oslo")\nAPI.select_home_type(["House"])\nAPI.search()',
    ),
    "toolbench_booking": (
        {"prompt": "A hotel", "completion": ["x = Loc('Reno')\nAPI.set_hotel_location(x)\nAPI.search()"]},
        "API.set_hotel_location(Loc('Reno'))\nAPI.search()",
    ),
}


def write(path: Path, *rows: Json) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, rows)) if path.suffix == ".jsonl" else json.dumps(rows))


def cases(folder: Path, part: str = "") -> list[Case]:
    found = list(ApiBlendSuite().cases(part, folder))
    assert all(isinstance(case, Case) for case in found), found
    return [case for case in found if isinstance(case, Case)]


def said(case: Case) -> str:
    return str(case.turns[0].messages[0]["content"])


def judged(case: Case, text: str) -> bool:
    reply = Reply(text, decoder=case.decoder)
    return judge_turn(reply, decode(reply, case.tools), case.turns[0], case.tools, case.rules, {}).valid


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
@pytest.mark.parametrize("name", ROWS)
def test_each_format_is_read_and_its_answers_are_judged(tmp_path: Path, name: str, suffix: str) -> None:
    row, right = ROWS[name]
    write(tmp_path / f"{name}{suffix}", row)
    (case,) = cases(tmp_path)
    assert case.id == f"{name}_1"
    assert judged(case, right)
    assert not judged(case, right.replace("(", "X(", 1).replace("[", "Y[", 1).replace('"API": "', '"API": "Z', 1))


@pytest.mark.parametrize("name", sorted(ROWS))
def test_calls_are_written_as_they_are_read(tmp_path: Path, name: str) -> None:
    write(tmp_path / f"{name}.json", ROWS[name][0])
    files = set_files(SETS[name], tmp_path)
    assert files is not None
    (entry,) = files.entries()
    assert entry.sample is not None
    (case,) = cases(tmp_path)
    path = entry.sample.paths[0]
    decoded: Calls = decode(Reply(written(SETS[name].notation, path), decoder=case.decoder), case.tools)
    assert [(call.name, dict(call.arguments)) for call in decoded.calls] == [
        (call.name, dict(call.arguments)) for call in path
    ]


def test_order_counts_and_each_alternative_is_right(tmp_path: Path) -> None:
    first, second = 'API.set_location("Oslo")\nAPI.search()', 'API.search()\nAPI.set_location("Oslo")'
    write(tmp_path / "toolbench_home_search.jsonl", {"prompt": "A home", "completion": [first]})
    (case,) = cases(tmp_path)
    assert not judged(case, second)
    write(tmp_path / "toolbench_home_search.jsonl", {"prompt": "A home", "completion": [first, second]})
    (case,) = cases(tmp_path)
    assert judged(case, first)
    assert judged(case, second)


def test_a_dialogue_is_a_question_for_each_of_its_calls(tmp_path: Path) -> None:
    write(
        tmp_path / "API-Bank 1" / "alarm.jsonl",
        {"role": "User", "text": "Move my alarm to nine."},
        {"role": "API", "api_name": "DeleteAlarm", "param_dict": {"time": "8"}, "result": {"output": "done"}},
        {"role": "API", "api_name": "AddAlarm", "param_dict": {"time": "9"}, "result": None},
        {"role": "AI", "text": "Done."},
    )
    first, second = cases(tmp_path, "api_bank_1")
    assert said(first).endswith("Question: User: Move my alarm to nine.\nAnswer:")
    assert 'API: DeleteAlarm gave {"output": "done"}' in said(second)
    assert judged(second, "[AddAlarm(time='9')]")


def test_the_instruction_tells_functions_and_slots_in_an_order_that_gives_nothing_away(tmp_path: Path) -> None:
    write(tmp_path / "SeqTopV2.json", REMIND)
    (case,) = cases(tmp_path)
    assert "APIs: CREATE_REMINDER, SEND_MESSAGE\n\nSlots: CONTENT_EXACT, DATE_TIME, RECIPIENT\n\nQuestion:" in said(
        case
    )
    assert case.tools_told


def test_functions_of_the_row_itself_are_told_where_it_has_any(tmp_path: Path) -> None:
    write(tmp_path / "toolllm_g1.json", ROWS["toolllm_g1"][0])
    (case,) = cases(tmp_path)
    assert "APIs: Cat_API.List_all, Dog.bark\n\nQuestion:" in said(case)


def test_demonstrations_are_of_training_where_that_is_there(tmp_path: Path) -> None:
    write(tmp_path / "SeqTopV2" / "reminder_test.json", REMIND)
    write(
        tmp_path / "SeqTopV2" / "reminder_train.json",
        *[{"input": f"Remind me {number}", "apis": ["GET_REMINDER()"]} for number in range(5)],
    )
    (case,) = cases(tmp_path, "seq_topv2_3shot")
    assert said(case).count("\nAnswer: GET_REMINDER()\n") == 3
    (case,) = cases(tmp_path, "seq_topv2")
    assert "GET_REMINDER" not in said(case)


def test_a_question_is_no_demonstration_of_itself(tmp_path: Path) -> None:
    write(tmp_path / "seq_topv2.json", REMIND, {"input": "Other", "apis": ["GET_REMINDER()"]})
    first, second = cases(tmp_path, "seq_topv2_3shot")
    assert said(first).count(REMIND["input"].__str__()) == 1
    assert said(second).count("Question: Other") == 1


def test_files_of_specifications_and_other_sets_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "data" / "processed" / "SeqTopV2" / "x" / "test.json", REMIND)
    write(tmp_path / "data" / "processed" / "SeqTopV2" / "api_spec.json", {"x": 1})
    write(tmp_path / "data" / "processed" / "Others.json", {"x": 1})
    assert [case.id for case in cases(tmp_path)] == ["seq_topv2_1"]


@pytest.mark.parametrize(
    ("name", "row", "why"),
    [
        ("seq_atis", {"text": "x"}, "it needs `text` and `APIs`"),
        ("seq_atis", {"text": "x", "APIs": [{"API": "f"}]}, "each of `APIs` needs"),
        ("seq_topv2", {"input": "x", "apis": ["no call"]}, "its right calls cannot be read"),
        ("seq_topv2", {"input": "", "apis": ["F()"]}, "it needs `input`, a text"),
        ("seq_topv2", {"input": "x", "apis": [3]}, "it needs `apis`, a list of texts"),
        ("seq_sgd", {"input": "x", "output": "f(a = 1"}, "its right calls cannot be read"),
        ("toolllm_g2", {"query": "x"}, "`relevant APIs`, pairs"),
        ("toolllm_g2", {"query": "x", "relevant APIs": ["a"]}, "other than pairs"),
        ("api_bank_1", {"input": "x", "output": "Hello."}, "its output is no `API-Request"),
        ("toolalpaca", {"Instructions": ["x"], "Golden_Answers": []}, "as many of the one as of the other"),
        (
            "toolalpaca",
            {"Instructions": ["x"], "Golden_Answers": [[{"Action": "f", "Action_Input": "{"}]]},
            "the `Action_Input` of f is no JSON",
        ),
        ("toolbench_booking", {"prompt": "x", "completion": ["no call"]}, "its right calls cannot be read"),
        ("seq_snips", 3, "it is no object"),
    ],
)
def test_a_broken_row_is_a_case_with_a_fault(tmp_path: Path, name: str, row: Json, why: str) -> None:
    write(tmp_path / f"{name}.json", row)
    (case,) = ApiBlendSuite().cases("", tmp_path)
    assert isinstance(case, FaultyCase)
    assert why in case.faults[0].message


def test_a_line_that_is_no_json_is_a_fault_and_its_neighbours_are_read(tmp_path: Path) -> None:
    (tmp_path / "seq_sgd.jsonl").write_text('{"input": "x", "output": "f(a = 1)"}\n{\n')
    first, second = ApiBlendSuite().cases("", tmp_path)
    assert isinstance(first, Case)
    assert isinstance(second, FaultyCase)


@pytest.mark.parametrize(
    ("part", "folder", "why"),
    [
        ("", None, "is in no package"),
        ("x", ".", "has no data set 'x'; it has seq_atis"),
        ("seq_sgd", ".", "there is no data set seq_sgd in .*IBM/API-BLEND"),
        ("", "none", "there is no data set of API-BLEND in"),
    ],
)
def test_what_is_not_there_is_said(tmp_path: Path, part: str, folder: str | None, why: str) -> None:
    write(tmp_path / "seq_topv2.json", REMIND)
    with pytest.raises(ValueError, match=why):
        list(ApiBlendSuite().cases(part, None if folder is None else tmp_path / folder))


def test_what_there_is_is_told_with_and_without_data(tmp_path: Path) -> None:
    write(tmp_path / "seq_topv2.json", REMIND)
    about = ApiBlendSuite().about(tmp_path)
    assert {part.name: part.cases for part in about.parts if part.cases} == {"seq_topv2": 1}
    assert ApiBlendSuite().about(None).place is None


def test_a_plain_case_offers_functions_as_tools(tmp_path: Path) -> None:
    write(tmp_path / "seq_topv2.json", REMIND)
    (case,) = ApiBlendSuite().plain("", tmp_path)
    assert isinstance(case, Case)
    assert (said(case), case.tools_told, case.decoder) == (REMIND["input"], False, None)


def test_scores_leave_arguments_out_where_a_set_says_nothing_of_them(tmp_path: Path) -> None:
    for name in ("toolllm_g1", "seq_topv2"):
        write(tmp_path / f"{name}.json", ROWS[name][0])
    asked = [scores for case in cases(tmp_path) for scores in ApiBlendSuite().scores(case).items()]
    assert asked == [("seq_topv2", ("api_f1", "parameter_f1", "lcs_f1")), ("toolllm_g1", ("api_f1", "lcs_f1"))]


def test_averages_are_weighted_by_the_sizes_of_the_sets() -> None:
    measured = [
        Measured("seq_atis", "api_f1", 30, 1.0),
        Measured("toolllm_g1_3shot", "api_f1", 10, 0.5),
        Measured("seq_atis", "parameter_f1", 30, 0.4),
        Measured("mine", "api_f1", 1_000, 0.0),
        Measured("seq_snips", "lcs_f1", 0, None),
    ]
    assert [(figure.name, figure.share) for figure in ApiBlendSuite().averages(measured)] == [
        ("weighted_api_f1", 0.875),
        ("weighted_parameter_f1", pytest.approx(0.4)),
        ("weighted_lcs_f1", None),
    ]
