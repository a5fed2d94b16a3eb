"""Reports to write."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.account import Account, AccountAnswer, AskedStep
from pytest_fcall.reporting.gates import JudgedGate
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.results import MissingReply, Result, Results, Status

HOSTILE = "| `x` <script>alert(1)</script> @team #1 [a](b) \x1b[31m\u202e\ud800 ::error:: ![](https://a.example)\n### x"


def report(*results: Result, **fields: object) -> Report:
    known: dict[str, object] = {
        "id": "20260102-030405-0000",
        "started": "2026-01-02T03:04:05+00:00",
        "models": tuple(dict.fromkeys(result.model for result in results)),
        "results": Results(results),
        "status": 1,
        "conclusions": ("Something failed.",),
    }
    return Report(**known | fields)  # type: ignore[arg-type]


def result(case: str = "a", status: Status = "failed", outcome: Outcome | None = None, **fields: object) -> Result:
    known: dict[str, object] = {
        "nodeid": f"cases/{case}.fc.yaml::{case}",
        "case": case,
        "model": "m",
        "status": status,
        "file": f"cases/{case}.fc.yaml",
        "outcome": outcome,
    }
    return Result(**known | fields)  # type: ignore[arg-type]


def account(nodeid: str, *messages: str) -> Account:
    answers = tuple(AccountAnswer(False, (AskedStep((), text=text),), (("no_call", "", text),)) for text in messages)
    return Account(nodeid, answers)


texts = st.one_of(st.text(max_size=30), st.just(HOSTILE), st.text("|`<>&*_[]#@:/\\$~!\n", max_size=20))


@st.composite
def _a_result(draw: st.DrawFn) -> Result:
    return result(
        draw(texts),
        draw(st.sampled_from(get_args(Status))),
        draw(st.sampled_from([None, *Outcome])),
        model=draw(st.sampled_from(["m", "n", HOSTILE])),
        category=draw(texts),
        file=draw(texts),
        since=tuple(draw(st.lists(texts, max_size=2))),
        causes=tuple(draw(st.lists(texts, max_size=2))),
        reasons=tuple(draw(st.lists(st.tuples(texts, st.sampled_from(["", "calls[0].args.x"])), max_size=2))),
        called=tuple(draw(st.lists(st.tuples(texts, texts), max_size=2))),
        before=draw(st.sampled_from([None, (1, 1), (2, 3)])),
        seconds=draw(st.sampled_from([None, 0.5])),
    )


RESULTS = st.lists(_a_result(), max_size=40)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """Reports that hold anything anywhere."""
    results = draw(RESULTS)
    gates = [
        JudgedGate(draw(texts), "share", draw(st.floats(0, 1)), 0.5, draw(st.sampled_from([True, False, None])))
        for _ in range(draw(st.integers(0, 6)))
    ]
    stale = draw(st.lists(st.tuples(texts, texts), max_size=3))
    missing = {MissingReply("m", f"cause {draw(texts)}", draw(texts)): 2 for _ in range(draw(st.integers(0, 4)))}
    return report(
        *results,
        models=[*draw(st.lists(texts, max_size=3))],
        gates=gates,
        results=Results(tuple(results), missing=missing, unanswered=draw(st.integers(0, 2)), stale=tuple(stale)),
        conclusions=draw(st.lists(texts, max_size=4)),
        accounts={each.nodeid: account(each.nodeid, draw(texts)) for each in results[:5]},
        provenance={"commit": draw(texts), "pytest_fcall": draw(texts)},
    )
