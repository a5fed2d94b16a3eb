"""A script: what a model says in answer to a case, turn by turn; and the verdict of the case on it."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias, TypeVar

from pytest_fcall.conversation.dialogue import ConversationContext, hold_conversation
from pytest_fcall.core.case import Case
from pytest_fcall.core.conversation import CallResult, Environment, NamedCalls, Transcript
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.reply import Call, Calls, Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.matching.transcript import judge_transcript
from pytest_fcall.matching.turn_follower import TurnFollower
from pytest_fcall.schema.errors import SchemaError

ScriptStep: TypeAlias = tuple[Call, ...]
"""The calls of one reply."""
_T = TypeVar("_T")
LAST_WORDS = "Done."
"""The answer of a model that has nothing more to say, where the case expects no text."""
UNKNOWN_RESULT = CallResult({"ok": True})
"""The result of a call that nothing in the case defines, as in a run."""


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """The replies of one turn: those with calls, in order, and the text of the last one."""

    steps: tuple[ScriptStep, ...] = ()
    text: str = ""

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls of the turn."""
        return tuple(call for step in self.steps for call in step)


Script: TypeAlias = tuple[ScriptedTurn, ...]


class CallPlace(NamedTuple):
    """The place of a call in a script."""

    turn: int
    step: int
    number: int


def call_places(script: Script) -> Iterator[tuple[CallPlace, Call]]:
    """Every call of a script with its place."""
    for turn, scripted in enumerate(script):
        for number, step in enumerate(scripted.steps):
            for index, call in enumerate(step):
                yield CallPlace(turn, number, index), call


def with_turn(script: Script, turn: int, scripted: ScriptedTurn) -> Script:
    """The script with another turn."""
    return (*script[:turn], scripted, *script[turn + 1 :])


def with_step(script: Script, place: CallPlace, step: ScriptStep) -> Script:
    """The script with other calls in the reply at `place`; a reply that is left without calls is gone."""
    scripted = script[place.turn]
    steps = scripted.steps[: place.step] + ((step,) if step else ()) + scripted.steps[place.step + 1 :]
    return with_turn(script, place.turn, replace(scripted, steps=steps))


def with_call(script: Script, place: CallPlace, call: Call) -> Script:
    """The script with another call at `place`."""
    step = script[place.turn].steps[place.step]
    return with_step(script, place, (*step[: place.number], call, *step[place.number + 1 :]))


def judge_script(script: Script, case: Case, context: MatchContext) -> Verdict:
    """Judge what a script says. Never raises, as the functions that judge runs."""
    if case.mode == "conversation":
        return judge_transcript(_transcript(script, case, context), case.turns, context)
    (turn,), (said,) = case.turns, script
    calls = said.calls
    reply = Reply("" if calls else said.text)
    if case.judge is not None:
        return case.judge(case, reply, Calls(calls))
    return judge_turn(reply, Calls(calls), turn, context)


class SureRefusals:
    """Finds scripts that no expectation accepts: with a call of a tool that is not offered, or that its schema refuses.

    They are many, and to explain in full what is wrong with them takes most of the time of judging.
    """

    def __init__(self, case: Case, context: MatchContext) -> None:
        own_rules = case.judge is not None or case.rules.profile != "strict"
        self._turns = [] if own_rules else [n for n, turn in enumerate(case.turns) if turn.expect is not None]
        self._context = context
        self._known: dict[int, tuple[Call, bool]] = {}
        """By the id of a call, which is kept so that no other can get its id."""

    def covers(self, script: Script) -> bool:
        """Whether a script is surely refused."""
        return any(self._is_refused(call) for turn in self._turns for call in script[turn].calls)

    def _is_refused(self, call: Call) -> bool:
        key = id(call)
        if key not in self._known:
            self._known[key] = call, self._breaks_schema(call)
        return self._known[key][1]

    def _breaks_schema(self, call: Call) -> bool:
        try:
            schema = self._context.schema(call.name)
        except SchemaError:
            return False
        return bool(self._context.tools) if schema is None else not schema.allows(call.arguments)


def _transcript(script: Script, case: Case, context: MatchContext) -> Transcript:
    """The conversation in which the model follows the script."""
    said = _Said(script)

    def follow(expectation: Expectation | None, known: NamedCalls) -> TurnFollower:
        return TurnFollower(expectation, context, known)

    settings = case.conversation
    surroundings = ConversationContext(
        ask=said.ask,
        decode=said.decode,
        follower=follow,
        open_environment=_open if settings and settings.environment else None,
    )
    return _result(hold_conversation(case, Request(case.turns[0].messages, case.tools), surroundings))


class _Said:
    """A model that follows a script, and the decoder of its replies."""

    def __init__(self, script: Script) -> None:
        self._replies = _replies(script)
        self._calls = Calls()

    async def ask(self, _request: Request) -> Reply:
        """Give the next reply."""
        text, self._calls = next(self._replies, (LAST_WORDS, Calls()))
        return Reply(text)

    def decode(self, _reply: Reply) -> Calls:
        """Give the calls of the last reply."""
        return self._calls


def _replies(script: Script) -> Iterator[tuple[str, Calls]]:
    for turn in script:
        yield from (("", Calls(step)) for step in turn.steps)
        yield turn.text, Calls()


class _Nothing:
    """An environment of which nothing is known but that it answers."""

    async def call(self, _tool: str, _arguments: Mapping[str, Json]) -> CallResult:
        """Give the same result to each call."""
        return UNKNOWN_RESULT

    async def state(self, _names: Sequence[str] | None = None) -> CallResult:
        """Give no state."""
        return CallResult({})

    async def close(self) -> None:
        """Release nothing."""


async def _open() -> Environment:
    return _Nothing()


def _result(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """The result of a coroutine that waits for nothing, so that it needs no event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: _T = end.value
        return result
    raise RuntimeError("a scripted conversation waits for something")
