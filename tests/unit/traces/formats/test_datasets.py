"""Data sets of other tools: what their expectations become, and that what has no form in a case is named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fcall.core import Case, Json
from tests.unit.traces.formats.datasets import imported, imported_json, imported_text, is_right

ANY: Json = {"$ignore": True}
MADE = "write what is still to be expected, then take this line away; "


def parts(text: str) -> dict[str, Json]:
    return {"parts": [{"text": text}]}


def adk_case(*invocations: Json, **more: Json) -> dict[str, Json]:
    return {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": list(invocations), **more}]}


def invocation(*calls: tuple[str, Json], said: str = "Roll.", answer: str = "") -> dict[str, Json]:
    uses: list[Json] = [{"id": "x", "name": name, "args": arguments} for name, arguments in calls]
    return {
        "user_content": {"role": "user", **parts(said)},
        "final_response": parts(answer) if answer else None,
        "intermediate_data": {"tool_uses": uses, "intermediate_responses": []},
    }


ROLL: tuple[str, Json] = ("roll", {"sides": 6})
CHECK: tuple[str, Json] = ("check", {"numbers": [3]})
BOTH: Json = {"calls": [{"roll": {"sides": 6}}, {"check": {"numbers": [3]}}], "order": "strict"}
EVENT: Json = {"author": "agent", "content": {"parts": [{"functionCall": {"name": "roll", "args": {"sides": 6}}}]}}

WRITTEN: dict[str, tuple[Json, Json]] = {
    "ADK: calls in their order": (adk_case(invocation(ROLL, CHECK)), {"expect": BOTH}),
    "ADK: no calls": (adk_case(invocation()), {"expect": "no_call"}),
    "ADK: events, in camelCase": (
        {
            "evalSetId": "s",
            "evalCases": [
                {
                    "evalId": "a",
                    "conversation": [
                        {"userContent": parts("Roll."), "intermediateData": {"invocationEvents": [EVENT]}}
                    ],
                }
            ],
        },
        {"expect": [{"roll": {"sides": 6}}]},
    ),
    "ADK: several turns": (
        adk_case(invocation(ROLL), invocation(said="Thanks.")),
        {"turns": [{"user": "Roll.", "expect": [{"roll": {"sides": 6}}]}, {"user": "Thanks.", "expect": "no_call"}]},
    ),
    "ADK: a session of the older form": (
        [{"name": "a", "data": [{"query": "Roll.", "expected_tool_use": [{"tool_name": "roll", "tool_input": {}}]}]}],
        {"expect": [{"roll": {}}]},
    ),
    "ADK: rows of the oldest form": (
        [
            {"query": "Roll.", "expected_tool_use": [{"tool_name": "roll", "tool_input": {"sides": 6}}]},
            {"query": "Thanks.", "expected_tool_use": [], "reference": ""},
        ],
        {"turns": [{"user": "Roll.", "expect": [{"roll": {"sides": 6}}]}, {"user": "Thanks.", "expect": "no_call"}]},
    ),
    "deepeval: expected tools": (
        [{"input": "Roll.", "expected_tools": [{"name": "roll", "input_parameters": {"sides": 6}}, {"name": "b"}]}],
        {"expect": [{"roll": {"sides": 6}}, {"b": ANY}]},
    ),
    "deepeval: camelCase": (
        {"goldens": [{"input": "Roll.", "expectedTools": [{"name": "roll", "inputParameters": {}}]}]},
        {"expect": [{"roll": {}}]},
    ),
    "deepeval: no expected tools": ([{"input": "Roll.", "expected_tools": []}], {"expect": "no_call"}),
    "deepeval: tools that were called": (
        {"testCases": [{"input": "Roll.", "actualOutput": "3", "toolsCalled": [{"name": "roll"}]}]},
        {"expect": [{"roll": ANY}]},
    ),
    "deepeval: a conversation": (
        [
            {
                "turns": [
                    {"role": "user", "content": "Roll."},
                    {"role": "assistant", "content": "3", "tools_called": [{"name": "roll"}]},
                    {"role": "user", "content": "Thanks."},
                    {"role": "assistant", "content": "Welcome."},
                ]
            }
        ],
        {"turns": [{"user": "Roll.", "expect": [{"roll": ANY}]}, {"user": "Thanks."}]},
    ),
    "Braintrust: calls": (
        [{"input": "Roll.", "expected": [{"function": {"name": "roll", "arguments": '{"sides": 6}'}}], "metadata": {}}],
        {"expect": [{"roll": {"sides": 6}}]},
    ),
    "Braintrust: a text": ([{"input": {"question": "Roll."}, "expected": "six"}], {"answer": "six"}),
    "Braintrust: a question alone": ([{"input": [{"role": "user", "content": "Roll."}], "dataset_id": "d"}], {}),
    "LangSmith: messages": (
        [
            {
                "inputs": {"messages": [{"type": "human", "content": "Roll."}]},
                "outputs": {
                    "messages": [
                        {"role": "assistant", "content": "", "tool_calls": [{"name": "roll", "args": {"sides": 6}}]},
                        {"role": "tool", "content": "3"},
                        {"role": "assistant", "tool_calls": [{"name": "check", "args": {"numbers": [3]}}]},
                    ]
                },
            }
        ],
        {"expect": BOTH},
    ),
    "LangSmith: a text": ([{"inputs": {"question": "Roll."}, "outputs": {"answer": "six"}}], {"answer": "six"}),
    "LangSmith: a call": (
        [{"inputs": {"question": "Roll."}, "reference_outputs": {"name": "roll", "args": {}}, "id": "1"}],
        {"expect": [{"roll": {}}]},
    ),
}


@pytest.mark.parametrize(("data", "written"), WRITTEN.values(), ids=WRITTEN)
def test_what_is_expected_there_is_expected_here(tmp_path: Path, data: Json, written: Json) -> None:
    made = imported_json(tmp_path, data)
    assert made.told == []
    assert made.only == written


YAML: dict[str, tuple[str, Json]] = {
    "EvalView": (
        """
        name: dice
        input: {query: Roll.}
        expected:
          tools: [roll, check]
          output: {contains: [Three], not_contains: [sorry], regex_patterns: ['\\d']}
        thresholds: {min_score: 50}
        """,
        {
            "expect": {
                "calls": [{"roll": ANY, "times": [1, None]}, {"check": ANY, "times": [1, None]}],
                "extra": "allow",
            },
            "answer": {
                "$all": [
                    {"$regex": "(?is).*Three.*"},
                    {"$not": {"$regex": "(?is).*sorry.*"}},
                    {"$regex": "(?is:.*)(?is:\\d)(?is:.*)"},
                ]
            },
        },
    ),
    "EvalView: a sequence": (
        """
        name: dice
        input: {query: Roll.}
        expected: {tools: [roll], tool_sequence: [roll, check], forbidden_tools: [delete_all]}
        thresholds: {min_score: 90, weights: {tool_accuracy: 0.5, output_quality: 0.1, sequence_correctness: 0.4}}
        """,
        {
            "expect": {
                "calls": [{"roll": ANY}, {"check": ANY}],
                "order": "strict",
                "extra": "allow",
                "never": ["delete_all"],
            }
        },
    ),
    "EvalView: turns": (
        """
        name: dice
        turns:
          - {query: Roll., expected: {tools: [roll]}}
          - {query: Thanks., expected: {forbidden_tools: [roll]}}
        expected: {}
        thresholds: {min_score: 0}
        """,
        {
            "turns": [
                {"user": "Roll.", "expect": {"calls": [{"roll": ANY, "times": [1, None]}], "extra": "allow"}},
                {"user": "Thanks.", "expect": {"never": ["roll"]}},
            ]
        },
    ),
    "pydantic-evals": (
        """
        cases:
          - name: dice
            inputs: {question: Roll.}
            expected_output: three
            evaluators:
              - EqualsExpected
              - Contains: {value: THREE, case_sensitive: false}
              - HasMatchingSpan: {query: {name_equals: running tool, has_attributes: {gen_ai.tool.name: roll}}}
        evaluators:
          - Contains: thr
        """,
        {
            "expect": {"calls": [{"roll": ANY, "times": [1, None]}], "extra": "allow"},
            "answer": {"$all": [{"$contains": "thr"}, "three", {"$regex": "(?is).*THREE.*"}]},
        },
    ),
    "pydantic-evals: tools": (
        """
        cases:
          - inputs: Roll.
            evaluators:
              - ToolCorrectness: [roll, check]
              - ArgumentCorrectness: {tool_name: roll, expected_arguments: {sides: 6}}
              - MaxToolCalls: 2
        """,
        {"expect": [{"roll": {"sides": 6}, "args": "open"}, {"check": ANY}]},
    ),
    "pydantic-evals: a trajectory": (
        """
        cases:
          - inputs: Roll.
            evaluators:
              - {name: TrajectoryMatch, arguments: [[roll, roll, check]]}
        """,
        {"expect": {"calls": [{"roll": ANY}, {"roll": ANY}, {"check": ANY}], "order": "strict"}},
    ),
}


@pytest.mark.parametrize(("text", "written"), YAML.values(), ids=YAML)
def test_what_a_file_of_yaml_expects_is_expected_here(tmp_path: Path, text: str, written: Json) -> None:
    made = imported_text(tmp_path, text)
    assert made.told == []
    assert made.only == written
    assert all(isinstance(case, Case) for case in made.cases.values())


NAMED: dict[str, tuple[Json, str]] = {
    "ADK: a final response": (
        adk_case(invocation(ROLL, answer="Three.")),
        "ADK has the final response, which `response_match_score` compares",
    ),
    "ADK: a state": (
        adk_case(invocation(ROLL), session_input={"app_name": "a", "user_id": "u", "state": {"x": 1}}),
        "ADK has the state that its session begins with",
    ),
    "ADK: rubrics": (adk_case(invocation(ROLL), rubrics=[{}]), "ADK has `rubrics`, which a model judges"),
    "deepeval": (
        [{"input": "Roll.", "expected_tools": [{"name": "roll"}], "expected_output": "Three."}],
        "deepeval has `expected_output`, which a metric of your code compares",
    ),
    "Braintrust": (
        [{"input": {"query": "Roll.", "user": 7}, "expected": "six"}],
        "Braintrust has the further input: user",
    ),
    "LangSmith: further text": (
        [
            {
                "inputs": {"q": "Roll."},
                "outputs": [{"role": "ai", "content": "x", "tool_calls": [{"name": "a", "args": {}}]}],
            }
        ],
        "LangSmith has the text of `outputs` beside its calls",
    ),
}


@pytest.mark.parametrize(("data", "reason"), NAMED.values(), ids=NAMED)
def test_what_no_case_can_hold_is_named_and_its_case_is_skipped(tmp_path: Path, data: Json, reason: str) -> None:
    made = imported_json(tmp_path, data)
    (told,) = made.told
    assert told.endswith(f"no case can hold {reason.partition(' has ')[2]}")
    (case,) = made.cases.values()
    assert isinstance(case, Case)
    assert [each.reason for each in case.skip] == [MADE + reason]


def test_what_no_case_can_hold_is_named_with_its_line(tmp_path: Path) -> None:
    made = imported_text(
        tmp_path,
        "name: dice\ninput:\n  query: Roll.\nexpected:\n  tools: [roll]\n  output:\n    no_pii: true\n"
        "thresholds:\n  min_score: 80\n  max_cost: 1\n",
        "dice.yaml",
    )
    assert made.told == [
        "dice.yaml:7: no case can hold `expected.output.no_pii`",
        "dice.yaml:9: no case can hold `thresholds.max_cost`",
        "dice.yaml:9: no case can hold `thresholds.min_score`, which counts how good a model finds the answer",
    ]
    made = imported_text(
        tmp_path,
        "cases:\n  - inputs: Roll.\n    evaluators:\n      - Contains: a\n      - LLMJudge:\n          rubric: polite\n"
        "      - HasMatchingSpan:\n          query: {min_duration: 1}\n",
        "set.yaml",
    )
    assert made.told == [
        "set.yaml:5: no case can hold `LLMJudge`",
        "set.yaml:7: no case can hold `HasMatchingSpan`: a span that is not the call of a tool",
    ]


LEFT_OUT: dict[str, tuple[Json, str]] = {
    "ADK: a simulation": (
        {"eval_cases": [{"eval_id": "a", "conversation_scenario": {"starting_prompt": "Hi"}}]},
        "what the user says is made by a simulation, and not written in the file",
    ),
    "ADK: a picture": (
        adk_case({"user_content": {"parts": [{"inline_data": {"data": "AA=="}}]}}),
        "the user sends more than text",
    ),
    "deepeval: a scenario": (
        [{"scenario": "A customer is angry.", "expected_outcome": "He is calm."}],
        "a conversational golden without turns describes a user, whose words are not in the file",
    ),
    "LangSmith: several fields": (
        [{"inputs": {"question": "Roll.", "text": "Dice."}, "outputs": {"a": 1}}],
        "the input has question, text, and what of it the user says is not known",
    ),
    "Braintrust: arguments": (
        [{"input": "Roll.", "expected": {"name": "roll", "arguments": "six"}}],
        "the arguments of an expected call are no object",
    ),
}


@pytest.mark.parametrize(("data", "reason"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_cannot_be_asked_is_left_out_with_the_reason(tmp_path: Path, data: Json, reason: str) -> None:
    made = imported_json(tmp_path, data)
    assert (made.cases, [told.partition(": ")[2].removeprefix("a: ") for told in made.told]) == ({}, [reason])


def test_the_criteria_beside_an_evaluation_set_say_how_adk_compares(tmp_path: Path) -> None:
    criterion: Json = {"threshold": 1.0, "match_type": "ANY_ORDER", "ignore_args": True}
    criteria: dict[str, Json] = {"tool_trajectory_avg_score": criterion, "safety_v1": 0.8}
    (tmp_path / "test_config.json").write_text(json.dumps({"criteria": criteria}), encoding="utf-8")
    made = imported_json(tmp_path, adk_case(invocation(ROLL, CHECK, answer="Three.")), "a.evalset.json")
    assert made.only == {"expect": {"calls": [{"roll": ANY}, {"check": ANY}], "extra": "allow"}}
    assert made.told == ["a.evalset.json:1: a: no case can hold the criterion `safety_v1`"]
    (tmp_path / "test_config.json").write_text("{", encoding="utf-8")
    (told,) = imported_json(tmp_path, adk_case(invocation(ROLL)), "b.evalset.json").told
    assert "test_config.json beside it, which says how it is compared, cannot be read" in told


def gold(folder: Path, calls: Json, **traces: Json) -> Path:
    folder.mkdir()
    for name, trace in {"gold_calls": calls, **traces}.items():
        (folder / f"{name}.json").write_text(json.dumps(trace), encoding="utf-8")
    return folder / "gold_calls.json"


def test_a_gold_file_gets_its_question_from_the_trace_beside_it(tmp_path: Path) -> None:
    trace: Json = {"messages": [{"role": "user", "content": "Roll."}, {"role": "assistant", "content": "Three."}]}
    calls: list[Json] = [{"tool": "roll", "args": {"sides": 6}}, {"tool": "check", "description": "Checks."}]
    made = imported(gold(tmp_path / "one", calls, trace=trace, other={"calls": [{"tool": "roll"}]}))
    assert made.only == {"expect": {"calls": [{"roll": {"sides": 6}}, {"check": ANY}], "order": "strict"}}
    assert [case["prompt"] for case in made.written["cases"]] == ["Roll."]
    reason = "a gold file does not hold what was asked, and"
    more = "put the one trace whose messages hold it into the same folder"
    alone = imported(gold(tmp_path / "alone", {"calls": calls}))
    assert alone.told == [f"gold_calls.json:1: {reason} no trace beside it does: {more}"]
    two = imported(gold(tmp_path / "two", calls, trace=trace, trace2=trace))
    assert two.told == [f"gold_calls.json: {reason} there are 2 beside it: {more}"]


def test_forbidden_tools_are_found_in_every_spelling_that_evalview_takes_for_them(tmp_path: Path) -> None:
    data: dict[str, Json] = {
        "name": "a",
        "input": {"query": "Hi"},
        "expected": {"forbidden_tools": ["edit_file"]},
        "tools": [{"name": name, "input_schema": {"type": "object"}} for name in ("EditFile", "read")],
        "thresholds": {"min_score": 0},
    }
    made = imported_json(tmp_path, data)
    (case,) = made.cases.values()
    assert isinstance(case, Case), case
    assert not is_right(case, [("EditFile", {})])
    assert is_right(case, [("read", {})])


def test_the_same_question_with_another_expectation_is_another_case(tmp_path: Path) -> None:
    rows: list[Json] = [{"input": "Roll.", "expected": "six"}, {"input": "Roll.", "expected": "five"}]
    made = imported_json(tmp_path, rows)
    assert [case["answer"] for case in made.written["cases"]] == ["six", "five"]


HOSTILE: list[Mapping[str, Json]] = [
    {"eval_cases": [None, 1, {"conversation": [1, {"user_content": {"parts": [None]}}]}]},
    {"eval_cases": [{"conversation": [{"user_content": parts("a"), "intermediate_data": {"tool_uses": [{}]}}]}]},
    {"name": "a", "input": {"query": "x"}, "expected": {"tools": {"a": 1}, "output": 3}, "thresholds": 5},
    {"name": "a", "turns": [1, {"query": 3}], "expected": None},
    {"cases": [{"inputs": 3}, {"inputs": "x", "evaluators": [1, {}, {"a": 1, "b": 2}, {"ToolCorrectness": 3}]}]},
    {"input": "x", "expected_tools": [1]},
    {"input": "x", "expected_tools": 3},
    {"inputs": 3, "outputs": 3},
    {"inputs": {"question": "x"}, "outputs": {"messages": [3]}},
    {"input": {"messages": [{}]}, "expected": [{"name": "x", "arguments": 3}]},
    {"calls": [{"tool": "a", "args": 3}]},
    {"data": [{"query": "x", "expected_tool_use": [{"tool_name": 3}]}]},
]


@pytest.mark.parametrize("data", HOSTILE, ids=range(len(HOSTILE)))
def test_no_data_set_breaks_the_reader(tmp_path: Path, data: Mapping[str, Json]) -> None:
    made = imported_json(tmp_path, dict(data))
    assert made.told
