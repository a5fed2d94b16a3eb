"""Hooks through which other packages and conftest files extend pytest-fcall.

Each docstring is the contract. Hooks that return a mapping are asked once a session, and their answers are
merged; a name that is claimed twice, or is ours already, is a usage error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_fcall.core import Case, Reply, Request, Verdict
    from pytest_fcall.core.extension import BackendFactory, Comparator, Decoder, Suite, ToolSource
    from pytest_fcall.reporting.results import Results


@pytest.hookspec
def pytest_fcall_backends(config: pytest.Config) -> Mapping[str, BackendFactory] | None:
    """Return kinds of models: `{"mykind": factory}` makes `--fc-model=mykind:NAME` work."""


@pytest.hookspec
def pytest_fcall_tool_sources(config: pytest.Config) -> Mapping[str, ToolSource] | None:
    """Return sources of tools: `{"graphql": read}` makes `tools: [{graphql: schema.graphql}]` work.

    Sources are read at collection, so they need neither a network nor a server.
    """


@pytest.hookspec
def pytest_fcall_comparators(config: pytest.Config) -> Mapping[str, Comparator] | None:
    """Return operators: `{"iban": compare}` makes `{$iban: DE}` work in any expectation.

    A name is given without the dollar sign and may not be one of the built-in operators.
    """


@pytest.hookspec
def pytest_fcall_decoders(config: pytest.Config) -> Mapping[str, Decoder] | None:
    """Return decoders: `{"mine": decode}` makes `decoder: mine` work in a case file or model entry."""


@pytest.hookspec
def pytest_fcall_suites(config: pytest.Config) -> Mapping[str, Suite] | None:
    """Return public benchmarks: `{"mine": suite}` makes `suite: mine:part` work in a case file."""


@pytest.hookspec(firstresult=True)
def pytest_fcall_request(item: pytest.Item, case: Case, request: Request) -> Request | None:
    """Change a request before it is planned.

    An ordinary implementation replaces the request (None leaves it to others). To build on what others did,
    write a wrapper: `@pytest.hookimpl(wrapper=True)`, `request = yield`, `return replace(request, …)`.
    """


@pytest.hookspec(firstresult=True)
def pytest_fcall_verdict(item: pytest.Item, case: Case, reply: Reply, verdict: Verdict) -> Verdict | None:
    """Change a verdict after judging; wrappers build on one another as in `pytest_fcall_request`.

    Also called when the calls of the baseline are judged again, by the case as it is today. The reply then holds
    the text where the case expects one, and no raw calls.
    """


@pytest.hookspec
def pytest_fcall_report(config: pytest.Config, results: Results) -> None:
    """Called once, where results are gathered (under xdist: the controller), before the summary is printed."""
