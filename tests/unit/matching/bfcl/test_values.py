"""What the official checker says of one argument, each row a rule of it."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fcall.matching.bfcl.checker import check_answer
from pytest_fcall.matching.bfcl.official_case import OfficialCase
from tests.unit.matching.bfcl.exams import function, ruled

NAN = float("nan")
SIMPLE, NESTED = "type_error:simple", "type_error:nested"
STRING, OTHERS, LIST = "value_error:string", "value_error:others", "value_error:list/tuple"
KEY, VALUE, COUNT = "value_error:dict_key", "value_error:dict_value", "value_error:list_dict_count"

NUMBERS: dict[str, tuple[Any, Any, Any, str | None]] = {
    "an integer is right": ("integer", [5], 5, None),
    "another integer is not": ("integer", [5], 6, OTHERS),
    "a boolean is no integer": ("integer", [1], True, SIMPLE),
    "an integer is no boolean": ("boolean", [True], 1, SIMPLE),
    "a whole float is no integer": ("integer", [5], 5.0, SIMPLE),
    "an integer stands for a float": ("float", [5.0], 5, None),
    "an integer too large for a float breaks it": ("float", [5.0], 10**400, "case_error:OverflowError"),
    "a boolean does not stand for a float": ("float", [1.0], True, SIMPLE),
    "numbers have no tolerance": ("float", [0.3], 0.1 + 0.2, OTHERS),
    "nan is never right": ("float", [NAN, 1.0], float("nan"), OTHERS),
    "text is no number": ("integer", [5], "5", SIMPLE),
    "null is right only where it comes first": ("integer", [None, 5], None, None),
    "null after another alternative is never right": ("integer", [5, None], None, SIMPLE),
    "text after another alternative is out of reach": ("integer", [5, "x"], "x", SIMPLE),
    "a first alternative of text is the name of a variable": ("integer", ["count", 5], "count", None),
    "names of variables are compared as they are": ("integer", ["count"], "Count", OTHERS),
    "a number beside a variable is right": ("integer", ["count", 5], 5, None),
    "true is among the alternatives that hold 1": ("boolean", [1], True, None),
    "nothing but the mark leaves no value": ("integer", [""], 5, OTHERS),
    "a number with more digits than can be written breaks it": ("integer", [5], 10**5000, "case_error:ValueError"),
    "so does a number of the wrong type": ("string", ["a"], 10**5000, "case_error:ValueError"),
}

STRINGS: dict[str, tuple[Any, Any, Any, str | None]] = {
    "case does not count": ("string", ["Paris"], "PARIS", None),
    "nor do spaces and some punctuation": ("string", ["San Francisco, CA"], "sanfrancisco-c.a/_*^", None),
    "so that 1.5 is 15": ("string", ["15"], "1.5", None),
    "and minus five is five": ("string", ["5"], "-5", None),
    "quotes are alike": ("string", ['"a"'], "'A'", None),
    "other punctuation counts": ("string", ["a:b"], "ab", STRING),
    "so do line breaks": ("string", ["a b"], "a\nb", STRING),
    "so does an accent": ("string", ["cafe"], "café", STRING),
    "lower case is not folded": ("string", ["strasse"], "straße", STRING),
    "only punctuation is the mark for leaving out": ("string", ["a", ""], "-", None),
    "so is empty text": ("string", ["a", ""], "", None),
    "a string is wrong beside the mark": ("string", [""], "a", STRING),
    "after null strings are compared as they are": ("string", [None, "a"], "A", OTHERS),
    "null before strings is right": ("string", [None, "a"], None, None),
    "a number is no string": ("string", ["5"], 5, SIMPLE),
    "a number among the alternatives is passed over": ("string", ["a", 5], "b", STRING),
    "half a surrogate pair is a string": ("string", ["a"], "\ud800", STRING),
    "`any` is a string": ("any", ["a b"], "A-B", None),
    "or whatever comes first": ("any", [5], 5, None),
    "with its type": ("any", [5], 5.0, SIMPLE),
    "in any other type strings are compared as they are": ("any", [["a"]], ["A"], OTHERS),
    "no alternatives leave nothing right": ("string", [], "a", STRING),
    "text in the place of the alternatives is read letter by letter": ("string", "abc", "B", None),
    "and no further": ("string", "abc", "ab", STRING),
    "no list of alternatives breaks it": ("string", 5, "a", "case_error:TypeError"),
    "nor is an object a list of them": ("string", {"a": 1}, "b", "case_error:KeyError"),
}

LISTS: dict[str, tuple[Any, Any, Any, str | None]] = {
    "strings in a list are compared as strings": ("array[string]", [["a b"]], ["A-B"], None),
    "order counts": ("array[string]", [["a", "b"]], ["b", "a"], LIST),
    "number counts": ("array[string]", [["a", "b"]], ["a"], LIST),
    "true is 1 where the items are of that type": ("array[integer]", [[1, True]], [1, 1], None),
    "an inner list is compared as it is": ("array[array]", [[["a"]]], [["A"]], LIST),
    "there 1 is true": ("array[array]", [[[1]]], [[True]], None),
    "an item of another type is wrong": ("array[integer]", [[1]], ["1"], NESTED),
    "an integer stands for no float in a list": ("array[float]", [[1.0, 2.0]], [1, 2], NESTED),
    "unless the alternative begins with an integer": ("array[float]", [[1, 2]], [1, 2], None),
    "or the mark excuses all types": ("array[float]", [[1.0, 2.0], ""], [1, 2], None),
    "an empty list is the mark": ("array[string]", [["a"], ""], [], None),
    "and is right of itself": ("array[string]", [[]], [], None),
    "without the mark it is a list like others": ("array[string]", [["a"]], [], LIST),
    "any alternative may fit the types": ("array[integer]", [["a"], [1]], ["a"], None),
    "a tuple is no array": ("array[integer]", [[1]], (1,), SIMPLE),
    "a tuple is a tuple": ("tuple[integer]", [[1]], (1,), None),
    "so is a list": ("tuple[integer]", [[1]], [1], None),
    "items of a wrong type where another type comes first": ("array[integer]", ["a", [1]], "a", None),
    "without alternatives no items fit": ("array[integer]", [], [1], SIMPLE),
    "text as an alternative stands for its letters": ("array[string]", ["", "ab"], ["A", "b"], OTHERS),
    "a list for a variable is compared as it is": ("array[string]", ["xs", ["a"]], ["A"], OTHERS),
    "a list without the type of its items breaks it": ({"type": "array"}, [[1]], [1], "case_error:KeyError"),
    "a number beside lists breaks it": ("array[string]", [["a"], 5], ["a"], "case_error:TypeError"),
    "an object beside lists breaks it": ("array[string]", [["a"], {"b": 1}], ["a"], "case_error:KeyError"),
    "an item that cannot be written breaks it": ("array[string]", [["a"], [1]], [10**5000], "case_error:ValueError"),
    "even one that is right": ("array[string]", [["a"], [10**5000]], [10**5000], "case_error:ValueError"),
}

OBJECTS: dict[str, tuple[Any, Any, Any, str | None]] = {
    "each key has alternatives": ("dict", [{"a": [1, 2]}], {"a": 2}, None),
    "order does not count": ("dict", [{"a": [1], "b": [2]}], {"b": 2, "a": 1}, None),
    "strings are compared as strings": ("dict", [{"a": ["X y"]}], {"a": "x-Y"}, None),
    "types do not count": ("dict", [{"a": [1]}], {"a": True}, None),
    "a list in it is compared as it is": ("dict", [{"a": [["x"]]}], {"a": ["X"]}, VALUE),
    "so is an object": ("dict", [{"a": [{"b": [1]}]}], {"a": {"b": 1}}, VALUE),
    "a key too many is wrong": ("dict", [{"a": [1]}], {"a": 1, "b": 2}, KEY),
    "keys are compared as they are": ("dict", [{"a": [1]}], {"A": 1}, KEY),
    "a key too few is wrong": ("dict", [{"a": [1], "b": [2]}], {"a": 1}, KEY),
    "unless it may be left out": ("dict", [{"a": [1], "b": [2, ""]}], {"a": 1}, None),
    "of wrong values and keys the first is told": ("dict", [{"a": [1]}], {"a": 5, "b": 1}, VALUE),
    "be it a key": ("dict", [{"a": [1]}], {"b": 1, "a": 5}, KEY),
    "a missing key is told before a wrong value": ("dict", [{"a": [1], "b": [2]}], {"a": 5}, KEY),
    "the last alternative is told": ("dict", [{"a": [1]}, {"b": [1]}], {"a": 5}, KEY),
    "any alternative will do": ("dict", [{"a": [1]}, {"b": [1]}], {"b": 1}, None),
    "an object beside the mark only": ("dict", [""], {"a": 1}, "dict_checker:unclear"),
    "an empty object too": ("dict", [""], {}, "dict_checker:unclear"),
    "text in the place of a list is read letter by letter": ("dict", [{"a": "xy"}], {"a": "Y"}, None),
    "an object in the place of a list breaks it": ("dict", [{"a": {"b": 1}}], {"a": {"b": 1}}, "case_error:KeyError"),
    "no list of alternatives breaks it": ("dict", [{"a": 5}], {}, "case_error:TypeError"),
    "a list is no object": ("dict", [{"a": [1]}], [], SIMPLE),
    "objects in a list": ("array[dict]", [[{"a": [1]}, {"a": [2]}]], [{"a": 1}, {"a": 2}], None),
    "their order counts": ("array[dict]", [[{"a": [1]}, {"a": [2]}]], [{"a": 2}, {"a": 1}], VALUE),
    "their number counts": ("array[dict]", [[{"a": [1]}]], [], COUNT),
    "the last alternative is told, the mark included": ("array[dict]", [[{"a": [1]}], ""], [{"a": 2}], COUNT),
    "any alternative will do for a list, too": ("array[dict]", [[{"a": [1]}], [{"a": [2]}]], [{"a": 1}], None),
    "no objects are the mark": ("array[dict]", [[{"a": [1]}], ""], [], None),
    "what is no object has the wrong type": ("array[dict]", [[{"a": [1]}]], [5], NESTED),
    "without alternatives no objects are right": ("array[dict]", [], [{}], SIMPLE),
    "none where there is no alternative": ("array[dict]", [""], [], None),
}

CRASHES: dict[str, tuple[Any, Any, Any, str | None]] = {
    "a type that JSON Schema knows breaks it": ("number", [5], 5, "case_error:KeyError"),
    "so does `object`": ("object", [{}], {}, "case_error:KeyError"),
    "so does a list of types": ({"type": ["string", "null"]}, ["a"], "a", "case_error:TypeError"),
    "so does no type": ({}, ["a"], "a", "case_error:KeyError"),
    "so do items of a type unknown": ("array[number]", [[1]], [1], "case_error:KeyError"),
}


@pytest.mark.parametrize(
    ("word", "alternatives", "value", "error"),
    [
        pytest.param(*row, id=name)
        for table in (NUMBERS, STRINGS, LISTS, OBJECTS, CRASHES)
        for name, row in table.items()
    ],
)
def test_an_argument_is_judged_as_the_official_checker_does(
    word: Any, alternatives: Any, value: Any, error: str | None
) -> None:
    assert ruled(word, alternatives, value) == error


def test_of_keys_that_are_missing_the_first_is_told() -> None:
    exam = OfficialCase("simple", [function(x="dict")], [{"f": {"x": [{"a": [1], "b": [2]}]}}])
    assert check_answer(exam, [{"f": {"x": {}}}]).errors == ("the key 'a' is missing",)
