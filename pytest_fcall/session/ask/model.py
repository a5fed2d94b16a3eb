"""The model under test as a value that cases and plain tests ask: `fc_model("Weather in Oslo?", tools=[...])`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_fcall.core.backend import CaseRefused, request_changes
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json, Message
from pytest_fcall.session.ask.types import Answer, Asker, Conversation, Question, Source
from pytest_fcall.session.endings import CaseError
from pytest_fcall.session.models import HOW_TO_NAME_A_MODEL

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pytest_fcall.core.case import Case
    from pytest_fcall.session.ask.decoded_reply import DecodedReply
    from pytest_fcall.session.ask.replies import Replies


class AskModel:
    """The model under test. It is false where none was named; asking it then says how to name one."""

    def __init__(self, source: Source | None, replies: Replies, asker: Asker) -> None:
        self._source = source
        self._replies = replies
        self._asker = asker

    def __bool__(self) -> bool:
        return self._source is not None

    def __repr__(self) -> str:
        return f"<fc_model {self.id or 'without a model'}>"

    @property
    def id(self) -> str:
        """`KIND:NAME`; empty where no model was named."""
        return self._source.id if self._source else ""

    @property
    def is_app(self) -> bool:
        """Whether the model is the team's own code, in this process."""
        return self._source is not None and self._source.is_app

    @property
    def has_own_tools(self) -> bool:
        """Whether the model is an app, which has tools of its own."""
        return self._source is not None and self._source.asks_models

    @property
    def is_asked(self) -> bool:
        """Whether the model is asked in this run, beside its recordings."""
        return self._source is not None and self._replies.is_asked(self._source)

    def is_recorded(self, request: Request) -> bool:
        """Whether a recorded reply would answer."""
        return self._replies.is_recorded(self._question(request))

    @property
    def replays(self) -> bool:
        """Whether recordings alone answer in this run."""
        return self._replies.replays

    @property
    def why_unavailable(self) -> str:
        """The reason why the model cannot be asked any more; empty where it can."""
        return self._replies.no_replies.unavailable.get(self.id, "")

    def recorded_requests(self, request: Request) -> Sequence[Request]:
        """The requests to the model for the case of the test, as far as they are recorded."""
        return self._replies.recorded_requests(self._question(request))

    @property
    def is_known_to_ask(self) -> bool:
        """Whether it is an app that has asked models, in this run or when something was recorded."""
        return self._source is not None and self._replies.is_known_to_ask(self._source, self._asker)

    def recorded_system_prompts(self, request: Request) -> Mapping[str, str]:
        """The system prompts that are recorded of it for the file of the test, by their digests."""
        return self._replies.recorded_system_prompts(self._question(request))

    @property
    def settings(self) -> Mapping[str, Json]:
        """Settings that are sent with every request, unless the request has its own."""
        return self._source.settings if self._source else {}

    def changes(self, request: Request) -> list[str]:
        """The changes that the backend makes in the request before it sends it, one line each."""
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
        from pytest_fcall.session.ask.decoded_reply import decode_for_test, plain_request

        request = plain_request(prompt, tools, {**self.settings, **settings})
        return decode_for_test(self.answer(request).reply, request, self._replies.decoders)

    async def ask(
        self, prompt: str | Sequence[Message], tools: Iterable[object] = (), **settings: Json
    ) -> DecodedReply:
        """Do what calling does, from an async test."""
        __tracebackhide__ = True
        from pytest_fcall.session.ask.decoded_reply import decode_for_test, plain_request

        request = plain_request(prompt, tools, {**self.settings, **settings})
        answer = await self._replies.answer_async(self._question(request))
        return decode_for_test(answer.reply, request, self._replies.decoders)

    def answer(self, request: Request) -> Answer:
        """Answer a request. Raises CaseEnded where there is no reply."""
        __tracebackhide__ = True
        return self._replies.answer(self._question(request))

    def ask_ahead(self, requests: Sequence[Request]) -> list[Future[Reply]]:
        """Ask for answers that will be wanted later."""
        return self._replies.ask_ahead([self._question(request) for request in requests])

    def for_variant(self, name: str, options: str) -> AskModel:
        """The model as it is asked for a variant of the case, whose recordings are kept apart.

        `options` are those of the command line without which the variant would not be asked.
        """
        return AskModel(self._source, self._replies, self._asker.for_variant(name, options))

    def start(self, case: Case, requests: Sequence[Request]) -> None:
        """Send requests whose answers will be wanted, or begin conversations, where the model can be asked ahead."""
        if case.mode == "conversation":
            source = self._named_source()
            self._replies.converse_ahead(Conversation(case, source, request, self._asker) for request in requests)
        elif requests:
            self.ask_ahead(requests)

    def answers(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer several requests, at the same time where the model can."""
        __tracebackhide__ = True
        questions = [self._question(request) for request in requests]
        if len(questions) > 1:
            self._replies.ask_ahead(questions)
        answers = []
        for question in questions:  # a comprehension would be a frame of its own, which pytest shows
            answers.append(self._replies.answer(question))  # noqa: PERF401
        return answers

    def conversations(self, case: Case, requests: Sequence[Request]) -> list[Answer]:
        """Hold the conversation of a case from each of these requests on, at the same time where the model can."""
        __tracebackhide__ = True
        source = self._named_source()
        conversations = [Conversation(case, source, request, self._asker) for request in requests]
        if len(conversations) > 1:
            self._replies.converse_ahead(conversations)
        answers = []
        for conversation in conversations:
            answers.append(self._replies.converse(conversation))  # noqa: PERF401
        return answers

    def _question(self, request: Request) -> Question:
        return Question.of(self._named_source(), request, self._asker)

    def _named_source(self) -> Source:
        if self._source is None:
            raise CaseError(HOW_TO_NAME_A_MODEL)
        return self._source
