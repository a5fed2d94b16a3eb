"""Hooks through which other packages and conftest files extend pytest-fcall.

Each docstring is the contract. Hooks that return a mapping are called once a session, and their results are merged. A
name that is given twice, or is built in, is a usage error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_fcall.core.case import Case
    from pytest_fcall.core.extension import AgentKind, BackendFactory, Comparator, Decoder, Suite, ToolSource
    from pytest_fcall.core.reply import Reply
    from pytest_fcall.core.request import Request
    from pytest_fcall.core.variants import Relation
    from pytest_fcall.core.verdict import Verdict
    from pytest_fcall.reporting.results import Results
    from pytest_fcall.session.result.report_files import ReportWriter


@pytest.hookspec
def pytest_fcall_backends(config: pytest.Config) -> Mapping[str, BackendFactory] | None:
    """Return backends by kind: `{"mykind": factory}` makes `--fc-model=mykind:NAME` work."""


@pytest.hookspec
def pytest_fcall_agents(config: pytest.Config) -> Mapping[str, AgentKind] | None:
    """Return kinds of agents by the framework's name: `{"mine": kind}` lets `--fc-model=python:MODULE:AGENT` name them.

    They are asked before the built-in ones whether an agent is theirs.
    """


@pytest.hookspec
def pytest_fcall_tool_sources(config: pytest.Config) -> Mapping[str, ToolSource] | None:
    """Return tool sources by key: `{"graphql": read}` makes `tools: [{graphql: schema.graphql}]` work.

    Sources are read at collection, therefore without a network or a server.
    """


@pytest.hookspec
def pytest_fcall_comparators(config: pytest.Config) -> Mapping[str, Comparator] | None:
    """Return comparators by operator: `{"iban": compare}` makes `{$iban: DE}` work in any expectation.

    Names have no dollar sign, and must not be those of built-in operators.
    """


@pytest.hookspec
def pytest_fcall_decoders(config: pytest.Config) -> Mapping[str, Decoder] | None:
    """Return decoders by name: `{"mine": decode}` makes `decoder: mine` work in a case file or model entry."""


@pytest.hookspec
def pytest_fcall_suites(config: pytest.Config) -> Mapping[str, Suite] | None:
    """Return suites (public benchmarks) by name: `{"mine": suite}` makes `suite: mine:part` work in a case file."""


@pytest.hookspec
def pytest_fcall_relations(config: pytest.Config) -> Mapping[str, Relation] | None:
    """Return relations by name: `{"slang": relation}` makes `variants: [slang]` and `--fc-vary=slang` work.

    `relation.vary(case, dice, wanted)` returns another `Case`, with its expectation, whose verdict must not change; or
    an `Unfit` that says why there is none. It must be a pure function: whatever it chooses, it chooses by the dice.
    """


@pytest.hookspec
def pytest_fcall_report_kinds(config: pytest.Config) -> Mapping[str, ReportWriter] | None:
    """Return kinds of reports by name: `{"mine": write}` makes `--fc-report=mine:PATH` work.

    `write(report)` returns or yields text or bytes. It is called once, where results are gathered, when the run has
    ended.
    """


@pytest.hookspec(firstresult=True)
def pytest_fcall_request(item: pytest.Item, case: Case, request: Request) -> Request | None:
    """Change a request before it is planned.

    An ordinary implementation replaces the request, or returns None. To build on other implementations, write a
    wrapper: `@pytest.hookimpl(wrapper=True)`, `request = yield`, `return replace(request, …)`.
    """


@pytest.hookspec(firstresult=True)
def pytest_fcall_verdict(item: pytest.Item, case: Case, reply: Reply, verdict: Verdict) -> Verdict | None:
    """Change a verdict after judging; wrappers build on one another as in `pytest_fcall_request`.

    Also called when the calls of the baseline are judged again by the current case. The reply then has the text if the
    case expects one, and no raw calls.
    """


@pytest.hookspec
def pytest_fcall_report(config: pytest.Config, results: Results) -> None:
    """Called once, where results are gathered (under xdist in the controller), before the summary is printed."""
