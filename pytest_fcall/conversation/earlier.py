"""Conversations that are held before a case, each on what the one before it has left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pytest_fcall.conversation.dialogue import Ground, hold
from pytest_fcall.conversation.execution.worker import WorldFailed
from pytest_fcall.core import Case, Environment, Executed, Json, Message, Request, Transcript, World

_LEFT: Final = "left"
_TOLD: Final = "told"


@dataclass(frozen=True, slots=True)
class Left:
    """What the conversations so far have left."""

    transcripts: tuple[Transcript, ...] = ()
    memory: Json = None
    """What the next environment is set up with."""
    text: str = ""
    """What the next conversation is told of it."""

    def to(self, case: Case) -> Case:
        """The case, set up with it."""
        world = case.world or World()
        return replace(case, world=replace(world, setup={**world.setup, _LEFT: self.memory}))

    def in_place_of(self, slot: str, request: Request) -> Request:
        """The request, telling of it."""
        return replace(request, messages=tuple(self._filled(slot, message) for message in request.messages))

    def _filled(self, slot: str, message: Message) -> Message:
        content = message.get("content")
        return {**message, "content": content.replace(slot, self.text)} if isinstance(content, str) else message


async def hold_next(left: Left, case: Case, first: Request, slot: str, ground: Ground) -> Left:
    """Hold one more, which begins with `first` and was set up with what was left; give what is left then.

    One that was cut off has left something, too. Raises what asking and opening raise, and WorldFailed where nobody can
    see what is left.
    """
    if ground.open_environment is None:
        raise WorldFailed("there is no `environment` that something could be left in")
    environment = await ground.open_environment()
    try:
        before = await _seen(environment)
        borrowing = replace(ground, open_environment=_lending(environment))
        transcript = await hold(case, before.in_place_of(slot, first), borrowing)
        after = await _seen(environment)
    finally:
        await environment.close()
    return replace(after, transcripts=(*left.transcripts, transcript))


async def _seen(environment: Environment) -> Left:
    found = await environment.state([_LEFT, _TOLD])
    match found.value:
        case {"left": memory, "told": str(text)}:
            return Left((), memory, text)
    raise WorldFailed(f"nobody can see what it left: {found.error or 'it has no `left` and `told`'}")


def _lending(environment: Environment) -> Callable[[], Awaitable[Environment]]:
    """Give it to a conversation that will close it, and keep it open."""

    async def lent() -> Environment:
        return _Lent(environment)

    return lent


@dataclass(frozen=True, slots=True)
class _Lent:
    behind: Environment

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Executed:
        return await self.behind.call(tool, arguments)

    async def state(self, names: Sequence[str] | None = None) -> Executed:
        return await self.behind.state(names)

    async def close(self) -> None:
        """Leave it open."""
