"""What many failures have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fcall.reporting.results import Result

_ARGUMENT = re.compile(r"calls\[\d+\]\.args")
_INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Cause:
    """A kind of reason at a place, which several failures share."""

    kind: str
    place: str
    """Over all calls and items: `*.legs[*].to`; empty where it is about no argument."""
    failures: tuple[Result, ...]


def causes(results: Sequence[Result]) -> list[Cause]:
    """What at least two of the failures share, most shared first."""
    sharing: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if result.status == "failed":
            for cause in dict.fromkeys((kind, _place(path)) for kind, path in result.reasons):
                sharing.setdefault(cause, []).append(result)
    shared = [Cause(kind, place, tuple(failures)) for (kind, place), failures in sharing.items() if len(failures) > 1]
    return sorted(shared, key=lambda cause: -len(cause.failures))


def _place(path: str) -> str:
    place, found = _ARGUMENT.subn("*", path, count=1)
    return _INDEX.sub("[*]", place) if found else ""
