"""The hooks that are needed only where there is a case file; registered with the first one."""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any

import pytest

from pytest_fcall.core import Request, Verdict
from pytest_fcall.plugin.collected import collected
from pytest_fcall.plugin.item import HOOKS, CaseItem
from pytest_fcall.plugin.judge_model import named_judge
from pytest_fcall.plugin.models import named_models
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.result_json import result_to_json
from pytest_fcall.reporting.results import Result
from pytest_fcall.session.ask.app_wire import OPEN_WIRE
from pytest_fcall.session.ask.replies import replies
from pytest_fcall.session.result.result import describe, result_of
from pytest_fcall.session.result.stale import stale_of

NAME = "fcall-running"


def register_hooks(config: pytest.Config) -> None:
    """Register the hooks of this module, once."""
    if not config.pluginmanager.has_plugin(NAME):
        config.pluginmanager.register(sys.modules[__name__], NAME)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run model by model, where there are several: each is loaded, and its limits met, once."""
    ids = [named.model.id for named in named_models(config)]
    if len(ids) > 1:
        items.sort(key=lambda item: ids.index(item.named.model.id) if isinstance(item, CaseItem) and item.named else 0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Ask ahead of the items, where somebody may be asked at all."""
    session.stash[HOOKS] = {}
    models = (*named_models(session.config), named_judge(session.config))
    if not session.config.option.collectonly and any(named and named.live for named in models):
        from pytest_fcall.plugin.prefetch import Prefetch

        session.config.pluginmanager.register(Prefetch(session), "fcall-ahead")


@pytest.hookimpl(trylast=True)
def pytest_fcall_request(request: Request) -> Request:
    """Leave the request as it is, where nobody changes it."""
    return request


@pytest.hookimpl(trylast=True)
def pytest_fcall_verdict(verdict: Verdict) -> Verdict:
    """Leave the verdict as it is, where nobody changes it."""
    return verdict


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Keep nothing of a case once all its reports are made."""
    try:
        return (yield)
    finally:
        if isinstance(item, CaseItem):
            item.forget()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Say what the app of a plain test asked in vain, whatever app and test made of it."""
    __tracebackhide__ = True
    try:
        return (yield)
    finally:
        if close := item.stash.get(OPEN_WIRE, None):
            close()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send the result along with the report, which travels to where results are gathered."""
    report = yield
    lacking = replies(item.config).lacking
    if isinstance(item, CaseItem) and (result := result_of(item, report)):
        describe(item, result)
        if report.skipped and isinstance(report.longrepr, tuple):
            report.longrepr = str(item.path), item.case.location.line, report.longrepr[2]
        report.fcall = {  # type: ignore[attr-defined]
            "result": result,
            "missing": item.lacks_recording,
            "unanswered": item.lacks_reply,
            "judged": item.verdict is not None and report.when == "call",
            "stanza": item.standing.text() if item.standing else None,
            "recorded": item.asked.recorded if item.asked else None,
            "changes": item.changes if item.config.get_verbosity() > 0 else [],
        }
    elif report.skipped and isinstance(report.longrepr, tuple) and item.nodeid in lacking.missing:
        report.longrepr = str(item.path), (item.location[1] or 0) + 1, report.longrepr[2]
    elif report.failed and item.nodeid in lacking.unanswered:
        report.fcall = {"unanswered": True, "judged": False}  # type: ignore[attr-defined]
    return report


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable(
    report: pytest.CollectReport | pytest.TestReport,
) -> Generator[None, dict[str, Any] | None, dict[str, Any] | None]:
    """Say the result in JSON where a report leaves this process."""
    data = yield
    if data is not None and isinstance(result := getattr(report, "fcall", {}).get("result"), Result):
        data["fcall"] = {**data["fcall"], "result": result_to_json(result)}
    return data


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """List the faults of case files where nothing runs, since no item will then name them."""
    faults = collected(config).faults
    if faults and config.option.collectonly:
        terminalreporter.section("faults in case files", sep="-")
        for fault in faults:
            terminalreporter.line(fault_text(fault, config.rootpath))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the controller what only workers see: it collects nothing itself."""
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["fcall_files_without_cases"] = collected(session.config).files_without_cases
        output["fcall_notes"] = replies(session.config).notes()
        output["fcall_stale"] = [[stale.path, stale.cases] for stale in stale_of(session.config)]
        output["fcall_figures"] = replies(session.config).figures()
