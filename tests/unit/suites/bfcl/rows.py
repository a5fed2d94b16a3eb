"""Rows in the leaderboard's form, of our own making."""

from __future__ import annotations

import json

from pytest_fcall.core import Json, Location
from pytest_fcall.suites.bfcl.answers import ResultSource, read_answer
from pytest_fcall.suites.bfcl.cases import BfclCase, case_of
from pytest_fcall.suites.bfcl.judge import ProfileResults, score_answer

WEATHER: dict[str, Json] = {
    "name": "weather.forecast",
    "description": "Tell the weather.",
    "parameters": {
        "type": "dict",
        "properties": {
            "city": {"type": "string", "description": "Where."},
            "days": {"type": "integer", "description": "For how long.", "default": 1},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
            "heights": {"type": "array", "items": {"type": "float"}},
            "place": {"type": "dict", "properties": {"street": {"type": "string"}, "number": {"type": "integer"}}},
        },
        "required": ["city"],
    },
}

SUM: dict[str, Json] = {
    "name": "sum",
    "description": "Add numbers.",
    "parameters": {
        "type": "dict",
        "properties": {"numbers": {"type": "array", "items": {"type": "integer"}}},
        "required": ["numbers"],
    },
}


def case_row(*truth: Json, category: str = "simple_python", functions: Json = None) -> dict[str, Json]:
    return {
        "category": category,
        "id": f"{category}_0",
        "question": [[{"role": "user", "content": "Weather in Oslo?"}]],
        "function": [WEATHER, SUM] if functions is None else functions,
        "ground_truth": list(truth) or None,
    }


def case(*truth: Json, category: str = "simple_python", functions: Json = None) -> BfclCase:
    return case_of(case_row(*truth, category=category, functions=functions), Location("cases.jsonl"))


def forecast(**arguments: Json) -> dict[str, Json]:
    """A call of the ground truth, each argument a list of alternatives, or a decoded call."""
    return {"weather.forecast": arguments}


def decoded(*calls: Json) -> dict[str, Json]:
    return {"style": "calls", "decoder": None, "decoded": list(calls)}


def fc(*calls: tuple[str, Json]) -> dict[str, Json]:
    raw: Json = [{name: json.dumps(arguments)} for name, arguments in calls]
    return {"style": "FC", "decoder": "fc_json", "underscore_to_dot": True, "raw": raw}


def prompt(text: str) -> dict[str, Json]:
    return {"style": "prompt", "decoder": "prompt_default", "raw": text}


def scored(case: BfclCase, answer: dict[str, Json], source: ResultSource = "auto") -> ProfileResults:
    return score_answer(case, read_answer(answer, source))


def verdicts(case: BfclCase, answer: dict[str, Json]) -> tuple[bool, bool]:
    """What the official checker says, and what `strict` says."""
    found = scored(case, answer)
    return found.official.ruling.valid, found.strict.verdict.valid
