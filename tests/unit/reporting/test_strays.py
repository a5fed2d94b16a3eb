from __future__ import annotations

from pytest_fcall.reporting.app_lines import span_stray_lines, stray_lines


def test_nothing_is_told_where_there_is_nothing() -> None:
    assert [*stray_lines({})] == []


def test_each_fate_has_its_line_with_the_number_and_the_first_cases() -> None:
    strays = {(f"a.fc.yaml::{name}", True): 2 for name in ("rome", "bern", "oslo", "\x1b[31mbad", "lima")}
    strays |= {("a.fc.yaml::oslo", False): 1, ("", True): 1, ("", False): 3}
    late, refused, kept, unknown = stray_lines(strays)
    assert late.startswith("10 requests after the end of a.fc.yaml::")
    assert "a.fc.yaml::bern, a.fc.yaml::lima and 2 other cases: kept with the case, but part of no verdict" in late
    assert "\x1b" not in late
    assert refused.startswith("1 request after the end of a.fc.yaml::oslo: refused, since not recorded")
    assert kept.startswith("1 request of no known case: kept without a case; ")
    assert unknown.startswith("3 requests of no known case: refused; ")


def test_spans_are_told_by_their_case_or_their_program() -> None:
    assert [*span_stray_lines({})] == []
    strays = {("a.fc.yaml::oslo", ""): 2, ("", ""): 1} | {
        ("", name): 1_000 for name in ("shop", "mesh", "x\x1b[1m", "z")
    }
    late, foreign, unreadable = span_stray_lines(strays)
    assert late == "2 spans after the verdict on a.fc.yaml::oslo: not judged; let the app wait for what it begins"
    assert foreign.startswith("spans of no known case: not judged; from mesh (1,000), shop (1,000), x")
    assert foreign.endswith(" and 1 other program")
    assert "\x1b" not in foreign
    assert unreadable == "1 message with spans could not be read"
