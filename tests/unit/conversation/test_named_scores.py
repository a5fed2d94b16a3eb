from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.conversation.evidence import ConversationEvidence, Leaves, evidence_of, subjects_of
from pytest_fcall.conversation.named_scores import SCORES, score_value
from pytest_fcall.conversation.score_formulas import GradedParts, grade_functions
from pytest_fcall.core import (
    Call,
    CallResult,
    Calls,
    Case,
    Expectation,
    ExpectedCall,
    Location,
    Reason,
    Reply,
    Request,
    Step,
    Tool,
    Transcript,
    TranscriptTurn,
    Turn,
    Verdict,
)
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.transcript import judge_transcript
from tests.corpus_scores import accuracy, api_f1, lcs_f1, parameter_f1

TOOLS = (Tool("f", parameters={"type": "object", "properties": {"n": {"type": "integer"}}}),)
F = Expectation(stages=((ExpectedCall("f", {"n": 1}),),))
ONE, TWO = Call("f", {"n": 1}), Call("f", {"n": 2})


def case(*turns: Turn) -> Case:
    return Case("c", Location("c.fc.yaml", 1), turns, TOOLS)


def turn(**expected: object) -> Turn:
    return Turn((), **expected)  # type: ignore[arg-type]  # each test names what it expects


def step(*calls: Call, results: tuple[CallResult, ...] = (), text: str = "", malformed: str | None = None) -> Step:
    return Step(Request(()), Reply(text), Calls(calls, malformed), results)


def held(*steps: Step, end: str = "answered", state: CallResult | None = None) -> TranscriptTurn:
    return TranscriptTurn(steps, end, state)  # type: ignore[arg-type]  # one of three words


def found(asked: Case, *turns: TranscriptTurn) -> ConversationEvidence:
    transcript = Transcript(turns)
    return evidence_of(asked, transcript, judge_transcript(transcript, asked.turns, MatchContext(TOOLS, asked.rules)))


OK = (CallResult(),)


def test_all_turns_of_a_conversation_are_one_path() -> None:
    asked = case(turn(expect=F), turn(), turn(expect=Expectation("any_call")), turn(expect=F))
    evidence = found(asked, *(held(step(call, results=OK), step(text="Done.")) for call in (ONE, TWO, TWO, TWO)))
    assert evidence.calls == ([ONE, ONE], [ONE, TWO])


def test_a_turn_that_was_never_reached_was_not_called() -> None:
    evidence = found(case(turn(expect=F), turn(expect=F, answer="x")), held(step(TWO), end="stopped"))
    assert evidence.calls == ([ONE, ONE], [TWO])
    assert evidence.answer is False


def test_what_a_case_says_nothing_of_is_not_scored() -> None:
    silent = case(turn(), turn(expect=Expectation("any_call")))
    assert subjects_of(silent) == {"reply"}
    evidence = found(silent, held(step(text="Hello.")), held(step(ONE)))
    assert (evidence.calls, evidence.answer, evidence.state) == (None, None, None)
    assert [name for name, kind in SCORES.items() if kind.numbers(evidence) is not None] == ["executability"]


def test_a_case_says_something_of_calls_answer_and_state() -> None:
    assert subjects_of(case(turn(expect=F), turn(answer="x", state={}))) == {"calls", "answer", "state", "reply"}


@pytest.mark.parametrize(
    ("last", "right"),
    [
        (held(step(text="Oslo")), True),
        (held(step(text="Rome")), False),
        (held(step(text="Oslo", malformed="half a call")), False),
        (held(step(ONE, results=OK, text="Oslo"), end="step_limit"), False),
        (held(step(ONE, text="Oslo"), end="stopped"), False),
    ],
)
def test_an_answer_is_right_where_the_verdict_on_it_is(last: TranscriptTurn, right: bool) -> None:
    assert found(case(turn(answer="Oslo")), last).answer is right


def test_every_answer_of_a_conversation_must_be_right() -> None:
    asked = case(turn(answer="Oslo"), turn(), turn(answer="Rome"))
    right = [held(step(text=text)) for text in ("Oslo", "", "Rome")]
    assert found(asked, *right).answer is True
    assert found(asked, held(step(text="Paris")), *right[1:]).answer is False


def test_the_last_state_counts() -> None:
    asked = case(turn(state={"a": 1}), turn(state={"a": 2, "b": 3}), turn())
    states = [CallResult({"a": 9}), CallResult({"a": 2, "b": 4}), None]
    evidence = found(asked, *(held(step(text="Done."), state=state) for state in states))
    assert evidence.state == ({("a",): 2, ("b",): 3}, {("a",): 2, ("b",): 4})


def test_without_a_state_nothing_is_held() -> None:
    for end, state in (("step_limit", None), ("answered", CallResult(error="it has crashed"))):
        evidence = found(case(turn(state={"a": 1})), held(step(text="."), end=end, state=state))
        assert evidence.state == ({("a",): 1}, {})


@pytest.mark.parametrize(
    ("went", "executable"),
    [
        (held(step(ONE, results=OK)), True),
        (held(step(ONE, results=(CallResult(error="no such town"),))), False),
        (held(step(ONE, TWO, results=OK), end="stopped"), False),
        (held(step(ONE)), True),
        (held(step(Call("f", {"n": "1"}))), False),
        (held(step(Call("g", {}))), False),
        (held(step(text="I cannot.")), True),
        (held(step(malformed="half a call")), False),
        (held(step(ONE, results=OK), end="step_limit"), True),
    ],
)
def test_an_answer_is_executable_where_all_of_its_calls_are(went: TranscriptTurn, executable: bool) -> None:
    assert found(case(turn(expect=F)), went).executable is executable


def test_a_verdict_that_a_plugin_made_up_is_survived() -> None:
    asked = case(turn(expect=F, answer="x", state={"a": 1}), turn(expect=F))
    verdict = Verdict(True, (Reason("wrong_value", "nowhere", ""),), pairs=((4, 4),), alternative=9)
    evidence = evidence_of(asked, Transcript((held(step(ONE)), held(step(ONE)))), verdict)
    assert evidence.calls == ([ONE, ONE], [ONE, ONE])


def adds(name: str, *samples: tuple[list[Call], list[Call]]) -> list[tuple[float, ...]]:
    evidence = (ConversationEvidence(sample, None, None, executable=True) for sample in samples)
    return [numbers for each in evidence if (numbers := SCORES[name].numbers(each)) is not None]


CALLS = st.lists(
    st.builds(Call, st.sampled_from("fgh"), st.dictionaries(st.sampled_from("xy"), st.integers(0, 2))), max_size=5
)


@given(st.lists(st.tuples(CALLS, CALLS), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_what_cases_add_comes_to_the_score_of_all_in_any_order(
    samples: list[tuple[list[Call], list[Call]]], shuffled: random.Random
) -> None:
    whole = {
        "api_f1": api_f1(samples).f1,
        "api_f1(sample)": api_f1(samples, "sample").f1,
        "parameter_f1(corpus)": parameter_f1(samples).f1,
        "parameter_f1(sample)": parameter_f1(samples, "sample").f1,
        "lcs_f1": lcs_f1(samples).f1,
    }
    for name, value in whole.items():
        parts = adds(name, *samples)
        shuffled.shuffle(parts)
        assert score_value(name, parts) == pytest.approx(value)


@given(st.lists(st.tuples(CALLS, CALLS), min_size=1, max_size=6))
def test_accuracy_is_what_is_right_of_what_is_to_be(samples: list[tuple[list[Call], list[Call]]]) -> None:
    graded = [grade_functions(made, right) for right, made in samples]
    value = score_value("function_accuracy", adds("function_accuracy", *samples))
    assert (value or 0) == accuracy(graded)
    assert (value is None) == (sum(each.total for each in graded) == 0)


def test_a_grade_adds_how_many_of_how_many() -> None:
    assert adds("parameter_accuracy", ([ONE], [ONE])) == [(1, 1)]
    assert adds("function_accuracy", ([ONE, Call("g", {})], [ONE])) == [(1, 2)]
    assert GradedParts("Partially Correct", 1, 2) == grade_functions([ONE], [ONE, Call("g", {})])


def test_lines_of_calls_are_compared_with_their_arguments() -> None:
    assert adds("lcs", ([ONE, TWO], [ONE, ONE, TWO])) == [(2 / 3, 1)]


def test_what_is_no_score_comes_to_nothing() -> None:
    assert score_value("bleu", [(1, 1)]) is None
    assert score_value("lcs", []) is None
    assert score_value("lcs", [(), (1, 2, 3)]) is None
    assert score_value("lcs", [(), (1, 2, 3), (1, 2)]) == 0.5


def test_each_case_adds_as_many_numbers_as_the_score_has() -> None:
    state: Leaves = {("reward",): 1}
    evidence = ConversationEvidence(([ONE], [ONE]), answer=True, state=(state, state), executable=True)
    for name, kind in SCORES.items():
        numbers = (1, 1) if kind.subject == "judge" else kind.numbers(evidence)
        assert numbers is not None
        assert (len(numbers), score_value(name, [numbers])) == (kind.width, 1)


def test_lines_of_calls_that_could_not_be_made_are_left_out() -> None:
    broken = ConversationEvidence(([ONE], []), None, None, executable=False)
    whole = ConversationEvidence(([ONE, TWO], [ONE]), None, None, executable=True)
    adds = SCORES["lcs(executable)"].numbers
    assert score_value("lcs(executable)", filter(None, map(adds, (broken, whole)))) == 0.5
    assert score_value("lcs(executable)", filter(None, map(adds, (broken,)))) is None


def test_a_reward_is_what_the_state_says_if_that_is_a_number() -> None:
    held: list[Leaves] = [{("reward",): 0.5}, {("reward",): "much"}, {}]
    rewards = [
        SCORES["reward"].numbers(ConversationEvidence(None, None, ({}, state), executable=True)) for state in held
    ]
    assert rewards == [(0.5, 1), (0, 1), (0, 1)]
