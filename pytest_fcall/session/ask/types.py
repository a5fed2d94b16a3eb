"""Questions to models and the answers to them: plain data that everything in this folder passes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_fcall.backends.wrapper import innermost
from pytest_fcall.core.backend import Backend, Model
from pytest_fcall.core.bounded_text import VolatileError
from pytest_fcall.core.case import Case
from pytest_fcall.core.digests import digest, request_digest
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json
from pytest_fcall.session.ask.volatile import VolatileKeys, VolatilePatterns, volatile_of
from pytest_fcall.session.endings import CaseError
from pytest_fcall.session.models import NamedModel

if TYPE_CHECKING:
    from pytest_fcall.backends.recordings.volatile import LeftOut
    from pytest_fcall.conversation.earlier_conversations import CarriedState
    from pytest_fcall.core.app import AppExchange, AppSpans
    from pytest_fcall.core.conversation import Transcript
    from pytest_fcall.reporting.results import Way


class Asker(NamedTuple):
    """The test that asks: its recordings lie beside its file, and messages name it."""

    file: Path
    case: str
    nodeid: str
    again: str
    """The argument for pytest that runs the test again where one model is named."""
    volatile: VolatilePatterns = MappingProxyType({})
    """Patterns of what is no part of the keys of its requests."""
    wants_spans: bool = False
    """Whether the spans of an app that answers are judged."""
    variant: str = ""
    """The variant of the case that is asked; empty for the case itself."""
    options: str = ""
    """The options of the command line without which the test would not ask this."""

    def for_variant(self, name: str, options: str) -> Asker:
        """The same for a variant of the case, whose recordings are kept apart from those of the case."""
        return self._replace(case=f"{self.case}~{name}", variant=name, options=options)


class Source:
    """One model, ready to be asked. Without a backend of its kind, recordings may still answer for it."""

    __slots__ = ("asks_models", "backend", "id", "is_app", "is_started_here", "keys", "named", "replayable")

    def __init__(self, named: NamedModel, backend: Backend | None) -> None:
        self.named = named
        self.backend = backend
        self.id = named.model.id
        self.keys = VolatileKeys(self.id)
        """The keys of requests of which something is left out."""
        self.is_app = backend is not None and not backend.ahead
        """Whether it is the team's own code in this process, which is called where the test runs."""
        self.replayable = backend is None or backend.reusable
        """Whether a recorded reply may answer in place of the model."""
        self.asks_models = not self.replayable
        """Whether it is an app, which may ask models itself, so that a reply depends on more than the request."""
        self.is_started_here = backend is not None and not getattr(innermost(backend), "started_by_hand", True)
        """Whether it is an app in a process of its own, which the run starts, and so leads to its proxy."""

    @property
    def settings(self) -> Mapping[str, Json]:
        """Settings that are part of every request to the model."""
        return self.backend.settings if self.backend else {}


class Question(NamedTuple):
    """A request, the model that it goes to, and the test that wants the reply."""

    source: Source
    request: Request
    asker: Asker
    digest: str
    """The key under which the reply is recorded."""
    left_out: LeftOut = ()
    """The parts of the request that are no part of the key, as patterns say."""

    @classmethod
    def of(cls, source: Source, request: Request, asker: Asker) -> Question:
        """Make the question. Raises CaseError where the request is no JSON, or a pattern takes too long on it."""
        left_out: LeftOut = ()
        try:
            key = request_digest(source.id, request)
            if asker.volatile and (volatile := volatile_of(asker.volatile, source.named.model)):
                key, left_out = source.keys.key(key, request, asker.again, volatile)
        except VolatileError as too_slow:
            raise CaseError(str(too_slow)) from None
        except (TypeError, ValueError, RecursionError) as error:
            raise CaseError(f"{source.id}: the request cannot be sent: {error}") from None
        # Requests that an app elsewhere sends belong to the case, so its replies are kept apart by case.
        by_case = source.asks_models and not source.is_app
        return cls(source, request, asker, digest([key, asker.again]) if by_case else key, left_out)

    @property
    def model(self) -> Model:
        """The model that is asked."""
        return self.source.named.model


class Conversation(NamedTuple):
    """A conversation about a case that begins with a request, its model, and the test that wants it."""

    case: Case
    source: Source
    first: Request
    asker: Asker

    @property
    def key(self) -> tuple[str, str, int]:
        """Identifies the conversation among those of the session."""
        return self.asker.nodeid, self.asker.variant, self.first.sample

    @property
    def question(self) -> Question:
        """The first request as a question. Raises CaseError as `Question.of` does."""
        return Question.of(self.source, self.first, self.asker)

    def after(self, state: CarriedState, placeholder: str) -> Conversation:
        """The conversation, set up with the state that earlier ones have left."""
        return self._replace(case=state.set_up(self.case), first=state.fill_placeholder(placeholder, self.first))


class AppTrace(NamedTuple):
    """The trace of an app while it came to its answer."""

    exchanges: tuple[AppExchange, ...]
    """The requests that it sent to models, as far as they were answered."""
    way: Way
    detours: tuple[str, ...]
    """Its connections to providers that went around the proxy, each host and place once."""
    faults: tuple[str, ...] = ()
    """The faults of answers that it received, so that its own must not stand for it later."""


class Answer(NamedTuple):
    """A reply, or the replies of a conversation, to a case."""

    reply: Reply
    """The last one of a conversation."""
    asked: bool = True
    """Whether the model gave it, or any part of it, in this run; else all of it comes from recordings."""
    reused: tuple[float, float] | None = None
    """The times of the oldest and the newest recording in it, in seconds since 1970; 0 where a time is not known."""
    transcript: Transcript | None = None
    exchanges: tuple[AppExchange, ...] | None = None
    """Requests that an app sent to models meanwhile; None where they are not known, or it is no app."""
    way: Way = ""
    """The way in which an app came to it."""
    detours: tuple[str, ...] = ()
    """See `AppTrace.detours`."""
    before: Sequence[Reply] = ()
    """Replies in earlier conversations, where they were held for this case."""

    @property
    def spans(self) -> AppSpans | None:
        """The facts that the spans of an app told in all steps; None where they are not known of one of them."""
        told = [reply.spans for reply in self.replies]
        known = [each for each in told if each is not None]
        if len(known) != len(told):
            return None
        from pytest_fcall.core.app import joined_spans

        return joined_spans(known)

    @property
    def replies(self) -> Sequence[Reply]:
        """All replies of the model to the case."""
        return [step.reply for step in self.transcript.steps] if self.transcript else [self.reply]


_MOST_NOTABLE: Final[Sequence[Way]] = ("stored", "unseen", "proxy", "")


def most_notable_way(answers: Sequence[Answer]) -> Way:
    """The way in which an app came to several answers, or to the steps of one: the most notable of all."""
    if len(answers) == 1:
        return answers[0].way
    return min((answer.way for answer in answers), key=_MOST_NOTABLE.index, default="")


def oldest_and_newest(moments: Iterable[float]) -> tuple[float, float] | None:
    """The first and the last of some moments; None of none."""
    known = [*moments]
    return (min(known), max(known)) if known else None
