from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_fcall.decoding.research.nestful import decode
from pytest_fcall.suites.nestful.rule import DECODERS, macro_f1, resolve_labels, score_answer
from tests.by_night import by_night
from tests.unit.suites.nestful.data import RIGHT

TEXT = json.dumps(RIGHT)
HERMES = "".join(f"<tool_call>{json.dumps(call)}</tool_call>" for call in RIGHT)


@pytest.mark.parametrize(
    ("decoder", "text"),
    [
        ("json", TEXT),
        ("granite", f"<|tool_call|>{TEXT}"),
        ("llama", f"{TEXT[1:-1]}'"),
        ("mistral", TEXT.replace("_", "\\_")),
        ("hermes", HERMES),
        ("hermes", HERMES.replace("<tool_call>", "tool_call\n", 1).replace("}<tool_call>", "} <tool_call>")),
        ("xlam", f'[BEGIN OF FUNCTION CALLS]{{"tool_calls": {TEXT}}}'),
        ("hammer", f"```{TEXT}```"),
    ],
)
def test_each_family_writes_calls_in_its_own_way(decoder: str, text: str) -> None:
    score = score_answer(RIGHT, text, decoder)
    assert (score.partial, score.full, score.readable) == (1.0, True, True)
    assert not score_answer(RIGHT, "I cannot.", decoder).readable


def changed(place: int, **more: Any) -> list[Any]:
    return [{**call, **more} if number == place else call for number, call in enumerate(RIGHT)]


@pytest.mark.parametrize(
    ("calls", "partial"),
    [
        (changed(1, arguments={"arg_0": "$var_1.result", "arg_1": 4}), 1.0),  # the last $ may be missing
        (changed(1, arguments={"arg_0": "$var_2.result$", "arg_1": 4}), 0.5),
        (changed(0, arguments={"arg_0": 2, "arg_1": 3.0}), 0.5),
        (changed(0, name="multiply"), 0.0),  # the reference is to the function, not to the call
        ([RIGHT[1]], 0.0),
        ([RIGHT[0]], 0.5),
        ([*RIGHT, RIGHT[0]], 2 / 3),
        ([RIGHT[1], RIGHT[0]], 0.0),
        ([*RIGHT, {"name": "var_result", "arguments": {"all": "$var_2$"}}], 1.0),
        ([{"name": "add"}, RIGHT[1]], 0.0),
        ([], 0.0),
    ],
)
def test_calls_are_compared_in_their_places(calls: Any, partial: float) -> None:
    assert score_answer(RIGHT, json.dumps(calls), "json").partial == partial


@pytest.mark.parametrize(
    "text",
    [
        *("{", "5", "null", '"text"', '{"name": "add"}', "[5]", '[{"nam": 1}]'),
        *("[" * 5_000, "[" * 900 + "]" * 900, "<tool_call>" * 100_000),
    ],
    ids=lambda text: text[:20],
)
def test_what_is_no_list_of_calls_is_a_parsing_error_and_no_crash(text: str) -> None:
    for decoder in DECODERS:
        score = score_answer(RIGHT, text, decoder)
        assert (score.partial, score.readable) == (0.0, False)


@pytest.mark.parametrize("count", [5_000, by_night(20_000)])
def test_many_references_take_no_more_time_than_their_number(count: int) -> None:
    calls = [{"name": "f", "label": f"$var_{n}", "arguments": {"a": f"$var_{n - 1}.result$"}} for n in range(count)]
    assert score_answer(calls, json.dumps(calls), "json").full


def test_a_name_that_looks_like_a_label_is_replaced_by_that_of_a_later_call_alone() -> None:
    first, second = ({"name": f"var_{n + 1}", "label": f"$var_{n}", "arguments": {}} for n in (1, 2))
    for number, name in ((1, "$var_3.x$"), (2, "$var_3.x$")):
        last = {"name": "f", "arguments": {"a": f"$var_{number}.x$"}}
        assert resolve_labels([first, second, last])[2]["arguments"] == {"a": name}
    assert resolve_labels([second, first, {"name": "f", "arguments": {"a": "$var_1.x$"}}])[2]["arguments"] == {
        "a": "$var_2.x$"
    }


def test_labels_are_compared_as_sets_for_the_figures_over_all() -> None:
    wrong = changed(0, arguments={"arg_0": 2, "arg_1": 9})
    score = score_answer(RIGHT, json.dumps([*wrong, {"name": "pay", "arguments": {}}]), "json")
    assert [set(labels) for labels in score.functions] == [{"add", "multiply"}, {"add", "multiply", "pay"}]
    assert [[set(labels) for labels in each] for each in score.slots] == [
        [{"arg_0 = 2", "arg_1 = 3"}, {"arg_0 = 2", "arg_1 = 9"}],
        [{"arg_0 = $add.result$", "arg_1 = 4"}, {"arg_0 = $add.result$", "arg_1 = 4"}],
        [set(), set()],
    ]


def test_the_mean_f1_is_of_labels_that_are_right_somewhere() -> None:
    assert macro_f1([(1, 0, 0), (0, 0, 2), (0, 7, 0)], 3) == 0.5
    assert macro_f1([(0, 7, 0)], 7) is None
    # One label alone counts beside its absence.
    assert macro_f1([(1, 1, 0)], 3) == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert macro_f1([(2, 0, 0)], 2) == 1.0


def test_numbers_of_calls_tell_two_calls_of_one_function_apart() -> None:
    first, second = ({"name": "add", "label": f"$var_{n}", "arguments": {"arg_0": n}} for n in (1, 2))
    third = {"name": "add", "arguments": {"arg_0": ["$var_2.result$"], "arg_1": "$var_1.result$"}}
    read = decode(f"```json\n{json.dumps([first, second, third])}\n```")
    assert read.calls[2].arguments == {"arg_0": ["$2.result$"], "arg_1": "$1.result$"}
    assert decode(json.dumps([{"name": "add", "arguments": {}, "id": 1}])).malformed is not None
    assert decode(json.dumps([{"arguments": {}}])).malformed is not None
    assert decode("I cannot.") == decode("")
