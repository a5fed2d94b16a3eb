from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.tracking.gates import Gate, GateError, parse_gates


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("accuracy>=0.9", Gate("accuracy>=0.9", "accuracy", ">=", Fraction(9, 10))),
        ("  accuracy >= 99.9% ", Gate("accuracy >= 99.9%", "accuracy", ">=", Fraction(999, 1000))),
        ("accuracy[parallel]>=1", Gate("accuracy[parallel]>=1", "accuracy", ">=", Fraction(1), scope=("parallel",))),
        (
            "accuracy [openai:gpt-5.2, smoke] > 0",
            Gate(
                "accuracy [openai:gpt-5.2, smoke] > 0", "accuracy", ">", Fraction(0), scope=("openai:gpt-5.2", "smoke")
            ),
        ),
        ("cases>=200", Gate("cases>=200", "cases", ">=", Fraction(200))),
        ("malformed<=2%", Gate("malformed<=2%", "malformed", "<=", Fraction(1, 50), share=True)),
        ("malformed==0", Gate("malformed==0", "malformed", "==", Fraction(0))),
        ("cost<=1", Gate("cost<=1", "cost", "<=", 1.0)),
        ("cost < $0.2", Gate("cost < $0.2", "cost", "<", 0.2)),
        ("p95<=5s", Gate("p95<=5s", "p95", "<=", 5.0)),
        ("p50 < 200 ms", Gate("p50 < 200 ms", "p50", "<", 0.2)),
        ("regressions <= 0", Gate("regressions <= 0", "regressions", "<=", Fraction(0))),
        ("fixed<5%", Gate("fixed<5%", "fixed", "<", Fraction(1, 20), share=True)),
        ("significant(0.05)", Gate("significant(0.05)", "significant", ">", 0.05)),
        ("significant( 0.01 ) [a]", Gate("significant( 0.01 ) [a]", "significant", ">", 0.01, scope=("a",))),
        ("significant(0.05, by=tag)", Gate("significant(0.05, by=tag)", "significant", ">", 0.05, by="tag")),
        (
            "significant ( 0.05,by = file )[a]",
            Gate("significant ( 0.05,by = file )[a]", "significant", ">", 0.05, scope=("a",), by="file"),
        ),
        ("undecided<=0", Gate("undecided<=0", "undecided", "<=", Fraction(0))),
        ("edited<=2%", Gate("edited<=2%", "edited", "<=", Fraction(1, 50), share=True)),
        ("max<=1.5min", Gate("max<=1.5min", "max", "<=", 90.0)),
    ],
)
def test_a_gate_is_read(text: str, gate: Gate) -> None:
    assert parse_gates(text) == (gate,)


def test_and_joins_gates_that_must_all_hold() -> None:
    gates = parse_gates("accuracy[and] >= 90% and cases>=10 and p95<=5s")
    assert [gate.text for gate in gates] == ["accuracy[and] >= 90%", "cases>=10", "p95<=5s"]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 0, "a figure: accuracy, "),
        ("accurcy>=0.9", 0, "unknown figure 'accurcy'; did you mean `accuracy`?"),
        ("latency<=5s", 0, "unknown figure 'latency'; did you mean `p95`?"),
        ("beauty>=1", 0, "unknown figure 'beauty'; available: accuracy, "),
        ("accuracy 0.9", 9, "expected one of >= <= == > <"),
        ("accuracy=>0.9", 8, "one of >= "),
        ("accuracy>=", 10, "expected a number"),
        ("accuracy>=90", 10, "90 is more than 100 %; write 0.9 or 90%"),
        ("accuracy>=101%", 10, "101% is more than 100 %; write 0.9 or 90%"),
        ("accuracy>=-1", 10, "expected a number"),
        ("accuracy>=0.9s", 13, "unknown unit 's'"),
        ("accuracy>=$1", 10, "only cost is in dollars"),
        ("accuracy[parallel>=0.9", 8, "expected a `]` after the name"),
        ("accuracy[]>=0.9", 8, "name a category, tag, suite or model"),
        ("accuracy[a,]>=0.9", 8, "name a category, tag, suite or model"),
        ("cases>=1.5", 7, "must be a whole number"),
        ("cases>=1e400", 8, "unknown unit 'e'"),
        ("cost<=1%", 7, "unknown unit '%'"),
        ("p95<=5", 5, "a time needs a unit: 5s or 5ms"),
        ("p95<=5h", 5, "a time needs a unit: 5s or 5ms"),
        ("p95<=5s, cost<=1", 7, "expected `and` or the end"),
        ("p95<=5s andcost<=1", 8, "expected `and` or the end"),
        ("regressed<=0", 0, "did you mean `regressions`?"),
        ("significant", 11, "expected a level in brackets, such as (0.05)"),
        ("significant(5)", 11, "a level in brackets"),
        ("significant(0.00)", 11, "the level must be above 0"),
        ("significant(0.05", 16, "expected a `)` after the level"),
        ("significant(0.05, 5)", 16, "expected `, by=` and one of model, category, tag, file"),
        ("significant(0.05, by=)", 21, "expected one of model, category, tag, file"),
        ("significant(0.05, by=catgory)", 21, "a test by 'catgory' is unknown; did you mean `category`?"),
        ("significant(0.05, by=weekday)", 21, "a test by 'weekday' is unknown; available: model, category, tag, file"),
        ("significant(0.05)<=1", 17, "expected `and` or the end"),
        ("p95<=5s and", 11, "a figure: "),
        ("api_f1>=0.8", 0, "unknown figure 'api_f1'; available: accuracy, "),
        ("cases>=9999999999999", 19, "expected `and` or the end"),
    ],
)
def test_what_is_no_gate_is_pointed_at(text: str, column: int, message: str) -> None:
    with pytest.raises(GateError) as raised:
        parse_gates(text)
    assert (raised.value.text, raised.value.column, message in raised.value.message) == (text, column, True)
    assert str(raised.value).splitlines()[1:] == [f"  {text}", f"  {' ' * column}^"]


@pytest.mark.parametrize(
    ("scores", "told"), [(["api_f1"], "p95, max, and the scores in the summary"), ([], "p95, max")]
)
def test_of_figures_the_scores_are_told_where_there_are_any(scores: list[str], told: str) -> None:
    with pytest.raises(GateError) as raised:
        parse_gates("beauty>=1", lambda: scores)
    assert raised.value.message.endswith(told)


@given(st.text() | st.text("acury[]<>=0.9$%sm and"))
def test_any_text_is_read_or_told_to_be_wrong(text: str) -> None:
    column = 0
    try:
        assert parse_gates(text)
    except GateError as error:
        column = error.column
    assert 0 <= column <= len(text)


def test_scores_are_bounded_like_shares_under_whatever_names_they_have() -> None:
    gates = parse_gates(
        "lcs(executable)[home] >= 80% and overall<1 and accuracy>0", lambda: ["overall", "lcs(executable)"]
    )
    assert [(gate.figure, gate.kind, gate.bound, gate.scope) for gate in gates[:2]] == [
        ("lcs(executable)", "share", Fraction(4, 5), ("home",)),
        ("overall", "share", Fraction(1), ()),
    ]


@pytest.mark.parametrize(
    ("word", "figure"),
    [
        *(("regressed", "regressions"), ("Latency", "p95"), ("time", "p95"), ("price", "cost"), ("slowest", "max")),
        *((word, "accuracy") for word in ("passed", "right", "failed", "wrong", "success")),
    ],
)
def test_another_word_for_a_figure_is_pointed_at_it(word: str, figure: str) -> None:
    with pytest.raises(GateError, match=f"unknown figure '{word}'; did you mean `{figure}`"):
        parse_gates(f"{word}<=2")


def test_a_misspelt_score_is_pointed_at_and_figures_ask_nobody() -> None:
    with pytest.raises(GateError, match=r"unknown figure 'overal'; did you mean `overall`"):
        parse_gates("overal>=0.8", lambda: ["overall"])
    with pytest.raises(GateError, match="cost, p50, p95, max, and the scores in the summary"):
        parse_gates("beauty>=0.8", lambda: ["overall"])

    def nobody() -> list[str]:
        raise AssertionError

    assert parse_gates("accuracy>=0.8 and significant(0.05)", nobody)
