"""Stored answers to conversations: a list of turns, each a list of replies."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pytest_fcall.conversation.execution.worker import WorldFailed
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.suites.bfcl.agentic import AgenticJudge
from pytest_fcall.suites.bfcl.answers import Form
from pytest_fcall.suites.bfcl.categories import CATEGORIES
from pytest_fcall.suites.bfcl.multi_turn.judging import MultiTurnJudge
from pytest_fcall.suites.json_lines import BrokenRow

_STYLES: Final[Mapping[str, Form]] = MappingProxyType({"FC": "fc", "prompt": "prompt", "calls": "decoded"})


def is_conversation(row: Mapping[str, Json]) -> bool:
    """Whether a row is about a case of several requests."""
    category = CATEGORIES.get(str(row.get("category")))
    return category is not None and category.truth in ("turns", "mention")


def score_row(row: Mapping[str, Json], judge: MultiTurnJudge | AgenticJudge) -> dict[str, Json]:
    """The verdict as `fcall score` prints it; there is one rule for both profiles. BrokenRow where there is none."""
    if "raw" not in row:
        raise BrokenRow("it has no `raw` answer")
    try:
        verdict = judge.verdict_on(row["raw"], _STYLES.get(str(row.get("style"))) or form_of(row["raw"]))
    except WorldFailed as error:
        raise BrokenRow(str(error)) from None
    return verdict_row(row, verdict)


def verdict_row(row: Mapping[str, Json], verdict: Verdict) -> dict[str, Json]:
    """A verdict as `fcall score` prints it, where there is one rule for both profiles."""
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


def form_of(result: Json) -> Form:
    """Native calls are in lists, and what a decoder has read is, too, but holds source; all else is text."""
    turns = result if isinstance(result, list) else []
    lists = [said for turn in turns if isinstance(turn, list) for said in turn if isinstance(said, list)]
    if not lists:
        return "prompt"
    return "decoded" if any(isinstance(call, str) for call in lists[0]) else "fc"
