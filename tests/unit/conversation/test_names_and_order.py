"""Which call a name stands for, what `$from` says wherever it stands, and what a judge has no say in meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from pytest_fcall.matching import turn_follower
from pytest_fcall.matching.assignment import Demand, covering_assignment
from tests.unit.conversation.conversations import Model, Say, case_of, held

SEARCH: Say = [("search", {"to": "Oslo"})]
BOOK: Say = [("book", {"flight": "F7"})]

FOUND = "{search: {to: Oslo}, as: found, returns: [{id: F7}]}"


def test_a_name_goes_along_when_an_earlier_call_makes_room_for_a_later_one(tmp_path: Path) -> None:
    text = """
        prompt: x
        expect:
          parallel: free
          calls:
            - {book: {flight: {$any: [F1, F2]}}, as: either}
            - {book: {flight: F1}, as: first}
            - then: [{cancel: {booking: {$from: first.args.flight}}}]
    """
    says: list[Say] = [[("book", {"flight": flight})] for flight in ("F1", "F2")]
    _, verdict = held(case_of(tmp_path, text), Model([*says, [("cancel", {"booking": "F1"})]]))
    assert verdict.valid, verdict.reasons


@pytest.mark.parametrize(("flight", "kinds"), [("F7", ["forbidden_call"]), ("F8", [])])
def test_what_is_never_called_may_depend_on_an_earlier_result(tmp_path: Path, flight: str, kinds: list[str]) -> None:
    text = f"""
        prompt: x
        unmatched: error
        expect:
          calls: [{FOUND}]
          extra: allow
          never: [{{book: {{flight: {{$from: "found.result[0].id"}}}}}}]
    """
    transcript, verdict = held(case_of(tmp_path, text), Model([SEARCH, [("book", {"flight": flight})]]))
    assert [reason.kind for reason in verdict.reasons] == kinds
    assert transcript.turns[0].end == ("stopped" if kinds else "answered")


@pytest.mark.parametrize(("flight", "valid"), [("F7", True), ("F8", False)])
def test_what_is_allowed_may_depend_on_an_earlier_result(tmp_path: Path, flight: str, valid: bool) -> None:
    text = f"""
        prompt: x
        expect:
          calls: [{FOUND}]
          allow: [{{book: {{flight: {{$any: [{{$from: "found.result[0].id"}}, F9]}}}}}}]
    """
    _, verdict = held(case_of(tmp_path, text), Model([SEARCH, [("book", {"flight": flight})]]))
    assert verdict.valid is valid


@pytest.mark.parametrize(
    ("says", "kinds"),
    [
        ([SEARCH, BOOK], []),
        ([[("search", {"to": "Oslo"}), ("book", {"flight": "F7"})]], []),
        ([BOOK, SEARCH], ["wrong_order"]),
    ],
)
def test_in_a_strict_order_calls_come_at_once_or_one_after_the_other(
    tmp_path: Path, says: list[Say], kinds: list[str]
) -> None:
    text = "prompt: x\nexpect: {order: strict, calls: [search: {to: Oslo}, book: {flight: F7}]}"
    _, verdict = held(case_of(tmp_path, text), Model(says))
    assert [reason.kind for reason in verdict.reasons] == kinds


def test_in_a_strict_order_a_call_may_use_what_the_one_above_it_gave(tmp_path: Path) -> None:
    text = f"""
        prompt: x
        expect:
          order: strict
          calls: [{FOUND}, {{book: {{flight: {{$from: "found.result[0].id"}}}}}}]
    """
    _, verdict = held(case_of(tmp_path, text), Model([SEARCH, BOOK]))
    assert verdict.valid, verdict.reasons


JUDGED = "{$judge: is a town}"


@pytest.mark.parametrize(
    "expect",
    [
        "[{search: {to: x}, returns: []}]\nmatch: {'search.to': %s}",
        "{calls: [], allow: [{search: {to: %s}}]}",
        "[{search: {to: {$not: %s}}, returns: []}]",
        "{calls: [{search: {to: Oslo}, returns: []}], never: [{search: {to: %s}}]}",
    ],
)
def test_a_conversation_goes_on_where_only_a_judge_can_say_whether_a_call_is_right(tmp_path: Path, expect: str) -> None:
    transcript, _ = held(case_of(tmp_path, f"prompt: x\nexpect: {expect % JUDGED}"), Model([SEARCH]))
    assert transcript.turns[0].end == "answered"
    assert len(transcript.turns[0].results) == 1


def test_what_is_right_by_the_official_rules_is_answered_and_followed_by_the_next_turn(tmp_path: Path) -> None:
    text = """
        profile: bfcl
        turns:
          - {user: x, expect: [{search: {to: OSLO}, returns: []}]}
          - {user: y, expect: [{cancel: {booking: b-1}}]}
    """
    _, verdict = held(case_of(tmp_path, text), Model([SEARCH, "Found.", [("cancel", {"booking": "B1"})]]))
    assert verdict.valid, verdict.reasons


def test_calls_beyond_all_measure_are_counted_but_not_paired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paired: list[int] = []

    def assignment(demands: Sequence[Demand], fits: Sequence[Sequence[int]], required: Collection[int]) -> object:
        paired.append(len(required))
        return covering_assignment(demands, fits, required)

    monkeypatch.setattr(turn_follower, "covering_assignment", assignment)
    text = "prompt: x\nstubs: {search: []}\nexpect: [{search: {to: {$ignore: true}}, times: [1, null]}]"
    says: list[Say] = [[("search", {"to": f"Town{number}"}) for number in range(200)]] * 3
    _, verdict = held(case_of(tmp_path, text), Model(says))
    assert [reason.kind for reason in verdict.reasons] == ["wrong_count"]
    assert 200 < max(paired) < 300


@pytest.mark.parametrize(
    ("answer", "said", "told"),
    [
        ('{$contains: {$from: "found.result[0].id"}}', "Booked F7.", None),
        ('{$contains: {$from: "found.result[0].id"}}', "Booked F8.", "contains 'F7'"),
        ('{$contains: {$from: "found.result[1].id"}}', "Booked F7.", "without [1]"),
        ("{$all: [{$contains: {$from: found.args.to}}, {$not: {$contains: F8}}]}", "F7 to Oslo", None),
        ("{$from: found.args.to}", "Oslo", None),
    ],
)
def test_an_answer_may_have_to_say_what_was_found(tmp_path: Path, answer: str, said: str, told: str | None) -> None:
    case = case_of(tmp_path, f"prompt: x\nexpect: [{FOUND}]\nanswer: {answer}")
    _, verdict = held(case, Model([SEARCH, said]))
    assert verdict.valid is (told is None)
    assert all((told or "") in reason.message for reason in verdict.reasons)


def test_names_are_those_of_the_alternative_that_holds(tmp_path: Path) -> None:
    text = """
        turns:
          - user: x
            expect:
              any_of:
                - calls: [{search: {to: Oslo}, as: one}, {then: [{book: {flight: F7}}]}]
                - calls: [{search: {to: Oslo}, as: two}]
          - user: y
            expect: no_call
            answer: {$from: two.args.to}
    """
    _, verdict = held(case_of(tmp_path, text), Model([SEARCH, "Found.", "Oslo"]))
    assert verdict.valid, verdict.reasons
