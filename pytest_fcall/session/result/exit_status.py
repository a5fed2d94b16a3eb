"""The exit status of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pytest_fcall.tracking.gates import GateVerdict

Fail: TypeAlias = Literal["items", "gates", "both"]

PASSED, FAILED, INCONCLUSIVE = 0, 1, 10


@dataclass(slots=True)
class RunFailures:
    """The kinds of failures of a run, which decide its exit status beside the gates."""

    verdicts: bool = False
    """Whether a verdict failed its case."""
    forbidden: bool = False
    """Whether one of these verdicts found a forbidden call, which no gate excuses."""
    otherwise: bool = False
    """Whether anything else failed that more replies could not have changed."""
    worse: bool = False
    """Whether a model is worse than before, though no single case may show it."""
    undecided: bool = False
    """Whether a wrong answer may be a regression, or chance."""
    unanswered: bool = False
    """Whether a case or test has an error because there is no reply."""
    unrecorded: bool = False
    """Whether a case or test could not be judged because no recorded reply fits, and no setting excuses it."""

    def exit_status(self, fail: Fail, gates: Iterable[GateVerdict]) -> int:
        """The exit status of the run; `fail` says whether failed cases, gates or both make it fail."""
        held = {verdict.held for verdict in gates} if fail != "items" else set()
        cases_count = fail != "gates"
        if self.otherwise or self.forbidden or False in held or ((self.verdicts or self.worse) and cases_count):
            return FAILED
        open_ended = self.unanswered or self.unrecorded or None in held or (self.undecided and cases_count)
        return INCONCLUSIVE if open_ended else PASSED
