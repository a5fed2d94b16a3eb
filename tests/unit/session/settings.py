"""Settings of a run, as they are where nobody sets anything."""

from __future__ import annotations

from pathlib import Path

from pytest_fcall.session.settings import BaselineSettings, Confirm, EnvironmentSettings, Settings


def settings_of(root: Path) -> Settings:
    return Settings(
        root=root,
        models=(),
        judge=None,
        live=False,
        replay=False,
        record="missing",
        missing="inconclusive",
        started=0.0,
        clock_lead=0.0,
        max_age=None,
        result_max_age=None,
        store=None,
        concurrency=1,
        requests_per_minute=None,
        tokens_per_minute=None,
        max_cost=None,
        confirm=Confirm(),
        vary=None,
        new_texts=False,
        bisect=None,
        samples=None,
        baseline=BaselineSettings(None, prune=False, drift="note", fixed="pass", against=""),
        proxy=False,
        inside="note",
        around="refuse",
        proxy_variables=(),
        volatile={},
        spans="auto",
        spans_wait=5.0,
        wanted_scores={},
        environments=EnvironmentSettings(),
        history=(),
        kept_runs=100,
        shard=None,
        writes_reports=False,
        worker=None,
    )
