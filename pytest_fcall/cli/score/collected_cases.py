"""The cases that pytest would run, ready to judge stored answers to them."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, cast

import pytest

from pytest_fcall.cli.pytest_run import CaseFilesPlugin, run_pytest_offline
from pytest_fcall.cli.score.workers import WorkFailed
from pytest_fcall.core.backend import Model
from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.case import Case, FaultyCase, judge_fault
from pytest_fcall.matching.context import KeptMatchContexts
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.session import gates_of
from pytest_fcall.session.judge.given_answers import GivenAnswers, undecided_reason, without_surroundings
from pytest_fcall.session.judge.samples import samples_of

if TYPE_CHECKING:
    from pytest_fcall.core.case import Condition

_KIND: Final = "stored"
"""The kind of the model that the answers stand for."""
_MODEL: Final = f"{_KIND}:answers"
_ARGUMENTS: Final = (
    f"--fc-model={_MODEL}",
    *("-o", "fc_runs=0", "-o", "fc_proxy=off", "--fc-record=off", "--fc-confirm=0", "--fc-vary=off"),
)


class UnreadableCases(WorkFailed):
    """The cases cannot be collected. The text says why."""


class OwnCase:
    """A case, and what judging answers to it needs."""

    def __init__(self, item: CaseItem) -> None:
        self._item = item
        self.id = item.case.id
        self.name = item.asker.again
        """`FILE::ID`."""
        self.file = item.location[0]

    @cached_property
    def fault(self) -> str:
        """The faults of the case in one line; empty where it has none."""
        case = self._item.case
        if isinstance(case, FaultyCase):
            faults = case.faults
        elif case.judge is not None and (fault := judge_fault(case)):
            faults = (fault,)
        else:
            return ""
        from pytest_fcall.reporting.faults import fault_text

        root = self._item.config.rootpath
        return "; ".join(fault_text(fault._replace(source="", hint=""), root) for fault in faults)

    @cached_property
    def undecided(self) -> str:
        """The reason why no answer alone decides the case; empty where one does."""
        return undecided_reason(self._item.case) if isinstance(self._item.case, Case) else ""

    @cached_property
    def skip(self) -> str:
        """The reason why the case is skipped; empty where it is not."""
        item = self._item
        if isinstance(item.case, Case) and (reason := _reason(item.case.skip)):
            return reason
        marks = [*item.iter_markers("skip"), *item.iter_markers("skipif")]
        return str(marks[0].kwargs.get("reason") or f"it is marked `{marks[0].name}`") if marks else ""

    @property
    def excuse(self) -> str:
        """The reason why wrong answers are expected; empty where they are not."""
        return _reason(self._item.case.xfail) if isinstance(self._item.case, Case) else ""

    @property
    def rule(self) -> str:
        """The rule for the number of its answers that must be right."""
        case = self._item.case
        return samples_of(case, self._item.context.session.settings.samples).rule if isinstance(case, Case) else "all"

    @cached_property
    def answers(self) -> GivenAnswers:
        """The judge of its answers, for a case without faults."""
        item = self._item
        item.case = case = without_surroundings(cast("Case", item.case))
        context = item.context
        contexts = context.match_contexts
        if not isinstance(contexts, KeptMatchContexts):
            contexts = context.match_contexts = KeptMatchContexts()
        return GivenAnswers(case, item.final_request({}), item.judge_of(case), context.session.registry, contexts)


def _reason(conditions: Sequence[Condition]) -> str:
    """The reason of the first condition that holds for stored answers, whose model is not known."""
    held = (each for each in conditions if not each.models or any(glob_matches(glob, _MODEL) for glob in each.models))
    return next((each.reason for each in held), "")


class CollectedCases:
    """All cases, in the order of their files."""

    def __init__(self, cases: Sequence[OwnCase], digest: str, gates: int) -> None:
        self.all = cases
        self.digest = digest
        """The digest of their files."""
        self.gates = gates
        """The number of gates that a run would have."""
        self._by_name: dict[str, list[OwnCase]] = {}
        for case in cases:
            for name in dict.fromkeys((case.name, case.id)):
                self._by_name.setdefault(name, []).append(case)

    def named(self, name: str) -> Sequence[OwnCase]:
        """The cases with this id, or with this file and id."""
        return self._by_name.get(name, ())


@lru_cache(maxsize=1)
def collected_cases(cases: str, folder: Path) -> CollectedCases:
    """The cases that pytest collects from `cases` in a folder, once in a process. Raises UnreadableCases."""
    found = _Collection()
    try:
        with contextlib.chdir(folder):
            _, output = run_pytest_offline([*_ARGUMENTS, "--collect-only", "-q", cases], found)
    except OSError as error:
        raise UnreadableCases(f"the folder of the cases cannot be used here: {error}") from None
    if found.cases is None or found.problems:
        raise UnreadableCases("\n\n".join(found.problems) or output)
    return CollectedCases(found.cases, found.digest, found.gates)


class _Collection(CaseFilesPlugin):
    """Takes the cases from a run of pytest that runs nothing."""

    def __init__(self) -> None:
        self.cases: Sequence[OwnCase] | None = None
        """None where pytest did not get as far as the collection."""
        self.digest = ""
        self.gates = 0
        self.problems: list[str] = []
        """Errors of the collection."""

    def pytest_fcall_backends(self) -> Mapping[str, Callable[[Model, Path], NoReturn]]:
        """Add the kind of model that the answers stand for. It is never asked."""
        return {_KIND: _nobody}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what could not be collected."""
        if report.failed:
            self.problems.append(report.longreprtext)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take the cases, in an order that no other plugin changes."""
        self.gates = len(gates_of(session.config).gates)
        items = [item for item in session.items if isinstance(item, CaseItem)]
        self.cases = [OwnCase(item) for item in sorted(items, key=lambda item: (str(item.path), item.place))]
        self.digest = _files_digest({item.context.file.nodeid: item.path for item in items})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> bool:
        """Run nothing."""
        return True


def _files_digest(files: Mapping[str, Path]) -> str:
    found = hashlib.sha256()
    for name, path in sorted(files.items()):
        found.update(f"{name}\n{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()


def _nobody(model: Model, _: Path) -> NoReturn:
    raise RuntimeError(f"{model.id} stands for stored answers, and cannot be asked")
