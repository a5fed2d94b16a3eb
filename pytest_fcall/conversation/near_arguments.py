"""Arguments that miss the right ones by their notation alone: values that are not normalised, and similar names.

API-BLEND's publication names these as errors of notation (5.7) and gives no rule for them; this one is ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from pytest_fcall.conversation.score_formulas import ComparedCalls, Overlap
from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json

_WORD: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ARTICLES: Final = frozenset({"a", "an", "the"})


class _Argument(NamedTuple):
    function: str
    name: str
    value: Json

    @property
    def exact(self) -> tuple[str, str, str]:
        return self.function, self.name, json.dumps(self.value, sort_keys=True)


def near_parameter_overlap(sample: ComparedCalls) -> Overlap:
    """Compare the arguments as `parameter_overlap` does, and count those that are near beside those that are equal."""
    right, made = (_arguments(calls) for calls in sample)
    rest, unmatched = list(right), list[_Argument]()
    for each in made:
        equal = next((other for other in rest if other.exact == each.exact), None)
        if equal is None:
            unmatched.append(each)
        else:
            rest.remove(equal)
    for each in unmatched:
        if near := next((other for other in rest if _is_near(each, other)), None):
            rest.remove(near)
    return Overlap(len(right) - len(rest), len(made), len(right))


def _arguments(calls: Sequence[Call]) -> list[_Argument]:
    return [_Argument(call.name, name, value) for call in calls for name, value in call.arguments.items()]


def _is_near(one: _Argument, other: _Argument) -> bool:
    """Whether two arguments of a function agree in the words of their values, and in their name or some word of it."""
    names = [set(_words(each.name)) for each in (one, other)]
    if one.function != other.function or (one.name != other.name and not names[0] & names[1]):
        return False
    value, right = (_words(_text(each.value)) for each in (one, other))
    return bool(value and right) and (_holds(value, right) or _holds(right, value))


def _text(value: Json) -> str:
    if isinstance(value, list):
        return " ".join(map(_text, value))
    return value if isinstance(value, str) else json.dumps(value)


def _words(text: str) -> list[str]:
    found = [word.casefold() for word in _WORD.findall(_HUMP.sub(" ", text))]
    return [word for word in found if word not in _ARTICLES] or found


def _holds(whole: Sequence[str], part: Sequence[str]) -> bool:
    """Whether the words of one value stand in the other one after the other."""
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))
