"""Converse of Amazon Bedrock, as apps use it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pytest_fcall.backends.interfaces.interface import WireInterface
from pytest_fcall.backends.interfaces.stream import Body, Stream
from pytest_fcall.backends.openai.answer_fields import count, finish, items, mapping, text
from pytest_fcall.core.json_data import json_or_text
from pytest_fcall.core.reply import RawCall, Reply, Usage
from pytest_fcall.core.values import Json, Message

_END_OF_STREAM = re.compile(rb"messageStop|metadata|xception")
_MALFORMED = ("malformed_tool_use", "malformed_model_output")
_LENGTH = "model_context_window_exceeded"


def _messages(body: Body) -> Iterator[Message]:
    if body.get("system") is not None:
        yield {"role": "system", "content": _content(body["system"])}
    for message in items(body.get("messages")):
        data = mapping(message)
        yield {**data, "content": _content(data.get("content"))}


def _content(blocks: Json) -> Json:
    """The text of a content, or its blocks where there is more."""
    texts = [
        block.get("text") if isinstance(block, Mapping) and set(block) == {"text"} else block for block in items(blocks)
    ]
    return "".join(str(each) for each in texts) if all(isinstance(each, str) for each in texts) else blocks


def _tool_data(config: Json) -> Iterator[Json]:
    """Each tool in the form that other interfaces have, and whatever else the configuration of tools says."""
    for key, value in mapping(config).items():
        if key != "tools":
            yield {key: value}
            continue
        for tool in items(value):
            spec = mapping(mapping(tool).get("toolSpec"))
            schema = mapping(spec.get("inputSchema")).get("json")
            yield {**spec, "inputSchema": schema} if spec else tool


def _reply(body: Body) -> Reply | None:
    message = mapping(body.get("output")).get("message")
    if not isinstance(message, Mapping):
        return None
    blocks = [mapping(block) for block in items(message.get("content"))]
    reason = text(body.get("stopReason"))
    return Reply(
        text="".join(text(block.get("text")) or "" for block in blocks),
        tool_calls=tuple(_call(mapping(block["toolUse"])) for block in blocks if "toolUse" in block),
        finish="length" if reason == _LENGTH else finish(reason),
        malformed=f"The provider could not read the model's call: {reason}." if reason in _MALFORMED else None,
        usage=_usage(mapping(body.get("usage"))),
    )


def _call(use: Body) -> RawCall:
    return RawCall(use.get("name"), use.get("input"), text(use.get("toolUseId")))


def _usage(data: Body) -> Usage | None:
    """The token counts; input comes in three parts, each of which is counted once."""
    if not data:
        return None
    fresh, cached = count(data.get("inputTokens")), count(data.get("cacheReadInputTokens"))
    written = count(data.get("cacheWriteInputTokens"))
    total = None if fresh is None else fresh + (cached or 0) + (written or 0)
    return Usage(input_tokens=total, output_tokens=count(data.get("outputTokens")), cached_tokens=cached)


def _join_stream(events: Iterable[Body]) -> Body:
    """The message of a stream, whose events are `{TYPE: payload}`."""
    whole: dict[str, Json] = {}
    blocks: dict[int, _Block] = {}
    begun = False
    for kind, value in (item for event in events for item in event.items()):
        payload = mapping(value)
        if kind.startswith("contentBlock"):
            block = blocks.setdefault(count(payload.get("contentBlockIndex")) or 0, _Block())
            block.add(mapping(payload.get("start")), mapping(payload.get("delta")))
        elif kind == "messageStop":
            whole["stopReason"] = payload.get("stopReason")
        elif kind == "metadata":
            whole |= payload
        begun = begun or kind == "messageStart"
    if not begun:
        return whole
    content: list[Json] = [block.whole() for _, block in sorted(blocks.items(), key=lambda item: item[0])]
    return {**whole, "output": {"message": {"role": "assistant", "content": content}}}


@dataclass(slots=True)
class _Block:
    """A block of a message, as far as it has come."""

    use: Body = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)

    def add(self, start: Body, delta: Body) -> None:
        """Add what an event says of the block."""
        self.use = mapping(start.get("toolUse")) or self.use
        self.texts.append(text(delta.get("text")) or "")
        self.inputs.append(text(mapping(delta.get("toolUse")).get("input")) or "")

    def whole(self) -> Json:
        """The block as answers without a stream have it."""
        if self.use:
            arguments = "".join(self.inputs)
            return {"toolUse": {**self.use, "input": json_or_text(arguments) if arguments else {}}}
        said = "".join(self.texts)
        return {"text": said} if said else {}


def _fault(body: Body) -> str:
    if not isinstance(mapping(body.get("output")).get("message"), Mapping):
        return "holds no message"
    return "" if text(body.get("stopReason")) else "has no stopReason, so that it may be cut short"


def _stream_fault(stream: Stream) -> str:
    return "" if any("messageStop" in event for event in stream.events) else "is a stream that ends without messageStop"


BEDROCK_INTERFACE = WireInterface(
    "any:bedrock/",
    _messages,
    frozenset({"system", "messages"}),
    _reply,
    _join_stream,
    _END_OF_STREAM,
    _fault,
    _stream_fault,
    "toolConfig",
    _tool_data,
)
