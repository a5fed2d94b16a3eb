"""A reply against everything that one turn of a case expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_fcall.core.call import Calls
from pytest_fcall.core.case import Turn
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.rules import Rules
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.matching.judge import judge
from pytest_fcall.matching.outside_calls import mismatches
from pytest_fcall.matching.relevance import broken_reply
from pytest_fcall.schema.words import path_text

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator


def judge_turn(
    reply: Reply,
    calls: Calls,
    turn: Turn,
    tools: Sequence[Tool],
    rules: Rules,
    comparators: Mapping[str, Comparator],
) -> Verdict:
    """Judge the calls, where the turn expects any, and the text that answers. What is not expected is free."""
    if turn.expect is not None:
        verdict = judge(reply, calls, turn.expect, tools, rules, comparators)
    else:
        broken = tuple(broken_reply(reply, calls))
        verdict = Verdict(not broken, broken, notes=calls.notes)
    if turn.answer is None:
        return verdict
    found = mismatches(turn.answer, reply.text, ("answer",), rules, comparators)
    wrong = tuple(Reason("wrong_answer", path_text(each.keys), each.tell(), each.expected, each.got) for each in found)
    return replace(verdict, valid=verdict.valid and not wrong, reasons=verdict.reasons + wrong)
