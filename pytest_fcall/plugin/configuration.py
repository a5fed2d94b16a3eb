"""Start of a run that says something to this plugin: checks the settings, and registers what they ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_fcall.plugin.redaction import usage_error
from pytest_fcall.plugin.settings import has_suite_settings, settings_of, suite_settings, usage_errors
from pytest_fcall.session.settings import Shard

if TYPE_CHECKING:
    from pytest_fcall.session.settings import Settings


def configure_run(config: pytest.Config) -> None:
    """Check the settings, and register the parts of this plugin that they ask for. Raises UsageError."""
    settings = settings_of(config)
    _check_names(config, settings)
    _register(config, settings.shard)


def _check_names(config: pytest.Config, settings: Settings) -> None:
    """Raise UsageError for gates, baselines and settings of suites that cannot be used."""
    baseline = settings.baseline
    if any(config.getoption(name) for name in ("fc_gate", "fc_fail")) or any(
        map(config.getini, ("fc_gates", "fc_fail"))
    ):
        from pytest_fcall.plugin.session import gates_of

        gates_of(config)
    with usage_errors(config):
        if baseline.against:
            from pytest_fcall.session.judge.baselines import Baselines, check_baseline

            Baselines(baseline, config.rootpath)
            if not hasattr(config, "workerinput"):
                check_baseline(baseline.against, config.rootpath, [each.model for each in settings.models])
        if has_suite_settings(config):
            suite_settings(config)


def _register(config: pytest.Config, shard: Shard | None) -> None:
    register = config.pluginmanager.register
    if any(config.getoption(f"fc_{name}") for name in ("suite", "suite_path", "pick", "suite_profile", "suite_mode")):
        from pytest_fcall.plugin.suites import run_suites

        run_suites(config)
    if config.getoption("fc_report") or config.getini("fc_report"):
        from pytest_fcall.plugin.suites import write_suite_files

        write_suite_files(config)
        from pytest_fcall.plugin.run_reports import reports_of
        from pytest_fcall.session.result.report_files import LIVE

        if any(file.kind == LIVE for file in reports_of(config)):
            from pytest_fcall.plugin.live_page import write_live_pages

            write_live_pages(config)
    if shard:
        register(_Sharding(shard), "fcall-sharding")
    on_worker = hasattr(config, "workerinput")
    if config.getoption("tx", None) and not on_worker:
        from pytest_fcall.plugin.workers import LostHosts, has_other_hosts

        if has_other_hosts(config):
            register(LostHosts(config), "fcall-lost-hosts")
    if config.getoption("fc_dry_run"):
        if on_worker or config.getoption("numprocesses", None):
            raise usage_error(config, "--fc-dry-run asks nothing and so needs no workers: run it with -n0")
        from pytest_fcall.plugin.dry_run import DryRun

        register(DryRun(config), "fcall-dry-run")
    elif (shard or config.getoption("fc_gate")) and not (on_worker or config.option.collectonly):
        # A summary also without results: gates are judged, and the run of a shard is kept.
        from pytest_fcall.plugin.summary import Summary

        register(Summary(config), "fcall-results")


class _Sharding:
    """Deselects the tests of other shards. Cases of other shards have not been built."""

    def __init__(self, shard: Shard) -> None:
        self._shard = shard

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect the tests of other shards."""
        others = [item for item in items if not self._shard.includes(item.nodeid)]
        if others:
            from pytest_fcall.plugin.collection_findings import collection_findings

            collection_findings(config).left_to_others += len(others)
            config.hook.pytest_deselected(items=others)
            items[:] = [item for item in items if self._shard.includes(item.nodeid)]
