from __future__ import annotations

import pytest

from pytest_fcall.reporting.terminal import ASCII, UNICODE, Marks, encodable_text, marks_for


@pytest.mark.parametrize(
    ("encoding", "marks"), [("utf-8", UNICODE), ("ascii", ASCII), ("cp1252", ASCII), ("no-such-encoding", ASCII)]
)
def test_marks_are_those_that_the_terminal_can_show(encoding: str, marks: Marks) -> None:
    assert marks_for(encoding) == marks


def test_what_cannot_be_shown_is_escaped_and_lines_stay_lines() -> None:
    assert encodable_text("ascii", "Köln\n  München") == "K\\xf6ln\n  M\\xfcnchen"
    assert encodable_text("latin-1", "Köln") == "Köln"
    assert encodable_text("utf-8", "ミュンヘン") == "ミュンヘン"
