"""Recorded replies to try the store with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.store import ReplyStore
from pytest_fcall.backends.store.address import StorePlace, server_address
from pytest_fcall.core import RawCall, Reply, Request, Tool, Usage, request_digest

MODEL = "openai:gpt-5.2"
FILE = "cases/weather.fc.yaml"
TOOLS = (
    Tool("get_weather", "Tell the weather", {"type": "object", "properties": {"city": {"type": "string"}}}),
    Tool("add", "Add two numbers"),
)


def place_of(argument: str) -> StorePlace:
    """The place that an argument names: an address as `fc_store` has it, or the path of a file."""
    return server_address(argument, Path.cwd()) if "://" in argument else Path(argument)


def argument_of(place: StorePlace) -> str:
    """The argument that names a place to another process."""
    return str(place) if isinstance(place, Path) else f"{place.url}?project={place.project}"


def entry(
    name: object = "paris",
    *,
    prompt: str = "",
    text: str = "",
    tools: tuple[Tool, ...] = TOOLS,
    sample: int = 0,
    recorded: str = "2026-11-21T16:30:00+00:00",
    model: str = MODEL,
    digest: str = "",
) -> Recording:
    """A reply to the case `name`; the same arguments give the same digest."""
    user = {"role": "user", "content": prompt or f"Weather in {name}?"}
    request = Request(({"role": "system", "content": "Be brief."}, user), tools, {"temperature": 0}, sample)
    call = RawCall("get_weather", f'{{"city": "{name}"}}', "call_1")
    reply = Reply(text, (call,), "tool_calls", usage=Usage(10, 5), seconds=0.25, engine={"model": "gpt-5.2-2026"})
    return Recording(str(name), digest or request_digest(model, request), request, reply, recorded)


def entries(numbers: Sequence[int], text: str = "") -> list[Recording]:
    return [entry(number, text=text) for number in numbers]


def put_replies(store: ReplyStore, replies: Sequence[Recording], file: str = FILE) -> None:
    for reply in replies:
        store.put(MODEL, file, reply)


def found(place: StorePlace, replies: Sequence[Recording]) -> int:
    """How many of the replies are there, all of them as they were kept."""
    store = ReplyStore(place)
    there = [(store.find(reply.digest), reply) for reply in replies]
    store.close()
    assert all(kept in (None, reply) for kept, reply in there)
    return sum(kept is not None for kept, _ in there)
