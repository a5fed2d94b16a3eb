"""Model and tools in turns, until the model stops calling."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pytest_fcall.conversation.messages import named_calls, spoken, spoken_as_text, told, told_as_text
from pytest_fcall.conversation.results import NothingAnswers, Open, Recalling, Results
from pytest_fcall.conversation.trail import after_trail, steps_of_trail
from pytest_fcall.conversation.user import Talk
from pytest_fcall.core.call import Calls
from pytest_fcall.core.case import Case, Turn, World
from pytest_fcall.core.environment import Executed
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.following import Follower, Known
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.transcript import Held, Step, Transcript
from pytest_fcall.core.values import Message


@dataclass(frozen=True, slots=True)
class Ground:
    """What a conversation is handed."""

    ask: Callable[[Request], Awaitable[Reply]]
    """The model; what it raises ends the conversation."""
    decode: Callable[[Reply], Calls]
    follow: Callable[[Expectation | None, Known], Follower]
    """Follows one turn, with the named calls of the turns before."""
    open_environment: Open | None = None
    recall: Recalling | None = None
    """Who knows what calls came to in earlier conversations."""
    talk: Talk | None = None
    """Who goes on talking when the model has answered."""


async def hold(case: Case, first: Request, ground: Ground) -> Transcript:
    """Hold the conversation that begins with the request `first`, as far as it goes.

    It ends after a turn in which something was called that may not be, or not called that must be: what the user
    says next would make no sense. Whether the turns were right is for others to say.
    """
    results = Results(case.world or World(), ground.open_environment, ground.recall)
    dialogue = _Dialogue(case, first, ground, results)
    known: Known = {}
    turns: list[Held] = []
    try:
        for turn in case.turns:
            if turns:
                dialogue.go_on(turn)
            follower = ground.follow(turn.expect, known)
            turns.append(await dialogue.turn(turn, follower))
            known = follower.known
            if turns[-1].end != "answered" or not follower.is_complete:
                break
    finally:
        await results.close()
    return Transcript(tuple(turns))


class _Dialogue:
    """The messages so far, and what they are made with."""

    def __init__(self, case: Case, first: Request, ground: Ground, results: Results) -> None:
        self.messages: list[Message] = [*first.messages]
        self._first = first
        self._case = case
        self._ground = ground
        self._results = results
        self._max_steps = (case.world or World()).max_steps
        self._made = 0
        """Calls so far."""

    def go_on(self, turn: Turn) -> None:
        """Say what begins a turn after the first, and offer what is offered from there on."""
        self.messages += turn.messages
        if turn.tools is not None and not self._case.tools_told:
            self._first = replace(self._first, tools=turn.tools)

    async def turn(self, turn: Turn, follower: Follower) -> Held:
        """Hold one turn; with somebody who goes on talking, until that one has nothing more to say."""
        steps: list[Step] = []
        end = await self._until_answered(steps, follower)
        while end == "answered" and self._ground.talk and (said := await self._ground.talk(self.messages)):
            self.messages.append({"role": "user", "content": said})
            end = await self._until_answered(steps, follower)
        state = await self._results.state([*turn.state]) if turn.state is not None and end == "answered" else None
        return Held(tuple(steps), end, state)

    async def _until_answered(
        self, steps: list[Step], follower: Follower
    ) -> Literal["answered", "step_limit", "stopped"]:
        for _ in range(self._max_steps):
            first = _free(self._first) if steps and steps[-1].calls.calls else self._first
            request = replace(first, messages=tuple(self.messages))
            reply = await self._ground.ask(request)
            calls = self._ground.decode(reply)
            step = Step(request, reply, replace(calls, calls=tuple(named_calls(calls.calls, self._made))))
            self._made += len(calls.calls)
            if reply.trail:
                return self._of_app(step, steps, follower)
            steps.append(step)
            if not _is_whole(step):
                return self._unreadable(step)
            self.messages.append(self._spoken(step))
            if not step.calls.calls:
                return "answered"
            try:
                results = await self._results.of(follower.take(reply, step.calls.calls))
            except NothingAnswers:
                return "stopped"
            follower.answered(results)
            steps[-1] = replace(step, results=tuple(results))
            self.messages += self._told(step, results)
        return "step_limit"

    def _unreadable(self, step: Step) -> Literal["answered", "stopped"]:
        if (self._case.world or World()).unreadable == "stops":
            return "stopped"
        self.messages.append(spoken_as_text(step.reply))
        return "answered"

    def _spoken(self, step: Step) -> Message:
        """A model that is told of its tools in messages has said nothing but text."""
        return spoken_as_text(step.reply) if self._case.tools_told else spoken(step.reply, step.calls)

    def _told(self, step: Step, results: Sequence[Executed]) -> list[Message]:
        calls = step.calls.calls
        return [told_as_text(calls, results)] if self._case.tools_told else told(calls, results)

    def _of_app(self, step: Step, steps: list[Step], follower: Follower) -> Literal["answered", "stopped"]:
        """An app that carried out its calls itself has come to an end with them."""
        for taken in steps_of_trail(step):
            follower.take(taken.reply, taken.calls.calls)
            follower.answered(taken.results)
            self._results.heard(taken.calls.calls, taken.results)
            steps.append(taken)
        self.messages = after_trail(step)
        return "answered" if _is_whole(step) else "stopped"


def _free(request: Request) -> Request:
    """The request without an order to call, which was obeyed: a model that must go on calling could never answer."""
    if request.settings.get("tool_choice") in (None, "auto", "none"):
        return request
    settings = {name: value for name, value in request.settings.items() if name != "tool_choice"}
    return replace(request, settings=settings)


def _is_whole(step: Step) -> bool:
    """Whether it can be gone on from."""
    broken = step.calls.malformed is not None or step.reply.refusal is not None
    return not broken and step.reply.finish not in ("length", "refusal", "content_filter")
