"""Valid inputs, changed here and there at random: what a tool, a version or an editor may make of them."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from random import Random
from typing import Any, Final

STRINGS: Final = (
    "", " ", "\n", "\t", "\x00", "\x07", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u202e", "\ufeff", "\ufffe",
    "\U0001f600", "{now}", "{now:%Q}", "{x}", "{", "::", "[", "]", "a::b[c]", "/", "\\", "'", '"', "`", "#",
    ": ", " #", "- ", "? ", "| ", "> ", "&a", "*a", "!tag", "@a", "%a", "<<", "=", "~", "null", "true", "no",
    "on", "1", "0x1f", "0o17", "1e999999", ".nan", "-.inf", "1" * 5_000, "12:30:45", "2026-01-01", "...", "---",
    "$any", "$literal", "$ignore", "$regex", "(", "(a{9999}){9999}", "file", "a" * 100_000,
    "\u0316\u0300" * 5_000, "é", "e\u0301", "“x”", "data:image/png;base64,AAAA", "file://../../etc/passwd",
    "__proto__", "system", "user", "assistant", "tool", "no_call", "any_call", "cases", "id", "then", "turns",
    "messages",
)  # fmt: skip
NUMBERS: Final = (0, -1, 1, 2**31, 2**63, 2**64, 10**400, 0.0, -0.0, 1.5, 1e308, 5e-324, float("inf"), float("nan"))
DEEP: Final = 150


def mutant(value: Any, random: Random) -> Any:
    """A copy with one to four changes."""
    changed = copy.deepcopy(value)
    with suppress(RecursionError):  # it is deep enough then
        for _ in range(random.randint(1, 4)):
            changed = _changed(changed, random)
    return changed


def mutant_text(text: str, random: Random) -> str:
    """The text with one to four changes to its lines and characters."""
    for _ in range(random.randint(1, 4)):
        lines = text.split("\n")
        place, other = random.randrange(len(lines)), random.randrange(len(lines))
        at = random.randrange(len(text) + 1)
        match random.randrange(6):
            case 0:
                text = "\n".join((*lines[:place], *lines[place + 1 :]))
            case 1:
                text = "\n".join((*lines[:place], lines[other], *lines[place:]))
            case 2:
                text = text[:at] + random.choice(STRINGS) + text[at:]
            case 3:
                text = text[:at] + text[at + random.randint(1, 20) :]
            case 4:
                text = "\n".join(
                    (*lines[:place], f"{'  ' * random.randrange(4)}{lines[place].lstrip()}", *lines[place + 1 :])
                )
            case _:
                words = text.split(" ")
                words[random.randrange(len(words))] = random.choice(STRINGS)
                text = " ".join(words)
    return text


def _changed(root: Any, random: Random) -> Any:
    """The value with one change at some place."""
    holders = _holders(root)
    if not holders or random.random() < 0.02:
        return _anything(root, random)
    holder = random.choice(holders)
    key = random.choice(list(holder)) if isinstance(holder, dict) else random.randrange(len(holder))
    match random.randrange(8):
        case 0:
            del holder[key]
        case 1:
            holder[key] = [holder[key]]
        case 2:
            holder[key] = {random.choice((*STRINGS, "content", "text", "name")): holder[key]}
        case 3 if isinstance(holder, dict):
            holder[random.choice(STRINGS)] = holder.pop(key)
        case 3:
            holder.append(copy.deepcopy(holder[key]))
        case 4 if isinstance(holder[key], str):
            at = random.randrange(len(holder[key]) + 1)
            holder[key] = holder[key][:at] + random.choice(STRINGS) + holder[key][at:]
        case 5:
            holder[key] = copy.deepcopy(random.choice(random.choice(_groups(holders))))
        case 6 if not isinstance(holder[key], str):
            holder[key] = json.dumps(holder[key], default=str)
        case _:
            holder[key] = _anything(holder[key], random)
    return root


def _groups(holders: list[Any]) -> list[list[Any]]:
    return [list(holder.values()) if isinstance(holder, dict) else holder for holder in holders]


def _holders(root: Any) -> list[Any]:
    """All lists and mappings in a value that are not empty, itself included."""
    found, waiting = [], [root]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict | list) and here:
            found.append(here)
            waiting += here.values() if isinstance(here, dict) else here
    return found


def _anything(value: Any, random: Random) -> Any:
    match random.randrange(8):
        case 0:
            return None
        case 1:
            return random.choice((True, False))
        case 2:
            return random.choice(NUMBERS)
        case 3:
            return random.choice(([], {}, [None], [[]], {"": None}, [{}]))
        case 4 if random.random() < 0.2:
            for _ in range(DEEP):
                value = [value] if random.random() < 0.5 else {"a": value}
            return value
        case _:
            return random.choice(STRINGS)
