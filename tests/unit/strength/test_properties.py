"""What holds of any case: right answers are right, what means the same passes, every edit that is named helps."""

from __future__ import annotations

from functools import partial
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_fcall.core import Case, Expectation, ExpectedCall, Location, MatchRule, Operator, Rules, Tool, Turn
from pytest_fcall.matching.context import MatchContext, MatchContexts
from pytest_fcall.strength.case_strength import CaseStrength, strength_of
from pytest_fcall.strength.examples import ExampleSources
from pytest_fcall.strength.mutants import mutants_of
from pytest_fcall.strength.readings import loosenesses, tighten_case
from pytest_fcall.strength.right_answers import right_answers
from pytest_fcall.strength.scripts import SureRefusals, judge_script

TOOL = Tool(
    "do",
    parameters={
        "type": "object",
        "properties": {
            "n": {"type": "number", "default": 3},
            "s": {"type": "string"},
            "l": {"type": "array", "items": {"type": "string"}},
            "o": {"type": "object", "properties": {"k": {"type": "string"}, "e": {"enum": ["a", "b"]}}},
        },
        "required": ["s"],
    },
)
OTHER = Tool("undo", parameters={"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"]})

words = st.sampled_from(["Oslo", "Rome 2", "2026-11-21", "F-17", "", "true"])
numbers = st.sampled_from([0, 1, -3, 2.5, 10, 1000])


def loosened(plain: st.SearchStrategy[Any], *operators: st.SearchStrategy[Operator]) -> st.SearchStrategy[Any]:
    """A plain value or an operator, also inside `$any` and `$optional`."""
    value = st.one_of(plain, st.just(Operator("ignore", True)), *operators)
    return st.one_of(
        value,
        st.lists(value, min_size=1, max_size=3).map(lambda each: Operator("any", each)),
        value.map(lambda each: Operator("optional", each)),
    )


texts = loosened(
    words,
    words.map(lambda word: Operator("contains", word)),
    words.map(lambda word: Operator("text", word)),
    words.map(lambda word: Operator("literal", word)),
    words.map(lambda word: Operator("not", word)),
    st.sampled_from(["[A-Z][a-z]+", ".*", r"\d{4}-\d{2}-\d{2}"]).map(lambda each: Operator("regex", each)),
    st.just(Operator("type", "string")),
    words.map(lambda word: Operator("all", [Operator("contains", word), Operator("type", "string")])),
)
amounts = loosened(
    numbers,
    *(numbers.map(partial(Operator, name)) for name in ("gt", "ge", "lt", "le", "approx")),
    numbers.map(lambda number: Operator("between", [number, number + 5])),
    st.just(Operator("type", "integer")),
)
plain_lists = st.lists(words, max_size=3)
lists = loosened(
    plain_lists,
    *(plain_lists.map(partial(Operator, name)) for name in ("unordered", "ordered", "subset")),
    texts.map(lambda each: Operator("each", each)),
    words.map(lambda each: Operator("contains", each)),
)
objects = loosened(
    st.fixed_dictionaries({}, optional={"k": texts, "e": st.sampled_from(["a", "b"])}),
    st.fixed_dictionaries({"k": words}).map(lambda each: Operator("subset", each)),
    st.fixed_dictionaries({"k": words}).map(lambda each: Operator("structure", each)),
)
arguments = st.one_of(st.none(), st.fixed_dictionaries({"s": texts}, optional={"n": amounts, "l": lists, "o": objects}))
calls = st.builds(
    ExpectedCall,
    tool=st.just("do"),
    arguments=arguments,
    open=st.booleans(),
    times=st.sampled_from([(1, 1), (1, 2), (0, 1), (2, None)]),
)
plain_expectations = st.builds(
    Expectation,
    stages=st.lists(st.lists(calls, min_size=1, max_size=2).map(tuple), min_size=1, max_size=1).map(tuple),
    order=st.sampled_from(["any", "strict"]),
    extra=st.sampled_from(["forbid", "allow"]),
)
expectations = st.one_of(
    plain_expectations,
    st.sampled_from([Expectation("no_call"), Expectation("any_call"), Expectation(extra="allow")]),
    st.lists(plain_expectations, min_size=1, max_size=2).map(
        lambda each: Expectation("any_of", alternatives=tuple(each))
    ),
)
rules = st.builds(
    Rules,
    match=st.lists(
        st.sampled_from(
            [
                MatchRule("*.s", Operator("ignore", True)),
                MatchRule("do.*", Operator("type", ["string", "number", "array", "object"])),
                MatchRule("*.s", strings="relaxed"),
            ]
        ),
        max_size=1,
    ).map(tuple),
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A case of one turn, with any expectation."""
    prompt = {"role": "user", "content": "Do it in Oslo on 2026-11-21, 10 times."}
    turn = Turn((prompt,), draw(expectations))
    return Case("one", Location("a.yaml"), (turn,), (TOOL, OTHER), draw(rules))


@given(cases())
def test_right_answers_are_right(case: Case) -> None:
    context = MatchContext(case.tools, case.rules)
    right = right_answers(case, context, ExampleSources(("Oslo",), (10,)))
    assume(right.scripts)
    everything = tighten_case(case, right, lambda _: True)
    for script in right.scripts:
        assert judge_script(script, case, context).reasons == ()
        named = judge_script(script, everything, context.with_rules(everything.rules))
        assert named.reasons == ()


@given(cases())
def test_what_means_the_same_passes_and_every_named_edit_helps(case: Case) -> None:
    context = MatchContext(case.tools, case.rules)
    known = ExampleSources(("Oslo",), (10,))
    right = right_answers(case, context, known)
    assume(right.scripts)
    mutants = mutants_of(case, right.scripts, context, known).mutants
    refusals = SureRefusals(case, context)
    named = tighten_case(case, right, lambda _: True)
    named_context = context.with_rules(named.rules)
    for mutant in mutants:
        passes = judge_script(mutant.script, case, context).valid
        if judge_script(mutant.script, named, named_context).valid:
            assert passes, mutant
        if refusals.covers(mutant.script):
            assert not passes, mutant
    found = strength_of(case, {}, MatchContexts())
    assert_edits_help(case, found)


def assert_edits_help(case: Case, found: CaseStrength) -> None:
    """Hold every survivor's causes, closed, against the mutant and the right answers."""
    context = MatchContext(case.tools, case.rules)
    from pytest_fcall.strength.samples import numbers_of_question, words_of_question

    right = right_answers(case, context, ExampleSources(words_of_question(case), numbers_of_question(case)))
    places = {each.place for each in loosenesses(case, right)}
    for survivor in found.survivors:
        closed = {cause.place for cause in survivor.causes}
        assert closed, survivor.mutant
        assert closed <= places
        edited = tighten_case(case, right, closed.__contains__)
        edited_context = context.with_rules(edited.rules)
        assert not judge_script(survivor.mutant.script, edited, edited_context).valid
        assert all(judge_script(script, edited, edited_context).valid for script in right.scripts)
