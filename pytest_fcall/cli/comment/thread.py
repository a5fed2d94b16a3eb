"""The comments of a pull request or merge request, and the one among them that is ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from pytest_fcall.cli.comment.api import LONGEST_WAIT, ApiError, HostApi, Unavailable, open_api
from pytest_fcall.core.values import Json

WAITS: tuple[float, ...] = (1.0, 4.0)
"""Seconds before a server is asked again that names none."""
_PAGE: Final = 100
_MOST_PAGES: Final = 50
_MOST_SECONDS: Final = 300.0


class NoThread(Exception):
    """There is nowhere to write to. The text says why, without a subject."""


@dataclass(frozen=True, slots=True)
class Thread:
    """The addresses and fields of the comments of one pull request, in the API of its host."""

    host: str
    """GitHub or GitLab."""
    name: str
    """The pull request in words."""
    headers: Mapping[str, str] = field(repr=False)
    """Those of every request, with the token."""
    comments: str
    """The address of the comments."""
    order: str
    """The query by which they are listed, oldest first."""
    comment: str
    """The address of a comment, without its number."""
    update: str
    """The method by which a comment is replaced."""
    author: tuple[str, str]
    """The fields of a comment with the name of its author."""
    own_name: Callable[[HostApi], Awaitable[Json]]
    """Asks for the name that the token's comments bear."""
    page: Callable[[Mapping[str, Json]], str]
    """The page of a comment that was written."""
    job: str
    """The page of this job; empty where it is not known."""


async def write_comment(thread: Thread, body: str) -> str:
    """Replace our comment, or write it, and return its address. Raises ApiError."""
    try:
        async with asyncio.timeout(_MOST_SECONDS), open_api(thread.host, thread.headers) as api:
            return await _attempts(api, thread, body)
    except TimeoutError:
        raise ApiError(f"{thread.host} has taken more than {_MOST_SECONDS:g} s") from None


async def _attempts(api: HostApi, thread: Thread, body: str) -> str:
    """Each attempt looks for the comment anew: a server that failed may have written it all the same."""
    for wait in WAITS:
        try:
            return await _write(api, thread, body)
        except Unavailable as error:
            seconds = wait if error.wait is None else error.wait
            if seconds > LONGEST_WAIT:
                raise
        await asyncio.sleep(seconds)
    return await _write(api, thread, body)


async def _write(api: HostApi, thread: Thread, body: str) -> str:
    own = [number async for number in _own_comments(api, thread, body.partition("\n")[0])]
    if own:
        task, method, address = f"replace the comment on {thread.name}", thread.update, f"{thread.comment}{own[0]}"
    else:
        task, method, address = f"take a comment on {thread.name}", "POST", thread.comments
    written = await api.ask(task, method, address, {"body": body})
    for number in own[1:]:  # two jobs may have written at the same moment
        await api.ask(f"remove a second comment on {thread.name}", "DELETE", f"{thread.comment}{number}")
    return thread.page(written) if isinstance(written, Mapping) else ""


async def _own_comments(api: HostApi, thread: Thread, marker: str) -> AsyncIterator[int]:
    """The numbers of the comments that begin with the marker and are ours, oldest first.

    What another person has written is never taken for ours, whatever it says: its author could change it afterwards.
    """
    own_name = await thread.own_name(api)
    if not isinstance(own_name, str) or not own_name:
        raise ApiError(f"{thread.host} does not say whose token it is, so no comment is known as its own")
    for page in range(1, _MOST_PAGES + 1):
        address = f"{thread.comments}?{thread.order}per_page={_PAGE}&page={page}"
        found = await api.ask(f"list the comments on {thread.name}", "GET", address)
        if not isinstance(found, list):
            raise ApiError(f"{thread.host} does not list the comments on {thread.name}: its answer is no list")
        for each in found:
            number = field_of(each, "id")
            if field_of(each, *thread.author) == own_name and isinstance(number, int):
                text = field_of(each, "body")
                if isinstance(text, str) and _is_marked(text, marker):
                    yield number
        if len(found) < _PAGE:
            return
    raise ApiError(f"{thread.name} has more than {_PAGE * _MOST_PAGES:,} comments")


def _is_marked(text: str, marker: str) -> bool:
    """Whether a comment begins with this line."""
    return text.partition("\n")[0].strip() == marker


def field_of(data: Json, *names: str) -> Json:
    """The value in a field of a field; None where there is none."""
    for name in names:
        data = data.get(name) if isinstance(data, Mapping) else None
    return data
