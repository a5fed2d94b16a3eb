"""A package of the official one's form, with a class, a case and prompts of our own making."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pytest_fcall.core import Json

CONSTANTS = """
CLASS_FILE_PATH_MAPPING = {"TicketAPI": "bfcl_eval.tickets", "MathAPI": "bfcl_eval.numbers"}
STATELESS_CLASSES = ["MathAPI"]
OMIT_STATE_INFO_CLASSES = []
"""
PROMPTS = """
OUTPUT_FORMAT_MAPPING = {"python": "[f(x=1)]"}
PARAM_TYPE_MAPPING = {"python": ""}
PROMPT_STYLE_TEMPLATES = {"classic": {"persona": "Compose.", "task": "Call.", "tool_call_no_tag": "As {output_format}.",
    "multiturn_behavior": "Go on.", "available_tools": "In {format}: {functions}"}}
_PLAINTEXT_SYSTEM_PROMPT_TEMPLATE = "{persona}{task} {tool_call_format} {multiturn_behavior} {available_tools}"
DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC = "There is more now."
ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT = "Answer in short."
"""
TICKETS = """
import os
import time


class Ticket:
    def __init__(self, seat):
        self.seat = seat

    def __eq__(self, other):
        return self.seat == other.seat

    __hash__ = None


class Odd:
    def __eq__(self, other):
        raise RuntimeError("it will not be compared")


class TicketAPI:
    def _load_scenario(self, scenario, long_context=False):
        self.tickets = [Ticket(seat) for seat in scenario.get("seats", [])]
        self.note = "long" if long_context else ""
        self._looks = 0

    def book(self, seat, price=10):
        if not isinstance(seat, str):
            raise TypeError(f"no seat: {seat!r}")
        self.tickets.append(Ticket(seat))
        return {"booked": seat, "price": price}

    def look(self):
        self._looks += 1
        return [ticket.seat for ticket in self.tickets]

    def write(self, text):
        self.note = text

    def objects(self):
        return {"ticket": object}

    def spoil(self):
        self.note = Odd()

    def leave(self):
        os._exit(3)

    def remove(self):
        self.tickets = []

    def _hidden(self):
        return "hidden"
"""
NUMBERS = """
class MathAPI:
    def add(self, a, b):
        return a + b
"""


def function(name: str, **properties: Json) -> dict[str, Json]:
    """The document of a function."""
    parameters: Json = {"type": "dict", "properties": properties, "required": []}
    return {"name": name, "description": f"To {name}.", "parameters": parameters, "response": {"type": "dict"}}


BOOK = function("book", seat={"type": "string"}, price={"type": "float"})
LOOK = function("look")
SEARCH = function("search_engine_query", keywords={"type": "string"})
ADD = function("add", a={"type": "float"}, b={"type": "float"})


def case_row(**fields: Json) -> dict[str, Json]:
    """A row of questions, with `ground_truth`."""
    row: dict[str, Json] = {
        "id": "multi_turn_base_0",
        "question": [[{"role": "user", "content": "Book 4A."}], [{"role": "user", "content": "And now?"}]],
        "initial_config": {"TicketAPI": {"seats": ["1A"]}},
        "involved_classes": ["TicketAPI", "MathAPI"],
        "ground_truth": [["book(seat='4A')"], ["look()"]],
    }
    return {**row, **fields}


def write_package(folder: Path, rows: Mapping[str, list[dict[str, Json]]]) -> Path:
    """Write the package with the rows of each category; give the folder of its data."""
    package = folder / "bfcl_eval"
    sources = {
        "__init__": "",
        "constants/__init__": "",
        "constants/executable_backend_config": CONSTANTS,
        "constants/default_prompts": PROMPTS,
        "tickets": TICKETS,
        "numbers": NUMBERS,
        "../mpmath": "",
    }
    for name, text in sources.items():
        _write(package / f"{name}.py", text)
    data = package / "data"
    documents = {"ticket_api": [BOOK, LOOK], "math_api": [ADD], "web_search": [SEARCH]}
    for name in (
        "gorilla_file_system",
        "message_api",
        "posting_api",
        "trading_bot",
        "travel_booking",
        "vehicle_control",
    ):
        documents[name] = []
    for name, functions in documents.items():
        _write(data / "multi_turn_func_doc" / f"{name}.json", _lines(functions))
    for category, its in rows.items():
        asked = [{key: value for key, value in row.items() if key != "ground_truth"} for row in its]
        truths: list[dict[str, Json]] = [{"id": row["id"], "ground_truth": row["ground_truth"]} for row in its]
        _write(data / f"BFCL_v4_{category}.json", _lines(asked))
        _write(data / "possible_answer" / f"BFCL_v4_{category}.json", _lines(truths))
    return data


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _lines(rows: list[dict[str, Json]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)
