"""Pairs of expected calls and calls made, as in the verdict, and the wrong places in their arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fcall.core.expectation import Expectation, ExpectedCall
from pytest_fcall.core.reply import Call
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.reporting.value_text import value_text

_CALL_PATH = re.compile(r"calls\[(\d{1,9})\](?:\.args\.?)?(.*)", re.DOTALL)
_QUOTED_KEY = r"""\[(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\]"""
_FIRST_KEY = re.compile(rf"[^.\[]+|{_QUOTED_KEY}")
_STEP = re.compile(rf"\.([^.\[]+)|\[(\d{{1,9}})\]|({_QUOTED_KEY})")


@dataclass(frozen=True, slots=True)
class CallPair:
    """An expected call and the call made for it; one may be missing. `reasons` are about the call made."""

    expected: ExpectedCall | None
    called: Call | None
    reasons: tuple[Reason, ...] = ()
    has_all_reasons: bool = True
    """False under official rules, which stop at the first reason, so that other arguments may be wrong, too."""
    lacks_sound_result: bool = False
    """Whether its tool gave a result that was faulty on purpose, and no sound one that would have counted."""

    @property
    def is_wrong(self) -> bool:
        """Whether the call is missing, or it or its result is wrong."""
        return self.called is None or bool(self.reasons)

    @property
    def has_wrong_call(self) -> bool:
        """Whether the call is missing or wrong, whatever its result."""
        return self.called is None or any(reason.kind != "wrong_result" for reason in self.reasons)

    @property
    def not_called_text(self) -> str:
        """The words in place of a call that is missing."""
        return "(no sound result)" if self.lacks_sound_result else "(not called)"

    @property
    def allowed_text(self) -> str:
        """The words in place of an expected call, beside one that is not wrong."""
        return "(faulty result)" if self.lacks_sound_result else "(allowed)"

    @property
    def name(self) -> str:
        """The name of the expected tool, or else of the called one."""
        if self.expected is not None:
            return self.expected.tool
        return self.called.name if self.called is not None else ""


@dataclass(frozen=True, slots=True)
class WrongPlace:
    """A wrong place in a call: `path_below` an argument, such as `[0].to` below `legs`, and the reason.

    In the result of the call there is no argument, and the path is such as `result.price`.
    """

    argument: str
    path_below: str
    reason: Reason

    @property
    def path(self) -> str:
        """The whole path: `legs[0].to`."""
        return self.argument + self.path_below

    def value_in(self, arguments: Mapping[str, object], default: object) -> object:
        """The value at this place in `arguments`, or the default if there is none."""
        try:
            return _value_below(arguments[self.argument], self.path_below)
        except LookupError:
            return default


def pair_calls(expectation: Expectation, calls: Sequence[Call], verdict: Verdict) -> list[CallPair]:
    """All expected calls in order, each with the calls made for it; then the other calls made."""
    expected = [call for stage in expectation.stages for call in stage]
    made: dict[int, list[int]] = {}
    for wanted, call in verdict.pairs:
        if wanted < len(expected) and call < len(calls):
            made.setdefault(wanted, []).append(call)
    about, has_all_reasons = _by_call(verdict.reasons), verdict.error_type is None
    faulty = verdict.recovery.tools if verdict.recovery else ()
    pairs = []
    for wanted, pattern in enumerate(expected):
        pairs += [
            CallPair(pattern, calls[call], tuple(about.get(call, ())), has_all_reasons) for call in made.get(wanted, ())
        ]
        if wanted not in made and pattern.times[0] > 0:
            pairs.append(CallPair(pattern, None, lacks_sound_result=pattern.tool in faulty))
    taken = {call for of_one in made.values() for call in of_one}
    rest = [
        CallPair(None, call, tuple(about.get(index, ())), lacks_sound_result=call.name in faulty)
        for index, call in enumerate(calls)
        if index not in taken
    ]
    return pairs + rest


def wrong_places(pair: CallPair) -> list[WrongPlace]:
    """The wrong places in the arguments of the call, and in its result, each with the first reason for it."""
    quoted = {f"[{name[:100]!r}]": name for name in argument_names(pair)}
    found: dict[str, WrongPlace] = {}
    for reason in pair.reasons:
        path = _CALL_PATH.fullmatch(reason.path)
        if path and reason.kind == "wrong_result":
            found.setdefault(path[2], WrongPlace("", path[2].removeprefix("."), reason))
        elif path and (place := path[2]):
            first = key[0] if (key := _FIRST_KEY.match(place)) else place
            argument = quoted.get(first, first)
            found.setdefault(place, WrongPlace(argument, place[len(first) :], reason))
    return list(found.values())


def _value_below(value: object, path: str) -> object:
    for name, index, quoted in _STEP.findall(path):
        if index and isinstance(value, list | tuple):
            value = value[int(index)]
        elif isinstance(value, Mapping):
            value = value[name or {f"[{key[:100]!r}]": key for key in value}[quoted]]
        else:
            raise LookupError(path)
    return value


def argument_names(pair: CallPair) -> list[str]:
    """The names of all arguments of both calls, expected ones first."""
    expected = (pair.expected.arguments if pair.expected else None) or {}
    return list(dict.fromkeys((*expected, *(pair.called.arguments if pair.called else ()))))


def argument_texts(pair: CallPair, name: str, limit: int = 2000) -> tuple[str, str]:
    """The expected value of an argument, and the given one."""
    patterns = (pair.expected.arguments if pair.expected else None) or {}
    values = pair.called.arguments if pair.called else {}
    return (
        value_text(patterns[name], limit) if name in patterns else "(any value)",
        value_text(values[name], limit) if name in values else "(left out)",
    )


def call_index(reason: Reason) -> int | None:
    """The index of the call that the reason is about, or None."""
    path = _CALL_PATH.fullmatch(reason.path)
    return int(path[1]) if path else None


def _by_call(reasons: Sequence[Reason]) -> dict[int, list[Reason]]:
    about: dict[int, list[Reason]] = {}
    for reason in reasons:
        if (index := call_index(reason)) is not None:
            about.setdefault(index, []).append(reason)
    return about
