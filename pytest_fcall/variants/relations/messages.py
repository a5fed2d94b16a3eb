"""Relations that change where things are said: the system prompt, and turns before the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.variants import Dice, Unfit, WantedRelation
from pytest_fcall.variants.case_parts import is_system

if TYPE_CHECKING:
    from pytest_fcall.core.values import Message

_SMALL_TALK: Final = (
    ("Good morning!", "Good morning! What can I do for you?"),
    ("Hi, can you hear me?", "Yes. How may I help?"),
    ("Thanks for your help the other day.", "You are welcome! Is there anything else?"),
    ("One moment, please.", "Of course, take your time."),
    ("I hope you are well.", "Thank you, I am. What would you like to do?"),
    ("Sorry, I was on the phone.", "No problem. How can I help you now?"),
)
"""What nobody would call a tool for."""


def system_position(case: Case, _: Dice, __: WantedRelation) -> Case | Unfit:
    """Put the system prompt at the head of the user's first message."""
    first = case.turns[0]
    if not first.messages or not is_system(first.messages[0]):
        return Unfit("it has no system prompt")
    told = first.messages[0].get("content")
    place = next((n for n, message in enumerate(first.messages) if message.get("role") == "user"), None)
    said = None if place is None else first.messages[place].get("content")
    if place is None or not isinstance(told, str) or not isinstance(said, str):
        return Unfit("its first messages are not plain text")
    moved = [*first.messages]
    moved[place] = {**moved[place], "content": f"{told}\n\n{said}"}
    return _with_first(case, moved[1:])


def turns_before(case: Case, dice: Dice, _: WantedRelation) -> Case | Unfit:
    """Begin with small talk."""
    messages = case.turns[0].messages
    place = next((n for n, message in enumerate(messages) if not is_system(message)), None)
    if place is None or messages[place].get("role") != "user":
        return Unfit("it does not begin with the user")
    said, answered = dice.one(_SMALL_TALK)
    talk: list[Message] = [{"role": "user", "content": said}, {"role": "assistant", "content": answered}]
    return _with_first(case, [*messages[:place], *talk, *messages[place:]])


def _with_first(case: Case, messages: Sequence[Message]) -> Case:
    """The case with other messages in its first turn."""
    first, *others = case.turns
    return replace(case, turns=(replace(first, messages=tuple(messages)), *others), undated=None)
