"""The conversation of a request, read once for all frameworks. What none of them could be told is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_fcall.core.backend import CaseRefused
from pytest_fcall.core.request import AppRequest


@dataclass(frozen=True, slots=True)
class HistoryCall:
    """A call that the assistant has made earlier in the conversation."""

    id: str
    name: str
    arguments: dict[str, Any]

    @property
    def json(self) -> str:
        """The arguments as JSON."""
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class HistoryMessage:
    """A message: what a system message, a user or the assistant said, or the result of a call."""

    role: str
    """`system`, `user`, `assistant` or `tool`."""
    text: str
    images: tuple[str, ...] = ()
    """URLs, most of them with the image inside."""
    calls: tuple[HistoryCall, ...] = ()
    call: HistoryCall | None = None
    """The call that this is the result of."""


@dataclass(frozen=True, slots=True)
class MessageHistory:
    """The conversation so far: what it begins with, what was said, and what the user says now."""

    framework: str
    system: str
    """The system messages at the beginning, as one."""
    earlier: tuple[HistoryMessage, ...]
    now: HistoryMessage | None
    """The user's last message; None where the conversation ends with something else."""

    def refused(self, what: str) -> CaseRefused:
        """The error for what the framework cannot be told."""
        return CaseRefused(
            f"{self.framework} cannot be handed {what}; leave it out of the case, or name a function that hands it on"
        )

    def unfit(self, why: str) -> CaseRefused:
        """The error for an agent that no case can be handed to."""
        return CaseRefused(
            f"an agent of {self.framework} cannot be asked as it is: {why}; name a function that asks it"
        )

    def question(self) -> HistoryMessage:
        """The message of the user now. Raises CaseRefused where it is something else that an agent should answer."""
        if self.now is None:
            raise self.refused("a conversation that does not end with a message of the user")
        return self.now

    def text_alone(self) -> str:
        """The user's text. Raises CaseRefused where there is more than one message of the user without pictures."""
        question = self.question()
        if self.earlier:
            raise self.refused("a conversation of several messages")
        if self.system:
            raise self.refused("a system message")
        return self.without_images(question).text

    def image_inside(self, url: str) -> tuple[str, str]:
        """The media type and the base64 text of a picture. Raises CaseRefused where it is an address."""
        head, _, data = url.partition(",")
        if not (head.startswith("data:") and head.endswith(";base64")):
            raise self.refused("the address of a picture")
        return head.removeprefix("data:").removesuffix(";base64"), data

    def without_images(self, message: HistoryMessage) -> HistoryMessage:
        """The message. Raises CaseRefused where it has pictures."""
        if message.images:
            raise self.refused("a picture")
        return message


def read_history(request: AppRequest, framework: str) -> MessageHistory:
    """The conversation of a request. Raises CaseRefused for what is in no form that an agent could be handed."""
    reader = _Reader(framework)
    messages = [reader.message(message) for message in request.messages]
    first = next((index for index, message in enumerate(messages) if message.role != "system"), len(messages))
    system = "\n\n".join(message.text for message in messages[:first])
    said = messages[first:]
    if said and said[-1].role == "user":
        return MessageHistory(framework, system, tuple(said[:-1]), said[-1])
    return MessageHistory(framework, system, tuple(said), None)


def with_content(request: AppRequest) -> list[dict[str, Any]]:
    """The messages of a request for frameworks that take them as they are, but for a content that is left out."""
    return [{**message, "content": message.get("content") or ""} for message in request.messages]


class _Reader:
    """Reads messages in OpenAI's form, in their order."""

    def __init__(self, framework: str) -> None:
        self._framework = framework
        self._calls: dict[str, HistoryCall] = {}

    def message(self, message: Mapping[str, Any]) -> HistoryMessage:
        role = "system" if message.get("role") == "developer" else message.get("role")
        if role not in ("system", "user", "assistant", "tool"):
            raise self._refused(f"a message of the role {role!r}")
        if message.get("refusal"):
            raise self._refused("a refusal")
        if role != "tool" and message.get("name"):
            raise self._refused("the name of one who speaks")
        text, images = self._content(message.get("content"))
        if images and role != "user":
            raise self._refused(f"a picture in a message of the role {role!r}")
        calls = tuple(self._call(call) for call in message.get("tool_calls") or ())
        return HistoryMessage(role, text, images, calls, self._answered(message) if role == "tool" else None)

    def _content(self, content: object) -> tuple[str, tuple[str, ...]]:
        if content is None or isinstance(content, str):
            return content or "", ()
        texts, images = [], []
        for part in content if isinstance(content, Sequence) else [content]:
            match part:
                case {"type": "text", "text": str(text)}:
                    texts.append(text)
                case {"type": "image_url", "image_url": {"url": str(url)}}:
                    images.append(url)
                case _:
                    kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
                    raise self._refused(f"a part of a message of the type {kind!r}")
        return "".join(texts), tuple(images)

    def _call(self, call: object) -> HistoryCall:
        match call:
            case {"id": str(call_id), "function": {"name": str(name), "arguments": arguments}}:
                try:
                    read = json.loads(arguments) if isinstance(arguments, str) else arguments
                except ValueError:
                    read = None
                if isinstance(read, dict):
                    self._calls[call_id] = HistoryCall(call_id, name, read)
                    return self._calls[call_id]
        raise self._refused("an earlier call without an id, a name, or arguments that are an object")

    def _answered(self, message: Mapping[str, Any]) -> HistoryCall:
        call = self._calls.get(str(message.get("tool_call_id")))
        if call is None:
            raise self._refused(f"a result of the call {message.get('tool_call_id')!r}, which was never made")
        return call

    def _refused(self, what: str) -> CaseRefused:
        return MessageHistory(self._framework, "", (), None).refused(what)
