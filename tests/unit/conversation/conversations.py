"""Conversations with a model that says what it is told to say."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

from pytest_fcall.cases.case import plan_request
from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.conversation.dialogue import ConversationContext, hold_conversation
from pytest_fcall.core import (
    CallResult,
    Case,
    Environment,
    Expectation,
    Follower,
    Json,
    Message,
    NamedCalls,
    RawCall,
    Reply,
    Request,
    Transcript,
    Verdict,
)
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.transcript import judge_transcript
from pytest_fcall.matching.turn_follower import TurnFollower

TOOLS = """
tools:
  - {name: search, parameters: {type: object, properties: {to: {type: string}}, required: [to]}}
  - {name: book, parameters: {type: object, properties: {flight: {type: string}}, required: [flight]}}
  - {name: cancel, parameters: {type: object, properties: {booking: {type: string}}, required: [booking]}}
cases:
  - id: case
"""

Say = str | Reply | Sequence[tuple[str, Mapping[str, Json]]]
"""A text, calls, or a whole reply."""


def case_of(folder: Path, text: str, tools: str = TOOLS) -> Case:
    """The one case of a file."""
    path = folder / "one.fc.yaml"
    path.write_text(tools + "".join(f"    {line}\n" for line in dedent(text).strip().splitlines()), encoding="utf-8")
    file = read_case_file(path, root=folder)
    assert not file.faults, [fault.message for fault in file.faults]
    (case,) = file.entries
    assert isinstance(case, Case)
    return case


@dataclass
class Model:
    """Says one thing after the other, and keeps what it was asked. Out of words, it says `Done.`"""

    says: Sequence[Say]
    asked: list[Request] = field(default_factory=list)

    async def ask(self, request: Request) -> Reply:
        said = self.says[len(self.asked)] if len(self.asked) < len(self.says) else "Done."
        self.asked.append(request)
        if isinstance(said, Reply):
            return said
        if isinstance(said, str):
            return Reply(said)
        return Reply(tool_calls=tuple(RawCall(name, arguments) for name, arguments in said), finish="tool_calls")

    @property
    def told(self) -> Sequence[Message]:
        """The messages that it saw last."""
        return self.asked[-1].messages


@dataclass
class MemoryStore:
    """An environment that counts."""

    calls: list[str] = field(default_factory=list)
    closed: bool = False

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        self.calls.append(tool)
        return (
            CallResult({"number": len(self.calls)}) if tool != "cancel" else CallResult(error="it cannot be cancelled")
        )

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        return CallResult({"calls": [*self.calls]})

    async def close(self) -> None:
        self.closed = True


def held(case: Case, model: Model, environment: Environment | None = None) -> tuple[Transcript, Verdict]:
    """Hold the conversation, and judge it."""

    async def opened() -> Environment:
        assert environment is not None
        return environment

    exam = MatchContext(case.tools, case.rules)

    def follow(expectation: Expectation | None, known: NamedCalls) -> Follower:
        return TurnFollower(expectation, exam, known)

    context = ConversationContext(
        model.ask, lambda reply: decode(reply, case.tools), follow, opened if environment else None
    )
    transcript = asyncio.run(hold_conversation(case, plan_request(case), context))
    return transcript, judge_transcript(transcript, case.turns, exam)
