"""Conversations as the leaderboard's own harness writes them down."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from pytest_fcall.core.case import Case
from pytest_fcall.core.reply import Usage
from pytest_fcall.core.transcript import Step, Transcript
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.suites.bfcl.agentic import AgenticJudge
from pytest_fcall.suites.bfcl.judging import answer_of_reply
from pytest_fcall.suites.bfcl.multi_turn.judging import MultiTurnJudge, as_asked, said_last


def row_of_conversation(case: Case, transcript: Transcript, verdict: Verdict) -> dict[str, Json]:
    """What is kept of one conversation: the row of results, and what the row of scores adds where it is wrong.

    Those that were held before it have rows of results, too.
    """
    row: dict[str, Json] = {
        "category": case.category,
        "native": case.decoder is None,
        "result": _result(case, transcript),
    }
    if case.earlier and transcript.earlier:
        row["earlier"] = [*map(_result, case.earlier.cases, transcript.earlier)]
    if not verdict.valid:
        row["wrong"] = {
            "error": {
                "error_message": [reason.message for reason in verdict.reasons],
                "error_type": verdict.error_type,
            },
            **_asked(case),
        }
    return row


def _result(case: Case, transcript: Transcript) -> dict[str, Json]:
    return {
        "id": case.id,
        "result": [[*(_said(case, step) for step in held.steps), *said_last(held)] for held in transcript.turns],
        "input_token_count": _by_turns(transcript, lambda step: _usage(step).input_tokens),
        "output_token_count": _by_turns(transcript, lambda step: _usage(step).output_tokens),
        "latency": _by_turns(transcript, lambda step: step.reply.seconds),
    }


def _asked(case: Case) -> Mapping[str, Json]:
    if not isinstance(case.conversation_judge, MultiTurnJudge | AgenticJudge):
        return {}
    row = case.conversation_judge.row
    left_out = ("function", "category", "ground_truth")
    return {
        "prompt": {name: value for name, value in row.items() if name not in left_out},
        "possible_answer": row.get("ground_truth"),
    }


def _by_turns(transcript: Transcript, told: Callable[[Step], Json]) -> Json:
    """Something of every reply. What nobody counted is 0, which the harness leaves out of its sums."""
    return [[0 if (value := told(step)) is None else value for step in held.steps] for held in transcript.turns]


def _usage(step: Step) -> Usage:
    return step.reply.usage or Usage()


def _said(case: Case, step: Step) -> Json:
    """An app that carries out its calls itself says them all at once; the steps were told apart by others."""
    if step.reply.trail:
        return [{call.name: json.dumps(call.arguments)} for call in step.calls.calls] or step.reply.text
    return answer_of_reply(as_asked(case, step.reply))
