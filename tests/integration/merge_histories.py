"""Histories of two branches that accept answers, merged by git: what becomes of the baselines.

`python -m tests.integration.merge_histories 30` prints how many of 30 random histories merge by themselves.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

from pytest_fcall.core import Call, Model
from pytest_fcall.core.json_data import readable_json
from pytest_fcall.tracking.acceptance import Acceptance, accept, remove_cases
from pytest_fcall.tracking.baseline_content import Baseline
from pytest_fcall.tracking.baseline_file import baseline_path, read_baseline
from pytest_fcall.tracking.merged_baseline import Side, mend_baseline
from pytest_fcall.tracking.renaming import move_case
from pytest_fcall.tracking.stanza import Stanza, stanza_to_json

Accepted: TypeAlias = Mapping[tuple[str, str], Stanza]
"""What is accepted, by model and case."""

CITIES: Final = [
    "bergen",
    "cairo",
    "delhi",
    "geneva",
    "havana",
    "lima",
    "oslo",
    "paris",
    "quito",
    "rome",
    "seoul",
    "tokyo",
    "vienna",
    "zurich",
]
MODELS: Final = "local:one", "local:two"
PLAIN: Final = "*.accepted merge\n*.measured.jsonl merge\n"
"""Attributes by which git merges the files as any others, as some hosts do."""


@dataclass
class Branch:
    """What one branch accepts, in a working copy."""

    root: Path
    random: Random
    accepted: dict[tuple[str, str], Stanza] = field(default_factory=dict)
    day: int = 1
    past: set[str | None] = field(default_factory=set)
    """Everything that was ever accepted."""

    def path(self, model: str) -> Path:
        return baseline_path(self.root / "a.fc.yaml", Model.by_id(model))

    def accept(self, model: str, *stanzas: Stanza, because: str | None = None) -> None:
        self.day += 1
        accept(self.path(model), stanzas, Acceptance(f"2026-11-{self.day:02}", {"date": str(self.day)}), because)
        for stanza in stanzas:
            self.accepted[model, stanza.case] = stanza._replace(because=because)
            self.past.add(f"{model} {_reviewed(self.accepted[model, stanza.case])}")

    def answer(self, case: str, prompt: str = "first") -> Stanza:
        """A right answer with some calls, of which a few have many values."""
        units = [self.random.choice(["celsius", "kelvin"]) for _ in range(self.random.choice([1, 1, 1, 2, 6]))]
        calls = tuple(Call("get_weather", {"city": case, "unit": unit, "n": n}) for n, unit in enumerate(units))
        return Stanza(case, True, calls=calls, digests={"system": prompt, "prompt": case})

    def failure(self, case: str) -> Stanza:
        path = self.random.choice(["calls[0].args.city", "calls"])
        return Stanza(case, False, (("wrong_value", path),), (Call("get_weather", {"city": "Rome"}),))

    def change(self) -> None:
        """Do one thing that people do."""
        own = sorted(case for model, case in self.accepted if model == MODELS[0])
        free = sorted({*CITIES, "berlin", "tunis"} - {*own})
        case = self.random.choice(own)
        match self.random.choice(
            ["add", "add", "change", "change", "change", "fail", "remove", "rename", "prompt", "model"]
        ):
            case "add" if free:
                self.accept(MODELS[0], self.answer(self.random.choice(free)))
            case "fail":
                self.accept(MODELS[0], self.failure(case), because=self.random.choice(["hard", "a bug"]))
            case "remove" if len(own) > 1:
                remove_cases(self.path(MODELS[0]), case.__eq__)
                del self.accepted[MODELS[0], case]
            case "rename" if free:
                path, new = self.path(MODELS[0]), self.random.choice(free)
                move_case(path, case, path, new)
                self.accepted[MODELS[0], new] = self.accepted.pop((MODELS[0], case))._replace(case=new)
            case "prompt":
                digests = {"system": f"prompt {self.random.random()}"}
                stanzas = [each for (model, _), each in self.accepted.items() if model == MODELS[0] and each.valid]
                self.accept(MODELS[0], *(each._replace(digests={**each.digests, **digests}) for each in stanzas))
            case "model":
                self.accept(MODELS[1], *map(self.answer, own))
            case _:
                self.accept(MODELS[0], self.answer(case))


@dataclass
class Merged:
    """What became of a history."""

    by_itself: bool = False
    """Whether git merged all files."""
    right: int = 0
    wrong: list[str] = field(default_factory=list)
    """What nobody accepted, and what is lost."""
    asked: list[str] = field(default_factory=list)
    """Cases to which both branches accepted another answer, and of which a person is asked."""
    asked_in_vain: list[str] = field(default_factory=list)
    """Cases of which a person is asked although one branch alone changed them."""
    left_over: list[str] = field(default_factory=list)
    """Cases that one branch removed, and that are still there."""
    unreadable: int = 0
    """Files in which nothing counts."""
    mended: bool = True
    """Whether the command made everything right."""

    @property
    def kind(self) -> str:
        """What a person has to do."""
        if self.wrong:
            return "WRONG"
        if self.unreadable or self.asked_in_vain:
            return "a person resolves what only git finds in conflict"
        if self.asked:
            return "a person chooses between two answers"
        return "nothing" if self.by_itself else "the command cleans the files"


def git(root: Path, *arguments: str, check: bool = True) -> bool:
    options = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *options, *arguments], cwd=root, capture_output=True, check=check)
    return done.returncode == 0


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message", "change")


def merged_history(root: Path, seed: int, *, attributes: bool) -> tuple[Merged, Mapping[str, Accepted]]:
    """Make a random history in an empty folder, and merge its branches."""
    random = Random(seed)  # noqa: S311  histories are no secrets
    git(root, "init", "--quiet", "--initial-branch=main")
    base = Branch(root, random)
    base.accept(MODELS[0], *map(base.answer, random.sample(CITIES, 9)))
    base.accept(MODELS[0], base.failure(min(case for _, case in base.accepted)), because="hard")
    commit(root)
    git(root, "branch", "theirs")
    sides: dict[str, Accepted] = {"base": dict(base.accepted)}
    past: dict[str, set[str | None]] = {}
    for name in ("main", "theirs"):
        git(root, "checkout", "--quiet", name)
        branch = Branch(root, random, dict(sides["base"]), day=9)
        for _ in range(random.randint(1, 5)):
            branch.change()
            commit(root)
        sides[name], past[name] = branch.accepted, branch.past
    git(root, "checkout", "--quiet", "main")
    if not attributes:
        (root / ".git" / "info").mkdir(exist_ok=True)
        (root / ".git" / "info" / "attributes").write_text(PLAIN)
    merged = Merged(by_itself=git(root, "merge", "--quiet", "--no-edit", "theirs", check=False))
    _judge(merged, root, sides, past["main"] & past["theirs"])
    return merged, sides


def expected(sides: Mapping[str, Accepted]) -> Iterator[tuple[tuple[str, str], list[str | None]]]:
    """What each case may be after the merge: one answer, or two of which a person must choose. None is no answer."""
    for name in sorted({name for side in sides.values() for name in side}):
        before, ours, theirs = (_reviewed(sides[side].get(name)) for side in ("base", "main", "theirs"))
        changed = [each for each in (ours, theirs) if each != before]
        yield name, list(dict.fromkeys(changed)) or [before]


def baselines(root: Path) -> dict[str, Baseline]:
    paths = {model: baseline_path(root / "a.fc.yaml", Model.by_id(model)) for model in MODELS}
    return {model: found for model, path in paths.items() if (found := read_baseline(path))}


def _judge(merged: Merged, root: Path, sides: Mapping[str, Accepted], both: set[str | None]) -> None:
    found = baselines(root)
    merged.unreadable = sum(bool(each.faults) for each in found.values())
    for (model, case), options in expected(sides):
        baseline = found.get(model, Baseline())
        now = _reviewed(baseline.stanzas.get(case))
        if baseline.faults:
            continue
        if case in baseline.unclear:
            (merged.asked if len(options) > 1 else merged.asked_in_vain).append(case)
        elif now == options[0] and len(options) == 1:
            merged.right += 1
        elif None in options and now is not None and now in _known(sides, model, case):
            merged.left_over.append(case)
        elif now in options and any(f"{model} {each}" in both for each in options if each != now):
            merged.right += 1  # both accepted the other answer, and one of them has replaced it since
        else:
            merged.wrong.append(f"{model} {case}: {now}, not {' or '.join(map(str, options))}")


def _known(sides: Mapping[str, Accepted], model: str, case: str) -> list[str | None]:
    return [_reviewed(side.get((model, case))) for side in sides.values()]


def _reviewed(stanza: Stanza | None) -> str | None:
    """What a person has accepted, without what nobody reviews."""
    if stanza is None:
        return None
    return readable_json(stanza_to_json(stanza._replace(since=None, digests={}, provenance={})))


def mend(merged: Merged, root: Path, sides: Mapping[str, Accepted], side: Side = "theirs") -> None:
    """Have the command choose, and see whether all is well then."""
    for path in sorted(root.glob("__fcall__/*/*.accepted")):
        mend_baseline(path, side, lambda _: True)
    found = baselines(root)
    branch = {"ours": "main", "theirs": "theirs"}[side]
    merged.mended = not any(each.all_faults or each.note for each in found.values())
    for model, case in sides[branch]:
        if case in merged.asked and merged.mended:
            now = _reviewed(found[model].stanzas.get(case))
            merged.mended &= now in _known(sides, model, case)


def main(count: int) -> Iterator[str]:
    """Lines on what becomes of so many histories."""
    for attributes in (True, False):
        kinds: Counter[str] = Counter()
        for seed in range(count):
            root = Path(tempfile.mkdtemp(prefix="merge-histories-"))
            merged, sides = merged_history(root, seed, attributes=attributes)
            kinds[merged.kind] += 1
            kinds["merged by git itself"] += merged.by_itself
            kinds["cases right"] += merged.right
            kinds["cases asked"] += len(merged.asked)
            kinds["cases asked in vain"] += len(merged.asked_in_vain)
            kinds["cases left over"] += len(merged.left_over)
            kinds["files in which nothing counts"] += merged.unreadable
            if merged.asked or merged.asked_in_vain or not merged.by_itself:
                mend(merged, root, sides)
                kinds["mended by the command" if merged.mended else "NOT MENDED"] += 1
            yield from (f"history {seed}: {each}" for each in merged.wrong)
            shutil.rmtree(root)
        yield "with the attributes:" if attributes else "without the attributes:"
        yield from (f"  {number:4} {kind}" for kind, number in sorted(kinds.items()))


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in main(int(sys.argv[1])))
