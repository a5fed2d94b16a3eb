"""The agentic categories: what counts is whether the last message mentions an answer, by the leaderboard's own rule."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.environment import Executed
from pytest_fcall.core.transcript import Transcript
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.suites.bfcl.answers import Answer, Form
from pytest_fcall.suites.bfcl.multi_turn.judging import answers_in
from pytest_fcall.suites.bfcl.multi_turn.reading import sources_of
from pytest_fcall.suites.json_lines import BrokenRow

_LEFT_OUT: Final = re.compile(r"[\,\.\/\-\_\*\^\(\)]")
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class AgenticJudge:
    """Judges conversations about one question."""

    row: Mapping[str, Json]
    answers: Sequence[str]
    """Those that are right."""

    def __call__(self, case: Case, transcript: Transcript) -> Verdict:
        """Judge what was held."""
        verdict = self.verdict([answer for held in transcript.turns for answer in answers_in(case, held)])
        told = "" if verdict.valid or not case.earlier else _amiss(case.earlier.cases, transcript.earlier)
        return replace(verdict, reasons=tuple(_with(told, each) for each in verdict.reasons)) if told else verdict

    def verdict(self, replies: Sequence[Answer]) -> Verdict:
        """Judge the last reply that is no call, or cannot be read as one."""
        last = next((reply.said for reply in reversed(replies) if not sources_of(reply)), None)
        if not last:
            return _wrong("no_last_message", "no_call", "No reply is a message to the user")
        said = _text(last)
        if any(_mentions(said, answer) for answer in self.answers):
            return Verdict(True)
        wanted = " or ".join(map(repr, self.answers))
        message = f"The last message mentions no answer that is right: {wanted:.{_LONGEST}}"
        return _wrong("answer_not_found", "wrong_answer", message, [*self.answers], said[:_LONGEST])

    def verdict_on(self, result: Json, form: Form) -> Verdict:
        """Judge a result as a file has it: a list of one turn, which is a list of replies."""
        if not isinstance(result, list) or len(result) != 1:
            return _wrong("inference_error", "malformed", "The answer is not a list of one turn")
        turn = result[0]
        return self.verdict([Answer(form, said) for said in turn] if isinstance(turn, list) else [])


def agentic_judge_of(row: Mapping[str, Json]) -> AgenticJudge:
    """Who judges a row's question; BrokenRow where nothing says what is right."""
    answers = row.get("ground_truth")
    texts = [answer for answer in answers if isinstance(answer, str)] if isinstance(answers, list) else []
    if not isinstance(answers, list) or len(texts) < len(answers):
        raise BrokenRow("`ground_truth` is not a list of texts")
    return AgenticJudge(row, texts)


def _amiss(cases: Sequence[Case], earlier: Sequence[Transcript]) -> str:
    """What went wrong before the question was asked, so that the answer could not be known."""
    cut = [case.id for case, held in zip(cases, earlier, strict=False) if held.turns[-1].end == "step_limit"]
    if cut:
        return f"{' and '.join(cut)}, held before it, was cut off at the limit of steps"
    results = [result for held in earlier for step in held.steps for result in step.results]
    if earlier and not any(map(_went_well, results)):
        made = f"none of {len(results)} calls went well" if results else "no tool was called"
        return f"in the conversations before it {made}, so that nothing is remembered"
    return ""


def _went_well(result: Executed) -> bool:
    """The official classes tell what is wrong in a text."""
    return result.error is None and not str(result.value).startswith(('{"error"', "Error during execution"))


def _with(told: str, reason: Reason) -> Reason:
    return replace(reason, message=f"{reason.message}; {told}")


def _mentions(said: str, answer: str) -> bool:
    return re.search(rf"\b{re.escape(_plain(answer))}\b", _plain(said)) is not None


def _plain(text: str) -> str:
    return _LEFT_OUT.sub("", text).lower().replace("'", '"')


def _text(said: object) -> str:
    """Of calls that cannot be read the first counts, as Python writes it."""
    first = said[0] if isinstance(said, list) else said
    return first if isinstance(first, str) else str(first)


def _wrong(error_type: str, kind: ReasonKind, message: str, expected: Json = None, got: Json = None) -> Verdict:
    reason = Reason(kind, "answer", message, expected, got)
    return Verdict(False, (reason,), error_type=f"agentic:{error_type}")
