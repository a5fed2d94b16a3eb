"""Prompts written without a chat template: those that one model has to itself, and plain text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from pytest_fcall.backends.local.messages import function, text_of
from pytest_fcall.backends.prompting import prompted
from pytest_fcall.core import Json, Request, Tool

_SYSTEM = ("system", "developer")

# The words that the model was trained on, its spaces included.
_GORILLA = (
    "You are an AI programming assistant, utilizing the Gorilla LLM model, developed by Gorilla LLM, and you only "
    "answer questions related to computer science. For politically sensitive questions, security and privacy issues, "
    "and other non-computer science questions, you will refuse to answer."
)
_SMOLLM2 = """\
You call functions. Answer with a JSON list of calls, each with a name and arguments. Answer [] if no function fits.
Functions:
"""
_EXAMPLES: Sequence[tuple[str, Sequence[tuple[str, Mapping[str, Json]]]]] = (
    ("Feed the cat and the dog.", [("feed", {"animal": "cat"}), ("feed", {"animal": "dog"})]),
    ("Open the doors 3 and 8.", [("open_door", {"number": 3}), ("open_door", {"number": 8})]),
    ("Thank you, goodbye!", []),
    ("Open the door 12.", [("open_door", {"number": 12})]),
    ("Who was Mozart?", []),
    ("Paint the wall red.", [("paint", {"thing": "wall", "color": "red"})]),
    ("Feed the horse.", [("feed", {"animal": "horse"})]),
)


def gorilla(request: Request) -> str:
    """Gorilla OpenFunctions v2's: the tools as JSON before the first question, a case's system prompt before both."""
    system, said = _turns(request, "python")
    told = f"<<function>>{json.dumps(list(map(function, request.tools)))}\n<<question>>" if request.tools else None
    lines = ["\n".join([_GORILLA, *system]) + "\n"]
    for role, text in said:
        if role == "assistant":
            lines.append(f"### Response: {text}\n<|EOT|>\n")
        else:
            lines.append(f"### Instruction: {told or '<<question>> '}{text}\n")
            told = told and "<<question>>"
    return "".join(lines) + "### Response: "


def smollm2(request: Request) -> str:
    """SmolLM2's: ChatML, a line for each tool, and worked examples of the answer as if given before."""
    system, said = _turns(request, "json")
    if request.tools:
        system = [*system, _SMOLLM2 + "\n".join(map(_line, request.tools))]
        said = [*_examples(), *said]
    turns = [("system", "\n".join(system)), *said] if system else said
    return "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns) + "<|im_start|>assistant\n"


def plain(request: Request) -> str:
    """Who says what, for a model that has learnt no form of conversation. Tools are not told."""
    said = ((str(message.get("role")), text_of(message)) for message in request.messages)
    return "".join(f"{role}: {text}\n" for role, text in said) + "assistant:"


WRITERS: Final[Mapping[str, Callable[[Request], str]]] = MappingProxyType({"gorilla": gorilla, "smollm2": smollm2})


def _turns(request: Request, style: str) -> tuple[list[str], list[tuple[str, str]]]:
    """What the system says, and the rest by role: earlier calls in the words of `style`, their results by the user."""
    messages, _ = prompted(replace(request, tools=()), style)
    turns = [(str(message.get("role")), text_of(message)) for message in messages]
    return [text for role, text in turns if role in _SYSTEM], [turn for turn in turns if turn[0] not in _SYSTEM]


def _line(tool: Tool) -> str:
    """A tool in brief. Types are left to the grammar."""
    properties = tool.parameters.get("properties")
    return f"{tool.name}({', '.join(properties if isinstance(properties, Mapping) else ())}): {tool.description}"


def _examples() -> Iterator[tuple[str, str]]:
    for question, calls in _EXAMPLES:
        yield "user", question
        yield "assistant", json.dumps([{"name": name, "arguments": arguments} for name, arguments in calls])
