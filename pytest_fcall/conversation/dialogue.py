"""Model and tools in turns, until the model stops calling; a simulated user may continue the conversation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from pytest_fcall.conversation.messages import (
    messages_after_trail,
    reply_message,
    reply_text_message,
    result_messages,
    results_text_message,
    steps_of_trail,
    with_call_ids,
)
from pytest_fcall.conversation.tool_results import EnvironmentOpener, KnownResults, NoResult, ToolResults
from pytest_fcall.core.case import Case, Turn, User, World
from pytest_fcall.core.conversation import CallResult, Follower, HeldTurn, NamedCalls, Step, Transcript
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json, Message

UserTalk: TypeAlias = Callable[[Sequence[Message]], Awaitable[str | None]]
"""Says what comes next, after all that was said; None where there is nothing more to say."""

USER_DONE: Final = "DONE"
_USER_PROMPT: Final = """You play the user of an assistant. What you want: {goal}
Answer the assistant as such a user would, in one or two sentences, and say only what follows from what you want.
Never play the assistant, and never ask it for what you do not want.
Once you have what you want, or it is plain that you will not get it, answer with the single word {over}."""
_SWAPPED_ROLES: Final[Mapping[str, str]] = MappingProxyType({"user": "assistant", "assistant": "user"})


def user_talk(user: User, ask: Callable[[Request], Awaitable[Reply]], settings: Mapping[str, Json]) -> UserTalk:
    """Make who speaks by script, or else by the model that `ask` asks."""
    return _ScriptedUser(user.script) if user.script else _SimulatedUser(user, ask, settings)


class _ScriptedUser:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = list(lines)

    async def __call__(self, _messages: Sequence[Message]) -> str | None:
        return self._lines.pop(0) if self._lines else None


class _SimulatedUser:
    """Sees the conversation from the other side, and nothing of what the model does with its tools."""

    def __init__(self, user: User, ask: Callable[[Request], Awaitable[Reply]], settings: Mapping[str, Json]) -> None:
        self._prompt = _USER_PROMPT.format(goal=user.goal, over=USER_DONE)
        self._ask = ask
        self._settings = settings
        self._left = user.most

    async def __call__(self, messages: Sequence[Message]) -> str | None:
        if not self._left:
            return None
        self._left -= 1
        seen = [turned for message in messages if (turned := _with_swapped_role(message))]
        reply = await self._ask(Request(({"role": "system", "content": self._prompt}, *seen), (), self._settings))
        said = reply.text.strip()
        return None if not said or said.strip(".!*\"' ").upper() == USER_DONE else said


def _with_swapped_role(message: Message) -> Message | None:
    """The message with the roles changed round; None where the user sees nothing of it."""
    role, content = _SWAPPED_ROLES.get(str(message.get("role"))), message.get("content")
    return {"role": role, "content": content} if role and content else None


@dataclass(frozen=True, slots=True)
class ConversationContext:
    """What a conversation is handed."""

    ask: Callable[[Request], Awaitable[Reply]]
    """The model; what it raises ends the conversation."""
    decode: Callable[[Reply], Calls]
    follow: Callable[[Expectation | None, NamedCalls], Follower]
    """Follows one turn, with the named calls of the turns before."""
    open_environment: EnvironmentOpener | None = None
    recall: KnownResults | None = None
    """Who knows what calls came to in earlier conversations."""
    talk: UserTalk | None = None
    """Who goes on talking when the model has answered."""


async def hold_conversation(case: Case, first: Request, ground: ConversationContext) -> Transcript:
    """Hold the conversation that begins with the request `first`, as far as it goes.

    It ends after a turn in which something was called that may not be, or not called that must be: what the user
    says next would make no sense. Whether the turns were right is for others to say.
    """
    results = ToolResults(case.world or World(), ground.open_environment, ground.recall)
    dialogue = _Dialogue(case, first, ground, results)
    known: NamedCalls = {}
    turns: list[HeldTurn] = []
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

    def __init__(self, case: Case, first: Request, ground: ConversationContext, results: ToolResults) -> None:
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
        if turn.tools is not None and not self._case.tools_in_messages:
            self._first = replace(self._first, tools=turn.tools)

    async def turn(self, turn: Turn, follower: Follower) -> HeldTurn:
        """Hold one turn; with somebody who goes on talking, until that one has nothing more to say."""
        steps: list[Step] = []
        end = await self._until_answered(steps, follower)
        while end == "answered" and self._ground.talk and (said := await self._ground.talk(self.messages)):
            self.messages.append({"role": "user", "content": said})
            end = await self._until_answered(steps, follower)
        state = await self._results.state([*turn.state]) if turn.state is not None and end == "answered" else None
        return HeldTurn(tuple(steps), end, state)

    async def _until_answered(
        self, steps: list[Step], follower: Follower
    ) -> Literal["answered", "step_limit", "stopped"]:
        for _ in range(self._max_steps):
            first = _without_tool_choice(self._first) if steps and steps[-1].calls.calls else self._first
            request = replace(first, messages=tuple(self.messages))
            reply = await self._ground.ask(request)
            calls = self._ground.decode(reply)
            step = Step(request, reply, replace(calls, calls=tuple(with_call_ids(calls.calls, self._made))))
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
            except NoResult:
                return "stopped"
            follower.answered(results)
            steps[-1] = replace(step, results=tuple(results))
            self.messages += self._told(step, results)
        return "step_limit"

    def _unreadable(self, step: Step) -> Literal["answered", "stopped"]:
        if (self._case.world or World()).unreadable == "stops":
            return "stopped"
        self.messages.append(reply_text_message(step.reply))
        return "answered"

    def _spoken(self, step: Step) -> Message:
        """A model that is told of its tools in messages has said nothing but text."""
        return reply_text_message(step.reply) if self._case.tools_in_messages else reply_message(step.reply, step.calls)

    def _told(self, step: Step, results: Sequence[CallResult]) -> list[Message]:
        calls = step.calls.calls
        return (
            [results_text_message(calls, results)] if self._case.tools_in_messages else result_messages(calls, results)
        )

    def _of_app(self, step: Step, steps: list[Step], follower: Follower) -> Literal["answered", "stopped"]:
        """An app that carried out its calls itself has come to an end with them."""
        for taken in steps_of_trail(step):
            follower.take(taken.reply, taken.calls.calls)
            follower.answered(taken.results)
            self._results.heard(taken.calls.calls, taken.results)
            steps.append(taken)
        self.messages = messages_after_trail(step)
        return "answered" if _is_whole(step) else "stopped"


def _without_tool_choice(request: Request) -> Request:
    """The request without an order to call, which was obeyed: a model that must go on calling could never answer."""
    if request.settings.get("tool_choice") in (None, "auto", "none"):
        return request
    settings = {name: value for name, value in request.settings.items() if name != "tool_choice"}
    return replace(request, settings=settings)


def _is_whole(step: Step) -> bool:
    """Whether it can be gone on from."""
    broken = step.calls.malformed is not None or step.reply.refusal is not None
    return not broken and step.reply.finish not in ("length", "refusal", "content_filter")
