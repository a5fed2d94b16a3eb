"""Conversations with a model: each is held in an event loop, and its steps are asked for like requests."""

from __future__ import annotations

from asyncio import wrap_future
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import pytest

from pytest_fcall.core import (
    AppExchange,
    Case,
    EarlierCases,
    Expectation,
    Follower,
    NamedCalls,
    Reply,
    Request,
    Unanswered,
    canonical,
    request_digest,
)
from pytest_fcall.decoding import decode
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.turn_follower import TurnFollower
from pytest_fcall.plugin.models import NamedModel, parse_model
from pytest_fcall.session.ask.environments import environment_ground
from pytest_fcall.session.ask.source import Asker, Question, Source
from pytest_fcall.session.extensions import registry
from pytest_fcall.session.outcomes import fail

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_fcall.conversation.dialogue import ConversationContext, UserTalk
    from pytest_fcall.conversation.earlier_conversations import CarriedState, SharedEnvironment
    from pytest_fcall.conversation.environments import StoredResults
    from pytest_fcall.core import Environment, Model, Transcript, User, World
    from pytest_fcall.session.ask.no_reply import MissingReplies
    from pytest_fcall.session.ask.replies import Answer, Replies


class EarlierResult(NamedTuple):
    """What earlier conversations have left, and what was said in them if they were held for the one who asks."""

    left: CarriedState
    said: Sequence[Reply] = ()


@dataclass(frozen=True, slots=True)
class _Started:
    """Conversations that a test has begun."""

    nodeid: str
    left: Future[CarriedState] = field(default_factory=Future)


class EarlierConversations:
    """Whoever needs some first holds them, and all others wait, in whatever thread. A failure is everybody's."""

    def __init__(self, lacking: MissingReplies) -> None:
        self._lacking = lacking
        self._lock = Lock()
        self._begun: dict[tuple[str, ...], _Started] = {}

    async def of(
        self, earlier: EarlierCases, question: Question, hold: Callable[[], Awaitable[CarriedState]]
    ) -> EarlierResult:
        """What they have left, for this question. They are held by `hold` where nobody has begun to."""
        __tracebackhide__ = True
        key = _key(earlier, question.model, question.request)
        with self._lock:
            known = self._begun.get(key)
            begun = self._begun[key] = known or _Started(question.asker.nodeid)
            if not known:
                begun.left.set_running_or_notify_cancel()  # so that nobody who is given up ends it for others
        if known:
            return EarlierResult(await self._awaited(known, question))
        try:
            left = await hold()
        except BaseException as error:
            begun.left.set_exception(error)
            raise
        begun.left.set_result(left)
        return EarlierResult(left, [step.reply for transcript in left.transcripts for step in transcript.steps])

    async def _awaited(self, begun: _Started, question: Question) -> CarriedState:
        __tracebackhide__ = True
        try:
            return await wrap_future(begun.left)
        except BaseException:
            self._lacking.likewise(begun.nodeid, question)
            raise


def first_request(case: Case, asked: Request) -> Request:
    """The first request of an earlier conversation: with the settings of what is asked, and for the same sample."""
    from pytest_fcall.cases.case import plan_request

    return plan_request(case, asked.settings, asked.sample)


def _key(earlier: EarlierCases, model: Model, asked: Request) -> tuple[str, ...]:
    """Tells what is held before a request from what else may be."""
    firsts = (request_digest(model.id, first_request(case, asked)) for case in earlier.cases)
    return canonical({**model.options}), *firsts


class Conversation(NamedTuple):
    """A case to be held from its first request on, with whom, and the test that wants it."""

    case: Case
    source: Source
    first: Request
    asker: Asker

    @property
    def key(self) -> tuple[str, int]:
        """Names it among those of a session."""
        return self.asker.nodeid, self.first.sample

    def on(self, left: CarriedState, slot: str) -> Conversation:
        """The conversation on what earlier ones have left."""
        return self._replace(case=left.to(self.case), first=left.in_place_of(slot, self.first))


@dataclass(frozen=True, slots=True)
class ConversationRunner:
    """Holds conversations with what a session has."""

    config: pytest.Config
    answering: Replies

    async def hold(self, conversation: Conversation) -> Answer:
        """Hold it. What ends the test is raised, as asking for a single reply would."""
        from pytest_fcall.conversation.dialogue import hold_conversation
        from pytest_fcall.session.ask.replies import Answer

        __tracebackhide__ = True
        heard: list[Answer] = []
        said: Sequence[Reply] = ()
        earlier: tuple[Transcript, ...] = ()
        if conversation.case.earlier:
            left, said = await self._before(conversation.case.earlier, conversation)
            conversation, earlier = conversation.on(left, conversation.case.earlier.slot), left.transcripts
        with self._in_words(conversation):
            transcript = await hold_conversation(
                conversation.case, conversation.first, self._ground(conversation, heard)
            )
        whole = replace(transcript, earlier=earlier)
        return Answer(transcript.steps[-1].reply, _oldest_recording(heard), whole, _inner_requests(heard), said)

    @contextmanager
    def _in_words(self, conversation: Conversation) -> Iterator[None]:
        """End the test in words where it cannot be held."""
        from pytest_fcall.conversation.environments import EnvironmentFailed, EnvironmentUnavailable, ResultNotRecorded

        __tracebackhide__ = True
        try:
            yield
        except ResultNotRecorded as missing:
            self.answering.lacking.no_result(conversation, str(missing))
        except Unanswered as error:
            self.answering.lacking.unanswered.add(conversation.asker.nodeid)
            fail(f"{conversation.case.id}: {error}")
        except EnvironmentUnavailable as error:
            pytest.skip(str(error))
        except EnvironmentFailed as error:
            fail(f"{conversation.case.id}: {error}")

    async def _before(self, earlier: EarlierCases, conversation: Conversation) -> EarlierResult:
        """What the conversations before it have left; they are held for the first that wants it."""
        from pytest_fcall.conversation.earlier_conversations import CarriedState, SharedEnvironment

        async def held() -> CarriedState:
            left, shared = CarriedState(), SharedEnvironment()
            try:
                for case in earlier.cases:
                    left = await self._next(left, case, earlier.slot, conversation, shared)
            finally:
                await shared.close()
            return left

        __tracebackhide__ = True
        return await self.answering.earlier.of(earlier, Question.of(*conversation[1:]), held)

    async def _next(
        self, left: CarriedState, case: Case, slot: str, wanted: Conversation, shared: SharedEnvironment
    ) -> CarriedState:
        """Hold one more of those before what is wanted."""
        from pytest_fcall.conversation.earlier_conversations import CarriedState, hold_earlier

        __tracebackhide__ = True
        conversation = wanted._replace(case=CarriedState().to(case), first=first_request(case, wanted.first))
        try:
            with self._in_words(conversation):
                ground = self._ground(conversation, [])
                return await hold_earlier(left, conversation.case, conversation.first, slot, ground, shared)
        except (pytest.fail.Exception, pytest.skip.Exception) as error:
            said = str(error.msg).removeprefix(f"{case.id}: ")
            raise type(error)(f"{case.id}, which is held before it: {said}", pytrace=False) from None

    def _ground(self, conversation: Conversation, heard: list[Answer]) -> ConversationContext:
        from pytest_fcall.conversation.dialogue import ConversationContext

        case, known = conversation.case, registry(self.config)
        exam = MatchContext(case.tools, case.rules, known.comparators)

        def follow(expectation: Expectation | None, names: NamedCalls) -> Follower:
            return TurnFollower(expectation, exam, names)

        return ConversationContext(
            ask=self._asks(conversation.source, conversation.asker, heard),
            decode=lambda reply: decode(with_case_decoder(case, reply), case.tools, known.decoders),
            follow=follow,
            open_environment=self._opens(case.world, conversation) if case.world and case.world.environment else None,
            recall=self._recalls(case.world, conversation) if case.world else None,
            talk=self._talk(case.world.user, conversation, heard) if case.world and case.world.user else None,
        )

    def _asks(self, source: Source, asker: Asker, heard: list[Answer]) -> Callable[[Request], Awaitable[Reply]]:
        async def ask(request: Request) -> Reply:
            __tracebackhide__ = True
            answer = await self.answering.answer_async(Question.of(source, request, asker))
            heard.append(answer)
            return answer.reply

        return ask

    def _opens(self, world: World, conversation: Conversation) -> Callable[[], Awaitable[Environment]]:
        async def opened() -> Environment:
            from pytest_fcall.conversation.environments import open_environment

            ground = environment_ground(self.config, conversation.asker.file, self.answering.results(conversation))
            return await open_environment(world, conversation.case.tools, ground)

        return opened

    def _recalls(self, world: World, conversation: Conversation) -> StoredResults | None:
        """What calls came to in whatever conversation, where nothing else stands behind the tools."""
        if world.environment or world.kept != "for_ever":
            return None
        from pytest_fcall.conversation.environments import StoredResults

        return StoredResults({"environment": None, "setup": world.setup}, self.answering.recorded_results(conversation))

    def _talk(self, user: User, conversation: Conversation, heard: list[Answer]) -> UserTalk:
        from pytest_fcall.conversation.dialogue import user_talk

        source = self._player(user.model, conversation.source) if user.model else conversation.source
        return user_talk(user, self._asks(source, conversation.asker, heard), {**source.settings})

    def _player(self, name: str, under_test: Source) -> Source:
        """The model that plays a user; it is asked only where the model under test may be."""
        try:
            model = parse_model(name, "`user`", self.config.rootpath)
        except pytest.UsageError as error:
            fail(str(error))
        return self.answering.source(NamedModel(model, "fixture", live=under_test.named.live))


def with_case_decoder(case: Case, reply: Reply) -> Reply:
    """The reply, to be read by the case's own decoder if it names one."""
    return replace(reply, decoder=case.decoder) if case.decoder else reply


def _oldest_recording(heard: Sequence[Answer]) -> float | None:
    """When the oldest reply was recorded, where none was given now."""
    known = [answer.recorded for answer in heard if answer.recorded is not None]
    return min(known) if known and len(known) == len(heard) else None


def _inner_requests(heard: Sequence[Answer]) -> tuple[AppExchange, ...] | None:
    """What an app asked of models in all its steps."""
    known = [answer.inside for answer in heard if answer.inside is not None]
    return tuple(inner for inside in known for inner in inside) if known else None
