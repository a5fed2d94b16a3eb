"""The value of the fixture `fc_wire`: the requests that the app under a plain test sends to models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_fcall.core import AppExchange, Request
from pytest_fcall.core.app import NO_EXCHANGE, why_unread
from pytest_fcall.core.reply import total_usage
from pytest_fcall.session.ask.decoded_reply import CallList, DecodedReply, decoded
from pytest_fcall.session.ask.no_reply import NotRecorded
from pytest_fcall.session.outcomes import CaseError

if TYPE_CHECKING:
    from pytest_fcall.core import Usage
    from pytest_fcall.session.ask.replies import Replies
    from pytest_fcall.session.ask.types import Question


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
        if why := why_unread(self._exchanges):
            raise CaseError(f"fc_wire does not have all replies: {why}")
        answered = [each for each in self._exchanges if each.model]
        return [decoded(each.reply, each.request, self._decoders) for each in answered]

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
        last = replies[-1] if replies else decoded(NO_EXCHANGE, Request(()), self._decoders)
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
