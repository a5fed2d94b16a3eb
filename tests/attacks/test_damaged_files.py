"""Files with damaged bytes, opened by every command that reads them: a sentence at most, never a traceback."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from gzip import compress
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from pytest_fcall.core import Tool
from pytest_fcall.schema.sources.lock_file import LockEntry, lock_path, write_lock
from tests.attacks.commands import said
from tests.attacks.damage import BYTES, GZIP, TEXT, Damage
from tests.by_night import by_night
from tests.integration.command import run_pytest
from tests.integration.conftest import WEATHER
from tests.integration.exam import towns, weather_in
from tests.servers import Server, echo
from tests.suite_tools import WITHOUT_TOOLS

EXAMPLES = 40
"""Of each kind of damage to each file."""
REPLAY = ("--fc-replay", "-q", "-p", "no:cacheprovider")
LOCKED = "tools: [{mcp: {command: [python, server.py]}}]\n"
KEPT = "cases/__fcall__/openai-exam/exam.fc.yaml"
MOVED = "mv cases/exam.fc.yaml::Town000 cases/exam.fc.yaml::Town009"


class Target(NamedTuple):
    """A file of a project, and who reads it."""

    glob: str
    damages: Mapping[str, Damage]
    commands: Sequence[str]
    """Of `fcall`. `{file}` stands for the file, `{other}` for another one of its kind."""
    options: Sequence[str] = ("",)
    """Of runs of pytest that read it, too."""


TARGETS = {
    "store": Target(
        ".fcall/replies.db", BYTES, ["record --stats", "record --export", "record --prune", "record --load"]
    ),
    "run": Target(
        ".fcall/runs/*.json",
        TEXT,
        [
            *(
                "show",
                "show Town001",
                "show --differing",
                "compare",
                "compare --all",
                "history",
                "history --categories",
            ),
            *("merge {file}", "merge {file} {other}", "accept", "accept {file}"),
        ],
    ),
    "accounts": Target(".fcall/runs/*.accounts.jsonl.gz", GZIP, ["show Town001", "show Town002", "accept"]),
    "contract": Target(
        f"{KEPT}.accepted",
        BYTES,
        ["accept", "accept --ours", "accept --theirs", "accept --both", "lint", MOVED],
        ["", "--fc-accept"],
    ),
    "measurement": Target(
        f"{KEPT}.measured.jsonl",
        TEXT,
        ["accept", "accept --theirs", " ".join(MOVED)],
        ["", "--fc-accept", "--fc-prune"],
    ),
    "replies": Target(
        f"{KEPT}.replies.jsonl",
        TEXT,
        ["record --load", "record --export", "lint", " ".join(MOVED)],
        ["", "--fc-record=off"],
    ),
    "recorded": Target(f"{KEPT}.recorded.jsonl", TEXT, ["record --load", "record --export", "lint", " ".join(MOVED)]),
    "tools": Target("cases/locked.tools.lock.json", TEXT, ["lint", "tools list", "tools coverage", "tools diff"]),
    "history": Target(
        "earlier/*.json",
        TEXT,
        ["history {file}", "compare {file} {other}", "merge {file}"],
        ["--fc-history=earlier"],
    ),
}
PAIRS = [(target, damage) for target, about in TARGETS.items() for damage in about.damages]


@pytest.fixture(autouse=True)
def without_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some commands run pytest."""
    monkeypatch.setenv("PYTEST_ADDOPTS", WITHOUT_TOOLS)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project that has one of each of our files."""
    root = tmp_path_factory.mktemp("kept") / "project"
    cases = root / "cases"
    cases.mkdir(parents=True)
    with Server(echo) as server:
        model = f'[tool.fcall.models."openai:exam"]\nbase_url = "{server.url}"\n'
        (root / "pyproject.toml").write_text(f'[tool.pytest]\nfc_model = ["openai:exam"]\n{model}')
        (cases / "exam.fc.yaml").write_text(WEATHER + weather_in(towns(3)))
        locked = cases / "locked.fc.yaml"
        locked.write_text(LOCKED + weather_in(["Oslo"]))
        get_weather = Tool("get_weather", "", {"type": "object", "properties": {"city": {"type": "string"}}})
        write_lock(lock_path(locked), [LockEntry({"mcp": {"command": ["python", "server.py"]}}, (get_weather,))])
        for more in (["--fc-accept"], []):
            assert run_pytest(root, "--fc-live", "--fc-record=all", *more, CI="").returncode == 0
        assert said(root, "record", "--export")[0] == 0
        shutil.copytree(root / ".fcall/runs", root / "earlier")
        yield root


def damaged(project: Path, folder: Path, target: Target, damage: Damage, random: Random) -> list[str]:
    """Copy the project into the folder, damage the file, and return the names that stand for it and another one."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(project, folder)
    *others, path = sorted(folder.glob(target.glob))
    path.write_bytes(damage(path.read_bytes(), random))
    return [str(each.relative_to(folder)) for each in (path, *others, path)]


def assert_survived(folder: Path, command: str) -> None:
    status, text = said(folder, *command.split())
    assert status in (0, 1, 2, 10), text
    assert "Traceback" not in text, text


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_a_command_survives_it(project: Path, tmp_path: Path, name: str, kind: str) -> None:
    target, random = TARGETS[name], Random(f"{name} {kind}")  # noqa: S311  a failure must come again
    file, other, *_ = damaged(project, tmp_path / "project", target, target.damages[kind], random)
    assert_survived(tmp_path / "project", random.choice(target.commands).format(file=file, other=other))


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_all_commands_survive_it(project: Path, tmp_path: Path, name: str, kind: str) -> None:
    target, random = TARGETS[name], Random(f"{name} {kind}, many times")  # noqa: S311  a failure must come again
    for _ in range(EXAMPLES):
        file, other, *_ = damaged(project, tmp_path / "project", target, target.damages[kind], random)
        for command in target.commands:
            assert_survived(tmp_path / "project", command.format(file=file, other=other))


FOUND: Mapping[str, tuple[str, Callable[[bytes], bytes]]] = {
    "no number": ("run", lambda content: content.replace(b'"cost":null', b'"cost":NaN', 1)),
    "an integer that is no float": ("run", lambda content: content.replace(b'"cost":null', b'"cost":' + b"9" * 400, 1)),
    "no UTF-8 in the schema": ("store", lambda content: content.replace(b"CREATE TABLE", b"CREATE \xffABLE", 1)),
    "an id that is no text": ("measurement", lambda content: content.replace(b'"id":"', b'"id":{},"x":"', 1)),
    "no finite number": ("measurement", lambda content: content.replace(b'"date":"', b'"date":1e400,"x":"', 1)),
    "deep accounts": ("accounts", lambda _: compress(b"[" * 200_000)),
    "no finite number in tools": ("tools", lambda content: content.replace(b'"d"', b"1e400").replace(b'""', b"1e400")),
}
"""Damage that was not survived once."""


@pytest.mark.parametrize("found", FOUND)
def test_damage_that_raised_once_is_survived(project: Path, tmp_path: Path, found: str) -> None:
    name, damage = FOUND[found]
    target, folder = TARGETS[name], tmp_path / "project"
    for command in target.commands:
        file, other, *_ = damaged(project, folder, target, lambda content, _: damage(content), Random(0))  # noqa: S311
        assert (folder / file).read_bytes() != (project / file).read_bytes()
        assert_survived(folder, command.format(file=file, other=other))


@pytest.mark.parametrize("column", ["digest", "model", "file", "recorded", "catalogue", "entry", "checksum"])
@pytest.mark.parametrize("value", ["x'ff'", "'text'", "1e300", "7"])
def test_a_row_with_a_value_of_another_type_is_passed_over(
    project: Path, tmp_path: Path, column: str, value: str
) -> None:
    folder = tmp_path / "project"
    shutil.copytree(project, folder)
    with closing(sqlite3.connect(folder / ".fcall/replies.db")) as connection, connection:
        connection.execute(f"UPDATE replies SET {column} = {value} WHERE rowid = 1")  # noqa: S608  values of ours
    for command in TARGETS["store"].commands:
        assert_survived(folder, command)


@pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")
@pytest.mark.parametrize("examples", [1, by_night(10)])
@pytest.mark.parametrize("name", TARGETS)
def test_runs_survive_it(project: Path, tmp_path: Path, name: str, examples: int) -> None:
    target, random = TARGETS[name], Random(name)  # noqa: S311  a failure must come again
    kinds = [*target.damages] if examples > 1 else [random.choice([*target.damages])]
    for kind in kinds * examples:
        damaged(project, tmp_path / "project", target, target.damages[kind], random)
        for option in target.options:
            done = run_pytest(tmp_path / "project", *REPLAY, *option.split())
            text = done.stdout + done.stderr
            assert done.returncode in (0, 1, 2, 4, 10), text
            assert "Traceback" not in text, text
            assert "INTERNALERROR" not in text, text
