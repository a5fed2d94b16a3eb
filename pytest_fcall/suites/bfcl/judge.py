"""Judges one answer or reply: what was called is read strictly or officially, and judged by that profile."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.fault import Location
from pytest_fcall.core.reply import Call, Calls, RawCall, Reply
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.decoding import decode
from pytest_fcall.decoding.bfcl import Undecodable, decode_format, decode_native, decode_prompt
from pytest_fcall.decoding.bfcl.official_form import calls_of
from pytest_fcall.matching.bfcl import OfficialCase, Ruling, check_answer, check_undecodable
from pytest_fcall.matching.bfcl.verdict import verdict_of
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge
from pytest_fcall.suites.bfcl.answers import Answer
from pytest_fcall.suites.bfcl.cases import BfclCase, case_of, exam_of
from pytest_fcall.suites.bfcl.prompt_formats import DEFAULT_FORMAT, FORMAT_BY_DECODER, PromptFormat

_UNKNOWN_TEXT = "…"
"""What was said beside calls, or instead of them, where the row has only the list of them."""


def strict_reading(answer: Answer, case: Case) -> tuple[Reply, Calls]:
    """Give the reply that the answer is, and the calls in it: by the names offered, with plain typed arguments."""
    reply = _answer_as_reply(answer)
    calls = calls_of(answer.said) if answer.form == "decoded" else _decoded_calls(reply, case)
    if answer.underscored:
        calls = replace(calls, calls=tuple(_as_offered(calls.calls, case.tools)))
    return reply, _typed(calls, case)


def typed_calls(reply: Reply, calls: Calls, case: Case) -> Calls:
    """Give the calls of a reply with plain typed arguments, where their values are source text.

    All are asked for calls in Python's form, with values in that of the case's language. Models that put the values
    in quotes write Python; where they do not, the official decoder knows the language.
    """
    return _typed(_in_its_language(reply, calls, case), case)


def _typed(calls: Calls, case: Case) -> Calls:
    if case.rules.language == "python":
        return calls
    from pytest_fcall.decoding.source_code.arguments import typed_arguments

    return typed_arguments(calls, case.tools, case.rules.language)


def _decoded_calls(reply: Reply, case: Case) -> Calls:
    return _in_its_language(reply, decode(reply, case.tools), case)


def _in_its_language(reply: Reply, calls: Calls, case: Case) -> Calls:
    if reply.decoder is not None and case.rules.language != "python" and not calls.calls:
        try:
            return calls_of(decode_prompt(reply.text, case.rules.language))
        except Undecodable:
            pass
    return calls


def _answer_as_reply(answer: Answer) -> Reply:
    said = answer.said
    if isinstance(said, str):
        asked = "python" if answer.asked == DEFAULT_FORMAT else answer.asked.decoder
        return Reply(said, decoder=asked if answer.form == "prompt" else None)
    if answer.form == "decoded":
        return Reply(_UNKNOWN_TEXT)
    if isinstance(said, list):
        return _native(said)
    return Reply(malformed="The answer is neither text nor a list of calls.")


def _native(said: Sequence[object]) -> Reply:
    """Calls as a server gave them, and text that stood before or between them."""
    texts = [item for item in said if isinstance(item, str)]
    calls = [_raw_call(item) for item in said if not isinstance(item, str)]
    return Reply("\n".join(texts) if texts else _UNKNOWN_TEXT, tuple(calls))


def _raw_call(item: object) -> RawCall:
    """One `{name: arguments}`. Anything else has no name, which decoding finds wrong."""
    if isinstance(item, Mapping) and len(item) == 1:
        (name, arguments), *_ = item.items()
        return RawCall(name, arguments)
    return RawCall(None, None)


def _as_offered(calls: Sequence[Call], tools: Sequence[Tool]) -> list[Call]:
    """Undo what a wire without dots did to the names, where only one tool can be meant."""
    offered = {tool.name for tool in tools}
    meant: dict[str, list[str]] = {}
    for name in offered:
        meant.setdefault(name.replace(".", "_"), []).append(name)
    return [
        replace(call, name=meant[call.name][0])
        if call.name not in offered and len(meant.get(call.name, ())) == 1
        else call
        for call in calls
    ]


@dataclass(frozen=True, slots=True)
class OfficialResult:
    """The official checker's verdict on what the official decoder gave (None where that failed)."""

    exam: OfficialCase
    ruling: Ruling
    decoded: object = None


@dataclass(frozen=True, slots=True)
class StrictResult:
    """The `strict` profile's verdict on the calls that it reads."""

    verdict: Verdict
    calls: Calls


@dataclass(frozen=True, slots=True)
class Score:
    """What both profiles say of an answer."""

    official: OfficialResult
    strict: StrictResult

    def as_row(self) -> dict[str, Json]:
        """The verdicts as `fcall score` prints them."""
        ruling, verdict = self.official.ruling, self.strict.verdict
        return {
            "valid": ruling.valid,
            "error_type": ruling.error_type,
            "strict_valid": verdict.valid,
            "strict_reasons": [
                {"kind": reason.kind, "path": reason.path, "message": reason.message} for reason in verdict.reasons
            ],
        }


def score_answer(case: BfclCase, answer: Answer) -> Score:
    """Judge an answer. Total: whatever it holds, both profiles have a verdict."""
    return Score(
        judge_officially(replace(case.exam, dots_as_underscores=answer.underscored), answer),
        _judge_strictly(case, answer),
    )


def judge_officially(exam: OfficialCase, answer: Answer) -> OfficialResult:
    """Judge an answer by the official rules alone."""
    try:
        decoded = _officially_decoded(exam, answer)
    except Undecodable as error:
        return OfficialResult(exam, check_undecodable(exam, str(error)))
    return OfficialResult(exam, check_answer(exam, decoded), decoded)


def _officially_decoded(exam: OfficialCase, answer: Answer) -> object:
    match answer.form:
        case "fc":
            return decode_native(answer.said)
        case "prompt":
            return decode_format(answer.said, answer.asked.calls, tags=answer.asked.tagged, language=exam.language)
        case "decoded":
            return answer.said
        case "undecodable":
            raise Undecodable("the row says so")


def _judge_strictly(case: BfclCase, answer: Answer) -> StrictResult:
    reply, calls = strict_reading(answer, case.case)
    context = MatchContext(case.case.tools, case.case.rules)
    return StrictResult(judge(reply, calls, case.expect, context), calls)


OFFICIAL_DECODERS: Final[Mapping[str, PromptFormat]] = MappingProxyType(
    {**FORMAT_BY_DECODER, "bfcl_java": DEFAULT_FORMAT, "bfcl_javascript": DEFAULT_FORMAT}
)
"""Those that read what the official prompts ask for, and what that is."""


class BfclJudge:
    """Judges one case. What only our rules need is made when they are asked for: it takes most of the time."""

    def __init__(self, row: Mapping[str, Json], place: Location) -> None:
        self._rest = {name: value for name, value in row.items() if name != "function"}
        self._functions = json.dumps(row["function"])  # as text they take a tenth of the memory
        self._place = place

    @property
    def row(self) -> Mapping[str, Json]:
        """The row, as `case_of` reads it."""
        return {**self._rest, "function": json.loads(self._functions)}

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:
        """Judge by the profile of the case."""
        if case.rules.profile == "strict":
            return _strict_verdict(case_of(self.row, self._place), case, reply, calls)
        ruling = judge_officially(exam_of(self.row), answer_of_reply(reply, calls)).ruling
        expect = case.turns[0].expect or Expectation()
        return replace(verdict_of(ruling, calls, expect), notes=calls.notes)


def answer_of_reply(reply: Reply, calls: Calls) -> Answer:
    """The answer that a reply is, in the form in which the official harness stores it.

    Where another decoder read the text, or a baseline kept the calls, the calls are the answer.
    """
    if asked := OFFICIAL_DECODERS.get(reply.decoder or ""):
        return Answer("prompt", reply.text, asked=asked)
    if reply.decoder is None and reply.tool_calls:
        return Answer("fc", [{str(raw.name): _json_text(raw.arguments)} for raw in reply.tool_calls])
    if calls.calls and calls.malformed is None:
        return Answer("decoded", [{call.name: dict(call.arguments)} for call in calls.calls])
    return Answer("fc" if reply.decoder is None else "undecodable", reply.text)


def result_of_reply(reply: Reply) -> Json:
    """The answer as a file of results has it: text, or native calls by the names that a wire without dots allows."""
    if reply.decoder is not None or not reply.tool_calls:
        return reply.text
    return [{str(raw.name).replace(".", "_"): _json_text(raw.arguments)} for raw in reply.tool_calls]


def _json_text(arguments: Json) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def read_like_score(reply: Reply, calls: Calls, case: Case) -> Calls:
    """The calls of a reply, as carefully read as `fcall score` reads."""
    if OFFICIAL_DECODERS.get(reply.decoder or "") == DEFAULT_FORMAT:
        calls = decode(replace(reply, decoder="python"), case.tools)
    return typed_calls(reply, calls, case)


def _strict_verdict(ours: BfclCase, case: Case, reply: Reply, calls: Calls) -> Verdict:
    """Judge by our rules."""
    context = MatchContext(ours.case.tools, case.rules)
    return judge(reply, read_like_score(reply, calls, ours.case), ours.expect, context)
