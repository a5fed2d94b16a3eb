"""Conversations that are held before a case, one after the other in the same environment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from pytest_fcall.conversation.dialogue import ConversationContext, hold_conversation
from pytest_fcall.conversation.environments.environment import EnvironmentWrapper
from pytest_fcall.conversation.execution.limits import EnvironmentFailed
from pytest_fcall.conversation.tool_results import EnvironmentOpener
from pytest_fcall.core.case import Case
from pytest_fcall.core.conversation import ConversationSettings, Environment, Transcript
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json, Message

_STATE_NAME: Final = "left"
_TEXT_NAME: Final = "told"


@dataclass(frozen=True, slots=True)
class CarriedState:
    """The state that the earlier conversations left for the next one."""

    transcripts: tuple[Transcript, ...] = ()
    memory: Json = None
    """The environment's attribute `left`, with which the environment of the case is set up."""
    text: str = ""
    """The environment's attribute `told`, which fills the placeholder in messages."""

    def set_up(self, case: Case) -> Case:
        """The case, with the memory in the setup of its environment."""
        settings = case.conversation or ConversationSettings()
        return replace(case, conversation=replace(settings, setup={**settings.setup, _STATE_NAME: self.memory}))

    def fill_placeholder(self, placeholder: str, request: Request) -> Request:
        """The request, with the text in place of the placeholder."""
        return replace(request, messages=tuple(self._filled(placeholder, message) for message in request.messages))

    def _filled(self, placeholder: str, message: Message) -> Message:
        content = message.get("content")
        return {**message, "content": content.replace(placeholder, self.text)} if isinstance(content, str) else message


class SharedEnvironment:
    """One environment for several conversations: opened once, and closed only by `close`."""

    def __init__(self) -> None:
        self._opened: Environment | None = None

    def opener(self, open_environment: EnvironmentOpener) -> EnvironmentOpener:
        """An opener of the shared environment, which is opened by `open_environment` the first time."""

        async def lend() -> Environment:
            self._opened = self._opened or await open_environment()
            return _LentEnvironment(self._opened)

        return lend

    async def close(self) -> None:
        """Close the environment, if it was opened."""
        if self._opened is not None:
            await self._opened.close()


class _LentEnvironment(EnvironmentWrapper):
    async def close(self) -> None:
        """Leave the environment open: the next conversation uses it."""


async def hold_earlier_conversation(
    left: CarriedState,
    case: Case,
    first: Request,
    placeholder: str,
    context: ConversationContext,
    shared: SharedEnvironment,
) -> CarriedState:
    """Hold one more conversation, which begins with `first`, in the shared environment; return what it leaves.

    A conversation that was cut off leaves something, too. Raises what asking and opening raise, and EnvironmentFailed
    where the environment does not show what it keeps.
    """
    if context.open_environment is None:
        raise EnvironmentFailed("`earlier` needs an `environment`")
    opener = shared.opener(context.open_environment)
    environment = await opener()
    before = await _carried_state(environment)
    transcript = await hold_conversation(
        case, before.fill_placeholder(placeholder, first), replace(context, open_environment=opener)
    )
    return replace(await _carried_state(environment), transcripts=(*left.transcripts, transcript))


async def _carried_state(environment: Environment) -> CarriedState:
    state = await environment.state([_STATE_NAME, _TEXT_NAME])
    match state.value:
        case {"left": memory, "told": str(text)}:
            return CarriedState((), memory, text)
    raise EnvironmentFailed(
        f"the environment's state cannot be read: {state.error or 'it has no attributes `left` and `told`'}"
    )
