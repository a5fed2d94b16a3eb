"""Conversations on their way: each is held in an event loop, and its steps are asked for like requests."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import pytest

from pytest_fcall.core import Case, Expectation, Follower, Inner, Known, Reply, Request, Unanswered
from pytest_fcall.decoding import decode
from pytest_fcall.matching import Exam, Following
from pytest_fcall.plugin.earlier import Before, first_of
from pytest_fcall.plugin.extensions import registry
from pytest_fcall.plugin.models import NamedModel, parse_model
from pytest_fcall.plugin.sources import Asker, Question, Source
from pytest_fcall.plugin.words import fail
from pytest_fcall.plugin.worlds import environment_ground

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from pytest_fcall.conversation.dialogue import Ground
    from pytest_fcall.conversation.earlier import Left, Shared
    from pytest_fcall.conversation.environments import Recall
    from pytest_fcall.conversation.user import Talk
    from pytest_fcall.core import Earlier, Environment, Transcript, User, World
    from pytest_fcall.plugin.answering import Answer, Answering


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

    def on(self, left: Left, slot: str) -> Conversation:
        """The conversation on what earlier ones have left."""
        return self._replace(case=left.to(self.case), first=left.in_place_of(slot, self.first))


@dataclass(frozen=True, slots=True)
class Conversing:
    """Holds conversations with what a session has."""

    config: pytest.Config
    answering: Answering

    async def hold(self, conversation: Conversation) -> Answer:
        """Hold it. What ends the test is raised, as asking for a single reply would."""
        from pytest_fcall.conversation.dialogue import hold
        from pytest_fcall.plugin.answering import Answer

        __tracebackhide__ = True
        heard: list[Answer] = []
        said: Sequence[Reply] = ()
        earlier: tuple[Transcript, ...] = ()
        if conversation.case.earlier:
            left, said = await self._before(conversation.case.earlier, conversation)
            conversation, earlier = conversation.on(left, conversation.case.earlier.slot), left.transcripts
        with self._in_words(conversation):
            transcript = await hold(conversation.case, conversation.first, self._ground(conversation, heard))
        whole = replace(transcript, earlier=earlier)
        return Answer(transcript.steps[-1].reply, _recorded(heard), whole, _inside(heard), said)

    @contextmanager
    def _in_words(self, conversation: Conversation) -> Iterator[None]:
        """End the test in words where it cannot be held."""
        from pytest_fcall.conversation.environments import NotRecorded, WorldFailed, WorldLacking

        __tracebackhide__ = True
        try:
            yield
        except NotRecorded as missing:
            self.answering.lacking.no_result(conversation, str(missing))
        except Unanswered as error:
            self.answering.lacking.unanswered.add(conversation.asker.nodeid)
            fail(f"{conversation.case.id}: {error}")
        except WorldLacking as error:
            pytest.skip(str(error))
        except WorldFailed as error:
            fail(f"{conversation.case.id}: {error}")

    async def _before(self, earlier: Earlier, conversation: Conversation) -> Before:
        """What the conversations before it have left; they are held for the first that wants it."""
        from pytest_fcall.conversation.earlier import Left, Shared

        async def held() -> Left:
            left, shared = Left(), Shared()
            try:
                for case in earlier.cases:
                    left = await self._next(left, case, earlier.slot, conversation, shared)
            finally:
                await shared.close()
            return left

        __tracebackhide__ = True
        return await self.answering.earlier.of(earlier, Question.of(*conversation[1:]), held)

    async def _next(self, left: Left, case: Case, slot: str, wanted: Conversation, shared: Shared) -> Left:
        """Hold one more of those before what is wanted."""
        from pytest_fcall.conversation.earlier import Left, hold_next

        __tracebackhide__ = True
        conversation = wanted._replace(case=Left().to(case), first=first_of(case, wanted.first))
        try:
            with self._in_words(conversation):
                ground = self._ground(conversation, [])
                return await hold_next(left, conversation.case, conversation.first, slot, ground, shared)
        except (pytest.fail.Exception, pytest.skip.Exception) as error:
            said = str(error.msg).removeprefix(f"{case.id}: ")
            raise type(error)(f"{case.id}, which is held before it: {said}", pytrace=False) from None

    def _ground(self, conversation: Conversation, heard: list[Answer]) -> Ground:
        from pytest_fcall.conversation.dialogue import Ground

        case, known = conversation.case, registry(self.config)
        exam = Exam(case.tools, case.rules, known.comparators)

        def follow(expectation: Expectation | None, names: Known) -> Follower:
            return Following(expectation, exam, names)

        return Ground(
            ask=self._asks(conversation.source, conversation.asker, heard),
            decode=lambda reply: decode(as_case_says(case, reply), case.tools, known.decoders),
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

    def _recalls(self, world: World, conversation: Conversation) -> Recall | None:
        """What calls came to in whatever conversation, where nothing else stands behind the tools."""
        if world.environment or world.kept != "for_ever":
            return None
        from pytest_fcall.conversation.environments import Recall

        return Recall({"environment": None, "setup": world.setup}, self.answering.recorded_results(conversation))

    def _talk(self, user: User, conversation: Conversation, heard: list[Answer]) -> Talk:
        from pytest_fcall.conversation.user import talk_of

        source = self._player(user.model, conversation.source) if user.model else conversation.source
        return talk_of(user, self._asks(source, conversation.asker, heard), {**source.settings})

    def _player(self, name: str, under_test: Source) -> Source:
        """The model that plays a user; it is asked only where the model under test may be."""
        try:
            model = parse_model(name, "`user`", self.config.rootpath)
        except pytest.UsageError as error:
            fail(str(error))
        return self.answering.source(NamedModel(model, "fixture", live=under_test.named.live))


def as_case_says(case: Case, reply: Reply) -> Reply:
    """The reply, to be read by the case's own decoder if it names one."""
    return replace(reply, decoder=case.decoder) if case.decoder else reply


def _recorded(heard: Sequence[Answer]) -> float | None:
    """When the oldest reply was recorded, where none was given now."""
    known = [answer.recorded for answer in heard if answer.recorded is not None]
    return min(known) if known and len(known) == len(heard) else None


def _inside(heard: Sequence[Answer]) -> tuple[Inner, ...] | None:
    """What an app asked of models in all its steps."""
    known = [answer.inside for answer in heard if answer.inside is not None]
    return tuple(inner for inside in known for inner in inside) if known else None
