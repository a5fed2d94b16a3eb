"""The verdict on a reply, and its outcome against the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeAlias

from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.values import Json

ReasonKind: TypeAlias = Literal[
    "malformed",
    "truncated",
    "refused",
    "no_call",
    "unexpected_call",
    "unknown_tool",
    "wrong_tool",
    "wrong_count",
    "missing_argument",
    "unexpected_argument",
    "wrong_type",
    "wrong_value",
    "schema",
    "wrong_order",
    "forbidden_call",
    "wrong_answer",
    "wrong_result",
    "wrong_state",
    "step_limit",
]


@dataclass(frozen=True, slots=True)
class Reason:
    """One typed finding. `path` is like `calls[1].args.unit`; `message` is a sentence for people."""

    kind: ReasonKind
    path: str
    message: str
    expected: Pattern = None
    got: Json = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Valid or not, with all reasons, never only the first.

    `pairs` are (index of the expected call, index of the call made): the pairing that explains best.
    Expected calls are counted through all stages of the alternative numbered `alternative`.
    """

    valid: bool
    reasons: tuple[Reason, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    alternative: int | None = None
    notes: tuple[str, ...] = ()
    judged: bool = False
    """Whether a model had a say in it (`$judge`)."""
    error_type: str | None = None
    """Under the `bfcl` profile, what the official checker calls the failure."""
    turns: tuple[Verdict, ...] = ()
    """Of a conversation: the verdict on each turn, in whose own words of calls `pairs` and `alternative` are."""
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict, compare=False)
    """By name, what a suite's own judge adds to scores, where they do not follow from calls and states."""


class Outcome(StrEnum):
    """One word for what changed."""

    OK = "ok"
    NEW = "new"
    FIXED = "fixed"
    DRIFTED = "drifted"
    REGRESSED = "regressed"
    KNOWN_FAILURE = "known failure"
