"""Recordings of two branches under git: files that merge by themselves, and every reply of both sides is found."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pytest

from pytest_fcall.backends.recordings.entry import Recording, Recordings
from pytest_fcall.backends.recordings.file import MENDED_BY_EXPORT, read_recordings, recordings_path, write_recordings
from pytest_fcall.core import Fault, Model, RawCall, Reply, Request, Tool, Usage, request_digest
from pytest_fcall.core.files import write_git_attributes
from tests.by_night import by_night
from tests.integration.command import fcall_here

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

CASE_FILE = "cases/shop.fc.yaml"
CITIES = ("bergen", "bodø", "hamar", "molde", "moss", "narvik", "oslo", "røros", "tromsø", "vardø", "voss", "ålesund")
MODELS = ("openai:gpt-5.2", "any:anthropic/claude-5")
WORDS = ("quickly", "briefly", "politely", "exactly", "always", "never")


def model_named(name: str) -> Model:
    kind, _, rest = name.partition(":")
    return Model(kind, rest)


def chance_of(seed: int) -> Random:
    return Random(seed)  # noqa: S311  a failure must come again


@dataclass
class Branch:
    """What one person changes, and records after each change."""

    chance: Random
    system: str = "You sell weather."
    tools: dict[str, str] = field(default_factory=lambda: {f"tool_{n}": f"Does thing {n}" for n in range(4)})
    cases: dict[str, str] = field(default_factory=lambda: {city: f"Weather in {city}?" for city in CITIES[2:10:2]})
    models: tuple[str, ...] = MODELS[:1]
    answers: dict[tuple[str, str], str] = field(default_factory=dict)
    recorded: dict[str, dict[str, Recording]] = field(default_factory=dict)
    """By model and case."""

    def copy(self, seed: int) -> Branch:
        copied = {model: dict(own) for model, own in self.recorded.items()}
        own = replace(self, chance=chance_of(seed), tools={**self.tools}, cases={**self.cases}, recorded=copied)
        own.answers = {**self.answers}
        return own

    def change(self) -> None:
        chance = self.chance
        changes: Sequence[Callable[[], None]] = (
            self._add_case,
            self._rename_case,
            self._remove_case,
            lambda: self.tools.update({chance.choice([*self.tools]): f"Does it {chance.choice(WORDS)}"}),
            lambda: setattr(self, "system", f"You sell weather {chance.choice(WORDS)}."),
            lambda: setattr(self, "models", MODELS),
            self._ask_again,
            self._ask_again,
        )
        chance.choice(changes)()
        self.record()

    def _add_case(self) -> None:
        city = self.chance.choice(CITIES)
        self.cases.setdefault(city, f"Weather in {city}?")

    def _rename_case(self) -> None:
        old, new = self.chance.choice([*self.cases]), self.chance.choice(CITIES)
        if new not in self.cases:
            self.cases[new] = self.cases.pop(old)

    def _remove_case(self) -> None:
        if len(self.cases) > 1:
            del self.cases[self.chance.choice([*self.cases])]

    def _ask_again(self) -> None:
        """Ask every case again; a few answers are others now."""
        for city in self.chance.sample([*self.cases], k=self.chance.randint(0, min(3, len(self.cases)))):
            for model in self.models:
                self.answers[model, city] = self.chance.choice(WORDS)
        self.recorded = {}

    def record(self) -> None:
        """Ask for what is not recorded, as a run does."""
        tools = tuple(Tool(name, text) for name, text in self.tools.items())
        before, self.recorded = self.recorded, {}
        for model in self.models:
            for case, prompt in self.cases.items():
                messages = ({"role": "system", "content": self.system}, {"role": "user", "content": prompt})
                request = Request(messages, tools, {"temperature": 0})
                digest = request_digest(model, request)
                old = before.get(model, {}).get(case)
                asked = old if old and old.digest == digest else self._answered(model, case, request, digest)
                self.recorded.setdefault(model, {})[case] = asked

    def _answered(self, model: str, case: str, request: Request, digest: str) -> Recording:
        answer = self.answers.setdefault((model, case), "quickly")
        call = RawCall("tool_1", f'{{"how": "{answer}"}}', f"call_{self.chance.getrandbits(40):x}")
        usage = Usage(self.chance.randint(50, 90), 12)
        reply = Reply(tool_calls=(call,), finish="tool_calls", usage=usage, seconds=self.chance.random())
        moment = f"2026-11-{self.chance.randint(10, 29)}T12:00:00+00:00"
        return Recording(case, digest, request, reply, moment)

    def write(self, root: Path) -> None:
        for name, own in self.recorded.items():
            write_recordings(recordings_path(root / CASE_FILE, model_named(name)), model_named(name), own.values())

    def digests(self) -> set[tuple[str, str]]:
        return {(model, each.digest) for model, own in self.recorded.items() for each in own.values()}

    def replies(self, model: str, digest: str) -> list[Reply]:
        return [each.reply for each in self.recorded.get(model, {}).values() if each.digest == digest]


@dataclass
class Repository:
    """A folder under git."""

    root: Path

    def git(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        nowhere = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        named = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "merge.conflictStyle=diff3")
        return subprocess.run(
            ["git", *named, *arguments],
            cwd=self.root,
            env={**os.environ, **nowhere},
            capture_output=True,
            encoding="utf-8",
            check=check,
        )

    def commit(self, branch: Branch) -> None:
        branch.write(self.root)
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", "Record")

    def faults(self) -> list[Fault]:
        return [fault for name in MODELS for fault in self._read(name).faults]

    def find(self, model: str, digest: str) -> Reply | None:
        found = self._read(model).find(digest)
        return None if found is None else found.reply

    def _read(self, name: str) -> Recordings:
        return read_recordings(recordings_path(self.root / CASE_FILE, model_named(name)), model_named(name))


@dataclass
class History:
    """A base, and two branches of it that were merged."""

    repository: Repository
    base: Branch
    ours: Branch
    theirs: Branch
    merge: subprocess.CompletedProcess[str]

    def lost(self) -> list[tuple[str, str]]:
        """The recordings that one side made, and neither removed, and that are not found any more."""
        base, ours, theirs = (each.digests() for each in (self.base, self.ours, self.theirs))
        kept = {each for each in ours | theirs if each not in base or each in ours & theirs}
        return [each for each in sorted(kept) if not self._is_found(*each)]

    def _is_found(self, model: str, digest: str) -> bool:
        made = [reply for side in (self.ours, self.theirs) for reply in side.replies(model, digest)]
        return self.repository.find(model, digest) in made


def merged(root: Path, seed: int, *, attributes: bool = True) -> History:
    """A random history."""
    chance = chance_of(seed)
    (root / "cases").mkdir()
    for name in (CASE_FILE, "pyproject.toml"):
        (root / name).touch()
    repository, base = Repository(root), Branch(chance_of(seed))
    repository.git("init", "-q", "-b", "ours")
    base.record()
    if attributes:
        write_git_attributes(root / "cases/__fcall__")
    repository.commit(base)
    repository.git("branch", "theirs")
    ours, theirs = base.copy(seed * 2 + 1), base.copy(seed * 2 + 2)
    for side, name in ((ours, "ours"), (theirs, "theirs")):
        repository.git("switch", "-q", name)
        for _ in range(chance.randint(1, 4)):
            side.change()
            repository.commit(side)
    repository.git("switch", "-q", "ours")
    merge = repository.git("merge", "-q", "--no-edit", "theirs", check=False)
    return History(repository, base, ours, theirs, merge)


@pytest.mark.parametrize("seed", [2, 4, *map(by_night, (0, 1, 3, 5))])
def test_two_branches_merge_by_themselves_and_no_reply_is_lost(tmp_path: Path, seed: int) -> None:
    history = merged(tmp_path, seed)
    assert history.merge.returncode == 0, history.merge.stdout
    assert history.lost() == []
    assert {fault.code for fault in history.repository.faults()} <= MENDED_BY_EXPORT

    assert fcall_here(tmp_path, "record", "--export").returncode == 0
    assert history.lost() == []
    assert history.repository.faults() == []


@pytest.mark.parametrize("seed", [1, by_night(3)])
def test_where_git_leaves_conflicts_both_sides_count_and_an_export_mends_the_file(tmp_path: Path, seed: int) -> None:
    history = merged(tmp_path, seed, attributes=False)
    assert history.merge.returncode == 1
    assert "merge-conflict" in {fault.code for fault in history.repository.faults()}
    assert history.lost() == []

    assert "mended: an unresolved merge conflict" in fcall_here(tmp_path, "record", "--export").stdout
    assert history.lost() == []
    assert history.repository.faults() == []
    assert "<<<<" not in "".join(path.read_text("utf-8") for path in tmp_path.rglob("*.jsonl"))
