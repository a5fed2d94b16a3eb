"""The value of the fixture `fc_wire`: what the app that a plain test calls asks of models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_fcall.core import AppExchange, Model, Request
from pytest_fcall.core.app_exchange import NO_EXCHANGE
from pytest_fcall.core.reply import total_usage
from pytest_fcall.plugin.models import NamedModel, named_models
from pytest_fcall.plugin.options import options
from pytest_fcall.plugin.proxy_options import proxy_options
from pytest_fcall.session.ask.app_proxy import NotRecorded
from pytest_fcall.session.ask.call_list import CallList
from pytest_fcall.session.ask.model import AskModel, DecodedReply, decoded
from pytest_fcall.session.ask.replies import Replies, replies
from pytest_fcall.session.ask.source import Asker, Question, Source
from pytest_fcall.session.outcomes import fail

if TYPE_CHECKING:
    from pytest_fcall.core import Usage


OPEN_WIRE = pytest.StashKey[Callable[[], None]]()
"""Ends what a test records; the test ends in words where something was asked in vain."""

_OFF = "fc_wire needs the proxy, and fc_proxy is off"
_BOTH = (
    "fc_wire has what the test calls itself, and fc_model is an app, too: nobody could say which of them asks. "
    "Ask the app by one of them"
)


class AppWire:
    """What the app has asked of models so far in this test, and what they answered."""

    def __init__(self, inner: Sequence[AppExchange], answering: Replies) -> None:
        self._inner = inner
        self._answering = answering

    def __repr__(self) -> str:
        return f"<fc_wire: {len(self.replies)} replies>"

    @property
    def replies(self) -> list[DecodedReply]:
        """Each reply that came, in order; its `request` is what was asked, `request.settings["model"]` whom."""
        asked = [each for each in self._inner if each.model]
        return [decoded(each.reply, each.request, self._answering.decoders) for each in asked]

    @property
    def calls(self) -> CallList:
        """The calls of all replies, in order: `assert fc_wire.calls == [{"search": {"to": "Oslo"}}]`."""
        return CallList(call for reply in self.replies for call in reply.calls)

    @property
    def usage(self) -> Usage | None:
        """The tokens of all of them; None where nothing is known."""
        return total_usage(reply.usage for reply in self.replies)

    def whole(self) -> DecodedReply:
        """All replies as if they were one: the last, with the calls of all, and all tools that were offered."""
        replies = self.replies
        tools = {tool.name: tool for reply in replies for tool in reply.request.tools}
        last = replies[-1] if replies else decoded(NO_EXCHANGE, Request(()), self._answering.decoders)
        request = Request(last.request.messages, tuple(tools.values()), last.request.settings)
        return replace(last, calls=self.calls, request=request)


@contextmanager
def wire_of_test(request: pytest.FixtureRequest) -> Iterator[AppWire]:
    """Have what an app asks belong to the test that asks for the fixture, until its call is over."""
    __tracebackhide__ = True
    if not proxy_options(request.config).on:
        fail(_OFF)
    _make_models_first(request)
    asking = replies(request.config)
    question = _question(request)
    with ExitStack() as recording:
        inner = recording.enter_context(asking.overhear(question))

        def close() -> None:
            __tracebackhide__ = True
            _close(recording, asking, question)

        request.node.stash[OPEN_WIRE] = close
        yield AppWire(() if inner is None else inner, asking)
        close()


def _close(recording: ExitStack, asking: Replies, question: Question) -> None:
    __tracebackhide__ = True
    try:
        recording.close()
    except NotRecorded as missing:
        asking.lacking.missing.add(question.asker.nodeid)
        text = f'{missing}\nrecord it: pytest --fc-live "{question.asker.nodeid}"'
        if asking.lacking.replay:
            fail(text)
        pytest.skip(text)
    except Exception as error:
        asking.lacking.failed(question, error)


def _make_models_first(request: pytest.FixtureRequest) -> None:
    """Models read where they are served from the variables that soon lead to the proxy."""
    __tracebackhide__ = True
    for name in ("fc_judge", "fc_model"):
        if name in request.fixturenames:
            model: object = request.getfixturevalue(name)
            if isinstance(model, AskModel) and model.is_app:
                fail(_BOTH)


def _question(request: pytest.FixtureRequest) -> Question:
    """Nothing but the place where what an app asks is kept: it has a name of its own, whatever models are named."""
    config, node = request.config, request.node
    live = config.getoption("fc_live") or any(named.live for named in named_models(config))
    named = NamedModel(Model("app", "tests"), "fixture", live=live and not options(config).replay)
    case = node.nodeid.partition("::")[2]
    return Question(Source(named, None), Request(()), Asker(node.path, case, node.nodeid, node.nodeid), "")
