"""Run files of nights, as a nightly workflow keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pytest_fcall.core import Json
from pytest_fcall.reporting.result_json import results_to_json
from pytest_fcall.reporting.results import Result, Results
from pytest_fcall.tracking.run_file import RunFile, runs_folder, write_run
from pytest_fcall.tracking.stanza import Stanza, stanza_to_json

MODEL = "openai:gpt-5.2"


def keep_night(
    root: Path,
    day: int,
    right: str,
    *,
    model: str = MODEL,
    digests: Mapping[str, str] | None = None,
    engine: str = "fp_1",
    replayed: bool = False,
    provenance: Mapping[str, Json] | None = None,
) -> Path:
    """A run of the first hour of a day in May or June: `1` is a right answer, `0` a wrong one, case by case."""
    results = []
    for place, each in enumerate(right):
        stanza = Stanza(
            f"c{place}",
            valid=each == "1",
            digests={"prompt": f"p{place}", "expectation": f"e{place}", "system": "s1", **(digests or {})},
            provenance={"engine": {"fingerprint": engine}},
        )
        results.append(
            Result(
                f"cases/a.fc.yaml::c{place}",
                f"c{place}",
                model,
                "passed" if each == "1" else "failed",
                file="cases/a.fc.yaml",
                seconds=2.0,
                cost=0.001,
                replayed=replayed,
                asked=0 if replayed else 1,
                stanza=json.dumps(stanza_to_json(stanza)),
            )
        )
    date = f"2026{5 + (day - 1) // 30:02}{(day - 1) % 30 + 1:02}"
    path = runs_folder(root) / f"{date}-010000-0000.json"
    started = f"{date[:4]}-{date[4:6]}-{date[6:]}T01:00:00+00:00"
    data = results_to_json(Results(tuple(results)))
    write_run(path, RunFile(path.stem, started, data, (model,), provenance=provenance or {}))
    return path


def keep_nights(root: Path, days: range, right: str, **options: str) -> None:
    """The same answers each night."""
    for day in days:
        keep_night(root, day, right, **options)  # type: ignore[arg-type]
