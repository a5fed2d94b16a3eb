"""Whatever passes a case that was made of a data set passes by the rule of its own system, too.

What each system's documentation and code say of its rule is written down here once more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_fcall.core import FaultyCase, Json
from tests.unit.traces.formats.datasets import Calls, imported_json, is_right

Rule = Callable[[Calls, str], bool]


class Example(NamedTuple):
    """A data set of one case, and whether an answer passes it there."""

    data: Json
    rule: Rule
    likely: Calls = ()
    """Calls that are right there, or nearly so."""


NAMES = st.sampled_from(["search", "get_time"])
ARGUMENTS = st.sampled_from([{}, {"q": "x"}, {"q": "x", "n": 1}])
CALLS = st.lists(st.tuples(NAMES, ARGUMENTS), max_size=3)
TEXTS = ("", "It rains in Oslo.", "oslo", "Error!")
ANSWERS = st.tuples(CALLS, st.sampled_from(TEXTS))


def names_of(calls: Calls) -> list[str]:
    return [name for name, _ in calls]


def is_subsequence(wanted: Sequence[Any], given: Sequence[Any]) -> bool:
    rest = iter(given)
    return all(any(each == other for other in rest) for each in wanted)


def near(likely: Calls) -> list[Calls]:
    """The calls, and others that differ from them in one way each."""
    calls = list(likely)
    more: list[Calls] = [[(name, arguments)] for name in ("search", "get_time") for arguments in ({}, {"q": "x"})]
    without = [calls[:number] + calls[number + 1 :] for number in range(len(calls))]
    changed = [
        [*calls[:number], (name, {**arguments, "q": "z"}), *calls[number + 1 :]]
        for number, (name, arguments) in enumerate(calls)
    ]
    added = [[*each, *calls] for each in more] + [[*calls, *each] for each in more]
    return [calls, calls[::-1], *without, *changed, *added]


# Google's ADK


def adk_rule(expected: Calls, kind: str, *, ignores: bool) -> Rule:
    def holds(calls: Calls, _: str) -> bool:
        wanted: list[Any] = names_of(expected) if ignores else list(expected)
        made: list[Any] = names_of(calls) if ignores else list(calls)
        if kind == "EXACT":
            return wanted == made
        if kind == "IN_ORDER":
            return is_subsequence(wanted, made)
        return all(wanted.count(each) <= made.count(each) for each in wanted)

    return holds


def adk_example(expected: Calls, kind: str, ignores: bool) -> Example:
    uses: list[Json] = [{"name": name, "args": arguments} for name, arguments in expected]
    said: Json = {"parts": [{"text": "Weather?"}]}
    invocation: Json = {"user_content": said, "intermediate_data": {"tool_uses": uses}}
    criterion: Json = {"threshold": 1, "match_type": kind, "ignore_args": ignores}
    data: Json = {
        "eval_cases": [{"eval_id": "a", "conversation": [invocation]}],
        "fcall:criteria": {"tool_trajectory_avg_score": criterion},
    }
    return Example(data, adk_rule(expected, kind, ignores=ignores), expected)


# deepeval, whose default compares names; arguments where the metric is told to


def deepeval_example(expected: Calls) -> Example:
    def holds(calls: Calls, _: str) -> bool:
        if not expected:
            return not calls
        return not Counter(map(str, expected)) - Counter(map(str, calls))

    tools: list[Json] = [{"name": name, "input_parameters": arguments} for name, arguments in expected]
    return Example({"input": "Weather?", "expected_tools": tools}, holds, expected)


# EvalView


def evalview_example(
    tools: Sequence[str], sequence: Sequence[str], forbidden: Sequence[str], output: Mapping[str, Any], mode: str
) -> Example:
    def in_sequence(made: list[str]) -> bool:
        if mode == "exact":
            return made == list(sequence)
        if mode == "unordered":
            return not Counter(sequence) - Counter(made)
        return is_subsequence(sequence, made)

    def holds(calls: Calls, answer: str) -> bool:
        made, said = names_of(calls), answer.lower()
        return (
            {*tools} <= {*made}
            and (not sequence or in_sequence(made))
            and not {*forbidden} & {*made}
            and all(part.lower() in said for part in output.get("contains", []))
            and not any(part.lower() in said for part in output.get("not_contains", []))
        )

    data: Json = {
        "name": "a",
        "input": {"query": "Weather?"},
        "expected": {"tools": tools, "sequence": sequence, "forbidden_tools": forbidden, "output": output},
        "adapter_config": {"sequence_mode": mode},
        "thresholds": {"min_score": 50},
    }
    made = [*sequence, *(tool for tool in tools if tool not in sequence)]
    return Example(data, holds, [(name, {}) for name in made])


# pydantic-evals


def pydantic_rule(evaluator: Mapping[str, Any], calls: Calls, answer: str) -> bool:
    ((name, given),) = evaluator.items()
    made = names_of(calls)
    match name:
        case "ToolCorrectness":
            missing = Counter(given["expected_tools"]) - Counter(made)
            return not missing and (given["allow_extra"] or len(made) == len(given["expected_tools"]))
        case "TrajectoryMatch":
            wanted = given["expected_trajectory"]
            return bool(Counter(wanted) == Counter(made) if given["order"] == "any_order" else wanted == made)
        case "ArgumentCorrectness":
            of_tool = [arguments for tool, arguments in calls if tool == given["tool_name"]]
            wanted = given["expected_arguments"]
            if not of_tool:
                return False
            return bool(
                of_tool[0] == wanted if given["match_mode"] == "exact" else wanted.items() <= of_tool[0].items()
            )
        case "MaxToolCalls":
            return bool(len(made) <= given["max_calls"])
        case "HasMatchingSpan":
            return given["query"]["has_attributes"]["gen_ai.tool.name"] in made
        case "Contains":
            value = given["value"]
            return value in answer if given["case_sensitive"] else value.lower() in answer.lower()
        case "Equals":
            return bool(answer == given["value"])
    raise AssertionError(name)


def pydantic_example(evaluators: Sequence[Mapping[str, Any]]) -> Example:
    data: Json = {"cases": [{"name": "a", "inputs": "Weather?", "evaluators": list(evaluators)}]}
    return Example(
        data, lambda calls, answer: all(pydantic_rule(each, calls, answer) for each in evaluators), likely(evaluators)
    )


def likely(evaluators: Sequence[Mapping[str, Any]]) -> Calls:
    """Calls that some of the evaluators want."""
    arguments: dict[str, Mapping[str, Any]] = {}
    names: list[str] = []
    for evaluator in evaluators:
        ((kind, given),) = evaluator.items()
        if kind in ("ToolCorrectness", "TrajectoryMatch"):
            names = names or list(given.get("expected_tools") or given["expected_trajectory"])
        elif kind == "ArgumentCorrectness":
            arguments[given["tool_name"]] = given["expected_arguments"]
    names = names or list(arguments)
    return [(name, arguments.get(name, {})) for name in names]


SOME = st.lists(NAMES, min_size=1, max_size=3)
EVALUATORS = st.one_of(
    st.builds(
        lambda tools, more: {"ToolCorrectness": {"expected_tools": tools, "allow_extra": more}}, SOME, st.booleans()
    ),
    st.builds(
        lambda tools, order: {"TrajectoryMatch": {"expected_trajectory": tools, "order": order}},
        SOME,
        st.sampled_from(["exact", "in_order", "any_order"]),
    ),
    st.builds(
        lambda tool, args, mode: {
            "ArgumentCorrectness": {"tool_name": tool, "expected_arguments": args, "match_mode": mode}
        },
        NAMES,
        ARGUMENTS,
        st.sampled_from(["subset", "exact"]),
    ),
    st.builds(lambda most: {"MaxToolCalls": {"max_calls": most}}, st.integers(0, 3)),
    st.builds(lambda tool: {"HasMatchingSpan": {"query": {"has_attributes": {"gen_ai.tool.name": tool}}}}, NAMES),
    st.builds(
        lambda value, exact: {"Contains": {"value": value, "case_sensitive": exact}},
        st.sampled_from(["Oslo", "rain"]),
        st.booleans(),
    ),
    st.builds(lambda value: {"Equals": {"value": value}}, st.sampled_from(["oslo", "Error!"])),
)


# Braintrust and LangSmith, whose strictest scorer compares calls as they are


def row_example(expected: Calls, *, input_name: str, output_name: str) -> Example:
    listed: list[Json] = [{"name": name, "arguments": arguments} for name, arguments in expected]
    data: Json = {input_name: {"question": "Weather?"}, output_name: {"tool_calls": listed}}
    return Example(data, lambda calls, _: list(calls) == list(expected), expected)


EXAMPLES: Mapping[str, st.SearchStrategy[Example]] = {
    "ADK": st.builds(adk_example, CALLS, st.sampled_from(["EXACT", "IN_ORDER", "ANY_ORDER"]), st.booleans()),
    "deepeval": st.builds(deepeval_example, CALLS),
    "EvalView": st.builds(
        evalview_example,
        st.lists(NAMES, max_size=2),
        st.lists(NAMES, max_size=3),
        st.lists(NAMES, max_size=1),
        st.sampled_from([{}, {"contains": ["oslo"]}, {"contains": ["Rain"], "not_contains": ["error"]}]),
        st.sampled_from(["subsequence", "exact", "unordered"]),
    ),
    "pydantic-evals": st.builds(pydantic_example, st.lists(EVALUATORS, min_size=1, max_size=3)),
    "Braintrust": st.builds(
        lambda calls: row_example(calls, input_name="input", output_name="expected"),
        st.lists(st.tuples(NAMES, ARGUMENTS), min_size=1, max_size=3),
    ),
    "LangSmith": st.builds(
        lambda calls: row_example(calls, input_name="inputs", output_name="outputs"),
        st.lists(st.tuples(NAMES, ARGUMENTS), min_size=1, max_size=3),
    ),
}


@pytest.mark.parametrize("system", EXAMPLES)
def test_nothing_passes_that_the_system_would_fail(system: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    passed = Counter[bool]()

    @settings(suppress_health_check=[HealthCheck.too_slow])
    @given(EXAMPLES[system], st.lists(ANSWERS, max_size=5))
    def check(example: Example, answers: Sequence[tuple[Calls, str]]) -> None:
        made = imported_json(tmp_path_factory.mktemp("set", numbered=True), example.data)
        for case in made.cases.values():
            if isinstance(case, FaultyCase):  # nothing of what was expected has a form, so it cannot pass
                assert [fault.code for fault in case.faults] == ["missing-key"]
                continue
            if case.skip:
                continue
            around = [(calls, answer) for calls in near(example.likely) for answer in TEXTS]
            for calls, answer in [*answers, *around]:
                right = is_right(case, calls, answer)
                passed[right] += 1
                if right:
                    assert example.rule(calls, answer), (made.written, calls, answer)

    check()
    assert passed[True]
    assert passed[False]
