"""Cases about the weather, and verdicts on their calls, for tests of what verdicts mean."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcall.core import (
    Call,
    Calls,
    Case,
    Expectation,
    ExpectedCall,
    Json,
    Location,
    Reply,
    Rules,
    Tool,
    Turn,
    Verdict,
)
from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.verdict import reason_pairs
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.tracking.case_rates import CaseRates
from pytest_fcall.tracking.comparison import (
    CaseJudgement,
    ChanceTest,
    Comparison,
    EarlierFacts,
    StanzaJudge,
    compare_verdict,
)
from pytest_fcall.tracking.measurement import failure_way
from pytest_fcall.tracking.stanza import Stanza

STRING: Json = {"type": "string"}
TOOLS = tuple(
    Tool(
        name,
        parameters={
            "type": "object",
            "properties": {
                "city": STRING,
                "unit": {"type": "string", "default": "celsius"},
                "days": {"type": "integer"},
                "legs": {"type": "array", "items": STRING},
                "of": {"type": "object", "properties": {"a": STRING, "b": STRING}},
            },
        },
    )
    for name in ("weather", "time", "get_weather", "delete_all")
)


def call(tool: str = "weather", /, **arguments: Json) -> Call:
    return Call(tool, arguments)


def expected(tool: str = "weather", /, **arguments: Pattern) -> ExpectedCall:
    return ExpectedCall(tool, arguments)


def case_of(
    *calls: ExpectedCall, expect: Expectation | None = None, rules: Rules | None = None, answer: Pattern = None
) -> Case:
    expectation = expect or Expectation(stages=(calls,))
    turn = Turn(({"role": "user", "content": "?"},), expectation, answer=answer)
    return Case("oslo", Location("a.fc.yaml"), (turn,), TOOLS, rules or Rules())


def judged(case: Case, calls: Sequence[Call], text: str = "…") -> Verdict:
    return judge_turn(Reply(text), Calls(tuple(calls)), case.turns[-1], MatchContext(case.tools, case.rules))


def stanza_of(case: Case, calls: Sequence[Call]) -> Stanza:
    verdict = judged(case, calls)
    return Stanza(case.id, verdict.valid, reason_pairs(verdict), tuple(calls))


ONCE = ChanceTest(CaseRates.estimated([]), 0.005)
"""The test of a run of one case that is not asked again."""


def compare(
    now: Stanza,
    verdict: Verdict,
    known: Stanza | EarlierFacts | None,
    case: Case,
    judge: StanzaJudge,
    test: ChanceTest = ONCE,
    *,
    ways: Sequence[Stanza] = (),
    is_asked_again: bool = False,
    is_replayed: bool = False,
) -> Comparison:
    """The stanza against what is known of the case; `ways` are the answers to it, where they are several."""
    ways_now = frozenset(map(failure_way, ways or [now]))
    before = known if isinstance(known, EarlierFacts) else EarlierFacts(known)
    judged_now = CaseJudgement(now, verdict, ways_now, is_asked_again, is_replayed)
    return compare_verdict(judged_now, before, case, judge, lambda: test)


def compared(
    case: Case, then: Stanza | EarlierFacts | None, now: Sequence[Call], test: ChanceTest = ONCE
) -> Comparison:
    """The case with these calls now, against what is known of it."""
    verdict = judged(case, now)
    return compare(stanza_of(case, now), verdict, then, case, lambda stanza: judged(case, stanza.calls or ()), test)
