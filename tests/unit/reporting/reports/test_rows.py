from __future__ import annotations

import csv
import io

from hypothesis import given

from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.reports.rows import write
from tests.unit.reporting.reports.examples import account, report, reports, result


def rows(made: Report) -> list[dict[str, str]]:
    text = "".join(write(made)).encode("utf-8").decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


@given(reports())
def test_each_row_has_all_cells_and_none_is_a_formula(made: Report) -> None:
    for row in rows(made):
        assert None not in row
        assert None not in row.values()
        texts = (row[name] for name in ("file", "case", "model", "category", "calls", "text"))
        assert not any(text.startswith(("=", "+", "-", "@", "\t", "\r")) for text in texts)


def test_each_answer_has_a_row() -> None:
    sampled = result(samples=(0, 2))
    made = report(sampled, accounts={sampled.nodeid: account(sampled.nodeid, "first", "second")})
    assert [(row["answer"], row["text"], row["right"]) for row in rows(made)] == [
        ("1", "first", "0"),
        ("2", "second", "0"),
    ]


def test_a_case_of_which_no_answer_is_kept_has_a_row() -> None:
    assert [(row["answer"], row["right"], row["status"]) for row in rows(report(result(status="passed")))] == [
        ("", "1", "passed")
    ]


def test_a_case_without_a_verdict_is_neither_right_nor_wrong() -> None:
    lost = result(status="error", no_reply=True)
    made = report(lost, accounts={lost.nodeid: account(lost.nodeid, "")})
    assert [(row["answer"], row["right"], row["status"]) for row in rows(made)] == [("", "", "error")]


def test_a_text_that_a_spreadsheet_would_compute_is_text() -> None:
    wrong = result()
    texts = ["=1+1", "+1", "-1", "@A1", "\t=1", "\r=1", "\n=1", "\uff1d1+1"]
    made = report(wrong, accounts={wrong.nodeid: account(wrong.nodeid, *texts)})
    assert [row["text"] for row in rows(made)] == [f"'{text}" for text in texts]
