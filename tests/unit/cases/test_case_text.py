from __future__ import annotations

import pytest

from pytest_fcall.cases.case_text import MissingExpectation, fill_gaps, find_gaps, find_unfillable_cases
from pytest_fcall.cases.faults import SourceFile

CALLS = [['search: {to: "Oslo"}', "book: {}"]]
STEPS = [["search: {}"], ["book: {}", "pay: {}"], ["mail: {}"]]
FILE = """\
# A file with a form of its own: keep it.
tools: [{name: search}]   # one
cases:
  - id: first            # said by ünïcödé 東京
    prompt: Find it.     # trailing

  # about the second
  - prompt: |
      Several
        lines

    id: second
  - id: third
    prompt: >-
      folded

      text


  - {id: fourth, prompt: x}
  - {id: fifth, prompt: x, }   # with a comma
  - id: has
    prompt: x
    expect: no_call
  -   id: sixth
      messages:
        - role: user
          content: [{type: text, text: "Hi"}]
"""


def found(text: str) -> list[MissingExpectation]:
    return find_gaps(SourceFile("a.fc.yaml", text))


def test_cases_that_expect_nothing_are_found() -> None:
    assert [gap.id for gap in found(FILE)] == ["first", "second", "third", "fourth", "fifth", "sixth"]


def test_only_what_is_added_is_new() -> None:
    names = [gap.id for gap in found(FILE)]
    full = fill_gaps(FILE, found(FILE), dict.fromkeys(names, "no_call"), "# review")
    kept = [line for line in full.splitlines() if not line.strip().startswith("expect: no_call  # review")]
    expected = FILE.replace("x}", "x, expect: no_call}  # review").replace("x, }", "x, expect: no_call}")
    assert kept == expected.splitlines()


def test_calls_stand_where_a_person_would_write_them() -> None:
    full = fill_gaps(FILE, found(FILE), {"first": CALLS, "sixth": CALLS, "fourth": CALLS}, "# review")
    assert (
        """\
    prompt: Find it.     # trailing
    expect:  # review
      - search: {to: "Oslo"}
      - book: {}

  # about the second
"""
        in full
    )
    assert full.endswith('      expect:  # review\n        - search: {to: "Oslo"}\n        - book: {}\n')
    assert 'x, expect: [{search: {to: "Oslo"}}, {book: {}}]}  # review\n' in full


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cases:\n- id: a\n  prompt: x", "cases:\n- id: a\n  prompt: x\n  expect: no_call  # review\n"),
        ("cases:\r\n- {id: a}\r\n", "cases:\r\n- {id: a, expect: no_call}  # review\r\n"),
        ("cases:\r\n- id: a\r\n  prompt: x\r\n", "cases:\r\n- id: a\r\n  prompt: x\r\n  expect: no_call  # review\r\n"),
        (
            "cases:\n- id: a\n  prompt: |+\n    x\n\n- 3\n",
            "cases:\n- id: a\n  prompt: |+\n    x\n\n  expect: no_call  # review\n- 3\n",
        ),
        (
            "x: &p some text\ncases:\n- id: a\n  prompt: *p\ny: 1\n",
            "x: &p some text\ncases:\n- id: a\n  prompt: *p\n  expect: no_call  # review\ny: 1\n",
        ),
        ("cases: [{id: a, prompt: x}, 3]", "cases: [{id: a, prompt: x, expect: no_call}, 3]"),
        ("cases:\n- id: a\n  prompt:\n- 3\n", "cases:\n- id: a\n  prompt:\n  expect: no_call  # review\n- 3\n"),
    ],
)
def test_the_form_of_the_file_is_kept(text: str, expected: str) -> None:
    assert fill_gaps(text, found(text), {"a": "no_call"}, "# review") == expected


@pytest.mark.parametrize(
    "text", ["", "[]", "cases: 3", "cases: [3, [], {}]", "cases: [{id: [1]}]", "cases: [{prompt: x}]"]
)
def test_what_holds_no_cases_has_no_gaps(text: str) -> None:
    assert found(text) == []


TURNS = """\
cases:
  - id: trip
    stubs: {search: F7}
    turns:
      - user: Find a flight.
      - user: Thanks.
        answer: {$contains: welcome}
      - {user: Book it.}
  - id: rows
    matrix: [{id: a}, {id: b}]
    prompt: "{id}"
  - id: known
    matrix: [{id: a}]
    prompt: "{id}"
    expect: no_call
"""


def test_turns_that_expect_nothing_are_found_and_filled_where_they_stand() -> None:
    gaps = found(TURNS)
    assert [gap.name for gap in gaps] == ["trip, turn 1", "trip, turn 3"]
    full = fill_gaps(TURNS, gaps, dict.fromkeys((gap.name for gap in gaps), STEPS), "# review")
    assert (
        """\
      - user: Find a flight.
        expect:  # review
          - search: {}
          - then:
              - book: {}
              - pay: {}
          - then:
              - mail: {}
      - user: Thanks.
"""
        in full
    )
    assert (
        "- {user: Book it., expect: [{search: {}}, {then: [{book: {}}, {pay: {}}]}, {then: [{mail: {}}]}]}  #" in full
    )


def test_of_what_is_left_it_is_said_why() -> None:
    left = find_unfillable_cases(SourceFile("a.fc.yaml", TURNS))
    assert list(left) == ["rows"]
    assert "matrix" in left["rows"]


@pytest.mark.parametrize("turns", ["3", "[]", "[3, [], {}]", "{a: 1}"])
def test_what_are_no_turns_have_no_gaps(turns: str) -> None:
    assert found(f"cases: [{{id: a, turns: {turns}}}]") == []


@pytest.mark.parametrize("inside", ["wire: {count: 1}", "spans: {calls: no_call}"])
def test_a_case_that_is_about_the_inside_of_an_app_expects_something(inside: str) -> None:
    assert found(f"cases: [{{id: a, prompt: x, {inside}}}]") == []
