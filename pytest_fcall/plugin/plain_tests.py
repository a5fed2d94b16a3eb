"""The hooks around tests that are no cases, registered where such tests run beside cases or ask a model."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.session import OPEN_WIRE, session_of
from pytest_fcall.plugin.terminal import end_test
from pytest_fcall.session.endings import CaseEnded


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """End a test that got no reply in its set-up. A plain test finds the variables of models as they are without us."""
    __tracebackhide__ = True
    replies = session_of(item.config).replies
    replies.no_replies.forget(item.nodeid)  # of an attempt before
    replies.let_variables_stay(stay=isinstance(item, CaseItem))
    try:
        return (yield)
    except CaseEnded as ended:
        end_test(ended)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """End a plain test that got no reply, also where its app was given none and went on."""
    __tracebackhide__ = True
    try:
        try:
            return (yield)
        finally:
            if recording := item.stash.get(OPEN_WIRE, None):
                recording.close()
    except CaseEnded as ended:
        end_test(ended)
