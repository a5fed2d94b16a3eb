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
from pytest_fcall.conversation.tool_results import (
    EnvironmentOpener,
    FaultyToolResults,
    KnownResults,
    NoResult,
    ToolResults,
)
from pytest_fcall.core.case import Case, Turn
from pytest_fcall.core.conversation import (
    CallResult,
    ConversationSettings,
    Follower,
    NamedCalls,
    Step,
    Transcript,
    TranscriptTurn,
    User,
)
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json, Message

UserMessages: TypeAlias = Callable[[Sequence[Message]], Awaitable[str | None]]
"""Gives the user's next message, given all messages so far; None when the user is done."""

USER_DONE: Final = "DONE"
_USER_PROMPT: Final = """You play the user of an assistant. What you want: {goal}
Answer the assistant as such a user would, in one or two sentences, and say only what follows from what you want.
Never play the assistant, and never ask it for what you do not want.
Once you have what you want, or it is plain that you will not get it, answer with the single word {over}."""
_SWAPPED_ROLES: Final[Mapping[str, str]] = MappingProxyType({"user": "assistant", "assistant": "user"})


@dataclass(frozen=True, slots=True)
class ConversationContext:
    """The functions that a conversation needs from outside: model, decoder, follower, environment and user."""

    ask: Callable[[Request], Awaitable[Reply]]
    """Asks the model. An exception ends the conversation."""
    decode: Callable[[Reply], Calls]
    follower: Callable[[Expectation | None, NamedCalls], Follower]
    """Makes the follower of a turn, given the named calls of the turns before."""
    open_environment: EnvironmentOpener | None = None
    known_results: KnownResults | None = None
    """Results of calls in earlier conversations."""
    user: UserMessages | None = None
    """The simulated user, who may reply when the model has answered."""


async def hold_conversation(case: Case, first: Request, context: ConversationContext) -> Transcript:
    """Hold the conversation that begins with the request `first`, and return its transcript.

    It ends early after a turn in which a forbidden call was made or a required one is missing: the user's next message
    would make no sense there. The turns are not judged here.
    """
    settings = case.conversation or ConversationSettings()
    results = _tool_results(case, settings, context)
    dialogue = _Dialogue(case, settings, first, context, results)
    known: NamedCalls = {}
    turns: list[TranscriptTurn] = []
    try:
        for turn in case.turns:
            if turns:
                dialogue.begin_turn(turn)
            follower = context.follower(turn.expect, known)
            turns.append(await dialogue.hold_turn(turn, follower))
            known = follower.known
            if turns[-1].end != "answered" or not follower.is_complete:
                break
    finally:
        await results.close()
    return Transcript(tuple(turns))


def _tool_results(case: Case, settings: ConversationSettings, context: ConversationContext) -> ToolResults:
    if case.result_fault is None:
        return ToolResults(settings, context.open_environment, context.known_results)
    return FaultyToolResults(case.result_fault, settings, context.open_environment, context.known_results)


class _Dialogue:
    """The messages of one conversation so far, and what produces the next ones."""

    def __init__(
        self,
        case: Case,
        settings: ConversationSettings,
        first: Request,
        context: ConversationContext,
        results: ToolResults,
    ) -> None:
        self._messages: list[Message] = [*first.messages]
        self._first = first
        self._case = case
        self._settings = settings
        self._context = context
        self._results = results
        self._call_count = 0

    def begin_turn(self, turn: Turn) -> None:
        """Add the messages and the tools of a turn after the first."""
        self._messages += turn.messages
        if turn.tools is not None and not self._case.tools_in_messages:
            self._first = replace(self._first, tools=turn.tools)

    async def hold_turn(self, turn: Turn, follower: Follower) -> TranscriptTurn:
        """Hold one turn; a simulated user may prolong it."""
        steps: list[Step] = []
        end = await self._until_answered(steps, follower)
        user = self._context.user
        while end == "answered" and user is not None and (text := await user(self._messages)):
            self._messages.append({"role": "user", "content": text})
            end = await self._until_answered(steps, follower)
        state = await self._results.state([*turn.state]) if turn.state is not None and end == "answered" else None
        return TranscriptTurn(tuple(steps), end, state)

    async def _until_answered(
        self, steps: list[Step], follower: Follower
    ) -> Literal["answered", "step_limit", "stopped"]:
        for _ in range(self._settings.max_steps):
            first = _without_tool_choice(self._first) if steps and steps[-1].calls.calls else self._first
            request = replace(first, messages=tuple(self._messages))
            reply = await self._context.ask(request)
            calls = self._context.decode(reply)
            step = Step(request, reply, replace(calls, calls=tuple(with_call_ids(calls.calls, self._call_count))))
            self._call_count += len(calls.calls)
            if reply.trail:
                return self._take_app_steps(step, steps, follower)
            steps.append(step)
            if not _can_continue(step):
                if self._settings.unreadable == "stops":
                    return "stopped"
                self._messages.append(reply_text_message(reply))
                return "answered"
            self._messages.append(self._reply_message(step))
            if not step.calls.calls:
                return "answered"
            try:
                results = await self._results.results(follower.follow(reply, step.calls.calls))
            except NoResult:
                return "stopped"
            if self._case.injection is not None:
                results = self._case.injection.results(step.calls.calls, results)
            follower.record_results(results)
            steps[-1] = replace(step, results=tuple(results))
            self._messages += self._result_messages(step, results)
        return "step_limit"

    def _reply_message(self, step: Step) -> Message:
        """The reply as a message. Where the tools are described in messages, calls are plain text."""
        return reply_text_message(step.reply) if self._case.tools_in_messages else reply_message(step.reply, step.calls)

    def _result_messages(self, step: Step, results: Sequence[CallResult]) -> list[Message]:
        calls = step.calls.calls
        return (
            [results_text_message(calls, results)] if self._case.tools_in_messages else result_messages(calls, results)
        )

    def _take_app_steps(self, step: Step, steps: list[Step], follower: Follower) -> Literal["answered", "stopped"]:
        """Take over the steps of an app, which has carried out its calls itself."""
        for taken in steps_of_trail(step):
            follower.follow(taken.reply, taken.calls.calls)
            follower.record_results(taken.results)
            self._results.record(taken.calls.calls, taken.results)
            steps.append(taken)
        self._messages = messages_after_trail(step)
        return "answered" if _can_continue(step) else "stopped"


def _without_tool_choice(request: Request) -> Request:
    """The request without a forced call: after it was obeyed once, the model must be free to answer."""
    if request.settings.get("tool_choice") in (None, "auto", "none"):
        return request
    settings = {name: value for name, value in request.settings.items() if name != "tool_choice"}
    return replace(request, settings=settings)


def _can_continue(step: Step) -> bool:
    """Whether the reply is complete and readable, so that the conversation can go on from it."""
    broken = step.calls.malformed is not None or step.reply.refusal is not None
    return not broken and step.reply.finish not in ("length", "refusal", "content_filter")


def simulated_user(
    user: User, ask: Callable[[Request], Awaitable[Reply]], settings: Mapping[str, Json]
) -> UserMessages:
    """Make the simulated user: by the script of the case, or else by the model that `ask` asks."""
    return _ScriptedUser(user.script) if user.script else _SimulatedUser(user, ask, settings)


class _ScriptedUser:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = iter(lines)

    async def __call__(self, _messages: Sequence[Message]) -> str | None:
        return next(self._lines, None)


class _SimulatedUser:
    """A model that plays the user. It sees the conversation with roles swapped, without tool calls."""

    def __init__(self, user: User, ask: Callable[[Request], Awaitable[Reply]], settings: Mapping[str, Json]) -> None:
        self._prompt: Message = {"role": "system", "content": _USER_PROMPT.format(goal=user.goal, over=USER_DONE)}
        self._ask = ask
        self._settings = settings
        self._remaining = user.most

    async def __call__(self, messages: Sequence[Message]) -> str | None:
        if not self._remaining:
            return None
        self._remaining -= 1
        seen = [swapped for message in messages if (swapped := _with_swapped_role(message))]
        reply = await self._ask(Request((self._prompt, *seen), (), self._settings))
        text = reply.text.strip()
        return None if not text or text.strip(".!*\"' ").upper() == USER_DONE else text


def _with_swapped_role(message: Message) -> Message | None:
    """The message with the other role; None for a message that the user does not see."""
    role, content = _SWAPPED_ROLES.get(str(message.get("role"))), message.get("content")
    return {"role": role, "content": content} if role and content else None
