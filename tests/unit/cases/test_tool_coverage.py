from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.cases.tool_coverage import Coverage, coverage
from pytest_fcall.core import Case

TOOLS = """
tools:
  - name: book
    parameters:
      type: object
      properties:
        flight: {type: string}
        cabin: {enum: [ECO, PREM, FIRST]}
        seats: {type: array, items: {enum: [A, F]}}
        meal: {anyOf: [{enum: [vegan, none]}, {type: "null"}]}
        card: {type: object, properties: {kind: {enum: [debit, credit]}, holder: {type: string}}, required: [kind]}
        legs:
          type: array
          items: {type: object, properties: {to: {type: string}, via: {type: string}}, required: [to]}
      required: [flight, cabin]
  - name: cancel
    parameters: {type: object, properties: {}}
cases:
"""


def covered(*expects: str) -> list[Coverage]:
    cases = "".join(f"  - {{id: c{n}, prompt: x, expect: {expect}}}\n" for n, expect in enumerate(expects))
    read = read_case_text(TOOLS + cases, Path("c.fc.yaml"), root=Path())
    assert not read.faults
    return coverage(case for case in read.entries if isinstance(case, Case))


def test_a_tool_that_no_case_expects_is_known() -> None:
    book, cancel = covered("[{book: {flight: F7, cabin: ECO}}]", "no_call")
    assert (book.cases, cancel.cases) == (1, 0)


def test_optional_arguments_that_no_case_names_are_known_inside_others_too() -> None:
    book, _ = covered("[{book: {flight: F7, cabin: ECO, card: {kind: debit}, legs: [{to: Oslo}]}}]")
    assert book.unnamed_arguments == [("seats",), ("meal",), ("card", "holder"), ("legs", 0, "via")]


@pytest.mark.parametrize(
    ("cabin", "left"),
    [
        ("ECO", ['"PREM"', '"FIRST"']),
        ("{$any: [ECO, FIRST]}", ['"PREM"']),
        ("{$not: PREM}", ['"ECO"', '"FIRST"']),
        ("{$ignore: true}", ['"ECO"', '"PREM"', '"FIRST"']),
    ],
)
def test_values_of_enums_that_no_case_names_are_known(cabin: str, left: list[str]) -> None:
    book, _ = covered(f"[{{book: {{flight: F7, cabin: {cabin}}}}}]")
    assert book.unnamed_values[("cabin",)] == left


def test_members_of_a_list_and_of_alternatives_count_as_values() -> None:
    book, _ = covered("[{book: {flight: F7, cabin: ECO, seats: [A], meal: vegan}}]")
    assert book.unnamed_values[("seats",)] == ['"F"']
    assert book.unnamed_values[("meal",)] == ['"none"']


def test_alternatives_and_later_calls_count() -> None:
    _, cancel = covered("{any_of: [no_call, {calls: [{book: {flight: F, cabin: ECO}}, {then: [{cancel: {}}]}]}]}")
    assert cancel.cases == 1


def test_a_schema_that_holds_itself_comes_to_an_end() -> None:
    text = """
tools:
  - name: tree
    parameters:
      type: object
      properties: {node: {$ref: "#/$defs/node"}}
      $defs: {node: {type: object, properties: {left: {$ref: "#/$defs/node"}, right: {$ref: "#/$defs/node"}}}}
cases:
  - {id: a, prompt: x, expect: [{tree: {node: {left: {}}}}]}
"""
    (case,) = read_case_text(text, Path("c.fc.yaml"), root=Path()).entries
    assert isinstance(case, Case)
    (tree,) = coverage([case])
    assert ("node", "left") not in tree.unnamed_arguments
    assert ("node", "right") in tree.unnamed_arguments


@pytest.mark.parametrize("key", ["wire", "spans"])
def test_calls_inside_an_app_count(key: str) -> None:
    _, cancel = covered(f"no_call, {key}: {{calls: [cancel: {{}}]}}")
    assert cancel.cases == 1
