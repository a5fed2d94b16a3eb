"""Replies to the cases of the leaderboard, judged by its own rules or by ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.call import Calls
from pytest_fcall.core.case import Case
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.fault import Location
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.decoding import decode
from pytest_fcall.matching import judge
from pytest_fcall.matching.bfcl.verdict import verdict_of
from pytest_fcall.suites.bfcl.answers import Answer
from pytest_fcall.suites.bfcl.cases import BfclCase, case_of, exam_of
from pytest_fcall.suites.bfcl.prompt_format import BY_DECODER, USUAL, PromptFormat
from pytest_fcall.suites.bfcl.reading import typed_calls
from pytest_fcall.suites.bfcl.score import official

OFFICIAL_DECODERS: Final[Mapping[str, PromptFormat]] = MappingProxyType(
    {**BY_DECODER, "bfcl_java": USUAL, "bfcl_javascript": USUAL}
)
"""Those that read what the official prompts ask for, and what that is."""


class BfclJudge:
    """Judges one case. What only our rules need is made when they are asked for: it takes most of the time."""

    def __init__(self, row: Mapping[str, Json], place: Location) -> None:
        self._rest = {name: value for name, value in row.items() if name != "function"}
        self._functions = json.dumps(row["function"])  # as text they take a tenth of the memory
        self._place = place

    @property
    def row(self) -> Mapping[str, Json]:
        """The row, as `case_of` reads it."""
        return {**self._rest, "function": json.loads(self._functions)}

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:
        """Judge by the profile of the case."""
        if case.rules.profile == "strict":
            return _strict(case_of(self.row, self._place), case, reply, calls)
        ruling = official(exam_of(self.row), answer_of(reply, calls)).ruling
        expect = case.turns[0].expect or Expectation()
        return replace(verdict_of(ruling, calls, expect), notes=calls.notes)


def answer_of(reply: Reply, calls: Calls) -> Answer:
    """The answer that a reply is, in the form in which the official harness stores it.

    Where another decoder read the text, or a baseline kept the calls, the calls are the answer.
    """
    if asked := OFFICIAL_DECODERS.get(reply.decoder or ""):
        return Answer("prompt", reply.text, asked=asked)
    if reply.decoder is None and reply.tool_calls:
        return Answer("fc", [{str(raw.name): _json_text(raw.arguments)} for raw in reply.tool_calls])
    if calls.calls and calls.malformed is None:
        return Answer("decoded", [{call.name: dict(call.arguments)} for call in calls.calls])
    return Answer("fc" if reply.decoder is None else "undecodable", reply.text)


def answer_of_reply(reply: Reply) -> Json:
    """The answer as a file of results has it: text, or native calls by the names that a wire without dots allows."""
    if reply.decoder is not None or not reply.tool_calls:
        return reply.text
    return [{str(raw.name).replace(".", "_"): _json_text(raw.arguments)} for raw in reply.tool_calls]


def _json_text(arguments: Json) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def read_generously(reply: Reply, calls: Calls, case: Case) -> Calls:
    """The calls of a reply, as carefully read as `fcall score` reads."""
    if OFFICIAL_DECODERS.get(reply.decoder or "") == USUAL:
        calls = decode(replace(reply, decoder="python"), case.tools)
    return typed_calls(reply, calls, case)


def _strict(ours: BfclCase, case: Case, reply: Reply, calls: Calls) -> Verdict:
    """Judge by our rules."""
    return judge(reply, read_generously(reply, calls, ours.case), ours.expect, ours.case.tools, case.rules)
