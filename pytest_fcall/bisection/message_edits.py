"""The edits between two lists of messages: system prompts by sentence, the others exchange by exchange."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Final, TypeAlias

from pytest_fcall.bisection.edit import Choice, Chosen, Edit, EditList, between, join_choices, text_choice, whole_choice
from pytest_fcall.core.digests import canonical, without_paths
from pytest_fcall.core.values import Message

_SYSTEM: Final = ("system", "developer")
Messages: TypeAlias = tuple[Message, ...]


def message_choice(edits: EditList, old: Messages, new: Messages, turn: str = "") -> Choice[Messages]:
    """Add the edits between two lists of messages. `turn` is said before each place."""
    system = tuple(_leading_system(each) for each in (old, new))
    rest = old[len(system[0]) :], new[len(system[1]) :]
    choices = [
        *_system_choices(edits, system[0], system[1], turn),
        *_exchange_choices(edits, _Numbered(rest[0], len(system[0])), _Numbered(rest[1], len(system[1])), turn),
    ]
    return join_choices(choices)


def _leading_system(messages: Messages) -> Messages:
    end = next((place for place, each in enumerate(messages) if each.get("role") not in _SYSTEM), len(messages))
    return messages[:end]


def _system_choices(edits: EditList, old: Messages, new: Messages, turn: str) -> Iterator[Choice[Messages]]:
    several = max(len(old), len(new)) > 1
    for number, (one, other) in enumerate(zip_longest(old, new), 1):
        where = f"{turn}system prompt {number}" if several else f"{turn}system prompt"
        yield _system_choice(edits, one, other, where)


def _system_choice(edits: EditList, old: Message | None, new: Message | None, where: str) -> Choice[Messages]:
    """A system prompt that is new or gone differs in all of its sentences."""
    both: tuple[Messages, Messages] = (() if old is None else (old,)), (() if new is None else (new,))
    texts = [each.get("content") if each is not None else "" for each in (old, new)]
    fields = [_other_fields(each) for each in (old, new) if each is not None]
    if _same_messages(*both):
        return lambda _: both[1]
    if not all(isinstance(each, str) for each in texts) or fields[0] != fields[-1]:
        return whole_choice(edits, Edit(where, _shown(both[0]), _shown(both[1]), "system"), *both)
    first = len(edits)
    text = text_choice(edits, str(texts[0]), str(texts[1]), where, "system")
    if len(edits) == first:  # an empty message has come or gone
        return whole_choice(edits, Edit(where, _shown(both[0]), _shown(both[1]), "system"), *both)

    def mixed(chosen: Chosen) -> Messages:
        return ({**(new or old or {}), "content": text(chosen)},)

    return between(*both, range(first, len(edits)), mixed)


class _Numbered:
    """Messages in exchanges, each of which begins with what a user says, with their numbers in the whole list."""

    def __init__(self, messages: Messages, before: int) -> None:
        starts = [place for place, each in enumerate(messages) if each.get("role") == "user" and place]
        ends = [*starts, len(messages)]
        self.exchanges = [messages[start:end] for start, end in zip([0, *starts], ends, strict=True) if start < end]
        self.numbers = [before + start + 1 for start, end in zip([0, *starts], ends, strict=True) if start < end]

    @property
    def keys(self) -> list[str]:
        return [_key(each) for each in self.exchanges]


def _key(messages: Messages) -> str:
    return canonical([without_paths(each) for each in messages])


def _same_messages(old: Messages, new: Messages) -> bool:
    return _key(old) == _key(new)


def _exchange_choices(edits: EditList, old: _Numbered, new: _Numbered, turn: str) -> Iterator[Choice[Messages]]:
    last = len(new.exchanges) - 1
    matcher = SequenceMatcher(None, old.keys, new.keys, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            for each in new.exchanges[k:m]:
                yield _constant(each)
            continue
        both = min(j - i, m - k)  # those at the end belong together, as the prompt is the last one
        for place in range(i, j - both):
            gone, where = old.exchanges[place], f"{turn}{_named(old.exchanges[place], old.numbers[place])}"
            yield whole_choice(edits, Edit(where, _shown(gone), "", "message"), gone, ())
        for place in range(k, m - both):
            come, where = new.exchanges[place], f"{turn}{_named(new.exchanges[place], new.numbers[place])}"
            yield whole_choice(edits, Edit(where, "", _shown(come), "message"), (), come)
        for one, place in zip(old.exchanges[j - both : j], range(m - both, m), strict=True):
            other, number = new.exchanges[place], new.numbers[place]
            yield _exchange_choice(edits, one, other, number, turn, is_prompt=place == last)


def _constant(messages: Messages) -> Choice[Messages]:
    return lambda _: messages


def _exchange_choice(
    edits: EditList, old: Messages, new: Messages, number: int, turn: str, *, is_prompt: bool
) -> Choice[Messages]:
    """An exchange that differs in texts alone is compared text by text; any other changes as a whole."""
    where = f"{turn}{'prompt' if is_prompt and len(new) == 1 else _named(new, number)}"
    if not (len(old) == len(new) and all(map(_differ_in_text, old, new))):
        return whole_choice(edits, Edit(where, _shown(old), _shown(new), "message"), old, new)
    choices = []
    for place, (one, other) in enumerate(zip(old, new, strict=True)):
        name = where if len(new) == 1 else f"{turn}{_named((other,), number + place)}"
        choices.append(_text_message(edits, one, other, name))
    return join_choices(choices)


def _text_message(edits: EditList, old: Message, new: Message, where: str) -> Choice[Messages]:
    first = len(edits)
    text = text_choice(edits, str(old["content"]), str(new["content"]), where, "message")
    if len(edits) == first:
        return _constant((new,))
    return between((old,), (new,), range(first, len(edits)), lambda chosen: ({**new, "content": text(chosen)},))


def _differ_in_text(old: Message, new: Message) -> bool:
    texts = isinstance(old.get("content"), str) and isinstance(new.get("content"), str)
    return texts and _other_fields(old) == _other_fields(new)


def _other_fields(message: Message) -> str:
    return canonical({key: without_paths(value) for key, value in message.items() if key != "content"})


def _named(messages: Messages, number: int) -> str:
    if len(messages) == 1:
        return f"message {number} ({messages[0].get('role')})"
    return f"messages {number}-{number + len(messages) - 1}"


def _shown(messages: Sequence[Message]) -> str:
    """Messages as text for people."""
    return "\n".join(_shown_message(each) for each in messages)


def _shown_message(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, str) and message.keys() <= {"role", "content"}:
        return content
    return canonical(without_paths(message))
