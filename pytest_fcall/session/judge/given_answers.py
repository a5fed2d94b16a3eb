"""Answers that are given already, judged as if the model gave them in a run. No model is asked."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_fcall.backends.apps.answers.answer import reply_of
from pytest_fcall.core.case import Case, asks_judge_model, with_case_decoder
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.matching.turn_follower import TurnFollower
from pytest_fcall.session.ask.types import Answer

if TYPE_CHECKING:
    from pytest_fcall.core.conversation import NamedCalls, Transcript
    from pytest_fcall.core.expectation import Expectation
    from pytest_fcall.core.verdict import Verdict
    from pytest_fcall.matching.context import MatchContexts
    from pytest_fcall.session.extensions import Registry
    from pytest_fcall.session.judge.verdict import CaseJudge

_T = TypeVar("_T")


class UndecidedAnswer(Exception):
    """An answer does not decide about its case, though nothing in it is wrong. The text says why."""


def undecided_reason(case: Case) -> str:
    """The reason why no answer alone decides the case; empty where one does."""
    settings = case.conversation
    if asks_judge_model(case):
        return "a model judges them (`$judge`)"
    if case.wire is not None:
        return "they expect requests of an app to its models (`wire`)"
    if case.spans is not None:
        return "they expect spans of an app (`spans`)"
    if settings is not None and settings.user is not None:
        return "a simulated user takes part"
    if case.result_fault is not None:
        return "results are faulty on purpose (`faults`), which an answer that was logged has not met"
    results = (call.result for call in case.expected_calls)
    is_known = not any(turn.state is not None or turn.result is not None for turn in case.turns)
    if not is_known or any(result is not None for result in results):
        return "they expect results of calls, or a state (`result`, `state`)"
    return "they need conversations before them" if case.earlier is not None else ""


def without_surroundings(case: Case) -> Case:
    """The case without what would be called or loaded beside the model: its environment, and a choice of tools."""
    settings = None if case.conversation is None else replace(case.conversation, environment=None)
    return replace(case, conversation=settings, retrieve=None)


class GivenAnswers:
    """Judges answers to one case, each by itself."""

    __slots__ = ("_case", "_contexts", "_judge", "_registry", "_request")

    def __init__(
        self, case: Case, request: Request, judge: CaseJudge, registry: Registry, contexts: MatchContexts
    ) -> None:
        self._case = case
        self._request = request
        self._judge = judge
        self._registry = registry
        self._contexts = contexts

    def verdict(self, replies: Sequence[object]) -> Verdict:
        """The verdict on an answer: a value that an app may return for each request, or a Reply.

        Raises AnswerError where one cannot be read, and Undecided where the case goes on behind the last one, or ends
        before it.
        """
        given = iter(replies)
        if self._case.mode == "conversation":
            transcript = _finished(self._held(given))
            answer = Answer(transcript.steps[-1].reply, asked=False, transcript=transcript)
        else:
            answer = Answer(_next_reply(given, self._request), asked=False)
        verdict = self._judge.judge([answer])[0].verdict
        if verdict.valid and any(True for _ in given):
            raise UndecidedAnswer("the case ended before the last stored reply")
        return verdict

    async def _held(self, given: Iterator[object]) -> Transcript:
        from pytest_fcall.conversation.dialogue import ConversationContext, hold_conversation

        case, registry = self._case, self._registry
        match = self._contexts.of(case.tools, case.rules, registry.comparators)

        async def ask(request: Request) -> Reply:
            return _next_reply(given, request)

        def follow(expectation: Expectation | None, calls: NamedCalls) -> TurnFollower:
            return TurnFollower(expectation, match, calls)

        context = ConversationContext(
            ask=ask,
            decode=lambda reply: decode(with_case_decoder(case, reply), case.tools, registry.decoders),
            follower=follow,
        )
        return await hold_conversation(case, self._request, context)


def _next_reply(given: Iterator[object], request: Request) -> Reply:
    for reply in given:
        return reply_of(reply, request.messages)
    raise UndecidedAnswer(
        "the case goes on behind what is stored: store all messages as its `reply`, or all its replies in order as "
        "`replies`"
    )


def _finished(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """The result of a coroutine that waits for nothing, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: _T = end.value
        return result
    finally:
        coroutine.close()
    raise RuntimeError("a conversation of stored replies waits for something")
