"""Stored answers to conversations: a list of turns, each a list of replies."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.suites.bfcl.answers import Answer, Form
from pytest_fcall.suites.bfcl.multi_turn.judging import MultiTurnJudge, no_list


def verdict_on(result: Json, form: Form | None, judge: MultiTurnJudge) -> Verdict:
    """Judge a result as a file has it, whatever it holds. Without a `form`, it is told by what there is."""
    if not isinstance(result, list):
        return no_list()
    form = form or form_of(result)
    return judge.verdict([[Answer(form, said) for said in _items(turn)] for turn in result])


def form_of(result: Sequence[Json]) -> Form:
    """Native calls are in lists, and what a decoder has read is, too, but holds source; all else is text."""
    lists = [said for turn in result for said in _items(turn) if isinstance(said, list)]
    if not lists:
        return "prompt"
    return "decoded" if any(isinstance(call, str) for call in lists[0]) else "fc"


def _items(turn: Json) -> Sequence[Json]:
    """A turn that is no list has no replies."""
    return turn if isinstance(turn, list) else ()
