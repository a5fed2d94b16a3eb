"""Start of a run that says something to this plugin: checks the settings, and registers what they ask for."""

from __future__ import annotations

import pytest

from pytest_fcall.plugin.settings import settings_of, suite_settings, usage_errors


def check_settings(config: pytest.Config) -> None:
    """Raise UsageError for settings that cannot be used."""
    settings = settings_of(config)
    if any(config.getoption(name) for name in ("fc_gate", "fc_fail")) or any(
        map(config.getini, ("fc_gates", "fc_fail"))
    ):
        from pytest_fcall.plugin.gates import gates_of

        gates_of(config)
    if settings.baseline.against:
        from pytest_fcall.session.judge.baselines import Baselines

        with usage_errors():
            Baselines(settings.baseline, settings.root)
    if config.getini("fc_apibench_checked"):
        with usage_errors():
            suite_settings(config)


def register_plugins(config: pytest.Config) -> None:
    """Register the parts of this plugin that the command line asks for."""
    register = config.pluginmanager.register
    if any(config.getoption(f"fc_{name}") for name in ("suite", "suite_path", "pick", "suite_profile", "suite_mode")):
        from pytest_fcall.plugin.suite_items import run_suites

        run_suites(config)
    if config.getoption("fc_report"):
        from pytest_fcall.plugin.suite_files import write_reports

        write_reports(config)
    if shard := settings_of(config).shard:
        from pytest_fcall.plugin.sharding import Sharding

        register(Sharding(shard), "fcall-sharding")
    if config.getoption("fc_dry_run"):
        if hasattr(config, "workerinput") or config.getoption("numprocesses", None):
            raise pytest.UsageError("--fc-dry-run asks nothing and so needs no workers: run it with -n0")
        from pytest_fcall.plugin.dry_run import DryRun

        register(DryRun(config), "fcall-dry-run")
    elif _needs_summary(config):
        from pytest_fcall.plugin.summary import Summary

        register(Summary(config), "fcall-results")


def _needs_summary(config: pytest.Config) -> bool:
    """Whether there is a summary even without results: gates are judged, and the run of a shard is kept."""
    wanted = config.getoption("fc_gate") or config.getoption("fc_shard")
    return bool(wanted) and not hasattr(config, "workerinput") and not config.option.collectonly
