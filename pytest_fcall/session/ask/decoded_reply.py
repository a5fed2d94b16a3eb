"""The reply that a plain test gets, with calls that it may compare, and the requests of its app."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from pytest_fcall.core.app import NO_EXCHANGE, AppExchange, unknown_requests_reason
from pytest_fcall.core.message_text import with_type
from pytest_fcall.core.reply import Call, Reply, total_usage
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json, Message
from pytest_fcall.session.ask.no_reply import NotRecorded
from pytest_fcall.session.endings import CaseError

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Decoder
    from pytest_fcall.core.reply import Usage
    from pytest_fcall.session.ask.replies import Replies
    from pytest_fcall.session.ask.types import Question


class CallList(list[Call]):  # noqa: PLW1641  a list has no hash either
    """A list of calls that equals a list of the same calls, in order and typed: True is not 1, and 1.0 is not 1.

    The other side may write a call as `Call("get_weather", {"city": "Oslo"})`, as `{"get_weather": {"city": "Oslo"}}`
    or as `{"name": "get_weather", "arguments": {"city": "Oslo"}}`. Ids do not count.
    """

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (list, tuple)):
            return NotImplemented
        try:
            calls = call_list(other)
        except TypeError:
            return False
        return len(self) == len(calls) and all(map(_same_call, self, calls))

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal


@dataclass(frozen=True, slots=True)
class DecodedReply(Reply):
    """A reply to a plain test, with its calls decoded."""

    calls: CallList = field(default_factory=CallList)
    request: Request = field(default_factory=lambda: Request(()))


def decode_for_test(reply: Reply, request: Request, decoders: Mapping[str, Decoder]) -> DecodedReply:
    """The reply in the form that plain tests get."""
    from pytest_fcall.decoding.decoders import decode

    calls = decode(reply, request.tools, decoders)
    plain = {each.name: getattr(reply, each.name) for each in fields(Reply)}
    return DecodedReply(**plain | {"malformed": calls.malformed}, calls=CallList(calls.calls), request=request)


def plain_request(prompt: str | Sequence[Message], tools: Iterable[object], settings: dict[str, Json]) -> Request:
    """The request of a plain test. Raises CaseError for something that is no prompt.

    Raises TypeError and SchemaError for something that is no tool, for which pytest shows the line of the test.
    """
    __tracebackhide__ = True
    from pytest_fcall.schema.errors import SchemaError
    from pytest_fcall.schema.sources.python_tools import tool_from_object

    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    if not (isinstance(messages, Sequence) and all(isinstance(message, Mapping) for message in messages)):
        raise CaseError(
            "a prompt must be a text, or a list of messages such as {'role': 'user', 'content': 'Weather in Oslo?'}"
        )
    if isinstance(tools, (str, Mapping)) or not isinstance(tools, Iterable):
        raise TypeError(f"tools must be a list, such as tools=[get_weather], and not {with_type(tools)}")
    try:
        return Request(tuple(messages), tuple(map(tool_from_object, tools)), settings)
    except SchemaError as error:
        raise error.with_traceback(None) from None


def call_list(items: Iterable[object]) -> CallList:
    """Read calls in any of the forms that a test may write. Raises TypeError for what is none."""
    return CallList(map(_call, items))


def _call(item: object) -> Call:
    if isinstance(item, Call):
        return item
    if isinstance(item, Mapping):
        if item.keys() == {"name", "arguments"} and isinstance(item["arguments"], Mapping):
            return Call(item["name"], item["arguments"])
        if len(item) == 1:
            name, arguments = next(iter(item.items()))
            if isinstance(name, str) and (arguments is None or isinstance(arguments, Mapping)):
                return Call(name, arguments or {})
    raise TypeError(f"{item!r:.100} is no call; write {{'tool name': {{'argument': value}}}}")


def _same_call(one: Call, other: Call) -> bool:
    return one.name == other.name and same(one.arguments, other.arguments)


def same(one: object, other: object) -> bool:
    """Equal, and of the same type at every level."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


class AppWire:
    """The requests that the app has sent to models so far in this test, and the replies to them."""

    def __init__(self, exchanges: Sequence[AppExchange], replies: Replies) -> None:
        self._exchanges = exchanges
        self._decoders = replies.decoders

    def __repr__(self) -> str:
        return f"<fc_wire: {sum(bool(each.model) for each in self._exchanges)} replies>"

    @property
    def replies(self) -> list[DecodedReply]:
        """The replies, in order; the `request` of each is what the app sent, `request.settings["model"]` the model.

        Raises CaseError where the app also sent requests that are not read.
        """
        if why := unknown_requests_reason(self._exchanges):
            raise CaseError(f"fc_wire does not have all replies: {why}")
        answered = [each for each in self._exchanges if each.model]
        return [decode_for_test(each.reply, each.request, self._decoders) for each in answered]

    @property
    def calls(self) -> CallList:
        """The calls of all replies, in order: `assert fc_wire.calls == [{"search": {"to": "Oslo"}}]`."""
        return CallList(call for reply in self.replies for call in reply.calls)

    @property
    def usage(self) -> Usage | None:
        """The tokens of all replies; None where they are unknown."""
        return total_usage(reply.usage for reply in self.replies)

    def whole(self) -> DecodedReply:
        """All replies as one: the last, with the calls of all, and all tools that were offered."""
        replies = self.replies
        tools = {tool.name: tool for reply in replies for tool in reply.request.tools}
        last = replies[-1] if replies else decode_for_test(NO_EXCHANGE, Request(()), self._decoders)
        request = Request(last.request.messages, tuple(tools.values()), last.request.settings)
        return replace(last, calls=self.calls, request=request)


@contextmanager
def collected_wire(replies: Replies, question: Question) -> Iterator[AppWire]:
    """Let what an app sends belong to the question of a plain test. Ends the test where a request was not answered."""
    try:
        with replies.collect_exchanges(question) as active:
            yield AppWire(() if active is None else active, replies)
            trace = None if active is None else active.trace()
    except NotRecorded as missing:
        replies.no_replies.request_not_recorded(question, missing)
    except Exception as error:  # `failed` tells the kinds apart, and raises unknown ones again
        replies.no_replies.failed(question, error)
    else:
        if trace:
            replies.note_trace(question, trace)
