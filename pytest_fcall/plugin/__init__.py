"""pytest's side: the hooks that pytest calls at start-up, and the fixtures.

Every run of every user imports this module, so that it imports nothing of ours before it is needed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

if TYPE_CHECKING:
    from pytest_fcall.plugin.collection import CaseFile
    from pytest_fcall.session.ask.decoded_reply import AppWire
    from pytest_fcall.session.ask.model import AskModel
    from pytest_fcall.session.judge.llm_judge import AskJudge

_STARTED: Final = pytest.StashKey[float]()
_NOT_COLLECTED: Final = pytest.StashKey[list[Path]]()
_MOST_NOTED: Final = 1000


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


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Lead the variables of providers to the proxy before conftest files import modules that make clients."""
    given = early_config.known_args_namespace
    ids = (*given.file_or_dir, *(given.fc_pick or "").split(","))
    in_ids = [text.strip()[:-1].rpartition("[")[2] for text in ids if text.strip().endswith("]")]
    names = [*(given.fc_model or early_config.getini("fc_model")), *in_ids]
    has_fixture = _replaces_model(early_config)
    if names or has_fixture or early_config.getini("fc_proxy") or early_config.getini("fc_spans"):
        from pytest_fcall.plugin.early_proxy import open_early

        open_early(early_config, names, has_fixture=has_fixture)


def _replaces_model(config: pytest.Config) -> bool:
    """Whether the first conftest file puts an app in the place of the model, as far as its text says."""
    for folder in {config.rootpath, config.invocation_params.dir}:
        with suppress(OSError):
            if b"def fc_model(" in (folder / "conftest.py").read_bytes():
                return True
    return False


def pytest_configure(config: pytest.Config) -> None:
    """Refuse settings that cannot be used before anything runs, and listen for results."""
    if _has_settings(config):
        from pytest_fcall.plugin.configuration import configure_run

        configure_run(config)
    if not hasattr(config, "workerinput") and not config.pluginmanager.has_plugin("fcall-results"):
        config.pluginmanager.register(FirstResultListener(config), "fcall-listener")


def _has_settings(config: pytest.Config) -> bool:
    """Whether the command line or the configuration sets anything of this plugin; an id may name a model, too."""
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
        hook.pytest_fcall_agents,
    )
    if any(each.get_hookimpls() for each in added):
        from pytest_fcall.plugin.session import registry_of

        registry_of(session.config)
    if _has_settings(session.config):
        from pytest_fcall.plugin.refusal import check_kinds

        check_kinds(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Deal cases to workers in another way than pytest-xdist does, where models are asked."""
    if config.getoption("dist") != "load" or not _has_settings(config):
        return None
    from pytest_fcall.plugin.workers import scheduler

    return scheduler(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[Any]) -> None:
    """Refuse copies of the project on other hosts in which replies would be lost."""
    if _has_settings(config) and any(not spec.popen or spec.chdir for spec in specs):
        from pytest_fcall.plugin.workers import check_copies

        check_copies(config)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take the notes of a worker; end the run if the worker has refused it before its first test."""
    if error and not node.gateway.spec.popen:
        from pytest_fcall.plugin.workers import replace_lost

        replace_lost(node)
    output: dict[str, Any] = getattr(node, "workeroutput", {})
    noted = not_collected(node.config)
    noted += [path for name in output.get("fcall_not_collected", ()) if (path := Path(name)) not in noted]
    if refusal := output.get("fcall_refusal"):
        from pytest_fcall.plugin.redaction import usage_error

        raise usage_error(node.config, refusal)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Send each worker the start of the run: by its own, a worker would take replies of the others for old ones.

    Workers have no terminal, so the width of this one is sent along.
    """
    node.workerinput["fcall_started"] = node.config.stash.setdefault(_STARTED, time.time())
    spec = node.gateway.spec
    if not spec.popen or spec.python:
        from pytest_fcall.plugin.workers import introduce

        introduce(node, in_use=_has_settings(node.config))
    if node.config.pluginmanager.has_plugin("terminalreporter"):
        node.workerinput["fcall_width"] = node.config.get_terminal_writer().fullwidth


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Name the models under test, and the model that judges."""
    if not _has_settings(config):
        return []
    from pytest_fcall.plugin.header import header
    from pytest_fcall.plugin.redaction import shown

    return [shown(config, line) for line in header(config)]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseFile | None:
    """Collect case files, and note files that may be meant as such."""
    suffix = file_path.suffix
    if suffix in (".yaml", ".yml") or (suffix == ".json" and parent.session.isinitpath(file_path)):
        from pytest_fcall.plugin.collection import case_file

        if (found := case_file(file_path, parent)) is not None:
            return found
    elif suffix != ".json" and ".fc." not in file_path.name:
        return None
    noted = not_collected(parent.config)
    if len(noted) < _MOST_NOTED:
        noted.append(file_path)
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Refuse an argument that names a case file in a way in which pytest does not find it."""
    for arg in session.config.args:
        if ("[" in arg or "::" in arg) and any(suffix in arg for suffix in (".yaml", ".yml", ".json")):
            from pytest_fcall.plugin.refusal import check_argument

            check_argument(session.config, arg)


def not_collected(config: pytest.Config) -> list[Path]:
    """The files that were not collected, but may be meant as case files: YAML and JSON, or `.fc.` in the name."""
    return config.stash.setdefault(_NOT_COLLECTED, [])


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Refuse a run that names a model on the command line, and has no case for it."""
    config = session.config
    typed = any(str(arg).startswith("--fc-model") for arg in config.invocation_params.args)
    if not typed or config.option.collectonly or config.pluginmanager.has_plugin("dsession"):  # the workers collect
        return None
    from pytest_fcall.plugin.refusal import no_case_reason, refuse

    reason = no_case_reason(session, not_collected(config))
    return refuse(session, reason) if reason else None


def _is_in_use(config: pytest.Config) -> bool:
    """Whether there are cases, or settings of this plugin."""
    return config.pluginmanager.has_plugin("fcall-hooks") or _has_settings(config)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the controller, which collects nothing, the names of files that look like case files."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None and _is_in_use(session.config):
        from pytest_fcall.plugin.collection_findings import lookalikes

        output["fcall_not_collected"] = list(map(str, lookalikes(not_collected(session.config))))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """List files that look like case files and are not collected; with results, the summary does."""
    if config.pluginmanager.has_plugin("fcall-results"):
        return
    noted = not_collected(config)
    if _is_in_use(config) or (noted and not terminalreporter.stats):
        from pytest_fcall.plugin.collection_findings import uncollected_lines
        from pytest_fcall.plugin.redaction import print_lines

        print_lines(terminalreporter, uncollected_lines(config, noted))


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
        from pytest_fcall.session.endings import CaseEnded

        if isinstance(error, CaseEnded):
            from pytest_fcall.plugin.terminal import end_test

            end_test(error)
        raise


def _as_model(value: object, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> object:
    __tracebackhide__ = True
    if fixturedef.argname == "fc_model" and fixturedef.cached_result is not None:
        from pytest_fcall.plugin.fixtures import model_of_fixture

        _register_hooks(request.config)
        value = model_of_fixture(value, request)
        fixturedef.cached_result = (value, fixturedef.cached_result[1], None)
    return value


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Explain `reply.calls == [...]` in a plain test."""
    if op != "==" or type(left).__name__ != "CallList":
        return None
    from pytest_fcall.session.ask.decoded_reply import CallList
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

    _register_hooks(request.config)
    return judge_of_test(request)


@pytest.fixture
def fc_wire(request: pytest.FixtureRequest) -> Iterator[AppWire]:
    """The requests that the app under the test sends to models: `fc_wire.calls == [{"search": {"to": "Oslo"}}]`.

    While the test runs, `OPENAI_BASE_URL` and the like lead to a proxy. With `--fc-live` or `--fc-model` it passes
    requests on and records replies; else it answers from recordings.
    """
    from pytest_fcall.plugin.fixtures import wire_of_test

    _register_hooks(request.config)
    with wire_of_test(request) as wire:
        yield wire


def _register_hooks(config: pytest.Config) -> None:
    """Register the hooks that a test needs that asks a model."""
    from pytest_fcall.plugin.hooks import register_hooks, register_test_hooks

    register_hooks(config)
    register_test_hooks(config)


class FirstResultListener:
    """Waits, where reports arrive, for the first that comes from a case, and registers the summary."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._failures = 0

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count failures outside the cases."""
        self._failures += report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Register the summary with the first report of a case."""
        if not hasattr(report, "fcall"):
            self._failures += report.failed
        else:
            from pytest_fcall.plugin.summary import Summary

            summary = Summary(self._config, self._failures)
            summary.pytest_runtest_logreport(report)
            self._config.pluginmanager.register(summary, "fcall-results")
            self._config.pluginmanager.unregister(self)
