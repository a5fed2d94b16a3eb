"""Stored answers to conversations: a list of turns, each a list of replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from pytest_fcall.conversation.execution.worker import WorldFailed
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.suites.bfcl.answers import Answer, Form
from pytest_fcall.suites.bfcl.categories import CATEGORIES
from pytest_fcall.suites.bfcl.multi_turn.judging import MultiTurnJudge, no_list
from pytest_fcall.suites.json_lines import BrokenRow

_STYLES: Final[Mapping[str, Form]] = MappingProxyType({"FC": "fc", "prompt": "prompt", "calls": "decoded"})


def is_conversation(row: Mapping[str, Json]) -> bool:
    """Whether a row is about a case of several turns."""
    category = CATEGORIES.get(str(row.get("category")))
    return category is not None and category.truth == "turns"


def score_row(row: Mapping[str, Json], judge: MultiTurnJudge) -> dict[str, Json]:
    """The verdict as `fcall score` prints it; there is one rule for both profiles. BrokenRow where there is none."""
    if "raw" not in row:
        raise BrokenRow("it has no `raw` answer")
    try:
        verdict = verdict_on(row["raw"], _STYLES.get(str(row.get("style"))), judge)
    except WorldFailed as error:
        raise BrokenRow(str(error)) from None
    return {
        "category": row["category"],
        "id": row["id"],
        "valid": verdict.valid,
        "error_type": verdict.error_type,
        "strict_valid": verdict.valid,
        "strict_reasons": [
            {"kind": reason.kind, "path": reason.path, "message": reason.message} for reason in verdict.reasons
        ],
    }


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
