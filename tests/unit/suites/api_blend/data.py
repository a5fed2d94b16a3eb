"""A row of each data set, made up, with an answer that is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_fcall.core import Case, Json, Reply
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
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
        {
            "qid": "easy-1",
            "input": "How many?",
            "apis": ["LoadDB[flights]", "FilterDB[Origin=OSL, Dest=CPH]", "PythonInterpreter(abs(a - b), 3)"],
            "output": "3",
        },
        "LoadDB[flights], FilterDB[Origin=OSL, Dest=CPH], PythonInterpreter(abs(a - b), 3)",
    ),
    "toolllm_g1": (
        {
            "query": "Show cats",
            "api_list": [
                {"category_name": "Animals", "tool_name": "9 Cats", "api_name": "/v1/{cat}", "method": "GET"},
                {"category_name": "Animals", "tool_name": "Dog", "api_name": "bark", "method": "GET"},
            ],
            "relevant APIs": [["9 Cats", "/v1/{cat}"]],
            "query_id": 7,
        },
        "get_9_Cats.v1_cat(whatever = x)",
    ),
    "api_bank_2": (
        {
            "file": "health.jsonl",
            "id": 0,
            "instruction": "Generate an API request. API descriptions: …",
            "input": "User: My health data",
            "expected_output": "API-Request: [QueryHealthData(user_id='J4', n='3')]",
        },
        "[QueryHealthData(user_id='J4', n='3')]",
    ),
    "toolalpaca": (
        {
            "Function_Description": {"search": "…", "getRandom": "…", "components": ""},
            "Instructions": ["A wild one"],
            "Golden_Answers": [[{"Action": "search", "Action_Input": '{"color": "wild", "page": 2}'}]],
        },
        '[{"API": "search", "Parameters": {"color": "wild", "page": 2}}]',
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
    return judge_turn(reply, decode(reply, case.tools), case.turns[0], MatchContext(case.tools, case.rules)).valid


def alpaca(*inputs: str) -> Json:
    steps: list[Json] = [[{"Action": "show", "Action_Input": each}] for each in inputs]
    return {"Instructions": ["Show it"] * len(steps), "Golden_Answers": steps, "Function_Description": {"show": ""}}
