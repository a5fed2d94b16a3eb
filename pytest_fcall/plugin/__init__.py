"""pytest's side: the hooks that pytest calls at start-up, and the fixtures.

Every run of every user imports this module, so that it imports nothing of ours before it is needed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

if TYPE_CHECKING:
    from pytest_fcall.plugin.collection import CaseFile
    from pytest_fcall.session.ask.app_wire import AppWire
    from pytest_fcall.session.ask.model import AskModel
    from pytest_fcall.session.judge.llm_judge import AskJudge

_STARTED: Final = pytest.StashKey[float]()


class PlainImports:
    """Imports the modules of this package as Python does, without pytest's rewriting of assertions.

    pytest rewrites every module of a distribution that has a plugin. There are no assertions here, and where bytecode
    is not written, as in many containers, compiling all of them anew takes longer than a whole run.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Find a module of this package; leave all others to the finders that come after."""
        return PathFinder.find_spec(name, path, target) if name.startswith("pytest_fcall.") else None


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Offer the hooks to other plugins and conftest files."""
    if PlainImports not in sys.meta_path:
        sys.meta_path.insert(0, PlainImports)
    from pytest_fcall import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options, which `pytest --help` lists."""
    from pytest_fcall.plugin.options import add_options

    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Refuse settings that cannot be used before anything runs, and listen for results."""
    if _says_something(config):
        from pytest_fcall.plugin.configuration import configure_run

        configure_run(config)
    if not hasattr(config, "workerinput") and not config.pluginmanager.has_plugin("fcall-results"):
        config.pluginmanager.register(FirstResultListener(config), "fcall-listener")


def _says_something(config: pytest.Config) -> bool:
    """Whether the command line or the configuration says anything to this plugin; ids may name models, too."""
    from pytest_fcall.plugin.options import SETTINGS_WITHOUT_DEFAULT

    return (
        any(value for name, value in vars(config.option).items() if name.startswith("fc_"))
        or any(map(config.getini, SETTINGS_WITHOUT_DEFAULT))
        or any(arg.endswith("]") for arg in config.args)
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    """Refuse extensions of other plugins under a name that is taken, and unknown kinds of models."""
    hook = session.config.hook
    added = (
        hook.pytest_fcall_backends,
        hook.pytest_fcall_tool_sources,
        hook.pytest_fcall_comparators,
        hook.pytest_fcall_decoders,
        hook.pytest_fcall_suites,
    )
    if any(each.get_hookimpls() for each in added):
        from pytest_fcall.plugin.session import registry_of

        registry_of(session.config)
    if _says_something(session.config):
        from pytest_fcall.plugin.model_kinds import check_kinds

        check_kinds(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Deal cases to workers in another way than pytest-xdist does, where models are asked."""
    if config.getoption("dist") != "load" or not _says_something(config):
        return None
    from pytest_fcall.plugin.xdist import scheduler

    return scheduler(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give all workers the same start of the run, so that none takes a reply of another for an old one."""
    node.workerinput["fcall_started"] = node.config.stash.setdefault(_STARTED, time.time())


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Name the models under test, and the model that judges."""
    if not _says_something(config):
        return []
    from pytest_fcall.plugin.header import header

    return header(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseFile | None:
    """Collect case files."""
    if file_path.suffix not in (".yaml", ".yml"):
        return None
    from pytest_fcall.plugin.collection import case_file

    return case_file(file_path, parent)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that ask for `fc_model` once for each model, if several are named."""
    if "fc_model" in metafunc.fixturenames:
        from pytest_fcall.plugin.fixtures import parametrise

        parametrise(metafunc)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Make a model of the value of a fixture `fc_model`, so that every test can ask it."""
    __tracebackhide__ = True
    try:
        return _as_model((yield), fixturedef, request)
    except BaseException as error:  # CaseEnded is one, and must not be imported where nothing fails
        from pytest_fcall.session.outcomes import CaseEnded

        if isinstance(error, CaseEnded):
            from pytest_fcall.plugin.outcomes import end_test

            end_test(error)
        raise


def _as_model(value: object, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> object:
    __tracebackhide__ = True
    if fixturedef.argname == "fc_model" and fixturedef.cached_result is not None:
        from pytest_fcall.plugin.fixtures import model_of_fixture
        from pytest_fcall.plugin.hooks import register_hooks

        register_hooks(request.config)
        value = model_of_fixture(value, request)
        fixturedef.cached_result = (value, fixturedef.cached_result[1], None)
    return value


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Explain `reply.calls == [...]` in a plain test."""
    if op != "==" or type(left).__name__ != "CallList":
        return None
    from pytest_fcall.session.ask.call_list import CallList
    from pytest_fcall.session.judge.assert_calls import explain_unequal

    return explain_unequal(left, right) if isinstance(left, CallList) else None


@pytest.fixture
def fc_model() -> AskModel:
    """The model under test: call it with a prompt and tools, and it gives the reply.

    Override it in a conftest file to put your own app in its place: return a function, or the name of a
    model as `--fc-model` takes it. The value is false where no model was named.
    """
    from pytest_fcall.plugin.fixtures import UnresolvedModel

    # `pytest_fixture_setup` makes an AskModel of it. Here it cannot be made: pytest makes a fixture `request` anew
    # wherever one is wanted, which takes longer than all of this.
    return cast("AskModel", UnresolvedModel())


@pytest.fixture
def fc_judge(request: pytest.FixtureRequest) -> AskJudge:
    """The model that judges, as `--fc-judge` names it: `fc_judge("greets back", reply.text).says` is yes or no.

    Hand it to `assert_calls`, for `$judge`. The value is false where no judge was named.
    """
    from pytest_fcall.plugin.fixtures import judge_of_test
    from pytest_fcall.plugin.hooks import register_hooks

    register_hooks(request.config)
    return judge_of_test(request)


@pytest.fixture
def fc_wire(request: pytest.FixtureRequest) -> Iterator[AppWire]:
    """The requests that the app under the test sends to models: `fc_wire.calls == [{"search": {"to": "Oslo"}}]`.

    While the test runs, `OPENAI_BASE_URL` and the like lead to a proxy. With `--fc-live` or `--fc-model` it passes
    requests on and records replies; else it answers from recordings.
    """
    from pytest_fcall.plugin.fixtures import wire_of_test
    from pytest_fcall.plugin.hooks import register_hooks

    register_hooks(request.config)
    with wire_of_test(request) as wire:
        yield wire


class FirstResultListener:
    """Waits, where reports arrive, for the first that comes from a case, and registers the summary."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._failures = 0

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count failures outside the cases."""
        self._failures += report.failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Hand over to the summary, once there are results."""
        if not hasattr(report, "fcall"):
            self._failures += report.failed
        else:
            from pytest_fcall.plugin.summary import Summary

            summary = Summary(self._config, self._failures)
            summary.pytest_runtest_logreport(report)
            self._config.pluginmanager.register(summary, "fcall-results")
            self._config.pluginmanager.unregister(self)
