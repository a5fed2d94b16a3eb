"""`--fc-dry-run`: the requests that a run would send, in place of the run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_fcall.core.case import Case
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.redaction import print_lines, usage_error
from pytest_fcall.plugin.session import session_of
from pytest_fcall.plugin.settings import settings_of
from pytest_fcall.plugin.terminal import verbosity
from pytest_fcall.reporting.dry_run import PlannedRequest, dry_run_line, dry_run_lines
from pytest_fcall.session.ask.costs import Costs
from pytest_fcall.session.ask.types import Question
from pytest_fcall.session.endings import CaseEnded
from pytest_fcall.session.judge.samples import sample_request, samples_of


class DryRun:
    """Lists the requests instead of running the items."""

    def __init__(self, config: pytest.Config) -> None:
        self._costs = Costs(settings_of(config))
        self._plan: list[PlannedRequest] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Look at the items instead of running them. Raises UsageError for a model that cannot be asked."""
        try:
            self._plan = [planned for item in session.items for planned in self._planned(item)]
        except CaseEnded as error:
            session.config.pluginmanager.unregister(self)
            raise usage_error(session.config, str(error)) from None
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        """List the requests."""
        if verbosity(config) < 0:
            print_lines(terminalreporter, [dry_run_line(self._plan)])
            return
        terminalreporter.section("dry run", sep="-")
        print_lines(terminalreporter, dry_run_lines(self._plan, config.get_terminal_writer().fullwidth))
        print_lines(terminalreporter, filter(None, [self._costs.fault]))

    def _planned(self, item: pytest.Item) -> Iterator[PlannedRequest]:
        if not isinstance(item, CaseItem) or not isinstance(item.case, Case) or item.named is None or item.is_skipped:
            return
        from pytest_fcall.backends.costs import likely_usage

        session, model = session_of(item.config), item.named.model.id
        source = session.replies.source(item.named)
        request = item.planned_request(source.settings)
        usage = likely_usage(request)
        samples = range(samples_of(item.case, session.settings.samples).count)
        questions = [Question.of(source, sample_request(request, sample), item.asker) for sample in samples]
        planned = item.planned_variants(source.settings, has_own_tools=source.asks_models)
        if planned:
            wanted = planned.wanted(item.case, source, request, item.asker, session.settings.samples)
            questions += [each if isinstance(each, Question) else each.question for each in wanted]
        for question in questions:
            recorded = session.replies.is_recorded(question)
            if not recorded:
                if not item.named.live:
                    return
                session.replies.backend(source)
            yield PlannedRequest(
                model=model,
                file=item.location[0],
                case=item.case.id,
                usage=usage,
                cost=self._costs.of(model, usage),
                recorded=recorded,
                begins=item.case.mode == "conversation",
            )
