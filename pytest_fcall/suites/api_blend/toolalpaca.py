"""ToolAlpaca: a row is a service with its functions and many questions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pytest_fcall.core.call import Call
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.strict_json import NotJson, parse
from pytest_fcall.suites.api_blend.sample import Sample, Unknown
from pytest_fcall.suites.json_lines import BrokenRow

# The published answers say `{"id": ${id from search}}` of what comes from elsewhere, some with a stray quote or an open
# bracket, and `"symbols": "symbols": …` of one service.
_HOLE: Final = re.compile(r'(?<=[:,\[])\s*"?\$\{(?P<what>[^{}",]*+)\}?"?')
_TWICE: Final = re.compile(r'("[^"]*+":)\s*+\1')
_UNKNOWN: Final = re.compile(r"\$?\{[^{}]*+\}")


def questions(row: Mapping[str, Json]) -> Iterator[Sample | BrokenRow]:
    """Each question with the one path that is right; one that cannot be read is no hindrance to the others."""
    match row:
        case {"Instructions": list(asked), "Golden_Answers": list(answers), **rest} if len(asked) == len(answers):
            described = rest.get("Function_Description")
            offered = tuple(described) if isinstance(described, Mapping) else ()
            for text, steps in zip(asked, answers, strict=True):
                yield _question(text, steps, tuple(name for name in offered if name != "components"))
        case _:
            raise BrokenRow("it needs `Instructions` and `Golden_Answers`, as many of the one as of the other")


def _question(text: Json, steps: Json, offered: tuple[str, ...]) -> Sample | BrokenRow:
    if not isinstance(text, str) or not text.strip() or not isinstance(steps, list):
        return BrokenRow("an instruction is no text, or its answer no list")
    try:
        return Sample(text, (tuple(map(_call, steps)),), offered)
    except BrokenRow as error:
        return error


def _call(step: Json) -> Call:
    match step:
        case {"Action": str(name), "Action_Input": given}:
            arguments = _read(name, given) if isinstance(given, str) else given
            if isinstance(arguments, Mapping):
                return Call(name, {key: _value(value) for key, value in arguments.items()})
    raise BrokenRow("a step needs `Action` and `Action_Input`, an object")


def _read(name: str, given: str) -> Json:
    mended = _TWICE.sub(r"\1", _HOLE.sub(r'"${\g<what>}"', given))
    for text in (given, mended):
        try:
            return parse(text)[0]
        except NotJson as error:
            why = error
    raise BrokenRow(f"the `Action_Input` of {name:.60} is no JSON: {why}")


def _value(value: Json) -> Json:
    """What holds something unknown is unknown as a whole."""
    if isinstance(value, str) and _UNKNOWN.fullmatch(value):
        return Unknown(value)
    if isinstance(value, list) and any(isinstance(_value(each), Unknown) for each in value):
        return Unknown(", ".join(map(str, value)))
    return value
