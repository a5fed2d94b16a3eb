"""Conversations with faulty results, held and judged."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from pytest_fcall.cases.case import plan_request
from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.conversation.dialogue import ConversationContext, hold_conversation
from pytest_fcall.core import Case, Transcript, Verdict
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.recovery import judge_recovery
from pytest_fcall.matching.turn_follower import TurnFollower, recovering_followers
from tests.unit.conversation.conversations import TOOLS, Model, Say

TRIP = """
    prompt: Book a flight to Oslo.
    expect:
      - search: {to: Oslo}
        returns: [{id: F7, price: 90}]
      - then: [{book: {flight: F7}, returns: {booking: B1}}]
    answer: {$contains: B1}
"""
SEARCHES: Say = [("search", {"to": "Oslo"})]
BOOKS: Say = [("book", {"flight": "F7"})]
CANCELS: Say = [("cancel", {"booking": "B0"})]
BOOKED = "Booked: B1."
SORRY = "I could not search for flights."


def case_of(folder: Path, faults: str, text: str = TRIP) -> Case:
    path = folder / "one.fc.yaml"
    path.write_text(f"{TOOLS.rstrip()}{text}    faults: {{{faults}}}\n", encoding="utf-8")
    file = read_case_file(path, root=folder)
    assert not file.faults, [fault.message for fault in file.faults]
    found = file.entries[1]
    assert isinstance(found, Case)
    return found


def held(case: Case, *says: Say) -> Transcript:
    context, fault = MatchContext(case.tools, case.rules), case.result_fault
    assert fault is not None
    follow = recovering_followers(lambda expect, known: TurnFollower(expect, context, known), fault)
    talk = ConversationContext(Model(says).ask, lambda reply: decode(reply, case.tools), follow)
    return asyncio.run(hold_conversation(case, plan_request(case), talk))


def judged(case: Case, *says: Say) -> Verdict:
    return judged_until(len(case.turns), case, *says)


def judged_until(turns: int, case: Case, *says: Say) -> Verdict:
    """The verdict on so many turns of the conversation."""
    assert case.result_fault is not None
    stubs = case.conversation.stubs if case.conversation else {}
    context = MatchContext(case.tools, case.rules)
    transcript = Transcript(held(case, *says).turns[:turns])
    return judge_recovery(transcript, case.turns, case.result_fault, stubs, context)


def kinds(verdict: Verdict) -> Mapping[str, str]:
    assert verdict.valid is not bool(verdict.reasons)
    assert verdict.recovery is not None
    assert not verdict.reasons or verdict.recovery.how == ""
    return {reason.path: reason.kind for reason in verdict.reasons}
