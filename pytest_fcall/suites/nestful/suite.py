"""NESTFUL as a suite: questions that are answered by calls with references to the results of earlier ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.case import Case, FaultyCase, Turn
from pytest_fcall.core.expectation import Expectation, ExpectedCall, Profile, Rules
from pytest_fcall.core.extension import About, Part
from pytest_fcall.core.operators import Operator
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.decoding.research.nestful import decode
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.suites.json_files import broken_case, count_rows, required_path
from pytest_fcall.suites.nestful.files import (
    HOW_TO_GET_IT,
    NestfulPrompt,
    NestfulQuestion,
    find_questions,
    read_questions,
)
from pytest_fcall.suites.nestful.rule import NO_CALL, score_answer

_SETTINGS: Final[Mapping[str, Json]] = MappingProxyType({"temperature": 0, "max_tokens": 1000})
_SCORES: Final = ("partial_match", "full_match", "parsing_errors")


class NestfulSuite:
    """The questions of the second version, in the prompt that the original has for chat models."""

    def about(self, path: Path | None) -> About:
        """Return the number of cases and the origin of the data."""
        file = find_questions(path)
        try:
            number = count_rows(file) if file else None
        except OSError:
            number = None
        return About(
            title="NESTFUL",
            licence="Apache-2.0",
            origin=HOW_TO_GET_IT,
            place=str(path) if file else None,
            parts=(Part("v2", number, note="calls are compared, and not executed"),),
        )

    def profile(self) -> Profile:
        """Return the default profile, that of the original rule."""
        return "original"

    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Yield all cases. The prompt holds the functions."""
        if part not in ("", "v2"):
            raise ValueError(f"no part {part!r:.60} in suite nestful; available: v2")
        prompt = NestfulPrompt(required_path(path, "nestful", HOW_TO_GET_IT))
        for question in read_questions(path):
            if isinstance(question, FaultyCase):
                yield question
                continue
            try:
                yield _case(question, prompt.messages(question))
            except RecursionError:
                yield broken_case(question.id, question.location, "nested too deeply")

    def scores(self, _: Case) -> Mapping[str, Sequence[str]]:
        """Return the scores of the original that are sums of those of cases."""
        return {"nestful": _SCORES}


def _case(question: NestfulQuestion, messages: tuple[Message, ...]) -> Case:
    right = decode(json.dumps([call for call in question.right if call["name"] != NO_CALL])).calls
    expected = tuple(ExpectedCall(call.name, call.arguments) for call in right)
    # Any text is right, as the judge reads it; asked for, it is kept with the calls, which do not hold all of it.
    turn = Turn(messages, Expectation(stages=(expected,), order="strict", parallel="free"), Operator("ignore", True))
    return Case(
        id=question.id,
        location=question.location,
        turns=(turn,),
        tools=tuple(_tools(question.tools)),
        rules=Rules("original"),
        category="nestful",
        tags=("nestful",),
        proposed_settings=_SETTINGS,
        decoder="nestful",
        tools_in_messages=True,
        judge=NestfulJudge(question),
    )


def _tools(functions: Json) -> Iterator[Tool]:
    """Functions with the names of their arguments, which may be anything: references stand for values."""
    for function in functions if isinstance(functions, list) else ():
        if isinstance(function, Mapping):
            known = function.get("parameters")
            slots: dict[str, Json] = {name: {} for name in (known if isinstance(known, Mapping) else ())}
            description = str(function.get("description") or "")
            yield Tool(str(function.get("name")), description, {"type": "object", "properties": slots})


class NestfulJudge:
    """Judges the answers to one question."""

    def __init__(self, question: NestfulQuestion) -> None:
        self._right = question.right

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:
        """Judge a reply. By the original rule it is right if all calls are, in their places."""
        if case.turns[0].answer is None:  # a baseline without the text
            return Verdict(True)
        text = reply.text if reply.decoder is not None or not calls.calls else _text(calls)
        scored = score_answer(self._right, text, "json")
        scores = {
            "partial_match": (scored.partial, 1.0),
            "full_match": (float(scored.full), 1.0),
            "parsing_errors": (float(not scored.readable), 1.0),
        }
        if case.rules.profile == "strict":
            verdict = judge_turn(reply, calls, case.turns[0], MatchContext(case.tools, case.rules))
            return replace(verdict, scores=scores)
        if scored.full:
            return Verdict(True, notes=calls.notes, scores=scores)
        reason = (
            Reason("wrong_value", "calls", f"{scored.partial:.0%} of the sequence of calls is right, not all of it.")
            if scored.readable
            else Reason("malformed", "reply", "The answer is not a JSON list of calls.")
        )
        return Verdict(False, (reason,), notes=calls.notes, scores=scores)


def _text(calls: Calls) -> str:
    return json.dumps([{"name": call.name, "arguments": dict(call.arguments)} for call in calls.calls])
