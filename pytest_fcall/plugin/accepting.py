"""`--fc-accept` and `--fc-prune`: what becomes of baselines at the end of a run, where reports arrive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fcall.core import Model, Outcome
from pytest_fcall.plugin.baseline_options import Accept
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.judge.baselines import baselines
from pytest_fcall.session.result.stale import Stale, stale_of, why_narrowed

if TYPE_CHECKING:
    from pytest_fcall.tracking.stanza import Stanza

_LISTED = 10


class BaselineWriter:
    """Writes what the run's verdicts change in baselines, once, when nothing more will come."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._stale: list[Stale] | None = None
        self._told: list[str] = []
        self.failed = False
        """Whether something could not be written."""

    def take_stale(self, output: Mapping[str, Any]) -> None:
        """Take what a worker found stale; all of them see the same."""
        if "fcall_stale" in output:
            self._stale = [Stale(*each) for each in output["fcall_stale"]]

    def finish(self, session: pytest.Session, results: Sequence[Result]) -> None:
        """Write what is to be accepted, and forget what is to be pruned."""
        if self._stale is None:
            self._stale = stale_of(self._config)
        options = baselines(self._config).options
        if options.accept:
            self._told += self._accept(results, options.accept)
        if self._stale:
            self._told += self._prune(session) if options.prune else self._stale_lines()

    def lines(self) -> list[str]:
        """What people read of it."""
        return self._told

    def _accept(self, results: Sequence[Result], which: Accept) -> Iterator[str]:
        from importlib.metadata import version

        from pytest_fcall.tracking.acceptance import Acceptance, DamagedBaseline, accept

        acceptance = Acceptance.now(self._config.rootpath, version("pytest-fcall"))
        written = same = 0
        for path, stanzas in self._chosen(results, which).items():
            try:
                changed = accept(path, stanzas, acceptance)
            except (DamagedBaseline, OSError) as error:
                self.failed = True
                yield safe_line(f"not accepted: {path.name}: {error}")
                continue
            written, same = written + len(changed), same + len(stanzas) - len(changed)
        yield f"accepted: {written:,} {'case' if written == 1 else 'cases'}, {same:,} as before"
        yield from _left(results, which)

    def _chosen(self, results: Sequence[Result], which: Accept) -> dict[Path, list[Stanza]]:
        """The stanzas to be written, by file."""
        from pytest_fcall.tracking.baseline_file import baseline_path
        from pytest_fcall.tracking.stanza import stanza_from_json

        chosen: dict[Path, list[Stanza]] = {}
        for result in results:
            stanza = stanza_from_json(result.stanza) if result.stanza else None
            if stanza and (stanza.valid or which == "all") and not stanza.has_forbidden_call:
                path = baseline_path(self._config.rootpath / result.file, Model.by_id(result.model))
                chosen.setdefault(path, []).append(stanza)
        return chosen

    def _prune(self, session: pytest.Session) -> Iterator[str]:
        from pytest_fcall.tracking.acceptance import DamagedBaseline, remove_cases

        failed = "" if session.exitstatus == pytest.ExitCode.OK else "not everything passed"
        if why := why_narrowed(self._config) or failed:
            yield f"not pruned, since {why}"
            yield from self._stale_lines()
            return
        for stale in self._stale or ():
            path = self._config.rootpath / stale.path
            try:
                forgotten = remove_cases(path, frozenset(stale.cases).__contains__)
            except (DamagedBaseline, OSError) as error:
                self.failed = True
                yield safe_line(f"not pruned: {stale.path}: {error}")
            else:
                yield f"pruned: {_listed(forgotten)} ({safe_line(stale.path)})"

    def _stale_lines(self) -> Iterator[str]:
        for stale in self._stale or ():
            yield f"accepted, and gone: {_listed(stale.cases)} ({safe_line(stale.path)}); --fc-prune forgets them"


def _left(results: Sequence[Result], which: Accept) -> Iterator[str]:
    """What is not accepted, and why."""
    if forbidden := [each.case for each in results if any(kind == "forbidden_call" for kind, _ in each.reasons)]:
        yield f"not accepted, since a forbidden call is never excused: {_listed(forbidden)}"
    if unsayable := [each.case for each in results if each.answered and each.stanza is None]:
        yield f"not accepted, since JSON cannot say the calls: {_listed(unsayable)}"
    if which == "valid" and (failures := [each.case for each in results if _is_refused(each)]):
        yield f"not accepted, since they fail: {_listed(failures)}"


def _is_refused(result: Result) -> bool:
    """Whether it is wrong and not accepted as that already."""
    return result.answered and not result.right and result.outcome is not Outcome.KNOWN_FAILURE


def _listed(cases: list[str]) -> str:
    more = len(cases) - _LISTED
    return ", ".join([*map(safe_line, cases[:_LISTED]), *([f"and {more:,} more"] if more > 0 else [])])
