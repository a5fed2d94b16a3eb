"""Why a run with gates passed or failed, in one sentence: beside failed cases the exit status would be a riddle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fcall.reporting.gates import figure_text
from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.result.exit_status import FAILED, PASSED, Fail, RunFailures
from pytest_fcall.tracking.gates import GateVerdict

_MOST_NAMED = 3
"""At most so many gates are named."""


def decision_text(fail: Fail, failures: RunFailures, verdicts: Sequence[GateVerdict], failed_cases: int) -> str:
    """What decided; empty where the run passed, no case failed and every gate holds."""
    excused = [*_failures_of_verdicts(failures, failed_cases)]
    broken = [verdict for verdict in verdicts if verdict.held is False]
    status = failures.exit_status(fail, verdicts)
    if status == FAILED:
        return _failed_text(fail, failures, broken, excused)
    if status == PASSED:
        return _passed_text(verdicts, broken, excused)
    undecided = [verdict for verdict in verdicts if verdict.held is None and fail != "items"]
    reasons = [f"{_named(undecided)} cannot be judged"] if undecided else []
    if failures.unanswered or failures.unrecorded:
        reasons.append("replies are missing, which no gate excuses")
    return f"inconclusive: {'; '.join(reasons)}" if reasons else ""


def _failures_of_verdicts(failures: RunFailures, failed_cases: int) -> Iterator[str]:
    """What gates excuse, unless --fc-fail says otherwise."""
    if failed_cases:
        yield f"{plural_text(failed_cases, 'case')} failed"
    if failures.worse:
        yield "a model is worse than before"


def _failed_text(fail: Fail, failures: RunFailures, broken: Sequence[GateVerdict], of_verdicts: Sequence[str]) -> str:
    reasons = ["a forbidden call was made, which no gate excuses"] if failures.forbidden else []
    if failures.otherwise:
        reasons.append("there is an error, or a plain test failed, which no gate excuses")
    if broken and fail != "items":
        reasons.append(_do_not_hold(broken))
    if of_verdicts and fail == "gates":
        reasons += [f"gates decide in place of single verdicts ({' and '.join(of_verdicts)})"] if broken else []
    elif of_verdicts:
        role = "counts beside the gates" if fail == "both" else "decides in place of the gates"
        reasons.append(f"{' and '.join(of_verdicts)}, which {role} (--fc-fail={fail})")
    return f"failed: {'; '.join(reasons)}"


def _passed_text(verdicts: Sequence[GateVerdict], broken: Sequence[GateVerdict], of_verdicts: Sequence[str]) -> str:
    if broken:
        return f"passed although {_do_not_hold(broken)}: --fc-fail=items leaves the decision to the cases"
    if not of_verdicts:
        return ""
    hold = f"{_named(verdicts)} {'holds' if len(verdicts) == 1 else 'hold'}"
    return (
        f"passed although {' and '.join(of_verdicts)}: gates decide in place of single verdicts, and {hold}; "
        "--fc-fail=both makes failed cases count, too"
    )


def _do_not_hold(verdicts: Sequence[GateVerdict]) -> str:
    return f"{_named(verdicts)} {'does' if len(verdicts) == 1 else 'do'} not hold"


def _named(verdicts: Sequence[GateVerdict]) -> str:
    """The gates, each with its bound and figure."""
    named = [
        f"{safe_line(verdict.gate.text)} ({figure_text(verdict.gate.kind, verdict.figure, verdict.gate.bound)})"
        for verdict in verdicts[:_MOST_NAMED]
    ]
    if (more := len(verdicts) - _MOST_NAMED) > 0:
        named.append(f"{more:,} more")
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
