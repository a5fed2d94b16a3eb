"""`suite:` in a case file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import CaseFileContent, read_case_text
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.core import Case, Expectation, FaultyCase, Location, Rules, Turn, Verdict
from pytest_fcall.core.case import Fault
from tests.unit.cases.reading import NOTHING, read


class Quiz:
    """A suite of two parts."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Path | None]] = []

    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        self.asked.append((part, path))
        if part not in ("", "easy", "hard"):
            raise ValueError(f"the suite quiz has no part {part!r}: there is easy, hard")
        for name in [part] if part else ["easy", "hard"]:
            for number in range(3):
                turn = Turn(({"role": "user", "content": f"{name}?"},), Expectation("no_call"))
                yield Case(f"{name}_{number}", Location("quiz.json", 7), (turn,), rules=Rules("bfcl"), category=name)


class Broken(Quiz):
    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        yield from super().cases(part, path)
        yield FaultyCase("bad", Location("quiz.json", 8), (Fault("bad-row", Location("quiz.json", 8), "it is bad"),))


class Prompting(Quiz):
    def prompted(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        for case in self.cases(part, path):
            assert isinstance(case, Case)
            yield replace(case, tools_in_messages=True)


def found(text: str, folder: Path, suite: Quiz | None = None) -> CaseFileContent:
    return read(text, folder, NOTHING._replace(suites={"quiz": suite or Quiz()}))


def cases(text: str, folder: Path, suite: Quiz | None = None) -> list[Case]:
    file = found(text, folder, suite)
    assert file.faults == ()
    return [entry for entry in file.entries if isinstance(entry, Case)]


def fault(text: str, folder: Path, suite: Quiz | None = None) -> Fault:
    (only,) = found(text, folder, suite).faults
    return only


def test_a_suite_without_parts_is_all_of_it(tmp_path: Path) -> None:
    assert [case.id for case in cases("suite: quiz\n", tmp_path)] == [
        *("easy_0", "easy_1", "easy_2"),
        *("hard_0", "hard_1", "hard_2"),
    ]


@pytest.mark.parametrize("text", ["suite: quiz:hard,easy\n", "suite: [quiz:hard, quiz:easy]\n"])
def test_parts_come_in_the_order_in_which_they_are_named(tmp_path: Path, text: str) -> None:
    assert [case.category for case in cases(text, tmp_path)] == [*["hard"] * 3, *["easy"] * 3]


def test_a_case_that_two_parts_have_is_there_once(tmp_path: Path) -> None:
    assert len(cases("suite: [quiz, quiz:easy]\n", tmp_path)) == 6


class Twice(Quiz):
    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        yield from super().cases(part, path)
        (again, *_) = super().cases(part, path)
        assert isinstance(again, Case)
        yield replace(again, location=Location("quiz.json", 9))


def test_an_id_that_stands_in_the_data_twice_is_a_case_with_a_fault(tmp_path: Path) -> None:
    file = found("suite: quiz:easy\n", tmp_path, Twice())
    assert [entry.id for entry in file.entries] == ["easy_0", "easy_1", "easy_2", "easy_0 (2)"]
    (fault,) = file.faults
    assert fault.location == Location("quiz.json", 9)
    assert fault.message == "duplicate id `easy_0`, first used in quiz.json:7"


class Empty(Quiz):
    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        return iter(())


def test_a_part_without_cases_is_told(tmp_path: Path) -> None:
    assert fault("suite: quiz:easy\npath: data\n", tmp_path, Empty()).message == "there is no case in quiz:easy"
    assert fault("suite: quiz\n", tmp_path, Empty()).message == "there is no case in quiz"


def test_what_is_wrong_with_a_pick_is_told_where_it_stands(tmp_path: Path) -> None:
    told = fault("suite: quiz\npick: [easy_0, easy_9]\n", tmp_path)
    assert told.location == Location("shop.fc.yaml", 2, 7)
    assert told.message.startswith("no case has the id 'easy_9'")


def test_its_cases_stand_where_the_suite_is_named_and_know_it(tmp_path: Path) -> None:
    case = cases("# a suite\nsuite: quiz:easy\n", tmp_path)[0]
    assert case.location == Location("shop.fc.yaml", 2, 8)
    assert case.suite == "quiz"


def test_the_path_is_seen_from_the_file(tmp_path: Path) -> None:
    suite = Quiz()
    cases("suite: quiz:easy\npath: data/../tables\n", tmp_path, suite)
    assert suite.asked == [("easy", tmp_path / "data/../tables")]


@pytest.mark.parametrize(
    ("pick", "taken"),
    [("2", ["easy_0", "easy_1"]), ("hard_1", ["hard_1"]), ("['*_2']", ["easy_2", "hard_2"]), ("1@3", ["hard_0"])],
)
def test_pick_takes_some(tmp_path: Path, pick: str, taken: list[str]) -> None:
    assert [case.id for case in cases(f"suite: quiz\npick: {pick}\n", tmp_path)] == taken


def test_the_defaults_of_the_file_hold(tmp_path: Path) -> None:
    text = """\
suite: quiz:easy
defaults:
  system: Be brief.
  settings: {temperature: 0}
  tags: [nightly]
  samples: 3
  xfail: not yet
  retrieve: {with: bm25, k: 2}
"""
    case = cases(text, tmp_path)[0]
    assert case.turns[0].messages[0] == {"role": "system", "content": "Be brief."}
    assert case.settings == {"temperature": 0}
    assert case.tags == ("nightly",)
    assert case.samples is not None
    assert [xfail.reason for xfail in case.xfail] == ["not yet"]
    assert case.retrieve is not None


def test_a_suite_keeps_its_profile_unless_the_file_names_another(tmp_path: Path) -> None:
    assert cases("suite: quiz\n", tmp_path)[0].rules.profile == "bfcl"
    assert cases("suite: quiz\nprofile: strict\n", tmp_path)[0].rules.profile == "strict"
    assert cases("suite: quiz\ndefaults: {profile: strict}\n", tmp_path)[0].rules.profile == "strict"


class Judged(Quiz):
    """A suite with rules of its own for the hard questions."""

    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        for case in super().cases(part, path):
            own = replace(case, rules=Rules()) if isinstance(case, Case) else case
            is_hard = isinstance(own, Case) and own.category == "hard"
            yield replace(own, judge=lambda *_: Verdict(valid=True)) if is_hard and isinstance(own, Case) else own


@pytest.mark.parametrize(
    ("suite", "asked", "meant"),
    [
        (Quiz(), "original", "bfcl"),
        (Quiz(), "bfcl", "bfcl"),
        (Judged(), "original", "original"),
        (Judged(), "bfcl", "original"),
        (Judged(), "strict", "strict"),
    ],
)
def test_the_original_rules_are_bfcl_for_the_leaderboard_alone(
    tmp_path: Path, suite: Quiz, asked: str, meant: str
) -> None:
    file = found(f"suite: quiz:easy,hard\nprofile: {asked}\n", tmp_path, suite)
    assert {entry.rules.profile for entry in file.entries if isinstance(entry, Case)} == {meant}


def test_the_original_rules_of_a_suite_that_has_none_are_a_fault(tmp_path: Path) -> None:
    wrong = fault("suite: quiz:easy\nprofile: original\n", tmp_path, Judged())
    assert (wrong.code, wrong.message) == (
        "contradiction",
        "the suite quiz has no rules of its own, as `profile: original` asks for",
    )


def test_match_rules_hold_under_strict_and_are_refused_under_bfcl(tmp_path: Path) -> None:
    rules = "match: {'*.city': {strings: relaxed}}\n"
    assert cases(f"suite: quiz\nprofile: strict\n{rules}", tmp_path)[0].rules.match
    wrong = fault(f"suite: quiz\n{rules}", tmp_path)
    assert (wrong.code, wrong.message) == ("beyond-bfcl", "`match` is not supported by `profile: bfcl`")


def test_prompt_mode_is_the_suites_own(tmp_path: Path) -> None:
    assert cases("suite: quiz\nmode: prompt\n", tmp_path, Prompting())[0].tools_in_messages
    assert "does not support `mode: prompt`" in fault("suite: quiz\nmode: prompt\n", tmp_path).message


def test_cases_of_the_file_run_beside_those_of_the_suite(tmp_path: Path) -> None:
    own = "tools: []\ncases:\n  - {id: own, prompt: Hi, expect: no_call}\n"
    assert [case.id for case in cases(f"suite: quiz:easy\npick: 1\n{own}", tmp_path)] == ["own", "easy_0"]


def test_a_case_may_not_have_the_id_of_a_case_of_the_suite(tmp_path: Path) -> None:
    own = "tools: []\ncases:\n  - {id: easy_0, prompt: Hi, expect: no_call}\n"
    assert fault(f"suite: quiz:easy\n{own}", tmp_path).code == "duplicate-id"


def test_a_broken_row_errs_alone(tmp_path: Path) -> None:
    file = found("suite: quiz:easy\n", tmp_path, Broken())
    assert [entry.id for entry in file.entries if isinstance(entry, FaultyCase)] == ["bad"]
    assert len(file.entries) == 4


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("suite: quizz\n", "unknown-suite", "there is no suite `quizz`"),
        ("suite: quiz:medium\n", "bad-suite", "the suite quiz has no part 'medium': there is easy, hard"),
        ("suite: quiz\npick: easy_9\n", "bad-suite", "no case has the id 'easy_9'"),
        ("suite: quiz\npick: 0\n", "wrong-value", "'0' selects no case"),
        ("suite: quiz\npick: {a: 1}\n", "wrong-type", "`pick`"),
        ("suite: quiz\nmode: fc\n", "wrong-value", "`mode` cannot be `fc`"),
        ("suite: {quiz: easy}\n", "wrong-type", "`suite`"),
        ("pick: 3\ncases:\n  - {id: a, prompt: Hi, expect: no_call}\n", "missing-key", "`pick` needs a `suite:`"),
    ],
)
def test_mistakes_are_faults_of_one_case(tmp_path: Path, text: str, code: str, message: str) -> None:
    wrong = fault(text, tmp_path)
    assert wrong.code == code
    assert message in wrong.message


def test_a_text_is_read_as_the_file_that_it_would_be(tmp_path: Path) -> None:
    extensions = Extensions(suites={"quiz": Quiz()})
    file = read_case_text('{"suite": ["quiz:easy"]}', tmp_path / "quiz.fc.yaml", root=tmp_path, extensions=extensions)
    assert len(file.entries) == 3
