"""The value of the fixture `fc_model`: a model that can be asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from types import FunctionType
from typing import TYPE_CHECKING, TypeGuard

import pytest

from pytest_fcall.backends.apps.python import PythonBackend
from pytest_fcall.core import (
    Backend,
    Case,
    CaseRefused,
    FaultyCase,
    Json,
    Message,
    Model,
    Reply,
    Request,
    request_changes,
)
from pytest_fcall.decoding import decode
from pytest_fcall.plugin.models import HOW_TO_NAME_ONE, NamedModel, named_models, parse_model
from pytest_fcall.schema.sources.python_tools import tool_from_object
from pytest_fcall.session.ask.call_list import CallList
from pytest_fcall.session.ask.conversation import Conversation
from pytest_fcall.session.ask.replies import Answer, Replies, replies
from pytest_fcall.session.ask.source import Asker, Question, Source
from pytest_fcall.session.outcomes import fail

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pytest_fcall.core.extension import Decoder


@dataclass(frozen=True, slots=True)
class DecodedReply(Reply):
    """A reply to a plain test, its calls read out."""

    calls: CallList = field(default_factory=CallList)
    request: Request = field(default_factory=lambda: Request(()))


class UnresolvedModel:
    """Stands for the model that is named for a test, until it is known which test that is."""


class AskModel:
    """The model under test. It is false where none was named; asking it then says how to name one."""

    def __init__(self, source: Source | None, answering: Replies, asker: Asker) -> None:
        self._source = source
        self._answering = answering
        self._asker = asker

    def __bool__(self) -> bool:
        return self._source is not None

    def __repr__(self) -> str:
        return f"<fc_model {self.id or 'without a model'}>"

    @property
    def id(self) -> str:
        """`KIND:NAME`; empty where no model was named."""
        return self._source.named.model.id if self._source else ""

    @property
    def is_app(self) -> bool:
        """Whether it is the team's own code, in this process."""
        return self._source is not None and self._source.is_app

    @property
    def settings(self) -> Mapping[str, Json]:
        """What is sent along with every request, unless the request says otherwise."""
        return self._source.settings if self._source else {}

    def changes(self, request: Request) -> list[str]:
        """What is sent otherwise than the request has it, one line each."""
        backend = self._source.backend if self._source else None
        with suppress(CaseRefused):
            return [*request_changes(backend, request)] if backend else []
        return []

    def __call__(self, prompt: str | Sequence[Message], tools: Iterable[object] = (), **settings: Json) -> DecodedReply:
        """Ask, and wait for the reply.

        `prompt` is what the user says, or a list of messages in OpenAI's form. `tools` are functions, Pydantic
        models, dicts in any provider's shape, or Tools. `settings` are sent along, such as `temperature=0`.
        """
        __tracebackhide__ = True
        request = plain_request(prompt, tools, {**self.settings, **settings})
        return self._decoded(self.answer(request), request)

    async def ask(
        self, prompt: str | Sequence[Message], tools: Iterable[object] = (), **settings: Json
    ) -> DecodedReply:
        """Do what calling does, from an async test."""
        __tracebackhide__ = True
        request = plain_request(prompt, tools, {**self.settings, **settings})
        answer = await self._answering.answer_async(self._question(request))
        return self._decoded(answer, request)

    def answer(self, request: Request) -> Answer:
        """Answer a request; the test ends in words where there is no reply to be had."""
        __tracebackhide__ = True
        return self._answering.answer(self._question(request))

    def ask_ahead(self, requests: Sequence[Request]) -> list[Future[Reply]]:
        """Ask for answers that will be wanted later."""
        __tracebackhide__ = True
        return self._answering.ask_ahead([self._question(request) for request in requests])

    def answers(self, requests: Sequence[Request]) -> list[Answer]:
        """Do so for several, at the same time where the model can."""
        __tracebackhide__ = True
        questions = [self._question(request) for request in requests]
        if len(questions) > 1:
            self._answering.ask_ahead(questions)
        answers = []
        for question in questions:  # a comprehension would be a frame of its own, and shown
            answers.append(self._answering.answer(question))  # noqa: PERF401
        return answers

    def conversations(self, case: Case, requests: Sequence[Request]) -> list[Answer]:
        """Hold the conversation of a case once from each of these requests on, at the same time where the model can."""
        __tracebackhide__ = True
        held = [self._conversation(case, request) for request in requests]
        if len(held) > 1:
            self._answering.converse_ahead(held)
        answers = []
        for conversation in held:
            answers.append(self._answering.converse(conversation))  # noqa: PERF401
        return answers

    def _conversation(self, case: Case, first: Request) -> Conversation:
        __tracebackhide__ = True
        if self._source is None:
            fail(HOW_TO_NAME_ONE)
        return Conversation(case, self._source, first, self._asker)

    def _question(self, request: Request) -> Question:
        __tracebackhide__ = True
        if self._source is None:
            fail(HOW_TO_NAME_ONE)
        return Question.of(self._source, request, self._asker)

    def _decoded(self, answer: Answer, request: Request) -> DecodedReply:
        return decoded(answer.reply, request, self._answering.decoders)


def decoded(reply: Reply, request: Request, decoders: Mapping[str, Decoder]) -> DecodedReply:
    """A reply as plain tests get it."""
    calls = decode(reply, request.tools, decoders)
    plain = {each.name: getattr(reply, each.name) for each in fields(Reply)}
    return DecodedReply(**plain | {"malformed": calls.malformed}, calls=CallList(calls.calls), request=request)


def plain_request(prompt: str | Sequence[Message], tools: Iterable[object], settings: dict[str, Json]) -> Request:
    """Put what a plain test asks into a Request. What is no prompt ends the test."""
    __tracebackhide__ = True
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    if not (isinstance(messages, Sequence) and all(isinstance(message, Mapping) for message in messages)):
        fail("a prompt is a text, or a list of messages such as {'role': 'user', 'content': 'Weather in Oslo?'}")
    return Request(tuple(messages), tuple(map(tool_from_object, tools)), settings)


def model_of_test(request: pytest.FixtureRequest) -> AskModel:
    """The model that is named for the test that asks for the fixture `fc_model`."""
    config = request.config
    named: NamedModel | None = getattr(request, "param", None) or getattr(request.node, "named", None)
    if named is None:
        named = next(iter(named_models(config)), None)
    source = replies(config).source(named) if named else None
    return AskModel(source, replies(config), asker_of(request.node))


def model_from_fixture(value: object, request: pytest.FixtureRequest) -> AskModel:
    """Take what a fixture `fc_model` gave: a model, its name, a function, a back end, or nothing."""
    __tracebackhide__ = True
    if isinstance(value, AskModel):
        return value
    if isinstance(value, UnresolvedModel):
        return model_of_test(request)
    source: Source | None = None
    if isinstance(value, str):
        try:
            model = parse_model(value, "the fixture fc_model", request.config.rootpath)
        except pytest.UsageError as error:
            fail(str(error))
        source = replies(request.config).source(NamedModel(model, "fixture", live=True))
    elif _is_backend(value):
        source = Source(_named_after(value), value)
    elif callable(value):
        source = Source(_named_after(value), PythonBackend(lambda: value))
    elif value is not None:
        fail(
            f"the fixture fc_model gave a {type(value).__name__}; it may give a function, KIND:NAME, a back end, or "
            "what it got itself from the plugin's fc_model"
        )
    return AskModel(source, replies(request.config), asker_of(request.node))


def _is_backend(value: object) -> TypeGuard[Backend]:
    return hasattr(value, "complete") and hasattr(value, "close")


def _named_after(thing: object) -> NamedModel:
    named = thing if isinstance(thing, FunctionType) else type(thing)
    return NamedModel(Model("python", f"{named.__module__}:{named.__qualname__}"), "fixture", live=True)


def asker_of(node: pytest.Item) -> Asker:
    """Say who asks. A case goes by its name without the model's, as recordings and a run of one model have it."""
    case: Case | FaultyCase | None = getattr(node, "case", None)
    name = case.id if case else getattr(node, "originalname", node.name)
    again = f"{node.parent.nodeid}::{name}" if case and node.parent else node.nodeid
    return Asker(node.path, name, node.nodeid, again)
