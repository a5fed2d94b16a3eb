"""`--fc-dry-run`: what would be asked, and nothing is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_fcall.core import Case
from pytest_fcall.plugin.item import CaseItem, planned_request
from pytest_fcall.reporting.dry_run import PlannedRequest, dry_run_line, dry_run_lines
from pytest_fcall.session.ask.costs import Costs
from pytest_fcall.session.ask.model import asker_of
from pytest_fcall.session.ask.replies import replies
from pytest_fcall.session.ask.source import Question
from pytest_fcall.session.judge.samples import first_portion, request_of_sample, samples_of


class DryRun:
    """Takes the place of the run."""

    def __init__(self, config: pytest.Config) -> None:
        self._costs = Costs(config)
        self._plan: list[PlannedRequest] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Look at the items instead of running them. Raises UsageError for a model that cannot be asked."""
        try:
            self._plan = [planned for item in session.items for planned in self._planned(item)]
        except pytest.fail.Exception as error:
            session.config.pluginmanager.unregister(self)
            raise pytest.UsageError(str(error)) from None
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        """Tell what would be asked."""
        if config.get_verbosity() < 0:
            terminalreporter.line(dry_run_line(self._plan))
            return
        terminalreporter.section("dry run", sep="-")
        for line in dry_run_lines(self._plan, config.get_terminal_writer().fullwidth):
            terminalreporter.line(line)
        if self._costs.fault:
            terminalreporter.line(self._costs.fault)

    def _planned(self, item: pytest.Item) -> Iterator[PlannedRequest]:
        if not isinstance(item, CaseItem) or not isinstance(item.case, Case) or item.named is None or item.is_skipped:
            return
        from pytest_fcall.backends.costs.token_estimates import likely_usage

        asking = replies(item.config)
        source = asking.source(item.named)
        request = planned_request(item, item.case, source.settings)
        usage = likely_usage(request)
        for sample in range(first_portion(samples_of(item.case, item.config))):
            question = Question.of(source, request_of_sample(request, sample), asker_of(item))
            recorded = asking.is_recorded(question)
            if not recorded:
                if not item.named.live:
                    return
                asking.backend(source)
            yield PlannedRequest(
                model=item.named.model.id,
                file=item.location[0],
                case=item.case.id,
                usage=usage,
                cost=self._costs.of(item.named.model.id, usage),
                recorded=recorded,
                begins=item.case.mode == "conversation",
            )
