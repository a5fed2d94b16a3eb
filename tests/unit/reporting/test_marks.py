from __future__ import annotations

import pytest

from pytest_fcall.reporting.marks import ASCII, UNICODE, Marks, escaped_for, marks_for


@pytest.mark.parametrize(
    ("encoding", "marks"), [("utf-8", UNICODE), ("ascii", ASCII), ("cp1252", ASCII), ("no-such-encoding", ASCII)]
)
def test_marks_are_those_that_the_terminal_can_show(encoding: str, marks: Marks) -> None:
    assert marks_for(encoding) == marks


def test_what_cannot_be_shown_is_escaped_and_lines_stay_lines() -> None:
    assert escaped_for("ascii", "Köln\n  München") == "K\\xf6ln\n  M\\xfcnchen"
    assert escaped_for("latin-1", "Köln") == "Köln"
    assert escaped_for("utf-8", "ミュンヘン") == "ミュンヘン"
