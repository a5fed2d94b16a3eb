"""A run of pytest in which recordings answer, and requests to models are noted instead of sent; and lines about it."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from pytest_fcall.backends.store import StoreError
from pytest_fcall.cli.project import existing_paths, root_of
from pytest_fcall.cli.pytest_run import InProcessPlugin, run_pytest_offline
from pytest_fcall.core.case import FaultyCase
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.refusal import asks_by_fixture
from pytest_fcall.plugin.session import session_of
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.ask.open_requests import OpenRequests
from pytest_fcall.session.settings import Settings

if TYPE_CHECKING:
    from pytest_fcall.core.extension import BackendFactory

OPEN: Final = 10
"""The exit status where requests are open still."""
_SHOWN: Final = 5
"""Lines of one kind that are printed; the others are counted."""


class NoPlan(Exception):
    """pytest did not get as far as the cases. The text is what it printed."""


class PlanRun(InProcessPlugin):
    """Runs the tests that ask models as far as recordings answer, and collects the requests after that."""

    def __init__(self) -> None:
        self.requests = OpenRequests()
        self._settings: Settings | None = None
        self.factories: Mapping[str, BackendFactory] = {}
        """The makers of backends, by the kinds of models."""
        self.tests = 0
        """The number of tests that ask models."""
        self.problems: dict[str, str] = {}
        """Tests, and files, that cannot be planned, and why."""

    @property
    def settings(self) -> Settings:
        """The settings of the run. Raises NoPlan before there are any."""
        if self._settings is None:
            raise NoPlan("the settings of the run are not known")
        return self._settings

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Have requests noted instead of sent."""
        fcall = session_of(session.config)
        fcall.replies.open_requests = self.requests
        self._settings = fcall.settings
        self.factories = fcall.registry.backends

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what could not be collected."""
        if report.failed:
            self.problems[report.nodeid] = report.longreprtext

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out tests that ask no model: what they do is nothing to a plan."""
        items[:] = [item for item in items if isinstance(item, CaseItem) or asks_by_fixture(item)]
        self.tests = len(items)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note why a test asks nothing. The verdicts on recorded replies do not matter here."""
        report = yield
        if call.excinfo is not None and report.failed and (call.when == "setup" or _is_faulty(item)):
            test = item.asker.again if isinstance(item, CaseItem) else item.nodeid
            self.problems.setdefault(test, str(call.excinfo.value))
        return report


def _is_faulty(item: pytest.Item) -> bool:
    return isinstance(item, CaseItem) and isinstance(item.case, FaultyCase)


class PlannedCases(NamedTuple):
    """The cases whose requests are planned, as pytest is given them."""

    paths: Sequence[str]
    options: Sequence[str]
    """Options of pytest."""

    @property
    def root(self) -> Path:
        """The root folder, as far as the paths tell."""
        return root_of([Path(path.partition("::")[0]).absolute() for path in self.paths] or [Path.cwd()])

    def plan(self) -> PlanRun:
        """Plan the requests that are open. Raises NoPlan where pytest cannot run the cases."""
        plan = PlanRun()
        # Further answers are a matter of doubt, which only a run with live models settles step by step.
        confirm = [] if any(each.startswith("--fc-confirm") for each in self.options) else ["--fc-confirm=0"]
        arguments = ["-o", "fc_runs=0", "--fc-live", *confirm, *self.options, *self.paths]
        status, output = run_pytest_offline(arguments, plan)
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED, 10):
            raise NoPlan(output)
        return plan


def planned_cases(parser: ArgumentParser, options: Namespace, for_pytest: Sequence[str]) -> PlannedCases:
    """The cases that a command line names; ends the program through `parser` where a path leads nowhere."""
    existing_paths(parser, [path.partition("::")[0] for path in options.paths])
    models = [f"--fc-model={model}" for model in options.fc_model]
    return PlannedCases(options.paths, [*models, *for_pytest, *cost_limit(options)])


def cost_limit(options: Namespace) -> list[str]:
    """The option of pytest that limits costs, where the command line has one."""
    return [] if options.fc_max_cost is None else [f"--fc-max-cost={options.fc_max_cost}"]


def exit_status(work: Callable[[], int]) -> int:
    """Do the work of a command; 2 where pytest cannot plan, 1 where replies cannot be kept. Prints why."""
    try:
        return work()
    except NoPlan as why:
        print(why, file=sys.stderr)
        return 2
    except StoreError as error:
        print_problem(str(error))
        return 1


def print_some(lines: Sequence[str], of_what: str) -> None:
    """Print the first of some lines to standard error, and how many more there are `of_what`."""
    for line in lines[:_SHOWN]:
        print_note(line)
    if len(lines) > _SHOWN:
        print_note(f"… {len(lines) - _SHOWN:,} more {of_what}")


def print_not_planned(problems: Mapping[str, str], apps: Mapping[str, str]) -> None:
    """Print which tests have no request though they want a reply: why, by test, and the ids of apps, by test."""
    for app, number in sorted(Counter(apps.values()).items()):
        print_note(f"not planned: {plural_text(number, 'test')} of {app}: pytest itself asks apps")
    # Further lines show the place in its file, as `fcall lint` does.
    reasons = {test: reason.strip().partition("\n")[0] for test, reason in problems.items()}
    print_some([f"not planned: {test}: {reason}" for test, reason in reasons.items()], "tests are not planned")


def print_problem(text: str) -> None:
    """Print what is wrong, in the name of the command."""
    print_note(f"fcall record: {text}")


def print_note(text: str) -> None:
    """Print a line to standard error."""
    print(safe_line(text), file=sys.stderr)
