"""Baselines of which two branches have accepted answers, merged by git, and the command that mends what is left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fcall.core import Call
from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.acceptance import Acceptance, accept, remove_cases
from pytest_fcall.tracking.baseline_content import Baseline
from pytest_fcall.tracking.baseline_file import read_baseline
from pytest_fcall.tracking.bookkeeping import measurement_path, write_measurement
from pytest_fcall.tracking.measurement import Key, Measurement
from pytest_fcall.tracking.stanza import Stanza
from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.merge_histories import MODELS, PLAIN, Branch, commit, git, main, mend, merged_history

pytestmark = pytest.mark.needs("git")

DAY = Acceptance("2026-11-21", {})


@pytest.mark.parametrize("attributes", [True, False])
@pytest.mark.parametrize("seed", [1, by_night(3), by_night(19)])
def test_git_merges_what_two_branches_accepted(tmp_path: Path, seed: int, attributes: bool) -> None:
    merged, sides = merged_history(tmp_path, seed, attributes=attributes)

    assert (merged.wrong, merged.asked_in_vain, merged.unreadable) == ([], [], 0)
    assert merged.by_itself or not attributes
    mend(merged, tmp_path, sides)
    assert merged.mended


@pytest.mark.nightly  # a report of the same histories
def test_what_people_have_to_do_is_counted() -> None:
    lines = list(main(1))
    assert lines[0] == "with the attributes:"
    assert "     0 cases asked in vain" in lines
    assert not [line for line in lines if "WRONG" in line or "NOT MENDED" in line]


def right(case: str, **arguments: str | int) -> Stanza:
    return Stanza(case, True, calls=(Call("get_weather", {"city": case, **arguments}),), digests={"prompt": case})


class Project:
    """A repository with a baseline of three cases."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = Branch(root, None).path(MODELS[0])  # type: ignore[arg-type]  # nothing is random here
        (root / "pytest.ini").write_text("[pytest]\n")
        git(root, "init", "--quiet", "--initial-branch=main")
        self.accept(*map(right, ("lima", "oslo", "rome")))
        commit(root)

    def accept(self, *stanzas: Stanza) -> None:
        accept(self.path, stanzas, DAY)

    def merge(self, ours: Callable[[], object], theirs: Callable[[], object], *, plain: bool = False) -> None:
        """Merge two branches that do these things."""
        git(self.root, "checkout", "--quiet", "-b", "theirs")
        theirs()
        commit(self.root)
        git(self.root, "checkout", "--quiet", "main")
        ours()
        commit(self.root)
        if plain:
            (self.root / ".git" / "info" / "attributes").write_text(PLAIN)
        git(self.root, "merge", "--quiet", "--no-edit", "theirs", check=False)

    @property
    def baseline(self) -> Baseline:
        found = read_baseline(self.path)
        assert found is not None
        return found

    def command(self, *arguments: str, status: int = 0) -> str:
        done = fcall_here(self.root, "accept", *arguments)
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture(params=["marks", "union"])
def disputed(project: Project, request: pytest.FixtureRequest) -> Project:
    """Both branches have another answer to oslo and to rome, and each has one to a case of its own."""

    def accepting(unit: str, own: str) -> Callable[[], None]:
        return lambda: project.accept(right("oslo", unit=unit), right("rome", unit=unit), right(own))

    project.merge(accepting("celsius", "paris"), accepting("kelvin", "quito"), plain=request.param == "marks")
    return project


def test_two_answers_to_a_case_are_one_fault_and_no_other_case_is_lost(disputed: Project) -> None:
    (fault,) = disputed.baseline.all_faults

    assert fault.message == "two different answers each are accepted to oslo, rome"
    assert "`fcall accept --ours`" in fault.hint
    assert [*disputed.baseline.stanzas] == ["lima", "paris", "quito"]


@pytest.mark.parametrize("plain", [True, False], ids=["marks", "union"])
def test_branches_that_counted_the_same_answer_otherwise_have_nothing_to_choose(project: Project, plain: bool) -> None:
    def accepting(*counts: int) -> Callable[[], None]:
        right_once, asked = counts
        return lambda: project.accept(right("oslo")._replace(samples=(right_once, asked)))

    project.merge(accepting(4, 5), accepting(3, 5), plain=plain)

    assert not project.baseline.all_faults
    assert not project.baseline.note
    assert project.baseline.stanzas["oslo"].samples in {(4, 5), (3, 5)}
    assert project.baseline.stanzas["lima"] == right("lima")


@pytest.mark.parametrize(
    ("disputed", "side", "unit"),
    [
        ("marks", "ours", "celsius"),
        ("union", "theirs", "kelvin"),
        by_night("marks", "theirs", "kelvin"),
        by_night("union", "ours", "celsius"),
    ],
    indirect=["disputed"],
)
def test_one_side_is_chosen_for_all_cases(disputed: Project, side: str, unit: str) -> None:
    said = disputed.command(f"--{side}")

    assert said.endswith(f"a.fc.yaml.accepted: {side} of 2 cases: oslo, rome\n")
    assert not disputed.baseline.all_faults
    assert disputed.baseline.stanzas["oslo"] == right("oslo", unit=unit)
    assert [*disputed.baseline.stanzas] == ["lima", "oslo", "paris", "quito", "rome"]
    assert not {"<<<<<<<", ">>>>>>>"} & {*disputed.path.read_text().split()}
    assert "<<<<<<<" not in measurement_path(disputed.path).read_text()


def test_cases_are_chosen_one_by_one(disputed: Project) -> None:
    assert "still two answers to rome" in disputed.command("--theirs", "oslo", status=1)
    assert [*disputed.baseline.unclear] == ["rome"]
    disputed.command("--ours", "a.fc.yaml::rome")

    stanzas = disputed.baseline.stanzas
    assert (stanzas["oslo"], stanzas["rome"]) == (right("oslo", unit="kelvin"), right("rome", unit="celsius"))


@pytest.mark.parametrize("disputed", ["marks", by_night("union")], indirect=True)
def test_both_sides_stay_where_no_choice_is_made(disputed: Project) -> None:
    said = disputed.command("--both", status=1)

    assert "still two answers to oslo, rome; choose with --ours CASE or --theirs CASE" in said
    assert [*disputed.baseline.unclear] == ["oslo", "rome"]
    before = disputed.path.read_bytes()
    disputed.command("--both", status=1)
    assert disputed.path.read_bytes() == before
    disputed.command("--theirs")
    assert disputed.baseline.stanzas["oslo"] == right("oslo", unit="kelvin")


@pytest.mark.parametrize("disputed", ["marks", by_night("union")], indirect=True)
def test_a_choice_outlives_a_merge_with_a_branch_that_has_the_other_answer(disputed: Project) -> None:
    disputed.command("--ours")
    commit(disputed.root)
    git(disputed.root, "checkout", "--quiet", "theirs")
    disputed.accept(right("tokyo"))
    commit(disputed.root)
    git(disputed.root, "checkout", "--quiet", "main")
    git(disputed.root, "merge", "--quiet", "--no-edit", "theirs", check=False)

    assert not disputed.baseline.all_faults
    assert disputed.baseline.stanzas["oslo"] == right("oslo", unit="celsius")
    assert disputed.baseline.stanzas["tokyo"] == right("tokyo")


@pytest.mark.parametrize("plain", [True, False])
def test_what_one_branch_removes_stays_removed(project: Project, plain: bool) -> None:
    project.merge(
        lambda: remove_cases(project.path, "oslo".__eq__),
        lambda: project.accept(right("rome", unit="kelvin")),
        plain=plain,
    )

    assert {**project.baseline.stanzas} == {"lima": right("lima"), "rome": right("rome", unit="kelvin")}
    project.command("--both")
    assert "oslo" not in project.path.read_text()


def test_answers_of_neighbours_merge_by_themselves(project: Project) -> None:
    project.merge(
        lambda: project.accept(right("oslo", unit="celsius"), right("nice")), lambda: project.accept(right("rome", n=1))
    )

    assert not project.baseline.all_faults
    assert project.baseline.stanzas["oslo"] == right("oslo", unit="celsius")
    assert project.baseline.stanzas["rome"] == right("rome", n=1)
    project.command("--both")


def test_of_a_question_that_one_branch_changed_the_newer_is_known(project: Project) -> None:
    def measure(until: str) -> None:
        lines = [Measurement(case, Key("q", case, "e"), Rate(1, 1), until=until) for case in ("lima", "oslo", "rome")]
        write_measurement(measurement_path(project.path), lines)

    def change_the_prompt() -> None:
        project.accept(asked_otherwise)
        measure("2")

    measure("1")
    commit(project.root)
    asked_otherwise = Stanza("oslo", True, calls=right("oslo").calls, digests={"prompt": "another"})
    project.merge(change_the_prompt, lambda: project.accept(right("rome", n=1)))

    assert project.baseline.stanzas["oslo"] == asked_otherwise


def test_changes_that_git_mixes_are_never_read_as_an_answer(project: Project) -> None:
    def trip(*cities: str) -> Stanza:
        return Stanza("trip", True, calls=tuple(Call("search", {"to": city}) for city in cities))

    project.accept(trip("a", "b", "c", "d"))
    commit(project.root)
    project.merge(lambda: project.accept(trip("A", "b", "c", "d")), lambda: project.accept(trip("a", "b", "c", "D")))

    assert [*project.baseline.unclear] == ["trip"]
    said = project.command("--ours", status=1)
    assert "trip: the answer is not whole in the file" in said
    project.command("--theirs")
    assert project.baseline.stanzas["trip"] == trip("a", "b", "c", "D")


def test_of_a_damaged_file_is_kept_what_can_be_read(project: Project) -> None:
    text = project.path.read_text("utf-8")
    damaged = text.replace("oslo 1 get_weather", "oslo 1 get_wea").replace("rome right", "garbage\nrome right")
    project.path.write_bytes(damaged.replace("# pytest-fcall baseline 2", "baseline").encode() + b"\xff\n")

    said = project.command("--both", status=1)

    assert [line.split(": ", 1)[1] for line in said.splitlines()] == [
        "line 1 left out: baseline",
        'line 6 left out: oslo 1 get_wea {"city": "oslo"}',
        f"line 6 left out: {next(line for line in text.splitlines() if line.startswith('oslo right'))}",
        "line 9 left out: garbage",
        f"line 12 left out: {chr(0xFFFD)}",
    ]
    assert {**project.baseline.stanzas} == {case: right(case) for case in ("lima", "rome")}
    assert project.command("--both") == "no baseline needs a choice\n"


def test_where_there_is_nothing_to_choose_nothing_is_written(project: Project) -> None:
    before = project.path.stat()

    assert project.command("--ours") == "no baseline needs a choice\n"
    assert "nobody: no baseline has a choice to make for it" in project.command("--ours", "nobody", status=1)
    assert project.path.stat() == before


@pytest.mark.parametrize("arguments", [("--ours", "--theirs"), ("--ours", "-i"), ("--both", "--only", "new")])
def test_a_choice_goes_with_nothing_but_cases(project: Project, arguments: tuple[str, ...]) -> None:
    project.command(*arguments, status=2)
