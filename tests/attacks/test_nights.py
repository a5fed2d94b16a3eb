"""Run files that somebody else wrote: `fcall history --watch` and `fcall plan` read them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.tracking.run_file import run_paths
from tests.integration.command import fcall_here
from tests.integration.nights import keep_night

Data = dict[str, Any]


def _row(**fields: Any) -> Callable[[Data], None]:
    def change(run: Data) -> None:
        for row in run["results"]["results"]:
            row.update(fields)

    return change


def _stanza(**fields: Any) -> Callable[[Data], None]:
    def change(run: Data) -> None:
        for row in run["results"]["results"]:
            row["stanza"] = json.dumps({**json.loads(row["stanza"]), **fields})

    return change


def _run(**fields: Any) -> Callable[[Data], None]:
    return lambda run: run.update(fields)


ATTACKS: dict[str, Callable[[Data], None]] = {
    "answers without number": _stanza(samples=[10**12, 10**12]),
    "many answers": _stanza(samples=[199, 199]),
    "more right than asked": _stanza(samples=[5, 3]),
    "negative answers": _stanza(samples=[-5, 3]),
    "first answers that do not fit": _row(first=[9, 1]),
    "digests of other types": _stanza(digests={"prompt": 7, "expectation": []}),
    "no digests": _stanza(digests=None),
    "a huge engine": _stanza(provenance={"engine": {"a": "x" * 100_000}}),
    "an engine of escapes": _stanza(provenance={"engine": {"\x1b[2J": "\x1b]0;owned\x07"}}),
    "a model of escapes": _row(model="m\x1b[2J\u202e"),
    "a model with half a character": _row(model="m\ud800"),
    "a case file outside": _row(file="../../../../etc/passwd"),
    "a case of escapes": _row(case="c\x1b[2J\n\r"),
    "a cost without end": _row(cost=1e308),
    "times below zero": _row(seconds=-1e9),
    "an id that is no moment": _run(id="zzzz\x1b[2J"),
    "an id at the end of time": _run(id="99991231-235959-ffff"),
    "an id of escapes": _run(id="20260520-010000\x1b[2J-0000"),
    "gates that are none": _run(gates=["significant(", "significant(9)", "\x1b[2J"]),
    "provenance of other types": _run(provenance={"commit": 7, "python": ["\x1b[2J"], "dirty": "yes"}),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    for day in range(1, 6):
        keep_night(tmp_path, day, "111111")
    return tmp_path


def strike(folder: Path, attack: Callable[[Data], None], *commands: tuple[str, ...]) -> None:
    path = run_paths(folder)[-1]
    run = json.loads(path.read_text())
    attack(run)
    path.write_text(json.dumps(run))
    for command in commands:
        done = fcall_here(folder, *command)
        assert done.returncode in (0, 1, 10), done.stderr
        assert "Traceback" not in done.stderr
        assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_run_of_somebody_else_is_judged_or_left_out(attack: Callable[[Data], None], folder: Path) -> None:
    strike(folder, attack, ("history", "--watch"), ("history", "--watch", "--json"))


@pytest.mark.nightly
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_run_of_somebody_else_is_planned_with_or_left_out(attack: Callable[[Data], None], folder: Path) -> None:
    strike(folder, attack, ("plan", "--drop", "60%"))


@pytest.mark.parametrize("name", ["watch.json", "runs/20260601-010000-0000.json"])
def test_a_link_is_not_written_through(name: str, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "outside.json"
    outside.write_text("{}")
    (folder / ".fcall" / name).symlink_to(outside)
    done = fcall_here(folder, "history", "--watch")
    assert done.returncode in (0, 2)
    assert "Traceback" not in done.stderr
    assert outside.read_text() == "{}"
