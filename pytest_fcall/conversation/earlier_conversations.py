"""Conversations that are held before a case, one after the other in the same environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pytest_fcall.conversation.dialogue import ConversationContext, hold_conversation
from pytest_fcall.conversation.execution.tool_process import EnvironmentFailed
from pytest_fcall.conversation.tool_results import EnvironmentOpener
from pytest_fcall.core import CallResult, Case, Environment, Json, Message, Request, Transcript, World

_STATE_NAME: Final = "left"
_TEXT_NAME: Final = "told"


@dataclass(frozen=True, slots=True)
class CarriedState:
    """What the conversations so far have left."""

    transcripts: tuple[Transcript, ...] = ()
    memory: Json = None
    """What the environment of the case is set up with."""
    text: str = ""
    """What the next conversation is told of it."""

    def to(self, case: Case) -> Case:
        """The case, set up with it."""
        world = case.world or World()
        return replace(case, world=replace(world, setup={**world.setup, _STATE_NAME: self.memory}))

    def in_place_of(self, slot: str, request: Request) -> Request:
        """The request, telling of it."""
        return replace(request, messages=tuple(self._filled(slot, message) for message in request.messages))

    def _filled(self, slot: str, message: Message) -> Message:
        content = message.get("content")
        return {**message, "content": content.replace(slot, self.text)} if isinstance(content, str) else message


class SharedEnvironment:
    """Opens an environment for the first who wants one, and lends it to all. Whoever made this closes it."""

    def __init__(self) -> None:
        self._opened: Environment | None = None

    def of(self, open_environment: EnvironmentOpener) -> EnvironmentOpener:
        """Open it so, or lend what is open."""

        async def lent() -> Environment:
            self._opened = self._opened or await open_environment()
            return _Lent(self._opened)

        return lent

    async def close(self) -> None:
        """Close it, if it was opened."""
        if self._opened is not None:
            await self._opened.close()


async def hold_earlier(
    left: CarriedState, case: Case, first: Request, slot: str, ground: ConversationContext, shared: SharedEnvironment
) -> CarriedState:
    """Hold one more, which begins with `first`, in the environment that all share; give what is left then.

    One that was cut off has left something, too. Raises what asking and opening raise, and WorldFailed where nobody can
    see what is left.
    """
    if ground.open_environment is None:
        raise EnvironmentFailed("there is no `environment` that something could be left in")
    opening = shared.of(ground.open_environment)
    environment = await opening()
    before = await _carried(environment)
    transcript = await hold_conversation(
        case, before.in_place_of(slot, first), replace(ground, open_environment=opening)
    )
    return replace(await _carried(environment), transcripts=(*left.transcripts, transcript))


async def _carried(environment: Environment) -> CarriedState:
    found = await environment.state([_STATE_NAME, _TEXT_NAME])
    match found.value:
        case {"left": memory, "told": str(text)}:
            return CarriedState((), memory, text)
    raise EnvironmentFailed(f"nobody can see what it left: {found.error or 'it has no `left` and `told`'}")


@dataclass(frozen=True, slots=True)
class _Lent:
    """Is left open by those who close it."""

    behind: Environment

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        return await self.behind.call(tool, arguments)

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        return await self.behind.state(names)

    async def close(self) -> None:
        """Leave it open."""
