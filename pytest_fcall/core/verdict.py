"""The verdict on a reply, its outcome against the baseline, and rates of right answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.core.injection import AttackResult
    from pytest_fcall.core.result_fault import RecoveryResult

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
    "injected_call",
    "injected_answer",
    "no_injection",
    "no_fault",
    "no_recovery",
    "invented_result",
    "blind_repeat",
    "too_many_retries",
]
MOST_ANSWERS: Final = 10**12
"""Nobody asks a case so often: a larger number is damage."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One typed finding. `path` is a place such as `calls[1].args.unit`; `message` is a sentence for people."""

    kind: ReasonKind
    path: str
    message: str
    expected: Pattern = None
    got: Json = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a reply is valid, with all reasons.

    `pairs` are indices of an expected call and of the call that the model made for it, in the best pairing. Expected
    calls are numbered through all stages of the alternative numbered `alternative`.
    """

    valid: bool
    reasons: tuple[Reason, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    alternative: int | None = None
    notes: tuple[str, ...] = ()
    judged: bool = False
    """Whether a judge model was asked (`$judge`)."""
    error_type: str | None = None
    """Under the `bfcl` profile, the official checker's name of the failure."""
    turns: tuple[Verdict, ...] = ()
    """The verdicts on the turns of a conversation. `pairs` and `alternative` of each count its own calls."""
    attack: AttackResult | None = field(default=None, compare=False)
    """The result of the attack on the case; None where there was none."""
    recovery: RecoveryResult | None = field(default=None, compare=False)
    """The result of the fault in the case's tool results; None where it has none."""
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict, compare=False)
    """By name, values that a suite's own judge adds to scores that do not follow from calls and states."""


def reason_pairs(verdict: Verdict) -> tuple[tuple[str, str], ...]:
    """The kind and path of each reason, by which reasons are compared."""
    return tuple((reason.kind, reason.path) for reason in verdict.reasons)


class Outcome(StrEnum):
    """A verdict compared with the baseline."""

    OK = "ok"
    NEW = "new"
    EDITED = "edited"
    FIXED = "fixed"
    DRIFTED = "drifted"
    FLAKY = "flaky"
    UNDECIDED = "undecided"
    REGRESSED = "regressed"
    KNOWN_FAILURE = "known failure"


class Rate(NamedTuple):
    """The number of right answers, and of all. A case that was asked once has 0 or 1 of 1."""

    right: int
    asked: int

    @property
    def share(self) -> float:
        """The share of right answers."""
        return self.right / self.asked

    def plus(self, other: Rate) -> Rate:
        """These answers and those together."""
        return Rate(self.right + other.right, self.asked + other.asked)

    def minus(self, other: Rate) -> Rate:
        """These answers without those, which are some of them."""
        return Rate(self.right - other.right, self.asked - other.asked)


def required_share(rule: str) -> float:
    """The share of right answers that a rule wants: `all`, `any` (0) or `rate>=0.8`. Raises ValueError."""
    if rule in ("all", "any"):
        return float(rule == "all")
    found = re.fullmatch(r"rate>=(0(\.[0-9]+)?|1(\.0+)?)", rule)
    if found is None or float(found[1]) == 0:
        raise ValueError(f"must be all, any or rate>=0.8, not {rule!r}")
    return float(found[1])


def is_rule(text: str) -> bool:
    """Whether a text is such a rule."""
    try:
        required_share(text)
    except ValueError:
        return False
    return True


def passes(rule: str, rate: Rate) -> bool:
    """Whether a case passes with these answers. One at least must be right. Raises ValueError for no rule."""
    return rate.right > 0 and rate.share >= required_share(rule)
