from __future__ import annotations

from pathlib import PurePosixPath

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Fault, Location
from pytest_fcall.reporting.faults import fault_text

ANY_TEXT = st.text(st.characters(exclude_categories=[]))


def fault(source: str, column: int, hint: str = "") -> Fault:
    return Fault(
        "unknown-tool", Location("/repo/cases/x.fc.yaml", 12, column), "unknown tool `get_wether`", source, hint
    )


def test_the_line_is_shown_with_a_caret_and_a_hint() -> None:
    text = fault_text(
        fault("      - get_wether: {city: Oslo}", 9, "did you mean `get_weather`?"), PurePosixPath("/repo")
    )
    assert text == (
        "cases/x.fc.yaml:12:9: unknown tool `get_wether`\n"
        "        - get_wether: {city: Oslo}\n"
        "          ^\n"
        "  hint: did you mean `get_weather`?"
    )


def test_a_path_outside_the_root_stays_whole() -> None:
    assert fault_text(fault("", 1), PurePosixPath("/other")).startswith("/repo/cases/x.fc.yaml:12:1: ")
    assert fault_text(fault("", 1)).startswith("/repo/cases/x.fc.yaml:12:1: ")


def test_without_a_source_line_there_is_no_caret() -> None:
    assert fault_text(fault("   ", 2)) == "/repo/cases/x.fc.yaml:12:2: unknown tool `get_wether`"


def test_the_caret_stands_under_the_column_after_tabs_and_wide_characters() -> None:
    _, line, caret = fault_text(fault("\t天気: get_wether", 6)).split("\n")
    assert line == "  \\t天気: get_wether"
    assert caret == " " * 10 + "^"  # two of indentation, \t two, 天気 four, a colon and a space


def test_of_a_long_line_the_faulty_part_is_shown() -> None:
    _, line, caret = fault_text(fault("x" * 500_000 + "HERE" + "y" * 500_000, 500_001)).split("\n")
    assert line[caret.index("^") :].startswith("HERE")
    assert len(line) < 120
    assert line.startswith("  …x")
    assert line.endswith("y…")


def test_a_column_beyond_the_line_points_at_its_end() -> None:
    assert fault_text(fault("abc", 99)).endswith("\n  abc\n     ^")


@given(ANY_TEXT, ANY_TEXT, st.integers(min_value=-5, max_value=50))
def test_hostile_lines_leave_no_control_characters(source: str, hint: str, column: int) -> None:
    text = fault_text(fault(source, column, hint))
    assert all(line.isprintable() for line in text.split("\n"))
