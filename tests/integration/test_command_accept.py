from __future__ import annotations

import io
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from pytest_fcall.tracking.acceptance import read_stanzas
from pytest_fcall.tracking.run_file import run_paths
from pytest_fcall.tracking.stanza import Stanza
from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.mind import OTHERWISE, RIGHT, WRONG, Mind, lines_with


@pytest.fixture
def ran(mind: Mind) -> Mind:
    """A run whose first case is right and whose second is wrong."""
    mind.cases("one", "two")
    mind.says({"two": WRONG})
    mind.run()
    return mind


def accept(mind: Mind, *arguments: str, says: str = "", status: int = 0) -> str:
    done = fcall_here(mind.path, "accept", *arguments)
    assert says in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == status, done.stderr
    return done.stdout


def kept(mind: Mind, name: str = "a.fc.yaml") -> Mapping[str, Stanza]:
    return read_stanzas(mind.baseline(name)) if mind.files() else {}


def last_run(mind: Mind) -> Path:
    return run_paths(mind.path)[-1]


def change_run(mind: Mind, **fields: Any) -> None:
    """Put other fields into the first result of the last run."""
    data = json.loads(last_run(mind).read_text("utf-8"))
    data["results"]["results"][0] |= fields
    last_run(mind).write_text(json.dumps(data), "utf-8")


def test_what_was_right_in_the_last_run_is_accepted_and_no_model_is_asked(ran: Mind) -> None:
    (ran.path / "mind.py").unlink()

    accept(ran, says="a.fc.yaml.accepted: 1 case accepted, 0 unchanged")

    assert list(kept(ran)) == ["one"]


def test_what_is_accepted_afterwards_is_what_the_run_itself_would_accept(ran: Mind) -> None:
    accept(ran)
    after = kept(ran)["one"]
    shutil.rmtree(ran.baseline().parent)
    ran.run("--fc-accept")

    assert kept(ran)["one"] == after


@pytest.mark.nightly  # test_measurement has it too
def test_accepting_twice_changes_nothing(ran: Mind) -> None:
    accept(ran)
    before = ran.files()

    accept(ran, says="0 cases accepted, 1 unchanged")

    assert ran.files() == before


def test_without_anything_right_there_is_nothing_to_accept(ran: Mind) -> None:
    ran.says({"one": WRONG})
    ran.run()

    accept(ran, says="nothing to accept")

    assert not ran.files()


def test_a_failure_is_accepted_with_its_reason(ran: Mind) -> None:
    accept(ran, "--failing", "two", "--because", "no Norwegian")

    assert list(kept(ran)) == ["two"]
    result = ran.run("-rx")
    assert lines_with(result, "known failure since")
    assert lines_with(result, ": no Norwegian")


@pytest.mark.parametrize(
    "arguments", [("--failing", "two"), ("--because", "so"), ("a.json", "b.json"), ("--only", "ok")]
)
def test_what_belongs_together_is_given_together(ran: Mind, arguments: tuple[str, ...]) -> None:
    accept(ran, *arguments, status=2)


@pytest.mark.parametrize("name", ["cases/*::one", *map(by_night, ("one", "on*", "cases/a.fc.yaml::one"))])
def test_cases_are_named_by_id_node_id_or_glob(ran: Mind, name: str) -> None:
    ran.says({"two": RIGHT})
    ran.run()

    accept(ran, name)

    assert list(kept(ran)) == ["one"]


def test_all_cases_of_a_file_are_named_by_the_file(ran: Mind) -> None:
    ran.cases("three", name="b.fc.yaml")
    ran.run()

    accept(ran, "cases/b.fc.yaml")

    assert [Path(path).name for path in ran.files()] == ["b.fc.yaml.accepted"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nobody",), "nobody: no such case in this run"),
        (("two",), "cases/a.fc.yaml::two: the answer is wrong; use --failing"),
        (("--failing", "one", "--because", "so"), "cases/a.fc.yaml::one: the answer is right"),
    ],
)
def test_what_cannot_be_accepted_is_said(ran: Mind, arguments: tuple[str, ...], says: str) -> None:
    accept(ran, *arguments, says=says, status=1)

    assert not ran.files()


def test_of_the_cases_that_a_glob_names_those_that_fail_are_known_failures(mind: Mind) -> None:
    mind.cases("a1", "a2", "a3", "b1", "b2")
    mind.says({"a3": WRONG})
    mind.run()

    said = accept(mind, "--failing", "a*", "--because", "no Norwegian")

    assert list(kept(mind)) == ["a3"]
    assert said.splitlines()[0] == "left out: 2 cases, right already"
    nothing = accept(
        mind, "--failing", "a*", "b*", "--because", "so", says="fcall accept: b*: all 2 answers are right", status=1
    )
    assert "left out: 2 cases, right already" in nothing


def test_of_the_cases_of_a_file_those_that_are_right_are_accepted(ran: Mind) -> None:
    said = accept(ran, "cases/a.fc.yaml")

    assert list(kept(ran)) == ["one"]
    assert said.splitlines()[0] == "left out: 1 case, wrong (--failing accepts known failures)"


def test_a_forbidden_call_is_never_accepted(mind: Mind) -> None:
    mind.cases("one", expect="{calls: [{get_weather: {city: Oslo}}], never: [get_weather: {city: Rome}]}")
    mind.says({"one": WRONG})
    mind.run()

    accept(mind, "--failing", "one", "--because", "so", says="a forbidden call cannot be accepted", status=1)


@pytest.mark.parametrize(
    ("only", "accepted"),
    [by_night("fixed", "fixed"), by_night("new", "new"), ("drifted", "drifted"), ("fixed,new", "fixed new")],
)
def test_only_some_outcomes_are_accepted(mind: Mind, only: str, accepted: str) -> None:
    mind.cases("fixed", "drifted")
    mind.says({"fixed": WRONG})
    mind.run("--fc-accept=all")
    mind.cases("fixed", "drifted", "new")
    mind.says({"drifted": OTHERWISE})
    before = dict(kept(mind))
    mind.run()

    accept(mind, "--only", only)

    assert {case for case, stanza in kept(mind).items() if stanza != before.get(case)} == set(accepted.split())


def test_a_run_from_elsewhere_is_accepted(ran: Mind, tmp_path: Path) -> None:
    downloaded = tmp_path / "artifact.json"
    shutil.move(last_run(ran), downloaded)

    accept(ran, str(downloaded))

    assert list(kept(ran)) == ["one"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("file", "../outside.fc.yaml"),
        by_night("file", "/etc/hosts"),
        by_night("file", "cases/gone.fc.yaml"),
        ("file", "a\0b"),
        ("model", "../../x:name"),
    ],
)
def test_a_run_from_elsewhere_leads_nowhere_else(ran: Mind, field: str, value: str) -> None:
    (ran.path.parent / "outside.fc.yaml").write_text("cases: []")
    change_run(ran, **{field: value})

    accept(ran, says="in this project", status=1)

    assert not ran.files()
    assert not (ran.path.parent / "__fcall__").exists()


@pytest.mark.parametrize("stanza", [{}, {"case": "one", "valid": "yes"}, {"case": "one", "valid": True, "calls": [1]}])
def test_a_stanza_that_is_none_is_refused_in_words(ran: Mind, stanza: object) -> None:
    change_run(ran, stanza=stanza)

    accept(ran, says="fcall accept: cases/a.fc.yaml::one: ", status=1)


def test_a_damaged_baseline_is_left_as_it_is(ran: Mind) -> None:
    accept(ran)
    ran.baseline().write_text("nothing\n")

    accept(ran, says="not a baseline file in the format 2", status=1)

    assert ran.baseline().read_text() == "nothing\n"


def test_the_bookkeeping_that_is_written_is_named(ran: Mind) -> None:
    said = accept(ran).splitlines()

    assert said[0].endswith("a.fc.yaml.accepted: 1 case accepted, 0 unchanged")
    assert said[1].endswith("a.fc.yaml.measured.jsonl: 2 cases measured (bookkeeping, which needs no review)")


def test_a_case_without_a_verdict_is_said_to_have_none(ran: Mind) -> None:
    path = ran.path / "cases" / "a.fc.yaml"
    path.write_text(path.read_text("utf-8").replace("prompt: one", "prompt: one, skip: later"), "utf-8")
    ran.run()

    accept(ran, "one", says="cases/a.fc.yaml::one: no verdict in this run", status=1)


def test_without_a_run_there_is_a_word_about_it(mind: Mind) -> None:
    accept(mind, says="run pytest first", status=2)


@pytest.mark.parametrize(
    ("typed", "accepted"),
    [
        by_night("y\nn\n", ["one"]),
        ("n\ny\n", ["two"]),
        ("?\na\n", ["one", "two"]),
        ("q\n", []),
        by_night("", []),
        by_night("Yes\n", ["one"]),
    ],
)
def test_by_hand_each_case_is_shown_and_asked_for(ran: Mind, typed: str, accepted: list[str]) -> None:
    ran.says({"two": RIGHT})
    ran.run()

    said = by_hand(ran, typed)

    assert "cases/a.fc.yaml:13 one (python:mind:answer): right" in said
    assert list(kept(ran)) == accepted


def by_hand(ran: Mind, typed: str) -> list[str]:
    """The lines that `fcall accept -i` prints to somebody who types this."""
    with patch("sys.stdin", io.StringIO(typed)):
        return accept(ran, "-i").splitlines()


def test_by_hand_only_what_changed_is_asked_for_with_its_question_and_both_answers(mind: Mind) -> None:
    mind.cases("one", "two", "three")
    mind.says({"three": WRONG})
    mind.run("--fc-accept=all")
    mind.says({"one": OTHERWISE, "three": RIGHT})
    mind.run()

    said = by_hand(mind, "y\nn\n")

    assert said[:6] == [
        "[1/2]",
        "cases/a.fc.yaml:13 one (python:mind:answer): drifted",
        "  user: one",
        '  - get_weather(city: "Oslo")',
        '  + get_weather(city: "Oslo", unit: "celsius")',
        "accept? [y]es, [n]o, [a]ll remaining, [q]uit: [2/2]",
    ]
    assert said[6:11] == [
        "cases/a.fc.yaml:15 three (python:mind:answer): fixed",
        "  user: three",
        "  accepted as wrong: wrong_value at calls[0].args.city",
        '  - get_weather(city: "Rome")',
        '  + get_weather(city: "Oslo")',
    ]
    assert "1 case accepted, 0 unchanged" in said[-2]


@pytest.mark.nightly  # as where only the question did
def test_by_hand_nothing_is_asked_where_nothing_changed(mind: Mind) -> None:
    mind.cases("one")
    mind.run("--fc-accept")
    mind.run()

    assert by_hand(mind, "") == ["nothing to accept"]


def test_by_hand_nothing_is_asked_where_only_the_question_changed(mind: Mind) -> None:
    mind.cases("one")
    mind.run("--fc-accept")
    path = mind.path / "cases" / "a.fc.yaml"
    path.write_text(f"defaults: {{system: You are a clerk.}}\n{path.read_text('utf-8')}", "utf-8")
    mind.run()
    contract, bookkeeping = mind.baseline().read_bytes(), mind.measurement().read_bytes()

    said = by_hand(mind, "")

    assert not any("accept?" in line for line in said)
    assert "0 cases accepted, 1 unchanged" in said[0]
    assert mind.baseline().read_bytes() == contract
    assert mind.measurement().read_bytes() != bookkeeping
