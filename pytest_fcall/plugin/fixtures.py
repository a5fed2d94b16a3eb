"""The values of the fixtures `fc_model`, `fc_judge` and `fc_wire`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FunctionType
from typing import TYPE_CHECKING, NoReturn, TypeGuard

import pytest

from pytest_fcall.backends.apps.python import PythonBackend, app_of
from pytest_fcall.core.backend import Backend, Model
from pytest_fcall.core.request import Request
from pytest_fcall.plugin.models import ids_have_models
from pytest_fcall.plugin.session import OPEN_WIRE, registry_of, session_of
from pytest_fcall.plugin.settings import settings_of
from pytest_fcall.session.ask.decoded_reply import AppWire, collected_wire
from pytest_fcall.session.ask.model import AskModel
from pytest_fcall.session.ask.types import Asker, Question, Source
from pytest_fcall.session.endings import CaseError, SettingError
from pytest_fcall.session.judge.llm_judge import AskJudge
from pytest_fcall.session.models import NamedModel, parse_model

if TYPE_CHECKING:
    from pytest_fcall.session.ask.replies import Replies

_PROXY_OFF = "fc_wire needs the proxy, and fc_proxy is off"
_TWO_APPS = (
    "fc_wire records the requests of the app that the test calls, and fc_model is an app, too, so it is unknown which "
    "of them sends a request. Ask the app by one of them"
)


def parametrise(metafunc: pytest.Metafunc) -> None:
    """Run a plain test once for each model, where there are several and no conftest file replaced the fixture."""
    models = settings_of(metafunc.config).models
    if ids_have_models(metafunc.config, models):
        metafunc.parametrize("fc_model", models, indirect=True, ids=[each.model.id for each in models])


class UnresolvedModel:
    """Stands for the model that is named for a test, until it is known which test that is."""


class _NoModel(AskModel):
    """The model where a fixture gave none; asking it says so."""

    def __init__(self, replies: Replies, asker: Asker, why: str) -> None:
        super().__init__(None, replies, asker)
        self._why = why

    def _named_source(self) -> NoReturn:
        raise CaseError(self._why)


def asker_of(node: pytest.Item) -> Asker:
    """The test that asks. A case is named without the model, as in recordings and in a run of one model."""
    case_asker: Asker | None = getattr(node, "asker", None)
    if case_asker is not None:
        return case_asker
    name, volatile = getattr(node, "originalname", node.name), settings_of(node.config).volatile
    return Asker(node.path, name, node.nodeid, node.nodeid, volatile)


def model_of_fixture(value: object, request: pytest.FixtureRequest) -> AskModel:
    """The model that a fixture `fc_model` gave: a model, its name, a function, a backend, or nothing."""
    if isinstance(value, AskModel):
        return value
    session, asker = session_of(request.config), asker_of(request.node)
    if isinstance(value, UnresolvedModel):
        named: NamedModel | None = getattr(request, "param", None) or getattr(request.node, "named", None)
        return session.model(named or next(iter(session.settings.models), None), asker)
    if value is None:
        return _NoModel(session.replies, asker, f"the fixture fc_model gave None; {_what_it_may_give(request)}")
    if isinstance(value, str):
        try:
            model = parse_model(value, "the fixture fc_model", request.config.rootpath)
        except SettingError as error:
            raise CaseError(str(error)) from None
        source = session.replies.source(NamedModel(model, "fixture", live=True))
    elif _is_backend(value):
        source = Source(_named_after(value), value)
    else:
        app = app_of(value, registry_of(request.config).agents)
        if app is None:
            raise CaseError(
                f"the fixture fc_model gave a value of type {type(value).__name__}; {_what_it_may_give(request)}"
            )
        source = Source(_named_after(value), PythonBackend(lambda: app))
    return AskModel(source, session.replies, asker)


def _what_it_may_give(request: pytest.FixtureRequest) -> str:
    from pytest_fcall.backends.apps.agents.agent import known_agents

    agents = known_agents(registry_of(request.config).agents)
    return (
        f"it may give a function, KIND:NAME, a backend, the value of the plugin's own fc_model, or an agent of {agents}"
    )


def _is_backend(value: object) -> TypeGuard[Backend]:
    return hasattr(value, "complete") and hasattr(value, "close")


def _named_after(thing: object) -> NamedModel:
    named = thing if isinstance(thing, FunctionType) else type(thing)
    return NamedModel(Model("python", f"{named.__module__}:{named.__qualname__}"), "fixture", live=True)


def judge_of_test(request: pytest.FixtureRequest) -> AskJudge:
    """The value of the fixture `fc_judge` for the test that asks for it."""
    session = session_of(request.config)
    return AskJudge(session.judge(asker_of(request.node)))


@contextmanager
def wire_of_test(request: pytest.FixtureRequest) -> Iterator[AppWire]:
    """Record what an app sends for the test that asks for the fixture, until the call of the test is over."""
    session = session_of(request.config)
    if not session.settings.proxy:
        raise CaseError(_PROXY_OFF)
    _make_models_first(request)
    recording = ExitStack()
    wire = recording.enter_context(collected_wire(session.replies, _wire_question(request)))
    request.node.stash[OPEN_WIRE] = recording
    try:
        yield wire
    finally:
        recording.close()


def _make_models_first(request: pytest.FixtureRequest) -> None:
    """Make the models before the recording starts: they read their addresses from the variables that it changes."""
    for name in ("fc_judge", "fc_model"):
        if name in request.fixturenames:
            model: object = request.getfixturevalue(name)
            if isinstance(model, AskModel) and model.is_app:
                raise CaseError(_TWO_APPS)


def _wire_question(request: pytest.FixtureRequest) -> Question:
    """The place at which requests are recorded; its model has a name of its own, whatever models are named."""
    config, node = request.config, request.node
    settings = session_of(config).settings
    live = settings.live or any(named.live for named in settings.models)
    named = NamedModel(Model("app", "tests"), "fixture", live=live and not settings.replay)
    case = node.nodeid.partition("::")[2]
    return Question(
        Source(named, None), Request(()), Asker(node.path, case, node.nodeid, node.nodeid, settings.volatile), ""
    )
