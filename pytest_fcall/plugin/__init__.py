"""pytest's side: what pytest calls at start-up, and nothing that costs time before a case file is met.

Every run of every user imports this module, so what does the work is imported where it is first needed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

if TYPE_CHECKING:
    from pytest_fcall.plugin.collection import CaseFile
    from pytest_fcall.session.ask.app_wire import AppWire
    from pytest_fcall.session.ask.model import AskModel
    from pytest_fcall.session.judge.llm_judge import AskJudge


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Offer the hooks to other plugins and conftest files."""
    from pytest_fcall import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options, which `pytest --help` lists."""
    from pytest_fcall.plugin.baseline_options import add_baseline_options
    from pytest_fcall.plugin.options import add_options
    from pytest_fcall.plugin.proxy_options import add_proxy_options
    from pytest_fcall.plugin.score_options import add_score_options
    from pytest_fcall.plugin.suite_options import add_suite_options
    from pytest_fcall.session.ask.environments import add_world_options

    add_options(parser)
    add_baseline_options(parser)
    add_score_options(parser)
    add_world_options(parser)
    add_proxy_options(parser)
    add_suite_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a model that cannot be read before anything runs, and listen for results."""
    read_models(config)
    if any(config.getoption(name) for name in ("fc_gate", "fc_fail")) or any(
        map(config.getini, ("fc_gates", "fc_fail"))
    ):
        from pytest_fcall.session.result.gates import gates_of

        gates_of(config)
    if any(config.getoption(f"fc_{name}") for name in ("accept", "prune", "baseline")):
        from pytest_fcall.session.judge.baselines import baselines

        baselines(config)
    if config.getoption("fc_samples") or config.getini("fc_samples"):
        from pytest_fcall.session.judge.samples import chosen_samples

        chosen_samples(config)
    if config.getoption("fc_score") or config.getini("fc_scores"):
        from pytest_fcall.plugin.score_options import want_scores

        want_scores(config)
    if config.getini("fc_runs"):
        from pytest_fcall.session.result.run_store import runs_to_keep

        runs_to_keep(config)
    choose_suites(config)
    if config.getoption("fc_shard"):
        take_share(config)
    if config.getoption("fc_dry_run"):
        plan_only(config)
    if not hasattr(config, "workerinput"):
        listen(config)


def read_models(config: pytest.Config) -> None:
    """Read the names of models. Raises UsageError for what names none."""
    if models_are_named(config):
        from pytest_fcall.plugin.models import named_models

        named_models(config)
    if judge_is_named(config):
        from pytest_fcall.plugin.judge_model import named_judge

        named_judge(config)


def choose_suites(config: pytest.Config) -> None:
    """Run the suites that the command line names, and write what their own tools read."""
    if any(config.getoption(f"fc_{name}") for name in ("suite", "suite_path", "pick", "suite_profile", "suite_mode")):
        from pytest_fcall.plugin.suite_items import run_suites

        run_suites(config)
    if config.getoption("fc_report"):
        from pytest_fcall.plugin.suite_files import write_reports

        write_reports(config)
    if config.getini("fc_apibench_checked"):
        from pytest_fcall.plugin.suite_options import suite_settings

        suite_settings(config)


def take_share(config: pytest.Config) -> None:
    """Leave to other machines what is theirs."""
    from pytest_fcall.plugin.sharding import Sharding, shard_of

    if shard := shard_of(config):
        config.pluginmanager.register(Sharding(shard), "fcall-sharding")


def listen(config: pytest.Config) -> None:
    """Wait for results; gates of the command line are judged, and a share is kept, even if there is none."""
    if (config.getoption("fc_gate") or config.getoption("fc_shard")) and not (
        config.option.collectonly or config.getoption("fc_dry_run")
    ):
        from pytest_fcall.plugin.summary import Summary

        config.pluginmanager.register(Summary(config), "fcall-results")
    else:
        config.pluginmanager.register(Listener(config), "fcall-listener")


def plan_only(config: pytest.Config) -> None:
    """Put the plan in the place of the run."""
    if hasattr(config, "workerinput") or config.getoption("numprocesses", None):
        raise pytest.UsageError("--fc-dry-run asks nothing and so needs no workers: run it with -n0")
    from pytest_fcall.plugin.dry_run import DryRun

    config.pluginmanager.register(DryRun(config), "fcall-planning")


def models_are_named(config: pytest.Config) -> bool:
    """Whether the command line or the configuration names a model; the ids of cases may do so, too."""
    if config.getoption("fc_model") or config.getini("fc_model"):
        return True
    if not any(text.endswith("]") for text in (*config.args, config.getoption("fc_pick") or "")):
        return False
    from pytest_fcall.plugin.models import named_models

    return bool(named_models(config))


def judge_is_named(config: pytest.Config) -> bool:
    """Whether either of them names a model that judges."""
    return bool(config.getoption("fc_judge") or config.getini("fc_judge"))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Refuse what cannot be read of worlds, and what other plugins add under a taken name, before anything runs."""
    from pytest_fcall.session.ask.environments import check_world_options

    check_world_options(session.config)
    hook = session.config.hook
    added = (
        hook.pytest_fcall_backends,
        hook.pytest_fcall_tool_sources,
        hook.pytest_fcall_comparators,
        hook.pytest_fcall_decoders,
        hook.pytest_fcall_suites,
    )
    if any(each.get_hookimpls() for each in added):
        from pytest_fcall.session.extensions import registry

        registry(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Deal cases to workers in another way than pytest-xdist does, where models are asked."""
    if config.getoption("dist") != "load" or not models_are_named(config):
        return None
    from pytest_fcall.plugin.xdist import scheduler

    return scheduler(config, log)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say which models sit the exam, which one judges, and who named them."""
    lines: list[str] = []
    if models_are_named(config):
        from pytest_fcall.plugin.models import header

        lines += header(config)
    if judge_is_named(config):
        from pytest_fcall.plugin.judge_model import judge_header

        lines += judge_header(config)
    return lines


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseFile | None:
    """Collect case files."""
    if file_path.suffix not in (".yaml", ".yml"):
        return None
    from pytest_fcall.plugin.collection import case_file

    return case_file(file_path, parent)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that ask for `fc_model` once for each model, if several are named."""
    if "fc_model" in metafunc.fixturenames:
        from pytest_fcall.plugin.models import parametrise

        parametrise(metafunc)


@pytest.fixture
def fc_model() -> AskModel:
    """The model under test: call it with a prompt and tools, and it gives the reply.

    Override it in a conftest file to put your own app in its place: return a function, or the name of a
    model as `--fc-model` takes it. The value is false where no model was named.
    """
    from pytest_fcall.session.ask.model import UnresolvedModel

    # pytest makes a fixture `request` anew wherever one is wanted, which takes longer than all of this.
    return cast("AskModel", UnresolvedModel())


@pytest.fixture
def fc_judge(request: pytest.FixtureRequest) -> AskJudge:
    """The model that judges, as `--fc-judge` names it: `fc_judge("greets back", reply.text).says` is yes or no.

    Hand it to `assert_calls`, for `$judge`. The value is false where no judge was named.
    """
    from pytest_fcall.plugin.hooks import register_hooks
    from pytest_fcall.session.judge.llm_judge import judge_of_test

    register_hooks(request.config)
    return judge_of_test(request)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Make a model of what a fixture `fc_model` gives, so that every test can ask it."""
    value = yield
    if fixturedef.argname == "fc_model" and fixturedef.cached_result is not None:
        from pytest_fcall.plugin.hooks import register_hooks
        from pytest_fcall.session.ask.model import model_from_fixture

        register_hooks(request.config)
        value = model_from_fixture(value, request)
        fixturedef.cached_result = (value, fixturedef.cached_result[1], None)
    return value


class Listener:
    """Waits, where reports arrive, for the first one that comes from a case, and has the rest gathered."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._failures = 0

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count what fails beside the cases."""
        self._failures += report.failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Hand over to what gathers results, once there are any."""
        if not hasattr(report, "fcall"):
            self._failures += report.failed
        else:
            from pytest_fcall.plugin.summary import Summary

            gathering = Summary(self._config, self._failures)
            gathering.pytest_runtest_logreport(report)
            self._config.pluginmanager.register(gathering, "fcall-results")
            self._config.pluginmanager.unregister(self)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Explain `reply.calls == [...]` in a plain test."""
    if op != "==" or type(left).__name__ != "CallList":
        return None
    from pytest_fcall.session.ask.call_list import CallList
    from pytest_fcall.session.judge.assert_calls import explain_unequal

    return explain_unequal(left, right) if isinstance(left, CallList) else None


@pytest.fixture
def fc_wire(request: pytest.FixtureRequest) -> Iterator[AppWire]:
    """What the app that the test calls asks of models: `fc_wire.calls == [{"search": {"to": "Oslo"}}]`.

    While the test runs, `OPENAI_BASE_URL` and the like lead to a proxy. With `--fc-live` or `--fc-model` it passes
    requests on and records replies; else it answers from recordings.
    """
    from pytest_fcall.plugin.hooks import register_hooks
    from pytest_fcall.session.ask.app_wire import wire_of_test

    register_hooks(request.config)
    with wire_of_test(request) as wire:
        yield wire
