from __future__ import annotations

import pytest

from pytest_fcall.bisection.edit import Edit, EditedPart
from pytest_fcall.bisection.patch import question_diff, undo_patch
from pytest_fcall.bisection.version import Difference, Version
from pytest_fcall.core import Request

FILE = "cases/a.fc.yaml"


def undone(text: str, before: str, after: str, follows: str = "", part: EditedPart = "system", where: str = "x") -> str:
    patch = undo_patch([Edit(where, before, after, part, follows)], {FILE: text})
    added = [line[1:] for line in patch.text.splitlines() if line.startswith("+") and not line.startswith("+++")]
    return "\n".join(added) if not patch.unplaced else "unplaced"


@pytest.mark.parametrize(
    ("text", "before", "after", "follows", "left"),
    [
        ("a\n  Be kind. Answer briefly.\nb\n", "", "Answer briefly.", "Be kind.", "  Be kind."),
        ("a\n  Answer briefly. Be kind.\nb\n", "", "Answer briefly.", "", "  Be kind."),
        ("a\n  Answer briefly.\nb\n", "", "Answer briefly.", "", ""),
        ("  Be short. Be kind.\n", "Be brief.", "Be short.", "", "  Be brief. Be kind."),
        ("  Be kind.\n", "Be brief.", "", "Be kind.", "  Be kind. Be brief."),
        ("  Be kind.\n", "Be brief.", "", "", "unplaced"),
        ("  Be kind.\n", "", "Never there.", "", "unplaced"),
        ("  Be kind. Be kind.\n", "", "Be kind.", "", "unplaced"),
    ],
)
def test_a_sentence_is_undone_where_it_stands_once(text: str, before: str, after: str, follows: str, left: str) -> None:
    assert undone(text, before, after, follows) == left


def test_a_setting_is_undone_by_its_name() -> None:
    setting: EditedPart = "setting"
    where = "settings: temperature"
    assert undone("settings: {temperature: 1, seed: 1}\n", "0", "1", part=setting, where=where) == (
        "settings: {temperature: 0, seed: 1}"
    )
    assert undone("temperature: 1.5\n", "0", "1", part=setting, where=where) == "unplaced"
    assert undone("temperature: 1\n", "", "1", part=setting, where=where) == "unplaced"


def test_the_question_is_shown_where_no_file_has_the_edit() -> None:
    old, new = (Version("m:x", Request(({"role": "user", "content": text},))) for text in ("Go.", "Stop."))
    difference = Difference(old, new)
    diff = question_diff(difference, frozenset({0}), "question of a")
    assert diff.splitlines()[:2] == ["--- a/question of a", "+++ b/question of a"]
    assert {"-Stop.", "+Go."} <= {*diff.splitlines()}
