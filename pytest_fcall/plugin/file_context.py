"""The context of a case file: everything that its items share, made once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import pytest

from pytest_fcall.core.backend import Model
from pytest_fcall.core.case import Case, FaultyCase
from pytest_fcall.matching.context import MatchContexts
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.report import shows_passed_calls
from pytest_fcall.plugin.terminal import verbosity
from pytest_fcall.session.ask.model import AskModel
from pytest_fcall.session.ask.volatile import with_file_patterns
from pytest_fcall.session.endings import CaseError
from pytest_fcall.session.models import NamedModel
from pytest_fcall.session.session import Session

if TYPE_CHECKING:
    from pluggy import HookRelay

    from pytest_fcall.plugin.collection import CaseFile
    from pytest_fcall.tracking.baseline_content import Baseline
    from pytest_fcall.tracking.stanza import Stanza


def case(fc_model: AskModel) -> None:
    """Name, by its signature, the fixture that every case needs; the item itself does the rest."""


def case_without_fixtures() -> None:
    """Stand for a case whose model no conftest file replaces: then the fixture need not be set up."""


class ItemsContext:
    """Everything that the items of one case file share."""

    def __init__(self, file: CaseFile, session: Session, volatile: Sequence[str]) -> None:
        self.file = file
        self.session = session
        self.own_volatile = tuple(volatile)
        """The patterns of the file itself."""
        self.volatile = with_file_patterns(session.settings.volatile, volatile)
        self.match_contexts = MatchContexts()
        self._baselines: dict[str, Baseline | None] = {}
        self._fixtures: object = None
        self._relative_path = ""
        self._call: Callable[..., None] = case
        self.own_model = False
        """Whether the models of the command line and the configuration are asked, with no fixture in between."""
        self.measures_strength = _wants_strength(file.config)
        """Whether a gate bounds how strong cases are."""
        self._strengths: dict[tuple[str, int], tuple[float, float, float] | None] = {}
        self.hands_model_on = False
        """Whether each fixture in between takes the named model, so that it may hand it on."""

    def item(self, name: str, entry: Case | FaultyCase, named: NamedModel | None, place: int) -> CaseItem:
        """Make the item of a case. All items of a file want the same fixtures, which are looked up once."""
        if self._fixtures is None:
            probe = self._item(name, entry, named, place)
            # pytest has no public way to ask which fixtures an item uses before it runs.
            self._fixtures = getattr(probe, "_fixtureinfo")  # noqa: B009
            definitions = getattr(self._fixtures, "name2fixturedefs").get("fc_model", ())  # noqa: B009
            self.own_model = len(definitions) == 1
            self.hands_model_on = all("fc_model" in each.argnames for each in definitions[1:])
            if named is None or not self.own_model:
                return probe
            self._call, self._fixtures = case_without_fixtures, None
            probe = self._item(name, entry, named, place)
            self._fixtures = getattr(probe, "_fixtureinfo")  # noqa: B009
            return probe
        return self._item(name, entry, named, place)

    def _item(self, name: str, entry: Case | FaultyCase, named: NamedModel | None, place: int) -> CaseItem:
        item = CaseItem.from_parent(
            self.file,
            name=name,
            entry=entry,
            named=named,
            context=self,
            place=place,
            callobj=self._call,
            fixtureinfo=self._fixtures,
        )
        # pytest would find out the relative path for each item anew.
        self._relative_path = self._relative_path or item.location[0]
        item.location = self._relative_path, entry.location.line - 1, name
        return item

    def strength(self, case: Case, model: str) -> tuple[float, float, float] | None:
        """The strength of a case as a result has it. What it leaves open is as in the accepted answer of the model."""
        from pytest_fcall.session.result.strength import accepted_answer, case_strength

        key = model, id(case)
        if key not in self._strengths:
            accepted = accepted_answer(self.accepted(model, case.id))
            comparators = self.session.registry.comparators
            self._strengths[key] = case_strength(case, comparators, self.match_contexts, accepted)
        return self._strengths[key]

    def accepted(self, model: str, case: str) -> Stanza | None:
        """The accepted answer of a model to a case, where that can be read."""
        try:
            baseline = self.baseline(model, case) if model else None
        except (CaseError, ValueError):  # the case says so where it runs
            return None
        return baseline.stanzas.get(case) if baseline else None

    def baseline(self, model: str, case: str) -> Baseline | None:
        """The baseline of the file under a model. Raises CaseError where it is damaged, or is so for the case."""
        if model not in self._baselines:
            self._baselines[model] = self.session.baselines.of(self.file.path, Model.by_id(model))
        found = self._baselines[model]
        if found and (faults := found.faults or ([found.unclear[case]] if case in found.unclear else ())):
            from pytest_fcall.reporting.faults import fault_text

            root = self.session.settings.root
            raise CaseError("\n".join(fault_text(fault, root) for fault in faults))
        return found

    @cached_property
    def shows_passed_calls(self) -> bool:
        """Whether people want to see the calls of passed cases."""
        return shows_passed_calls(self.file.config)

    @cached_property
    def shows_changes(self) -> bool:
        """Whether people want to see what backends change in requests."""
        return verbosity(self.file.config) > 0

    @cached_property
    def changes_requests(self) -> bool:
        """Whether other packages change requests."""
        return _is_implemented(self.file.ihook, "pytest_fcall_request")

    @cached_property
    def changes_verdicts(self) -> bool:
        """Whether other packages change verdicts."""
        return _is_implemented(self.file.ihook, "pytest_fcall_verdict")


def _is_implemented(hooks: HookRelay, name: str) -> bool:
    """Whether others implement a hook, beside our own default."""
    plugins = (each.plugin for each in getattr(hooks, name).get_hookimpls())
    return any(not getattr(plugin, "__name__", "").startswith("pytest_fcall.") for plugin in plugins)


def _wants_strength(config: pytest.Config) -> bool:
    """Whether a gate names the strength of cases. The gates are read later, and only where there are any."""
    gates = (*config.getini("fc_gates"), *config.getoption("fc_gate"))
    return any("strength" in gate for gate in gates)
