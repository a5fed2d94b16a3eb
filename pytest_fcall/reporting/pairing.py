"""Expected calls beside the calls made, as the verdict paired them."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import islice

from pytest_fcall.core import Call, Expectation, ExpectedCall, Reason, Verdict

_CALL_PATH = re.compile(r"calls\[(\d{1,9})\](?:\.args\.?)?(.*)", re.DOTALL)
_SEPARATOR = re.compile(r"[.\[]")


@dataclass(frozen=True, slots=True)
class Pair:
    """An expected call and the call made for it; either may be missing. `reasons` are those about the call made."""

    expected: ExpectedCall | None
    called: Call | None
    reasons: tuple[Reason, ...] = ()

    @property
    def wrong(self) -> bool:
        """Whether there is something to mend here."""
        return self.called is None or bool(self.reasons)

    @property
    def name(self) -> str:
        """The tool's name, where both are there the expected one."""
        if self.expected is not None:
            return self.expected.tool
        return self.called.name if self.called is not None else ""


def chosen(expectation: Expectation, alternative: int | None) -> Expectation:
    """The alternative that the verdict speaks of, the first where it names none; else the expectation itself."""
    while expectation.kind == "any_of" and expectation.alternatives:
        place = alternative if alternative is not None and alternative < len(expectation.alternatives) else 0
        expectation, alternative = expectation.alternatives[place], None
    return expectation


def paired(expectation: Expectation, calls: Sequence[Call], verdict: Verdict) -> list[Pair]:
    """All expected calls in order, each with the calls made for it, then the other calls made."""
    expected = [call for stage in expectation.stages for call in stage]
    made: dict[int, list[int]] = {}
    for wanted, call in verdict.pairs:
        if wanted < len(expected) and call < len(calls):
            made.setdefault(wanted, []).append(call)
    about = _by_call(verdict.reasons)
    pairs = []
    for wanted, pattern in enumerate(expected):
        pairs += [Pair(pattern, calls[call], tuple(about.get(call, ()))) for call in made.get(wanted, ())]
        if wanted not in made and pattern.times[0] > 0:
            pairs.append(Pair(pattern, None))
    taken = {call for of_one in made.values() for call in of_one}
    rest = [Pair(None, call, tuple(about.get(i, ()))) for i, call in enumerate(calls) if i not in taken]
    return pairs + rest


def place_in_call(path: str) -> str:
    """What a reason's path says below the call: `unit` of `calls[1].args.unit`, and nothing of `calls[1]`."""
    found = _CALL_PATH.fullmatch(path)
    return found[2] if found else ""


def argument_of(place: str, names: Container[str]) -> str | None:
    """Which of `names` the place lies in: `legs` for `legs[0].to`. A name may itself hold dots and brackets."""
    ends = [found.start() for found in islice(_SEPARATOR.finditer(place), 64)]
    return next((name for end in (None, *reversed(ends)) if (name := place[:end]) in names), None)


def _by_call(reasons: Sequence[Reason]) -> dict[int, list[Reason]]:
    about: dict[int, list[Reason]] = {}
    for reason in reasons:
        if found := _CALL_PATH.fullmatch(reason.path):
            about.setdefault(int(found[1]), []).append(reason)
    return about
