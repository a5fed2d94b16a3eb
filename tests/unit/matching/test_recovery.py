from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fcall.core import Json, RawCall, Reply
from pytest_fcall.core.result_fault import RecoveryResult
from pytest_fcall.matching.unread_values import ReadTexts, first_known, mentions_failure
from tests.by_night import by_night
from tests.unit.conversation.conversations import Say
from tests.unit.matching.recovery_cases import (
    BOOKED,
    BOOKS,
    CANCELS,
    SEARCHES,
    SORRY,
    TRIP,
    case_of,
    held,
    judged,
    judged_until,
    kinds,
)


@pytest.mark.parametrize("kind", ["timeout", "error", "truncated", "corrupt", "slow"])
def test_who_repeats_the_call_and_goes_on_has_recovered(tmp_path: Path, kind: str) -> None:
    case = case_of(tmp_path, f"tool: search, kind: {kind}")
    verdict = judged(case, SEARCHES, SEARCHES, BOOKS, BOOKED)
    assert verdict.valid, verdict.reasons
    assert verdict.recovery == RecoveryResult(kind, kind, ("search",), "retries")
    assert verdict.pairs == ((0, 1), (1, 2))


def test_behind_a_repetition_the_case_is_judged_as_ever_and_places_are_those_of_all_calls(tmp_path: Path) -> None:
    case = case_of(tmp_path, "tool: search, kind: error")
    wrong: Say = [("book", {"flight": "F8"})]
    assert kinds(judged(case, SEARCHES, SEARCHES, wrong, BOOKED)) == {"calls[2].args.flight": "wrong_value"}
    assert kinds(judged(case, SEARCHES, SEARCHES, BOOKS, "Fine.")) == {"answer": "wrong_answer"}


@pytest.mark.parametrize("recovery", ["tells", "[retries, tells]", "any"])
def test_who_tells_of_the_failure_has_recovered(tmp_path: Path, recovery: str) -> None:
    case = case_of(tmp_path, f"tool: search, kind: timeout, times: always, recovery: {recovery}")
    verdict = judged(case, SEARCHES, SEARCHES, SORRY)
    assert kinds(verdict) == {}
    assert verdict.recovery == RecoveryResult("timeout", "timeout", ("search",), "tells")


@pytest.mark.parametrize(
    ("says", "wrong"),
    [
        ([SEARCHES, BOOKED], {"answer": "no_recovery"}),
        ([SEARCHES, "Your flight F7 is booked."], {"answer": "no_recovery"}),
        ([SEARCHES, "All is fine."], {"answer": "no_recovery"}),
        ([SEARCHES, ""], {"answer": "no_recovery"}),
        ([SEARCHES, "I could not search, but SK4711 goes daily."], {"answer": "invented_result"}),
        ([SEARCHES, BOOKS, SORRY], {"calls[1].args.flight": "invented_result"}),
        ([SEARCHES, CANCELS], {"calls[1]": "unexpected_call", "answer": "no_recovery"}),
        ([SEARCHES, Reply("I could not", finish="length")], {"reply": "truncated", "answer": "no_recovery"}),
        ([SEARCHES, Reply(refusal="No.", finish="refusal")], {"reply": "refused", "answer": "no_recovery"}),
        ([SEARCHES, Reply(tool_calls=(RawCall("search", "{"),))], {"reply": "malformed", "answer": "no_recovery"}),
        ([SEARCHES] * 5 + [SORRY], {"calls[4]": "too_many_retries"}),
        ([SEARCHES] * 10, {"calls[4]": "too_many_retries", "steps": "step_limit", "answer": "no_recovery"}),
        (["I could not search."], {"results": "no_fault", "calls": "no_call", "answer": "wrong_answer"}),
    ],
)
def test_other_reactions_are_wrong(tmp_path: Path, says: list[Say], wrong: Mapping[str, str]) -> None:
    case = case_of(tmp_path, "tool: search, kind: error, times: always")
    assert kinds(judged(case, *says)) == wrong


def test_who_got_the_sound_result_has_to_go_on_whatever_the_answer_tells(tmp_path: Path) -> None:
    case = case_of(tmp_path, "tool: search, kind: error")
    verdict = judged(case, SEARCHES, SEARCHES, "I could not book it.")
    assert kinds(verdict) == {"expected[1]": "wrong_count", "answer": "wrong_answer"}


def test_what_the_faulty_one_of_several_results_would_have_told_is_invented(tmp_path: Path) -> None:
    text = TRIP.replace("returns: [{id: F7, price: 90}]", "returns_each: [[{id: F7}], [{id: F9}]]\n        times: 2")
    case = case_of(tmp_path, "tool: search, kind: error, times: always", text)
    assert kinds(judged(case, SEARCHES, "I could not search, but F7 goes.")) == {"answer": "invented_result"}


@pytest.mark.parametrize(
    ("fault", "says", "message"),
    [
        (
            "tool: [search, book], kind: error",
            ["I could not."],
            "The faulty result did not reach the model: no call of `search` or `book` had a result",
        ),
        (
            "tool: search, kind: error, times: always, recovery: [retries, {other_tool: [cancel, book]}]",
            [SEARCHES, "All is fine."],
            "The model does not say that anything failed: 'All is fine.'; after the faulty result of `search` (error) "
            "it is right that it makes the call again until it has a sound result or calls another tool (cancel, book)",
        ),
        (
            "tool: search, kind: error, times: always",
            [SEARCHES, "I could not search, but SK4711 goes daily."],
            "The answer says 'SK4711', which the model was never given",
        ),
        (
            "tool: search, kind: timeout, effect: true",
            [SEARCHES, SEARCHES, BOOKS, BOOKED],
            "`search(to='Oslo')` was made again, and it is unknown whether it had its effect: another tool must be "
            "asked first, or the user",
        ),
    ],
)
def test_a_reason_says_what_would_be_right(tmp_path: Path, fault: str, says: list[Say], message: str) -> None:
    assert message in [reason.message for reason in judged(case_of(tmp_path, fault), *says).reasons]


def test_only_the_reactions_that_are_named_are_right(tmp_path: Path) -> None:
    tells = case_of(tmp_path, "tool: search, kind: error, recovery: tells")
    assert kinds(judged(tells, SEARCHES, SEARCHES, BOOKS, BOOKED)) == {"calls": "no_recovery"}
    retries = case_of(tmp_path, "tool: search, kind: error, recovery: retries")
    assert kinds(judged(retries, SEARCHES, SORRY)) == {"answer": "no_recovery"}


def test_another_tool_is_allowed_behind_the_fault_alone(tmp_path: Path) -> None:
    case = case_of(tmp_path, "tool: search, kind: error, times: always, recovery: {other_tool: cancel}")
    verdict = judged(case, SEARCHES, CANCELS, "That is all.")
    assert kinds(verdict) == {}
    assert verdict.recovery == RecoveryResult("error", "error", ("search",), "other_tool")
    assert kinds(judged(case, SEARCHES, SORRY)) == {"answer": "no_recovery"}
    assert "no_fault" in kinds(judged(case, CANCELS, SEARCHES, SORRY)).values()


def test_a_call_with_an_effect_is_not_repeated_blindly(tmp_path: Path) -> None:
    text = TRIP.replace("answer:", "stubs: {cancel: [F7]}\n    answer:")
    case = case_of(tmp_path, "tool: book, kind: timeout, effect: true, recovery: [any, {other_tool: cancel}]", text)
    assert kinds(judged(case, SEARCHES, BOOKS, BOOKS, BOOKED)) == {"calls[2]": "blind_repeat"}
    assert kinds(judged(case, SEARCHES, BOOKS, CANCELS, BOOKS, BOOKED)) == {}
    assert kinds(judged(case, SEARCHES, BOOKS, "The booking timed out.")) == {}
    failed = case_of(tmp_path, "tool: book, kind: error, effect: true", text)
    assert kinds(judged(failed, SEARCHES, BOOKS, BOOKS, BOOKED)) == {}


def test_the_case_may_say_what_tells_of_it(tmp_path: Path) -> None:
    case = case_of(tmp_path, "tool: search, kind: error, times: always, answer: {$contains: leider}")
    assert kinds(judged(case, SEARCHES, "Das geht leider nicht: Tel. 112.")) == {}
    assert kinds(judged(case, SEARCHES, SORRY)) == {"answer": "no_recovery"}
    assert kinds(judged(case, SEARCHES, "Das kostet leider 90 Euro.")) == {"answer": "invented_result"}


def test_only_the_first_results_of_each_tool_are_faulty(tmp_path: Path) -> None:
    case = case_of(tmp_path, "tool: '*', kind: error, times: 2")
    calls: list[Say] = [SEARCHES, SEARCHES, SEARCHES, BOOKS, BOOKS, BOOKS, BOOKED]
    verdict = judged(case, *calls)
    assert kinds(verdict) == {}
    assert verdict.recovery is not None
    assert verdict.recovery.tools == ("search", "book")
    faults = [result.fault for step in held(case, *calls).steps for result in step.results]
    assert faults == ["error", "error", None, "error", "error", None]


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("I couldn’t reach the service.", True),
        ("The search timed out.", True),
        ("Flights are unavailable right now.", True),
        ("I didn't get a result.", True),
        ("It didn\u2019t work.", True),
        ("I can\u2019t do that.", True),
        ("The search is still running.", True),
        ("Your flight is booked.", False),
        ("Es hat nicht geklappt.", False),
        ("", False),
    ],
)
def test_a_failure_is_told_in_english_words(text: str, tells: bool) -> None:
    assert mentions_failure(text) is tells


def test_what_was_read_is_not_invented() -> None:
    read = ReadTexts()
    read.add({"role": "user", "content": "To Oslo on 2026-11-24, for 2"})
    assert read.unread([{"to": "Oslo", "price": 90, "id": "F7", "n": 5, "ok": True, "x": "ab"}]) == ["90", "F7"]
    assert read.unread_figure("Try again in 15 minutes.\n1. On 2026-11-24\n2. Call SK1 for 2") == "SK1"


@pytest.mark.parametrize("text", ["a", "\n", "1.", "a1", "could ", "could\n", "_", "1 ", "not "])
@pytest.mark.parametrize("times", [40_000, by_night(200_000)])
def test_no_text_takes_long_to_read(text: str, times: int) -> None:
    long = text * times
    read = ReadTexts()
    read.add([long, 10**5_000])
    read.unread([{"text": long}])
    read.unread_figure(long)
    mentions_failure(long)


TWO = """
    prompt: Which flights go to Oslo, and which to Rome?
    expect:
      - search: {to: Oslo}
        returns: [{id: F7, price: 90}]
      - search: {to: Rome}
        returns: [{id: F9, price: 70}]
    answer: {$all: [{$contains: F7}, {$contains: F9}]}
"""
ROME: Say = [("search", {"to": "Rome"})]
BOTH: Say = [("search", {"to": "Oslo"}), ("search", {"to": "Rome"})]


@pytest.mark.parametrize(
    ("says", "wrong", "how"),
    [
        ([BOTH, SEARCHES, "F7 and F9."], {}, "retries"),
        ([BOTH, "F9 goes to Rome; I could not search for Oslo."], {}, "tells"),
        ([SEARCHES, ROME, "F9 goes to Rome; I could not search for Oslo."], {}, "tells"),
        ([SEARCHES, ROME, SEARCHES, "F7 and F9."], {}, "retries"),
        ([BOTH, "F9 goes to Rome."], {"answer": "no_recovery"}, ""),
        ([SEARCHES, ROME, "F9 goes to Rome."], {"expected[0]": "wrong_count", "answer": "wrong_answer"}, ""),
        ([SEARCHES, ROME, "F7 and F9."], {"expected[0]": "wrong_count", "answer": "invented_result"}, ""),
        ([BOTH, BOTH, "F7 and F9."], {"calls[3]": "unexpected_call", "answer": "no_recovery"}, ""),
    ],
)
def test_of_two_calls_of_a_tool_one_does_not_make_up_for_the_other(
    tmp_path: Path, says: list[Say], wrong: Mapping[str, str], how: str
) -> None:
    case = case_of(tmp_path, "tool: search, kind: error", TWO)
    verdict = judged(case, *says)
    assert kinds(verdict) == wrong
    assert verdict.recovery is not None
    assert verdict.recovery.how == how


def test_calls_are_paired_by_their_numbers_among_all_calls(tmp_path: Path) -> None:
    case = case_of(tmp_path, "tool: search, kind: error", TWO)
    assert judged(case, BOTH, SEARCHES, "F7 and F9.").pairs == ((0, 2), (1, 1))


TURNS = """
    turns:
      - user: Which flights go to Oslo?
        expect: [{search: {to: Oslo}, returns: [{id: F7, price: 90}]}]
      - user: And to Rome?
        expect: [{search: {to: Rome}, returns: [{id: F9, price: 70}]}]
"""


def test_a_failure_that_was_told_in_one_turn_is_no_less_told_when_the_next_one_has_a_result(tmp_path: Path) -> None:
    case = case_of(tmp_path, "tool: search, kind: error", TURNS)
    verdict = judged(case, SEARCHES, SORRY, ROME, "F9.")
    assert kinds(verdict) == {}
    assert verdict.recovery == RecoveryResult("error", "error", ("search",), "tells")
    assert kinds(judged(case, SEARCHES, "F9.", ROME, "F9.")) == {"turns[0].answer": "no_recovery"}


def test_a_conversation_that_ends_before_its_last_turn_is_judged_as_far_as_it_was_held(tmp_path: Path) -> None:
    case = case_of(tmp_path, "tool: search, kind: error, times: always", TURNS)
    found = kinds(judged(case, *[SEARCHES] * 10))
    assert found.items() >= {"turns[0].calls[4]": "too_many_retries", "turns[0].steps": "step_limit"}.items()


def test_a_turn_that_was_never_reached_lacks_its_calls_unless_the_model_said_what_failed_before(tmp_path: Path) -> None:
    case = case_of(tmp_path, "tool: search, kind: error", TURNS)
    assert kinds(judged_until(1, case, SEARCHES, SEARCHES, "F7.", ROME, "F9.")) == {"turns[1].calls": "no_call"}

    needless = TURNS.replace("[{search: {to: Oslo}, ", "[{search: {to: Oslo}, times: [0, 1], ")
    verdict = judged_until(1, case_of(tmp_path, "tool: search, kind: error", needless), SEARCHES, SORRY, ROME, "F9.")
    assert kinds(verdict) == {}
    assert len(verdict.turns) == 1


def test_turns_before_the_fault_are_judged_as_ever(tmp_path: Path) -> None:
    turns = """
    turns:
      - user: Find a flight.
        expect: [{search: {to: Oslo}, returns: [{id: F7, price: 90}]}]
        answer: {$contains: F7}
      - user: Book it.
        expect: [{book: {flight: F7}, returns: {booking: B1}}]
"""
    case = case_of(tmp_path, "tool: book, kind: error, times: always", turns)
    assert kinds(judged(case, SEARCHES, "Take F7.", BOOKS, "I could not book it.")) == {}
    assert kinds(judged(case, SEARCHES, "Take it.", BOOKS, "I could not book it.")) == {
        "turns[0].answer": "wrong_answer"
    }


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("book", ["book"]),
        ("boo", []),
        ("F7", ["F7"]),
        ("7", []),
        (7, []),
        (90, ["90"]),
        (-1.5, ["-1.5", "1.5"]),
        (" a\nsentence of 90 euros and F7 or 1 ", ["a\nsentence of 90 euros and F7 or 1", "90", "F7"]),
        ({"key": "value", "n": [1, [12, "word", None, True]]}, ["value", "12", "word"]),
        ({"a": "0b"}, ["0b"]),
    ],
)
def test_results_are_recognised_by_what_nobody_writes_by_chance(value: Json, texts: list[str]) -> None:
    assert ReadTexts().unread([value]) == texts


def nested(depth: int, value: Json, *, in_lists: bool) -> Json:
    for _ in range(depth):
        value = [value] if in_lists else {"k": value}
    return value


@pytest.mark.parametrize("in_lists", [True, False])
def test_what_is_nested_beyond_all_measure_is_neither_read_nor_told(in_lists: bool) -> None:
    read = ReadTexts()
    for depth, seen in ((65, True), (66, False)):
        value = nested(depth, "F7", in_lists=in_lists)
        assert ReadTexts().unread([value]) == (["F7"] if seen else [])
    read.add(nested(64, "F7", in_lists=in_lists))
    read.add(nested(65, "F8", in_lists=in_lists))
    assert (read.has("F7"), read.has("F8")) == (True, True)
    read.add(nested(65, 17, in_lists=in_lists))
    assert not read.has("17")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("F7", True),
        ("(f7)", True),
        ("F77", False),
        ("AF7", False),
        ("AF7 or F7.", True),
        ("F7F7", False),
        ("F-7", False),
        ("é F7é", False),
        ("", False),
        ("F7_", True),
    ],
)
def test_a_value_stands_in_a_text_as_a_word_of_its_own(text: str, found: bool) -> None:
    read = ReadTexts()
    read.add({"at": [text]})
    assert read.has("F7") is found
    assert first_known(["Q1", "F7"], text) == ("F7" if found else None)


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("1. one\n2) two\n 10. ten", None),
        ("100. hundred", "100"),
        ("a 1. b", "1"),
        ("wait 30 s, 5 minutes or 10-20 hours", None),
        ("wait 1000 s", "1000"),
        ("at 10:30", "10:30"),
        ("2026-11-24 and 3,5", "2026-11-24"),
        ("_7", None),
        ("1. 90 euros", "90"),
        ("1.\n90 euros", "90"),
    ],
)
def test_figures_are_amounts_codes_and_times_that_nothing_has_told(text: str, figure: str | None) -> None:
    assert ReadTexts().unread_figure(text) == figure


def test_of_very_many_figures_the_last_ones_are_untold_and_of_very_many_values_the_last_ones_count_not() -> None:
    read = ReadTexts()
    read.add(" ".join(f"A{number}" for number in range(1_001)))
    assert read.unread_figure(" ".join(f"A{number}" for number in range(1_000))) is None
    assert read.unread_figure(" ".join(f"A{number}" for number in range(1_001))) == "A1000"
    assert ReadTexts().unread([f"B{number}" for number in range(1_001)]) == [f"B{number}" for number in range(1_000)]


def test_what_json_has_no_words_for_is_not_read() -> None:
    read = ReadTexts()
    for value in (None, True, False, [None, True], {"a": None}):
        read.add(value)
    assert not any(read.has(word) for word in ("null", "true", "false", "None", "True"))
    assert read.has("a")
