"""The verdict on a reply, and its outcome against the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TypeAlias

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
    """What became of the attack on the case; None where there was none."""
    recovery: RecoveryResult | None = field(default=None, compare=False)
    """What became of the faulty result of the case; None where it has none."""
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict, compare=False)
    """By name, values that a suite's own judge adds to scores that do not follow from calls and states."""


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
