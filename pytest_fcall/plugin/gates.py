"""`--fc-gate`, `fc_gates` and `--fc-fail`: what must hold of a whole run, and what makes it fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast, get_args

import pytest

from pytest_fcall.plugin.ending import Ending, Fail
from pytest_fcall.plugin.measuring import measured, within
from pytest_fcall.plugin.suite_scores import Suites, score_names, told_together
from pytest_fcall.reporting.gates import JudgedGate, gate_lines
from pytest_fcall.reporting.results import Result
from pytest_fcall.tracking.gate_text import GateError, parse_gates
from pytest_fcall.tracking.gates import Gate, GateVerdict
from pytest_fcall.tracking.measured import Measured
from pytest_fcall.tracking.readings import FIGURES


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates of a run."""

    gates: tuple[Gate, ...] = ()
    fail: Fail = "items"

    def judge(self, results: Sequence[Result], suites: Suites) -> list[GateVerdict]:
        """Judge each by its part of the results; `suites` work out their scores."""
        return [gate.judge(_measured(gate, results, suites)) for gate in self.gates]

    def beside(self, ending: Ending) -> list[str]:
        """What people must know where gates decide and yet are not all that counts."""
        if self.fail != "gates" or not ending.forbidden:
            return []
        return ["a forbidden call was made, which no gate excuses"]


def _measured(gate: Gate, results: Sequence[Result], suites: Suites) -> Measured:
    found = measured(results, gate.scope)
    if gate.figure in FIGURES:
        return found
    told = told_together(gate.figure, within(results, gate.scope), suites, gate.scope)
    return replace(found, scores={gate.figure: told})


def lines_of(verdicts: Sequence[GateVerdict]) -> list[str]:
    """What people read of the verdicts."""
    return gate_lines(
        [JudgedGate(v.gate.text, v.gate.kind, v.figure, v.gate.bound, v.held, v.lacking) for v in verdicts]
    )


GATES = pytest.StashKey[Gates]()


def gates_of(config: pytest.Config) -> Gates:
    """The gates of the command line and of the configuration. Raises UsageError for one that cannot be read."""
    if GATES not in config.stash:
        config.stash[GATES] = _read(config)
    return config.stash[GATES]


def _read(config: pytest.Config) -> Gates:
    written: list[tuple[str, str]] = [("fc_gates", text) for text in config.getini("fc_gates")]
    typed: list[tuple[str, str]] = [("--fc-gate", text) for text in config.getoption("fc_gate")]
    gates = tuple(gate for where, text in (*written, *typed) for gate in _parsed(config, where, text))
    fail = config.getoption("fc_fail") or str(config.getini("fc_fail") or "") or ("gates" if gates else "items")
    if fail not in get_args(Fail):
        raise pytest.UsageError(f"fc_fail: {fail!r} is none of {', '.join(get_args(Fail))}")
    if fail != "items" and not gates:
        raise pytest.UsageError(f"--fc-fail={fail} wants gates, and there is none: add --fc-gate or fc_gates")
    return Gates(gates, cast("Fail", fail))


def _parsed(config: pytest.Config, where: str, text: str) -> tuple[Gate, ...]:
    def names() -> Iterator[str]:
        from pytest_fcall.plugin.extensions import known_suites

        return score_names(known_suites(config))

    try:
        return parse_gates(text, names)
    except GateError as error:
        raise pytest.UsageError(f"{where}: {error}") from None
