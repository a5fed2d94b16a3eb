"""What the official checker says of a call, of several, and of none."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fcall.matching.bfcl.checker import check_answer, check_undecodable
from pytest_fcall.matching.bfcl.official_case import OfficialCase, Ruling
from tests.unit.matching.bfcl.exams import function

CALL = "simple_function_checker"
PARALLEL = "parallel_function_checker_no_order"
FORMAT = "ast_decoder:decoder_wrong_output_format"
BOOK = function("shop.book", ["city"], city="string", days="integer")
TRUTH = {"shop.book": {"city": ["Oslo"], "days": [1, ""]}}

ONE: dict[str, tuple[Any, str | None]] = {
    "the call that is expected": ({"shop.book": {"city": "Oslo", "days": 1}}, None),
    "what may be left out is left out": ({"shop.book": {"city": "Oslo"}}, None),
    "another name": ({"book": {"city": "Oslo"}}, f"{CALL}:wrong_func_name"),
    "another case": ({"Shop.book": {"city": "Oslo"}}, f"{CALL}:wrong_func_name"),
    "an underscore for the dot": ({"shop_book": {"city": "Oslo"}}, f"{CALL}:wrong_func_name"),
    "a required argument is missing": ({"shop.book": {"days": 1}}, f"{CALL}:missing_required"),
    "an invented argument": ({"shop.book": {"city": "Oslo", "mood": 1}}, f"{CALL}:unexpected_param"),
    "an argument without a name": ({"shop.book": {"city": "Oslo", None: 1}}, f"{CALL}:unexpected_param"),
    "the first error is told": ({"shop.book": {"city": 5, "mood": 1}}, "type_error:simple"),
}


@pytest.mark.parametrize(("call", "error"), [pytest.param(*row, id=name) for name, row in ONE.items()])
def test_one_call(call: Any, error: str | None) -> None:
    for category in ("simple_python", "live_simple", "multiple"):
        assert check_answer(OfficialCase(category, [BOOK], [TRUTH]), [call]).error_type == error


def test_an_argument_that_the_truth_passes_over_is_unexpected() -> None:
    exam = OfficialCase("simple", [BOOK], [{"shop.book": {"city": ["Oslo"]}}])
    assert check_answer(exam, [{"shop.book": {"city": "Oslo", "days": 1}}]).error_type == f"{CALL}:unexpected_param"


def test_an_argument_that_the_function_does_not_know_is_unexpected() -> None:
    exam = OfficialCase("simple", [BOOK], [{"shop.book": {"city": ["Oslo"], "mood": ["good", ""]}}])
    assert (
        check_answer(exam, [{"shop.book": {"city": "Oslo", "mood": "good"}}]).error_type == f"{CALL}:unexpected_param"
    )


def test_an_argument_whose_name_is_no_text_is_not_pointed_at() -> None:
    ruling = check_answer(OfficialCase("simple", [BOOK], [TRUTH]), [{"shop.book": {"city": "Oslo", 5: 1}}])
    assert (ruling.error_type, ruling.argument) == (f"{CALL}:unexpected_param", None)


def test_an_optional_argument_may_be_left_out_only_where_the_truth_says_so() -> None:
    exam = OfficialCase("simple", [BOOK], [{"shop.book": {"city": ["Oslo"], "days": [1]}}])
    assert check_answer(exam, [{"shop.book": {"city": "Oslo"}}]).error_type == f"{CALL}:missing_optional"


def test_a_required_argument_may_never_be_left_out() -> None:
    exam = OfficialCase("simple", [BOOK], [{"shop.book": {"city": ["Oslo", ""]}}])
    assert check_answer(exam, [{"shop.book": {}}]).error_type == f"{CALL}:missing_required"


def test_models_that_must_write_underscores_may_not_write_dots() -> None:
    exam = OfficialCase("simple", [BOOK], [TRUTH], dots_as_underscores=True)
    assert check_answer(exam, [{"shop_book": {"city": "Oslo"}}]).valid
    assert check_answer(exam, [{"shop.book": {"city": "Oslo"}}]).error_type == f"{CALL}:wrong_func_name"


@pytest.mark.parametrize(
    ("category", "calls", "error"),
    [
        ("simple_python", 0, f"{CALL}:wrong_count"),
        ("simple_python", 2, f"{CALL}:wrong_count"),
        ("live_multiple", 2, "multiple_function_checker:wrong_count"),
        ("parallel", 2, f"{PARALLEL}:wrong_count"),
        ("live_parallel_multiple", 0, f"{PARALLEL}:wrong_count"),
    ],
)
def test_the_number_of_calls_counts(category: str, calls: int, error: str) -> None:
    assert (
        check_answer(OfficialCase(category, [BOOK], [TRUTH]), [{"shop.book": {"city": "Oslo"}}] * calls).error_type
        == error
    )


def test_of_several_functions_the_one_that_is_expected_must_be_called() -> None:
    exam = OfficialCase("multiple", [function("list_all"), BOOK], [TRUTH])
    assert check_answer(exam, [{"shop.book": {"city": "Oslo"}}]).valid
    assert check_answer(exam, [{"list_all": {}}]).error_type == f"{CALL}:wrong_func_name"


def f(**arguments: Any) -> dict[str, Any]:
    return {"f": arguments}


def parallel(*truth: list[int]) -> OfficialCase:
    return OfficialCase("parallel", [function(x="integer")], [{"f": {"x": alternatives}} for alternatives in truth])


def test_the_order_of_several_calls_is_free() -> None:
    assert check_answer(parallel([1], [2], [3]), [f(x=3), f(x=1), f(x=2)]) == Ruling(
        True, pairs=((0, 1), (1, 2), (2, 0))
    )


def test_an_expected_call_takes_the_first_that_is_right_even_one_that_another_needs() -> None:
    assert check_answer(parallel([1], [1, 2]), [f(x=2), f(x=1)]).valid
    assert check_answer(parallel([1, 2], [1]), [f(x=2), f(x=1)]).valid
    assert check_answer(parallel([1, 2], [1]), [f(x=1), f(x=2)]).error_type == f"{PARALLEL}:cannot_find_match"


def test_where_no_call_is_right_each_that_is_left_is_told() -> None:
    ruling = check_answer(parallel([1], [2], [3]), [f(x=1), f(x=5), f(y=6)])
    assert ruling.pairs == ((0, 0),)
    assert [(index, wrong.error_type) for index, wrong in ruling.rejected] == [
        (1, "value_error:others"),
        (2, f"{CALL}:unexpected_param"),
    ]
    assert ruling.errors == (
        "no call matches expected call 1",
        "call 1: `x` is 5, not one of [2]",
        "call 2: the argument 'y' is not expected",
    )


def test_no_calls_are_right_where_none_are_expected() -> None:
    assert check_answer(parallel(), []).valid


@pytest.mark.parametrize(
    "decoded",
    [None, "f(x=1)", {}, {"f": {"x": 1}}, (f(x=1),), [None], [{}], [{"f": {}, "g": {}}], [{"f": [1]}], [f(x=1), "x"]],
    ids=repr,
)
def test_anything_but_a_list_of_calls_has_the_wrong_form(decoded: object) -> None:
    assert check_answer(parallel([1]), decoded).error_type == FORMAT
    assert check_answer(OfficialCase("irrelevance", [], ()), decoded).valid
    assert check_answer(OfficialCase("live_relevance", [], ()), decoded).error_type == "relevance_error:decoder_failed"


@pytest.mark.parametrize(
    ("category", "decoded", "error"),
    [
        ("irrelevance", [], None),
        ("irrelevance", [f(x=1)], "irrelevance_error:decoder_success"),
        ("live_irrelevance", [{"no such function": {}}], "irrelevance_error:decoder_success"),
        ("live_relevance", [], "relevance_error:decoder_failed"),
        ("live_relevance", [{"no such function": {}}], None),
    ],
)
def test_where_only_calling_or_not_counts_nothing_else_does(category: str, decoded: object, error: str | None) -> None:
    assert check_answer(OfficialCase(category, [], ()), decoded).error_type == error


def test_where_calling_or_not_counts_it_is_told_which_was_expected() -> None:
    assert check_answer(OfficialCase("irrelevance", [], ()), [f(x=1)]).errors == ("a call was made, expected none",)
    assert check_answer(OfficialCase("live_relevance", [], ()), []).errors == ("no call was made, expected one",)


def test_what_cannot_be_decoded_passes_for_an_abstention() -> None:
    assert check_undecodable(OfficialCase("live_irrelevance", [], ()), "no call").valid
    assert (
        check_undecodable(OfficialCase("live_relevance", [], ()), "no call").error_type
        == "relevance_error:decoder_failed"
    )
    ruling = check_undecodable(parallel([1]), "no call in it")
    assert (ruling.valid, ruling.error_type) == (False, "ast_decoder:decoder_failed")
    assert "no call in it" in ruling.errors[0]


@pytest.mark.parametrize(
    ("exam", "crash"),
    [
        (OfficialCase("simple", [], [TRUTH]), "IndexError"),
        (OfficialCase("simple", [BOOK], []), "IndexError"),
        (OfficialCase("simple", [BOOK], [{}]), "IndexError"),
        (OfficialCase("simple", [{"name": "f"}], [{"f": {}}]), "KeyError"),
        (OfficialCase("simple", [{"name": "f", "parameters": {"properties": {}}}], [{"f": {}}]), "KeyError"),
        (OfficialCase("simple", [BOOK | {"name": 5}], [TRUTH]), "TypeError"),
        (OfficialCase("multiple", [function("g")], [TRUTH]), "TypeError"),
        (OfficialCase("parallel", [{}], [TRUTH]), "KeyError"),
    ],
)
def test_a_case_on_which_the_official_checker_breaks_is_an_error_of_the_case(exam: OfficialCase, crash: str) -> None:
    ruling = check_answer(exam, [{"shop.book": {"city": "Oslo"}}])
    assert (ruling.valid, ruling.error_type) == (False, f"case_error:{crash}")
