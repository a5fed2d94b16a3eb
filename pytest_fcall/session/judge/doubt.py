"""Whether a wrong answer is chance: what was measured of its case, and how often it may be asked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_fcall.core.backend import Model
from pytest_fcall.core.files import path_from_root
from pytest_fcall.core.verdict import Outcome
from pytest_fcall.session.endings import CaseError

if TYPE_CHECKING:
    from pytest_fcall.core.verdict import Rate
    from pytest_fcall.session.judge.baselines import Baselines
    from pytest_fcall.session.settings import Settings
    from pytest_fcall.tracking.case_rates import CaseRates
    from pytest_fcall.tracking.comparison import ChanceTest
    from pytest_fcall.tracking.history import History
    from pytest_fcall.tracking.measurement import CaseEvidence, Key, RunVerdict

FALSE_ALARMS: Final = 0.005
"""The largest probability that a run of unchanged cases of one model finds one that regressed."""
LEAST_BUDGET: Final = 30
"""Further answers that a run may ask for at least, unless a person allows it none."""


@dataclass(slots=True)
class Doubt:
    """The evidence for each case of a session, and what is left of the budget for further answers."""

    settings: Settings
    baselines: Baselines
    _history: History | None = None
    _cases: Mapping[str, int] = field(default_factory=dict)
    _files: tuple[Path, ...] = ()
    _left: float = float(LEAST_BUDGET)
    _rates: dict[str, CaseRates] = field(default_factory=dict)
    _names: dict[Path, str] = field(default_factory=dict)

    def expect(self, cases: Mapping[str, int], over_all_shards: Mapping[str, int], files: tuple[Path, ...]) -> None:
        """Note how many cases each model has in this shard, and in the whole run, and the case files."""
        self._cases, self._files = over_all_shards, files
        most, budget = self.settings.confirm
        workers = self.settings.worker.count if self.settings.worker else 1
        if budget:  # in each worker they must be enough for one case, or many workers would leave all undecided
            self._left = max(max(budget * sum(cases.values()), LEAST_BUDGET) / workers, most)
        elif budget is not None:
            self._left = 0

    def evidence(self, case_file: Path, model: str, case: str, key: Key) -> CaseEvidence | None:
        """The measurement of a case; None where there is none, as for one that was edited."""
        from pytest_fcall.tracking.measurement import evidence_of

        baseline = self.baselines.of(case_file, Model.by_id(model))
        measured = baseline.measured.get(case) if baseline else None
        if measured is None or not key.is_same_case(measured.key):
            return None
        return evidence_of(measured, self._later_verdicts(case_file, model, case), key)

    def test(self, model: str, most: int, *, is_asked: bool) -> ChanceTest:
        """The test of a case that has at most so many answers. What recordings answered is never left undecided."""
        from pytest_fcall.tracking.comparison import ChanceTest

        confirm = self.settings.confirm
        if model not in self._rates:
            from pytest_fcall.tracking.case_rates import CaseRates

            self._rates[model] = CaseRates.estimated(self._measured_rates(model))
        leaves_open = is_asked and confirm.budget is not None
        return ChanceTest(
            self._rates[model],
            FALSE_ALARMS / max(self._cases.get(model, 1), 1),
            most,
            Outcome.UNDECIDED if leaves_open else Outcome.REGRESSED,
        )

    def grant(self, wanted: int) -> int:
        """The number of the wanted further answers that may be asked for; they count as asked for."""
        if self.settings.confirm.budget is None:
            return wanted
        granted = min(wanted, int(self._left))
        self._left -= granted
        return granted

    @property
    def history(self) -> History:
        """The verdicts of earlier runs."""
        if self._history is None:
            from pytest_fcall.tracking.history import History

            self._history = History(self.settings.root, self.settings.history)
        return self._history

    @property
    def notes(self) -> Sequence[str]:
        """The faults of files of earlier runs that could not be read."""
        return [f"not counted as evidence: {why}" for why in self._history.unread] if self._history else []

    def _measured_rates(self, model: str) -> Iterator[Rate]:
        from pytest_fcall.tracking.measurement import evidence_of

        for file in self._files:
            try:
                baseline = self.baselines.of(file, Model.by_id(model))
            except CaseError:  # its own cases say so
                continue
            for case, measured in (baseline.measured if baseline else {}).items():
                yield evidence_of(measured, self._later_verdicts(file, model, case), measured.key).before

    def _later_verdicts(self, case_file: Path, model: str, case: str) -> Sequence[RunVerdict]:
        """The verdicts of earlier runs; none where the baseline is another model's, or of another time."""
        if self.settings.baseline.against:
            return ()
        if case_file not in self._names:  # one for all cases of the file
            self._names[case_file] = path_from_root(case_file, self.settings.root)
        return self.history.of(self._names[case_file], model, case)
