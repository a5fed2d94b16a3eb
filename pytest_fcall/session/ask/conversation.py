"""Conversations with a model: each is held in an event loop, and its steps and what servers return are recorded."""

from __future__ import annotations

import json
from asyncio import wrap_future
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from pytest_fcall.core.app import AppExchange
from pytest_fcall.core.backend import Unanswered
from pytest_fcall.core.case import Case, with_case_decoder
from pytest_fcall.core.conversation import CallResult, EarlierCases, Follower, NamedCalls
from pytest_fcall.core.digests import canonical, request_digest
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.turn_follower import TurnFollower
from pytest_fcall.session.ask.types import (
    Answer,
    Asker,
    Conversation,
    Question,
    Source,
    most_notable_way,
    oldest_and_newest,
)
from pytest_fcall.session.endings import CaseEnded, CaseError, CaseSkipped, SettingError
from pytest_fcall.session.models import NamedModel, parse_model

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_fcall.conversation.dialogue import ConversationContext, UserMessages
    from pytest_fcall.conversation.earlier_conversations import CarriedState, SharedEnvironment
    from pytest_fcall.conversation.environments.context import StoredResults
    from pytest_fcall.core.backend import Model
    from pytest_fcall.core.conversation import ConversationSettings, Environment, Transcript, User
    from pytest_fcall.session.ask.no_reply import NoReplies
    from pytest_fcall.session.ask.recordings import SessionRecordings
    from pytest_fcall.session.extensions import Registry
    from pytest_fcall.session.settings import EnvironmentSettings


class EarlierState(NamedTuple):
    """The state that earlier conversations have left, and the replies in them if they were held for this test."""

    state: CarriedState
    replies: Sequence[Reply] = ()


@dataclass(frozen=True, slots=True)
class _Started:
    """Earlier conversations that a test has started."""

    nodeid: str
    state: Future[CarriedState] = field(default_factory=Future)


class EarlierConversations:
    """Conversations that come before cases. The first test that needs some holds them; the others wait for the result.

    Tests may wait in any thread. A failure is the failure of all of them.
    """

    def __init__(self, no_replies: NoReplies) -> None:
        self._no_replies = no_replies
        self._lock = Lock()
        self._started: dict[tuple[str, ...], _Started] = {}

    async def of(
        self, earlier: EarlierCases, question: Question, hold: Callable[[], Awaitable[CarriedState]]
    ) -> EarlierState:
        """The result of earlier conversations, for this question. `hold` holds them if no test has started them."""
        key = _key(earlier, question.model, question.request)
        with self._lock:
            known = self._started.get(key)
            started = self._started[key] = known or _Started(question.asker.nodeid)
            if not known:
                started.state.set_running_or_notify_cancel()  # so that a cancelled test does not cancel it for others
        if known:
            return EarlierState(await self._awaited(known, question))
        try:
            state = await hold()
        except BaseException as error:  # CaseEnded is one, and the others wait for any end
            started.state.set_exception(error)
            raise
        started.state.set_result(state)
        return EarlierState(state, [step.reply for transcript in state.transcripts for step in transcript.steps])

    async def _awaited(self, started: _Started, question: Question) -> CarriedState:
        try:
            return await wrap_future(started.state)
        except BaseException:  # CaseEnded is one
            self._no_replies.copy_reason(started.nodeid, question)
            raise


def first_request(case: Case, request: Request) -> Request:
    """The first request of an earlier conversation: with the settings and the sample of the request that needs it."""
    from pytest_fcall.cases.case import plan_request

    said = {name: value for name, value in request.settings.items() if name not in request.proposed}
    return plan_request(case, said, request.sample)


def _key(earlier: EarlierCases, model: Model, request: Request) -> tuple[str, ...]:
    """Identifies the conversations before a request."""
    firsts = (request_digest(model.id, first_request(case, request)) for case in earlier.cases)
    return canonical({**model.options}), *firsts


class ConversationReplies(Protocol):
    """Answers the requests of conversations."""

    def source(self, named: NamedModel) -> Source:
        """The source of a model."""
        ...

    async def answer_async(self, question: Question) -> Answer:
        """Answer a question. Raises CaseEnded where there is no reply."""
        ...

    def results(self, conversation: Conversation) -> RecordedResults:
        """The recorded results of the calls of a conversation, to which new ones may be added."""
        ...

    def recorded_results(self, conversation: Conversation) -> RecordedResults:
        """The same where no server may be asked."""
        ...


@dataclass(frozen=True, slots=True)
class ConversationRunner:
    """Holds conversations."""

    root: Path
    environments: EnvironmentSettings
    registry: Registry
    replies: ConversationReplies
    no_replies: NoReplies
    earlier: EarlierConversations
    notes: dict[str, None] = field(default_factory=dict)
    """Notes on this machine, each sentence once."""

    async def hold(self, conversation: Conversation) -> Answer:
        """Hold a conversation. Raises CaseEnded where it cannot be held."""
        from pytest_fcall.conversation.dialogue import hold_conversation

        answers: list[Answer] = []
        before: Sequence[Reply] = ()
        transcripts: tuple[Transcript, ...] = ()
        if earlier := conversation.case.earlier:
            state, before = await self._before(earlier, conversation)
            conversation, transcripts = conversation.after(state, earlier.placeholder), state.transcripts
        with self._failures_of(conversation, f"{conversation.case.id}: "):
            context = self._context(conversation, answers)
            transcript = await hold_conversation(conversation.case, conversation.first, context)
        whole = replace(transcript, earlier=transcripts)
        return Answer(
            transcript.steps[-1].reply,
            asked=any(each.asked for each in answers),
            reused=oldest_and_newest(moment for each in answers for moment in each.reused or ()),
            transcript=whole,
            exchanges=_exchanges(answers),
            way=most_notable_way(answers),
            detours=tuple(dict.fromkeys(detour for each in answers for detour in each.detours)),
            before=before,
        )

    @contextmanager
    def _failures_of(self, conversation: Conversation, case: str) -> Iterator[None]:
        """End the test with a sentence where the conversation cannot be held. `case` names the case in it."""
        from pytest_fcall.conversation.environments.context import ResultNotRecorded
        from pytest_fcall.conversation.execution.limits import EnvironmentFailed, EnvironmentUnavailable

        try:
            yield
        except ResultNotRecorded as missing:
            self.no_replies.result_not_recorded(conversation.question, str(missing))
        except Unanswered as error:
            self.no_replies.unanswered.add(conversation.asker.nodeid)
            raise CaseError(f"{case}{error}") from None
        except EnvironmentUnavailable as error:
            raise CaseSkipped(str(error)) from None
        except EnvironmentFailed as error:
            raise CaseError(f"{case}{error}") from None

    async def _before(self, earlier: EarlierCases, conversation: Conversation) -> EarlierState:
        """The result of the conversations before it, which are held for the first test that needs them."""
        from pytest_fcall.conversation.earlier_conversations import CarriedState, SharedEnvironment

        async def hold() -> CarriedState:
            state, shared = CarriedState(), SharedEnvironment()
            try:
                for case in earlier.cases:
                    state = await self._next(state, case, earlier.placeholder, conversation, shared)
            finally:
                await shared.close()
            return state

        return await self.earlier.of(earlier, conversation.question, hold)

    async def _next(
        self, state: CarriedState, case: Case, placeholder: str, wanted: Conversation, shared: SharedEnvironment
    ) -> CarriedState:
        """Hold the next of the conversations before the wanted one."""
        from pytest_fcall.conversation.earlier_conversations import CarriedState, hold_earlier_conversation

        conversation = wanted._replace(case=CarriedState().set_up(case), first=first_request(case, wanted.first))
        try:
            with self._failures_of(conversation, ""):
                context = self._context(conversation, [])
                return await hold_earlier_conversation(
                    state, conversation.case, conversation.first, placeholder, context, shared
                )
        except CaseEnded as ended:
            raise type(ended)(f"{case.id}, a conversation before this case: {ended}") from None

    def _context(self, conversation: Conversation, answers: list[Answer]) -> ConversationContext:
        from pytest_fcall.conversation.dialogue import ConversationContext

        case, settings = conversation.case, conversation.case.conversation
        match = MatchContext(case.tools, case.rules, self.registry.comparators)

        def follow(expectation: Expectation | None, calls: NamedCalls) -> Follower:
            return TurnFollower(expectation, match, calls)

        follower: Callable[[Expectation | None, NamedCalls], Follower] = follow
        if case.result_fault is not None:
            from pytest_fcall.matching.turn_follower import recovering_followers

            follower = recovering_followers(follow, case.result_fault)
        return ConversationContext(
            ask=self._asks(conversation.source, conversation.asker, answers),
            decode=lambda reply: decode(with_case_decoder(case, reply), case.tools, self.registry.decoders),
            follower=follower,
            open_environment=self._opens(settings, conversation) if settings and settings.environment else None,
            known_results=self._recalls(settings, conversation) if settings else None,
            user=self._user(settings.user, conversation, answers) if settings and settings.user else None,
        )

    def _asks(self, source: Source, asker: Asker, answers: list[Answer]) -> Callable[[Request], Awaitable[Reply]]:
        async def ask(request: Request) -> Reply:
            answer = await self.replies.answer_async(Question.of(source, request, asker))
            answers.append(answer)
            return answer.reply

        return ask

    def _opens(
        self, settings: ConversationSettings, conversation: Conversation
    ) -> Callable[[], Awaitable[Environment]]:
        async def opened() -> Environment:
            from pytest_fcall.conversation.environments.environment import open_environment

            results = self.replies.results(conversation)
            context = self.environments.context(self.root, conversation.asker.file, results, self.notes.setdefault)
            return await open_environment(settings, conversation.case.tools, context)

        return opened

    def _recalls(self, settings: ConversationSettings, conversation: Conversation) -> StoredResults | None:
        """Results of equal calls in any conversation, where nothing else stands behind the tools."""
        if settings.environment or settings.reuse_results != "always":
            return None
        from pytest_fcall.conversation.environments.context import StoredResults

        return StoredResults(
            {"environment": None, "setup": settings.setup}, self.replies.recorded_results(conversation)
        )

    def _user(self, user: User, conversation: Conversation, answers: list[Answer]) -> UserMessages:
        from pytest_fcall.conversation.dialogue import simulated_user

        source = self._player(user.model, conversation.source) if user.model else conversation.source
        asker = conversation.asker._replace(wants_spans=False)
        return simulated_user(user, self._asks(source, asker, answers), {**source.settings})

    def _player(self, name: str, under_test: Source) -> Source:
        """The model that plays a user; it is asked only where the model under test may be."""
        try:
            model = parse_model(name, "`user`", self.root)
        except SettingError as error:
            raise CaseError(str(error)) from None
        return self.replies.source(NamedModel(model, "fixture", live=under_test.named.live))


def _exchanges(answers: Sequence[Answer]) -> tuple[AppExchange, ...] | None:
    """The requests that an app has sent to models in all its steps."""
    known = [answer.exchanges for answer in answers if answer.exchanges is not None]
    return tuple(exchange for exchanges in known for exchange in exchanges) if known else None


_NO_SAMPLE: Final = -(2**31)
"""Far from every sample of a reply, so that a result is never taken for the nearest reply."""


class RecordedResults:
    """The results of one conversation, which begins with the question `first`."""

    def __init__(self, recordings: SessionRecordings, first: Question, *, offline: bool) -> None:
        self._recordings = recordings
        self._first = first
        self.offline = offline
        self.conversation_key = first.digest

    def find(self, key: str) -> CallResult | None:
        """The recorded result of the call with this key, if it may stand for calling again."""
        question = self._question(key, {})
        recorded = self._recordings.find_result(question, live=not self.offline)
        if recorded is None:
            return None
        self._recordings.mark_used(question)
        return _result(recorded.reply.text)

    def keep(self, key: str, call: Mapping[str, Json], result: CallResult) -> None:
        """Record the result of a call."""
        text = json.dumps({"value": result.value} if result.error is None else {"error": result.error})
        self._recordings.record([(self._question(key, call), Reply(text))])

    def _question(self, key: str, call: Mapping[str, Json]) -> Question:
        request = Request(({"role": "tool", "content": canonical(call)},), sample=_NO_SAMPLE)
        return self._first._replace(request=request, digest=key)


def _result(text: str) -> CallResult | None:
    """The result in a recording; None where the file was changed by hand into something else."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    match data:
        case {"value": value}:
            return CallResult(value)
        case {"error": str(error)}:
            return CallResult(error=error)
    return None
