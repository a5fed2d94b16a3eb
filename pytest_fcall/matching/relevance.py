"""What a reply is before its calls are looked at: whole, cut off, refused, unreadable or empty."""

from __future__ import annotations

from pytest_fcall.core.call import Calls
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.verdict import Reason


def broken_reply(reply: Reply, calls: Calls) -> list[Reason]:
    """Say why the reply is not a whole answer; nothing where it is one."""
    found: list[Reason] = []
    if calls.malformed is not None:
        found.append(Reason("malformed", "reply", calls.malformed))
    if reply.finish == "length":
        message = "The reply was cut off at the length limit (`max_tokens`), so that it is not whole."
        found.append(Reason("truncated", "reply", message, got=reply.finish))
    if reply.refusal is not None or reply.finish == "refusal":
        words = f": {reply.refusal[:200]!r}" if reply.refusal else "."
        found.append(Reason("refused", "reply", f"The model refused to answer{words}", got=reply.refusal))
    elif reply.finish == "content_filter":
        message = "The provider's content filter stopped the reply."
        found.append(Reason("refused", "reply", message, got=reply.finish))
    return found


def empty_reply(reply: Reply, calls: Calls) -> list[Reason]:
    """Say that a reply without calls says nothing at all, which is no clean abstention."""
    if calls.calls or reply.text.strip():
        return []
    return [Reason("malformed", "reply", "The reply is empty: it holds neither text nor a call.", got=reply.text)]
