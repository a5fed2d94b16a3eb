from __future__ import annotations

import re

import pytest
from hypothesis import given

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.account import Account
from pytest_fcall.reporting.gates import JudgedGate
from pytest_fcall.reporting.reports.markdown import MARKER, inline, write
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.results import MissingReply, Results
from tests.unit.reporting.reports.examples import HOSTILE, account, report, reports, result

TAGS = re.compile(r"</?(?:code|details|summary|sub|br)>|<details open>|<!-- pytest-fcall -->")


def lines(made: Report) -> list[str]:
    return "".join(write(made)).splitlines()


@pytest.mark.filterwarnings("ignore:Generating overly large repr")  # of Hypothesis, about its own messages
@given(reports())
def test_a_report_has_at_most_sixty_lines_and_no_markup_but_ours(made: Report) -> None:
    written = lines(made)
    assert len(written) <= 60
    assert written[0] == MARKER
    for line in written:
        assert "<" not in TAGS.sub("", line)
        assert "@" not in line
        assert "`" not in line
        assert "://" not in line


@given(reports())
def test_each_row_of_a_table_has_its_cells(made: Report) -> None:
    width = 0
    for line in lines(made):
        if not line.startswith("|"):
            width = 0
            continue
        width = width or line.count("|")
        assert line.count("|") == width


def test_answers_that_are_accepted_and_gone_are_counted() -> None:
    gone = Results((result(status="passed", outcome=Outcome.FIXED),), stale=(("a.yaml", "old"), ("a.yaml", "older")))
    assert "**Since the baseline**: 1 fixed, 2 stale" in lines(report(results=gone))


def test_the_largest_report_has_at_most_sixty_lines() -> None:
    results = [
        result(
            f"{outcome}{number}",
            outcome=outcome,
            model=f"model {number % 3}",
            category=f"category {number}",
            causes=("other prompt", "other tool"),
            reasons=(("wrong_value", "calls[0].args.a"), ("wrong_tool", "calls[0]")),
            called=(("a", "b"),),
        )
        for outcome in Outcome
        for number in range(30)
    ]
    results += [result(f"error{number}", status="error", model="model 0") for number in range(9)]
    missing = {MissingReply("m", f"cause {number}", "fcall record"): 2 for number in range(10)}
    gates = [JudgedGate(f"gate {number}", "share", 0.4, 0.5, False) for number in range(10)]
    largest = report(*results, gates=gates, results=Results(tuple(results), missing=missing, unanswered=3))
    assert 50 < len(lines(largest)) <= 60


def test_what_regressed_says_what_changed() -> None:
    changed = result(outcome=Outcome.REGRESSED, since=("calls[0].args.city: 'Oslo' → 'Rome'",))
    assert (
        "- regressed: <code>cases/a.fc.yaml:1</code> <code>a</code>: calls&#91;0&#93;.args.city: 'Oslo' → 'Rome'"
        in lines(report(changed))
    )


def test_the_changed_sentence_of_a_prompt_is_whole() -> None:
    cause = f"the system prompt changed: {'Ask for the city. ' * 30}Be {{+very+}} brief."
    changed = result(outcome=Outcome.REGRESSED, causes=(cause,))
    assert f"- changed since the baseline: {cause} (1 case)" in lines(report(changed))


def test_a_change_without_a_known_difference_gives_the_reason_of_the_verdict() -> None:
    wrong = result(outcome=Outcome.UNDECIDED)
    made = report(wrong, accounts={wrong.nodeid: account(wrong.nodeid, "No call was made")})
    assert any(line.endswith("No call was made") for line in lines(made))


def test_errors_are_named_with_the_first_line_of_their_reason() -> None:
    errors = [result(f"e{number}", status="error", no_reply=number == 0) for number in range(12)]
    accounts = {each.nodeid: Account(each.nodeid, error=f"{each.case} is broken\nand more") for each in errors}
    written = lines(report(*errors, results=Results(tuple(errors), unanswered=1), accounts=accounts))
    start = written.index(
        "<details open><summary>not judged: 11 errors: a mistake in a case, a tool or an app</summary>"
    )
    named = "<br>".join(
        f"<code>cases/e{number}.fc.yaml:1</code> <code>e{number}</code>: e{number} is broken" for number in range(1, 11)
    )
    assert written[start + 2 : start + 4] == [
        f"- {named}<br>and 2 more",
        "- 1 case without a reply (not counted for the model)",
    ]


def test_errors_stand_beside_missing_replies_and_none_leaves_the_paragraph_folded() -> None:
    missing = {MissingReply("m", "a cause", "fcall record"): 2}
    right = result("a", status="passed")
    folded = lines(report(right, results=Results((right,), missing=missing)))
    assert any(line.startswith("<details><summary>not judged: 2 cases not judged") for line in folded)


def test_a_run_in_which_nothing_is_worse_says_so() -> None:
    assert "1 answer judged, nothing is worse." in lines(report(result(status="passed"), status=0, conclusions=()))
    assert "No answer was judged." in lines(report(result(status="skipped"), status=0, conclusions=()))


def test_known_failures_are_counted_and_listed() -> None:
    known = [
        result(f"k{number}", status="xfailed", outcome=Outcome.KNOWN_FAILURE, reasons=(("wrong_tool", "calls[0]"),))
        for number in range(12)
    ]
    flaky = result("f", status="xfailed", outcome=Outcome.FLAKY)
    written = lines(report(*known, flaky, status=0, conclusions=()))
    assert "13 answers judged, nothing is worse. 12 known failures." in written
    (listed,) = (line for line in written if line.startswith("<details><summary>12 known failures</summary>"))
    first = "<code>cases/k0.fc.yaml:1</code> <code>k0</code>: wrong&#95;tool at calls&#91;0&#93;<br>"
    assert first in listed
    assert listed.endswith("<br>and 2 more</details>")
    assert "<code>f</code>" not in listed


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a_b", "a&#95;b"),
        ("https://a.example", "https&#58;//a.example"),
        ("www.a.example", "www&#46;a.example"),
        (":smile:", "&#58;smile:"),
        ("12:30", "12:30"),
        ("a\nb", "a&#92;nb"),
        ("x" * 200, "x" * 159 + "…"),
    ],
)
def test_text_from_outside_stays_text(text: str, written: str) -> None:
    assert inline(text) == written


def test_hostile_text_is_on_one_line() -> None:
    assert "\n" not in inline(HOSTILE)
