"""The hooks that are needed where there is a case, or a test that asks a model; registered with the first one.

Those around tests that are no cases are in `plain_tests`: most runs of cases have none, and each hook costs every case.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Generator
from types import ModuleType
from typing import Any

import pytest

from pytest_fcall.core.request import Request
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.plugin.collection_findings import collection_findings
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.redaction import print_lines, redact_report, redacted_case, secrets_of
from pytest_fcall.plugin.refusal import unusable_model
from pytest_fcall.plugin.report import CaseReport, attach, case_report, to_json
from pytest_fcall.plugin.session import session_of
from pytest_fcall.plugin.terminal import find_terminal_width, printable


def register_hooks(config: pytest.Config) -> None:
    """Register the hooks of this module, once."""
    _register(config, sys.modules[__name__], "fcall-hooks")


def register_test_hooks(config: pytest.Config) -> None:
    """Register the hooks around tests that are no cases, once."""
    from pytest_fcall.plugin import plain_tests

    _register(config, plain_tests, "fcall-test-hooks")


def _register(config: pytest.Config, module: ModuleType, name: str) -> None:
    if not config.pluginmanager.has_plugin(name):
        config.pluginmanager.register(module, name)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    """Run model by model, where there are several: each is loaded, and its limits met, once.

    A selection by tags does not leave out faulty cases that may be meant.
    """
    if config.getoption("markexpr", None):
        from pytest_fcall.plugin.uncertain_tags import uncertain_cases_kept

        with uncertain_cases_kept(config, items):
            yield
    else:
        yield
    ids = [named.model.id for named in session_of(config).settings.models]
    if len(ids) > 1:
        items.sort(key=lambda item: ids.index(item.named.model.id) if isinstance(item, CaseItem) and item.named else 0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Ask ahead of the items, where anything can be asked ahead. All conftest files have been read by now.

    Refuses a run of a model that can answer nothing.
    """
    files = collection_findings(session.config).files
    for file in files:
        file.find_hooks()
    if session.config.option.collectonly:
        return None
    reason = session_of(session.config).unknown_relation
    if not (reason or session.config.getoption("fc_dry_run")):
        reason = unusable_model(session) or ""
    if reason:
        from pytest_fcall.plugin.refusal import refuse

        return refuse(session, reason)
    if not all(isinstance(item, CaseItem) for item in session.items):
        register_test_hooks(session.config)
    find_terminal_width(session.config)
    cases = Counter(item.named.model.id for item in session.items if isinstance(item, CaseItem) and item.named)
    over_all = collection_findings(session.config).over_all_shards(cases)
    session_of(session.config).doubt.expect(cases, over_all, tuple(sorted(file.path for file in files)))
    settings = session_of(session.config).settings
    ahead = any(named.live and named.model.kind != "python" for named in settings.models)
    if ahead or (settings.judge and settings.judge.live):
        from pytest_fcall.plugin.prefetch import prefetch

        prefetch(session)
    return None


@pytest.hookimpl(trylast=True)
def pytest_fcall_request(request: Request) -> Request:
    """Leave the request as it is, unless others change it."""
    return request


@pytest.hookimpl(trylast=True)
def pytest_fcall_verdict(verdict: Verdict) -> Verdict:
    """Leave the verdict as it is, unless others change it."""
    return verdict


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[object]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the result to the report, which travels to where results are gathered."""
    report = yield
    if isinstance(item, CaseItem):
        error = call.excinfo.value if call.excinfo else None
        if isinstance(error, pytest.fail.Exception) and not error.pytrace:
            report.longrepr = str(error)  # else pytest takes the whole text for the message of an exception
        if report.outcome == "skipped":
            _refuse_excuse(item, report)
        item.add_result(report)
        if report.when == "teardown":
            item.forget()
    elif report.outcome != "passed":
        _add_missing_reply(item, call, report)
    elif report.when == "call" and (remark := session_of(item.config).replies.test_remarks.get(item.nodeid)):
        attach(report, CaseReport(None, remark=remark))
    attached = case_report(report)
    has_texts = report.longrepr is not None or report.sections or report.user_properties
    if attached or has_texts:
        secrets = secrets_of(item.config)
        if has_texts:
            redact_report(secrets, report, is_ours=isinstance(item, CaseItem))
        if attached:
            attach(report, redacted_case(secrets, attached))
    return report


def _refuse_excuse(item: CaseItem, report: pytest.TestReport) -> None:
    """Fail a case that a mark has excused although a forbidden call was made."""
    run = item.run
    reason: str | None = getattr(report, "wasxfail", None)
    if reason is None or run is None or not run.has_forbidden_call:
        return
    from pytest_fcall.reporting.safe_text import safe_line

    del report.wasxfail
    report.outcome = "failed"
    why = f" ({safe_line(reason)})" if reason else ""
    report.longrepr = printable(f"{report.longrepr}\nxfail{why} does not excuse a forbidden call")


def _add_missing_reply(item: pytest.Item, call: pytest.CallInfo[object], report: pytest.TestReport) -> None:
    """Note that a plain test has no reply; its skip points to the test, not into this package."""
    no_replies = session_of(item.config).replies.no_replies
    if missing := no_replies.missing.get(item.nodeid):
        if report.skipped and isinstance(report.longrepr, tuple):
            report.longrepr = str(item.path), (item.location[1] or 0) + 1, report.longrepr[2]
        settings = session_of(item.config).settings
        if settings.models or settings.judge or settings.replay:  # else nobody said that a model is under test
            attach(report, CaseReport(None, missing))
    elif report.failed and item.nodeid in no_replies.unanswered:
        attach(report, CaseReport(None, unanswered=True))
    error = call.excinfo.value if call.excinfo else None
    if case_report(report) and isinstance(error, pytest.fail.Exception) and not error.pytrace:
        report.longrepr = str(error)  # else pytest repeats all of it in its short summary


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable(
    report: pytest.CollectReport | pytest.TestReport,
) -> Generator[None, dict[str, Any] | None, dict[str, Any] | None]:
    """Write the attached result in JSON where a report leaves this process."""
    data = yield
    if data is not None and isinstance(report, pytest.TestReport) and (attached := case_report(report)):
        data["fcall"] = to_json(attached)
    return data


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """List the faults of case files where nothing runs, since no item will then name them."""
    faults = collection_findings(config).faults
    if faults and config.option.collectonly:
        from pytest_fcall.reporting.faults import fault_text

        terminalreporter.section("faults in case files", sep="-")
        print_lines(terminalreporter, (fault_text(fault, config.rootpath) for fault in faults))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the controller the findings of this worker's collection: the controller collects nothing."""
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        from pytest_fcall.plugin.acceptance import find_leftovers, moved_lines, renamed_lines, stale_stanzas

        ours = session_of(session.config)
        output["fcall_files_without_cases"] = collection_findings(session.config).files_without_cases
        output["fcall_left_to_others"] = collection_findings(session.config).left_to_others
        notes = (*ours.replies.notes(), *ours.baselines.notes())
        output["fcall_notes"] = [*map(secrets_of(session.config).redacted, notes)]
        output["fcall_strays"] = [[*stray, count] for stray, count in ours.replies.strays().items()]
        output["fcall_span_strays"] = [[*stray, count] for stray, count in ours.replies.span_strays().items()]
        stale = stale_stanzas(session.config)
        output["fcall_stale"] = [[each.path, each.cases] for each in stale]
        output["fcall_moved"] = moved_lines(session.config, stale)
        output["fcall_renamed"] = renamed_lines(session)
        output["fcall_leftovers"] = [*find_leftovers(session)]
        output["fcall_figures"] = ours.replies.throughputs()


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Let go of the cases: pytest and Python look for garbage five times from here on, among all that is left."""
    for session in {file.session for file in collection_findings(config).files}:
        for item in session.items:
            if isinstance(item, CaseItem):
                # Both refer to the item. Commands of ours that only collect use what else it holds.
                item.keywords = {}
                vars(item).pop("_request", None)  # for fixtures: pytest drops it from items that ran
        session.items[:] = [item for item in session.items if not isinstance(item, CaseItem)]
