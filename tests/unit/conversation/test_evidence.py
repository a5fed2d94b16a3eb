from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.conversation.evidence import settled_calls, settled_state
from pytest_fcall.conversation.score_formulas import parameter_overlap, state_f1
from pytest_fcall.core import (
    Call,
    CallPattern,
    CallResult,
    Calls,
    Expectation,
    ExpectedCall,
    Json,
    Reply,
    Tool,
    Verdict,
)
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge
from pytest_fcall.matching.results import judge_state

PARAMETERS: dict[str, Json] = {
    "type": "object",
    "properties": {
        "x": {},
        "y": {},
        "unit": {"type": "string", "default": "C"},
        "an odd.name": {},
    },
}
TOOLS = [Tool(name, parameters=PARAMETERS) for name in "fgh"]


def f(**arguments: Json) -> Call:
    return Call("f", arguments)


def expected(tool: str = "f", /, **arguments: Pattern) -> ExpectedCall:
    return ExpectedCall(tool, arguments)


def calls(*each: ExpectedCall) -> Expectation:
    return Expectation(stages=(each,))


def settled(expectation: Expectation, *made: Call) -> tuple[list[Call], list[Call]] | None:
    verdict = judge(Reply(), Calls(made), expectation, MatchContext(TOOLS))
    return settled_calls(expectation, made, verdict)


REGEX = Operator("regex", "a.*")
MAY_BE = Operator("optional", REGEX)
FREE = Operator("ignore", True)


def test_an_operator_that_is_met_stands_for_what_was_given() -> None:
    assert settled(calls(expected(x=REGEX, y=1)), f(x="abc", y=2)) == ([f(x="abc", y=1)], [f(x="abc", y=2)])


@pytest.mark.parametrize("pattern", [REGEX, {"inside": REGEX}, [REGEX, 1], Operator("not", REGEX)])
@pytest.mark.parametrize("made", [[f(x=1)], [f(x=None)], [f(x="NaN")], [f()], [Call("g", {"x": 1})], []])
def test_an_operator_that_is_not_met_equals_nothing(pattern: Pattern, made: list[Call]) -> None:
    if isinstance(pattern, Operator) and pattern.name == "not" and made and "x" in made[0].arguments:
        pattern = Operator("not", made[0].arguments["x"])
    both = settled(calls(expected(x=pattern)), *made)
    assert both
    assert (parameter_overlap(both).common, parameter_overlap(both).right) == (0, 1)


def test_a_literal_that_is_not_met_is_the_value_itself() -> None:
    both = settled(calls(expected(x=Operator("literal", {"$regex": "a"}))), f(x=1))
    assert both == ([f(x={"$regex": "a"})], [f(x=1)])


@pytest.mark.parametrize(
    ("pattern", "made", "right"),
    [
        (MAY_BE, f(x="abc"), f(x="abc")),
        (MAY_BE, f(), f()),
        (FREE, f(), f()),
    ],
)
def test_what_may_be_left_out_counts_where_it_is_given(pattern: Pattern, made: Call, right: Call) -> None:
    assert settled(calls(expected(x=pattern)), made) == ([right], [made])


def test_what_is_free_counts_on_neither_side() -> None:
    assert settled(calls(expected(x=FREE, y=1)), f(x="anything", y=1, unit="C")) == ([f(y=1)], [f(y=1)])
    assert settled(calls(ExpectedCall("f", None)), f(x=1, y=2)) == ([f()], [f()])
    assert settled(calls(ExpectedCall("f", {"x": 1}, open=True)), f(x=1, y=2)) == ([f(x=1)], [f(x=1)])


def test_an_argument_too_many_counts_as_made() -> None:
    assert settled(calls(expected(x=1)), f(x=1, y=2)) == ([f(x=1)], [f(x=1, y=2)])


def test_a_default_may_be_left_out() -> None:
    assert settled(calls(expected(x=1, unit="C")), f(x=1)) == ([f(x=1)], [f(x=1)])
    assert settled(calls(expected(x=1, unit="F")), f(x=1)) == ([f(x=1, unit="F")], [f(x=1)])


def test_arguments_with_odd_names_are_told_apart() -> None:
    odd = "an odd.name"
    made = Call("f", {odd: 1, "x": "abc"})
    both = settled(calls(ExpectedCall("f", {odd: REGEX, "x": REGEX})), made)
    assert both
    assert both[0][0].arguments["x"] == "abc"
    assert both[0][0].arguments[odd] != both[0][0].arguments[odd]  # as nothing equals itself but what was not met


def test_calls_are_paired_as_the_verdict_pairs_them() -> None:
    both = settled(calls(expected(x=REGEX), expected(x=Operator("regex", "b.*"))), f(x="bcd"), f(x="abc"))
    assert both == ([f(x="abc"), f(x="bcd")], [f(x="bcd"), f(x="abc")])


def test_a_call_that_may_be_made_several_times_is_right_as_often_as_it_was_made() -> None:
    several = ExpectedCall("f", {"x": REGEX}, times=(2, 3))
    both = settled(calls(several), f(x="a"), f(x="ab"), f(x="abc"))
    assert both == ([f(x="a"), f(x="ab"), f(x="abc")], [f(x="a"), f(x="ab"), f(x="abc")])
    both = settled(calls(several), f(x="a"))
    assert both
    assert len(both[0]) == 2
    assert settled(calls(ExpectedCall("f", {}, times=(0, None)))) == ([], [])


def test_of_alternatives_the_one_counts_that_fits_best() -> None:
    paths = Expectation("any_of", alternatives=(calls(expected(x=1)), calls(expected(x=2)), calls(expected("g", y=1))))
    assert settled(paths, f(x=2)) == ([f(x=2)], [f(x=2)])
    assert settled(paths, Call("g", {"y": 3})) == ([Call("g", {"y": 1})], [Call("g", {"y": 3})])


def test_to_call_nothing_is_a_path_too() -> None:
    assert settled(Expectation("no_call")) == ([], [])
    assert settled(Expectation("no_call"), f()) == ([], [f()])


def test_where_any_call_will_do_none_is_right() -> None:
    assert settled(Expectation("any_call"), f()) is None


def test_a_call_that_is_allowed_counts_as_made() -> None:
    expectation = Expectation(stages=((expected(x=1),),), allow=(CallPattern("g"),))
    assert settled(expectation, f(x=1), Call("g", {})) == ([f(x=1)], [f(x=1), Call("g", {})])


def test_pairs_that_a_plugin_made_up_are_left_aside() -> None:
    verdict = Verdict(False, pairs=((0, 7), (7, 0)), alternative=3)
    assert settled_calls(calls(expected(x=1)), [f(x=2)], verdict) == ([f(x=1)], [f(x=2)])


VALUES = st.one_of(st.integers(0, 2), st.sampled_from(["a", "b"]), st.lists(st.integers(0, 1), max_size=2))
CALLS = st.lists(
    st.builds(Call, st.sampled_from("fgh"), st.dictionaries(st.sampled_from("xy"), VALUES)), min_size=1, max_size=4
)


@given(CALLS)
def test_what_a_verdict_takes_as_right_has_all_parameters_right(made: list[Call]) -> None:
    expectation = calls(
        *(ExpectedCall(call.name, dict.fromkeys(call.arguments, Operator("any", ["?"]))) for call in made)
    )
    stages = tuple(ExpectedCall(c.name, {k: Operator("any", ["?", v]) for k, v in c.arguments.items()}) for c in made)
    right = settled(Expectation(stages=(stages[::-1],)), *made)
    assert right
    assert parameter_overlap(right).score.f1 == 1
    wrong = settled(expectation, *made)
    assert wrong
    assert parameter_overlap(wrong).common == 0


STATE: dict[str, Json] = {"city": "Oslo", "limits": {"low": 1, "high": 9}, "types": ["a", "b"]}


@pytest.mark.parametrize(
    ("expected", "state", "same", "held", "right"),
    [
        (STATE, STATE, 4, 4, 4),
        (STATE, {**STATE, "limits": {"low": 1, "high": 8, "middle": 5}}, 3, 5, 4),
        (STATE, {**STATE, "limits": None}, 2, 3, 4),
        (STATE, {**STATE, "limits": {}}, 2, 2, 4),
        (STATE, {"city": "Oslo"}, 1, 1, 4),
        ({"city": Operator("regex", "O.*"), "limits": {"low": Operator("gt", 5)}}, STATE, 1, 4, 2),
        ({"limits": Operator("subset", {"low": 1})}, {"limits": {"low": 1, "high": 9}}, 2, 2, 2),
        ({"gone": Operator("optional", 1)}, {}, 0, 0, 0),
        (STATE, None, 0, 0, 4),
        (STATE, [], 0, 0, 4),
    ],
)
def test_states_are_taken_apart_into_values(
    expected: Mapping[str, Pattern], state: Json, same: int, held: int, right: int
) -> None:
    verdict = Verdict(False, judge_state(expected, CallResult(state), MatchContext(())))
    wanted, there = settled_state(expected, state, verdict)
    assert (len(there), len(wanted)) == (held, right)
    score = state_f1(there, wanted)
    assert score.recall == (same / right if right else 1)
