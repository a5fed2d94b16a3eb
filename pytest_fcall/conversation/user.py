"""Who goes on talking when the model has answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.core.case import User
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json, Message

Talk: TypeAlias = Callable[[Sequence[Message]], Awaitable[str | None]]
"""Says what comes next, after all that was said; None where there is nothing more to say."""

OVER: Final = "DONE"
_PROMPT: Final = """You play the user of an assistant. What you want: {goal}
Answer the assistant as such a user would, in one or two sentences, and say only what follows from what you want.
Never play the assistant, and never ask it for what you do not want.
Once you have what you want, or it is plain that you will not get it, answer with the single word {over}."""
_TURNED: Final[Mapping[str, str]] = MappingProxyType({"user": "assistant", "assistant": "user"})


def talk_of(user: User, ask: Callable[[Request], Awaitable[Reply]], settings: Mapping[str, Json]) -> Talk:
    """Make who speaks by script, or else by the model that `ask` asks."""
    return _Script(user.script) if user.script else _Player(user, ask, settings)


class _Script:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = list(lines)

    async def __call__(self, _messages: Sequence[Message]) -> str | None:
        return self._lines.pop(0) if self._lines else None


class _Player:
    """Sees the conversation from the other side, and nothing of what the model does with its tools."""

    def __init__(self, user: User, ask: Callable[[Request], Awaitable[Reply]], settings: Mapping[str, Json]) -> None:
        self._prompt = _PROMPT.format(goal=user.goal, over=OVER)
        self._ask = ask
        self._settings = settings
        self._left = user.most

    async def __call__(self, messages: Sequence[Message]) -> str | None:
        if not self._left:
            return None
        self._left -= 1
        seen = [turned for message in messages if (turned := _turned(message))]
        reply = await self._ask(Request(({"role": "system", "content": self._prompt}, *seen), (), self._settings))
        said = reply.text.strip()
        return None if not said or said.strip(".!*\"' ").upper() == OVER else said


def _turned(message: Message) -> Message | None:
    """The message with the roles changed round; None where the user sees nothing of it."""
    role, content = _TURNED.get(str(message.get("role"))), message.get("content")
    return {"role": role, "content": content} if role and content else None
