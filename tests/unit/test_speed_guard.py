"""`make bench-guard` finds the last release, and refuses what is slower than it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from benchmarks.environments import ROOT
from benchmarks.guard import Comparison, Measure, NotComparable, guard
from benchmarks.measure import CommandFailed, Run, in_turn, run
from benchmarks.releases import SPEED_PAGE, NoSuchCommit, last_release, named

pytestmark = pytest.mark.needs("git")


def measured(*outcomes: Sequence[float], resource: str = "cpu") -> Measure:
    """Measure a scenario once for each outcome, which are the ratios of its pairs, to a release that takes 2 of all."""
    waiting = list(outcomes)

    def measure(_: int) -> Comparison:
        taken = [{"wall": 2.0, "cpu": 2.0, "rss": 2.0} | {resource: 2 * ratio} for ratio in waiting.pop(0)]
        return Comparison("1,000 cases", [Run(2.0, 2.0, 2.0)] * len(taken), [Run(**each) for each in taken])

    return measure


class Desk:
    """A guard whose measurements a test makes up."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def status(self, **scenarios: Measure) -> int:
        return guard("v1.0", scenarios.items(), 7)

    def says(self) -> str:
        return self._capsys.readouterr().out


@pytest.fixture
def desk(capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(capsys)


def test_a_checkout_that_is_as_fast_passes(desk: Desk) -> None:
    assert desk.status(cases=measured([1.0, 1.1, 0.9]), start=measured([1.09] * 3)) == 0
    assert "Nothing takes 10 % more than v1.0 took." in desk.says()


def test_a_checkout_that_is_slower_twice_fails_and_names_what_and_by_how_much(desk: Desk) -> None:
    assert desk.status(cases=measured([1.3], [1.31, 1.19, 1.23]), start=measured([1.0])) == 1
    assert (
        "Slower than v1.0: 1,000 cases: 1.23 times the CPU (1.19 to 1.31 in 3 pairs); 10 % more are allowed."
        in desk.says().splitlines()
    )


def test_memory_counts_like_time(desk: Desk) -> None:
    assert desk.status(cases=measured([1.2], [1.2], resource="rss")) == 1
    assert "1.20 times the memory" in desk.says()


def test_one_disturbed_pair_decides_nothing(desk: Desk) -> None:
    assert desk.status(cases=measured([1.0, 9.0, 1.02])) == 0
    assert "| 1.02 (1.00 to 9.00) |" in desk.says()


def test_only_a_scenario_over_the_limit_is_measured_again_and_that_decides(desk: Desk) -> None:
    assert desk.status(cases=measured([1.2], [1.05]), start=measured([1.05])) == 0


def test_a_second_measurement_has_three_times_the_pairs(desk: Desk) -> None:
    asked = []

    def measure(pairs: int) -> Comparison:
        asked.append(pairs)
        return measured([1.2])(pairs)

    desk.status(cases=measure)
    assert asked == [7, 21]


def test_ratios_are_taken_pair_by_pair() -> None:
    slow, fast = Run(4.0, 4.0, 50.0), Run(2.0, 2.0, 50.0)
    assert Comparison("cases", [slow, fast], [fast, slow]).ratios("cpu") == [0.5, 2.0]


def impossible(_: int) -> Comparison:
    raise NotComparable("unrecognized arguments: --fc-new")


def test_what_the_release_cannot_run_is_left_out_and_named(desk: Desk) -> None:
    assert desk.status(new=impossible, cases=measured([1.0])) == 0
    assert "v1.0 cannot run the scenario 'new': unrecognized arguments: --fc-new" in desk.says()


def test_where_nothing_could_be_compared_the_exit_status_is_neither_good_nor_bad(desk: Desk) -> None:
    assert desk.status(new=impossible) == 2
    assert "Nothing was compared: choose another commit than v1.0 by --against." in desk.says()


def test_sides_take_turns_in_both_orders_after_a_warm_up() -> None:
    order: list[str] = []

    def side(name: str) -> Callable[[], Run]:
        def one() -> Run:
            order.append(name)
            return Run(1.0, 1.0, float(len(order)))

        return one

    runs = in_turn({"then": side("then"), "now": side("now")}, 2)
    assert order == ["then", "now", "now", "then", "then", "now"]
    assert [each.rss for each in runs["now"]] == [3.0, 6.0]


def test_a_command_that_fails_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=r"exited with 3:\nno such option"):
        run(["sh", "-c", "echo no such option; exit 3"], tmp_path)


class Repository:
    """A git repository with a project file, whose commits are a day apart."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._day = 0
        self._git("init", "--quiet", "--initial-branch=main")

    def commit(self, version: str, message: str = "") -> str:
        self._day += 1
        text = f'[project]\nname = "x"\nversion = "{version}"\n# {message}\n'
        (self.folder / "pyproject.toml").write_text(text)
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", f"--message=day {self._day}")
        return self._git("rev-parse", "HEAD")

    def tag(self, name: str) -> None:
        self._day += 1
        self._git("tag", "--annotate", f"--message={name}", name)

    def branch(self, name: str) -> None:
        self._git("switch", "--quiet", "--create", name)

    def switch(self, name: str) -> None:
        self._git("switch", "--quiet", name)

    def clone(self, folder: Path) -> Path:
        self._git("clone", "--quiet", "--depth=1", f"file://{self.folder}", str(folder))
        return folder

    def _git(self, *arguments: str) -> str:
        when = f"2026-01-{self._day + 1:02}T12:00:00Z"
        who = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
        environment = os.environ | {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        command = ["git", *who, *arguments]
        done = subprocess.run(command, cwd=self.folder, env=environment, check=True, capture_output=True, text=True)
        return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    folder = tmp_path / "repository"
    folder.mkdir()
    return Repository(folder)


def test_the_last_release_is_the_newest_tag_of_a_version(repository: Repository) -> None:
    repository.commit("0.9.0")
    repository.tag("v0.9.0")
    released = repository.commit("0.10.0")
    repository.tag("v0.10.0")
    repository.commit("0.11.0")
    repository.tag("nightly")
    release = last_release(repository.folder)
    assert (release.name, release.digest) == ("v0.10.0", released)


def test_a_tag_that_head_does_not_contain_is_no_release_of_it(repository: Repository) -> None:
    repository.commit("1.0")
    repository.tag("v1.0")
    repository.branch("next")
    repository.commit("2.0")
    repository.tag("v2.0")
    repository.switch("main")
    assert last_release(repository.folder).name == "v1.0"


def test_without_tags_it_is_the_last_commit_that_the_page_on_speed_has_figures_of(repository: Repository) -> None:
    first, second = repository.commit("0.1.0"), repository.commit("0.1.0", "quicker")
    page = repository.folder / "docs" / "speed.md"
    page.parent.mkdir()
    page.write_text(f"| version | ratio |\n|---|---|\n| {first[:8]} | 2.0 |\n| {second[:8]} | 1.9 |\n", "utf-8")
    repository.commit("0.1.0", "another line of the file")
    release = last_release(repository.folder)
    assert (release.digest, release.name) == (second, second[:8])
    assert release.why == "there is no tag v*, and it is the last commit in docs/speed.md"


def test_without_tags_and_figures_there_is_nothing_to_compare_with(repository: Repository) -> None:
    repository.commit("0.1.0")
    (repository.folder / "docs").mkdir()
    (repository.folder / "docs" / "speed.md").write_text("# Speed", "utf-8")
    with pytest.raises(NoSuchCommit, match=r"no commit in the table of docs/speed\.md"):
        last_release(repository.folder)


def test_a_shallow_clone_is_not_compared_with_itself(repository: Repository, tmp_path: Path) -> None:
    repository.commit("0.1.0")
    repository.commit("0.1.0", "more")
    with pytest.raises(NoSuchCommit, match="this clone is shallow and has no tag"):
        last_release(repository.clone(tmp_path / "clone"))


def test_a_commit_is_found_by_whatever_git_calls_it(repository: Repository) -> None:
    first = repository.commit("0.1.0")
    repository.commit("0.2.0")
    for reference in (first, first[:8], "HEAD~1"):
        assert named(reference, repository.folder).digest == first


def test_a_commit_that_is_not_there_is_named(repository: Repository) -> None:
    repository.commit("0.1.0")
    with pytest.raises(NoSuchCommit, match="'v7' is no commit of this repository"):
        named("v7", repository.folder)


def test_every_commit_with_figures_is_in_the_history() -> None:
    """A commit that was written anew since then has another digest, and nothing can be compared with it."""
    asked = ["git", "rev-parse", "--is-shallow-repository"]
    if subprocess.run(asked, cwd=ROOT, check=False, capture_output=True, text=True).stdout != "false\n":
        pytest.skip("no clone with its history")
    figures = re.findall(r"^\| ([0-9a-f]{7,40}) \|", (ROOT / SPEED_PAGE).read_text("utf-8"), re.MULTILINE)
    assert figures
    for commit in figures:
        assert named(commit, ROOT).digest.startswith(commit)
