"""Judges single-turn answers and replies by the official rules, or by the profile `strict`."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.case import Case, Location
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.reply import Call, Calls, RawCall, Reply
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.decoding.bfcl.decoders import decode_format, decode_prompt
from pytest_fcall.decoding.bfcl.official_form import Undecodable, calls_of
from pytest_fcall.decoding.bfcl.structured_calls import decode_native
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.matching.bfcl.checker import check_answer, check_undecodable
from pytest_fcall.matching.bfcl.official_case import OfficialCase, Ruling
from pytest_fcall.matching.bfcl.verdict import verdict_of
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge
from pytest_fcall.suites.bfcl.answers import BfclAnswer, decode_text
from pytest_fcall.suites.bfcl.cases import BfclCase, case_of, official_case_of
from pytest_fcall.suites.bfcl.categories import DEFAULT_FORMAT, FORMAT_BY_DECODER, PromptFormat

_UNKNOWN_TEXT: Final = "…"
"""Stands for the text of a reply of which only the calls are stored."""
OFFICIAL_DECODERS: Final[Mapping[str, PromptFormat]] = MappingProxyType(
    {**FORMAT_BY_DECODER, "bfcl_java": DEFAULT_FORMAT, "bfcl_javascript": DEFAULT_FORMAT}
)
"""The official decoders, with the prompt format that each reads."""


@dataclass(frozen=True, slots=True)
class OfficialResult:
    """The ruling of the official checker on an answer."""

    official_case: OfficialCase
    ruling: Ruling
    decoded: object = None
    """The result of the official decoder; None if it failed."""


@dataclass(frozen=True, slots=True)
class StrictResult:
    """The verdict of the profile `strict`, and the calls that it judged."""

    verdict: Verdict
    calls: Calls


@dataclass(frozen=True, slots=True)
class ProfileResults:
    """The results of both profiles for an answer."""

    official: OfficialResult
    strict: StrictResult

    def as_row(self) -> dict[str, Json]:
        """Return the verdicts as `fcall score` prints them."""
        ruling, verdict = self.official.ruling, self.strict.verdict
        return score_columns(ruling.valid, ruling.error_type, verdict)


def score_columns(valid: bool, error_type: str | None, strict: Verdict) -> dict[str, Json]:
    """Return the columns of `fcall score`: the official verdict, and that of the profile `strict`."""
    return {
        "valid": valid,
        "error_type": error_type,
        "strict_valid": strict.valid,
        "strict_reasons": [
            {"kind": reason.kind, "path": reason.path, "message": reason.message} for reason in strict.reasons
        ],
    }


def score_answer(case: BfclCase, answer: BfclAnswer) -> ProfileResults:
    """Judge an answer by both profiles. Never raises, whatever the answer holds."""
    official_case = replace(case.official_case, dots_as_underscores=answer.underscored)
    reply, calls = strict_reading(answer, case.case)
    verdict = judge(reply, calls, case.expect, MatchContext(case.case.tools, case.case.rules))
    return ProfileResults(_judge_officially(official_case, answer), StrictResult(verdict, calls))


class BfclJudge:
    """Judges the replies to one case by the profile of the case.

    Tools and schemas for the profile `strict` are made only when it judges, since that takes most of the time.
    """

    def __init__(self, row: Mapping[str, Json], location: Location) -> None:
        self._rest = {name: value for name, value in row.items() if name != "function"}
        self._functions = json.dumps(row["function"])  # text takes a tenth of the memory
        self._location = location

    @property
    def row(self) -> Mapping[str, Json]:
        """The row, in the form that `case_of` reads."""
        return {**self._rest, "function": json.loads(self._functions)}

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:
        """Judge a reply."""
        if case.rules.profile == "strict":
            own = case_of(self.row, self._location)
            calls = read_generously(reply, calls, own.case)
            return judge(reply, calls, own.expect, MatchContext(own.case.tools, case.rules))
        ruling = _judge_officially(official_case_of(self.row), answer_of_reply(reply, calls)).ruling
        expect = case.turns[0].expect or Expectation()
        return replace(verdict_of(ruling, calls, expect), notes=calls.notes)


class ResultJudge(BfclJudge, ABC):
    """Judges answers by what comes of their calls. All profiles share the rule; `strict` reads more generously."""

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:
        """Judge a reply."""
        answer = answer_of_reply(reply, calls)
        if case.rules.profile == "strict":
            calls = read_generously(reply, calls, case)
            if calls.calls and calls.malformed is None:
                answer = decoded_answer(calls)
        return replace(self.verdict(answer), notes=calls.notes)

    @abstractmethod
    def verdict(self, answer: BfclAnswer) -> Verdict:
        """Judge a stored answer as the official checker does."""


def _judge_officially(official_case: OfficialCase, answer: BfclAnswer) -> OfficialResult:
    try:
        decoded = _officially_decoded(official_case, answer)
    except Undecodable as error:
        return OfficialResult(official_case, check_undecodable(official_case, str(error)))
    return OfficialResult(official_case, check_answer(official_case, decoded), decoded)


def _officially_decoded(case: OfficialCase, answer: BfclAnswer) -> object:
    match answer.form:
        case "fc":
            return answer.content if answer.has_objects else decode_native(answer.content)
        case "prompt":
            form = answer.prompt_format
            return decode_format(answer.content, form.call_notation, tags=form.tagged, language=case.language)
        case "text":
            return decode_text(answer)
        case "decoded":
            return answer.content
        case "undecodable":
            raise Undecodable("the row says so")


def strict_reading(answer: BfclAnswer, case: Case) -> tuple[Reply, Calls]:
    """Return an answer as a reply, and the calls in it, with the offered names and typed arguments."""
    reply = _answer_as_reply(answer)
    calls = (
        calls_of(answer.content)
        if answer.form == "decoded"
        else _with_language_decoder(reply, decode(reply, case.tools), case)
    )
    if answer.underscored:
        calls = replace(calls, calls=tuple(_with_offered_names(calls.calls, case.tools)))
    return reply, _typed(calls, case)


def read_generously(reply: Reply, calls: Calls, case: Case) -> Calls:
    """Return the calls of a reply, read as generously as `fcall score` reads stored answers."""
    if OFFICIAL_DECODERS.get(reply.decoder or "") == DEFAULT_FORMAT:
        calls = decode(replace(reply, decoder="python"), case.tools)
    return _typed(_with_language_decoder(reply, calls, case), case)


def _typed(calls: Calls, case: Case) -> Calls:
    """The calls with typed arguments, if their values are Java or JavaScript source."""
    if case.rules.language == "python":
        return calls
    from pytest_fcall.decoding.source_code.arguments import typed_arguments

    return typed_arguments(calls, case.tools, case.rules.language)


def _with_language_decoder(reply: Reply, calls: Calls, case: Case) -> Calls:
    """The calls, or those that the official decoder of the case's language finds if there are none.

    Prompts ask for calls in Python's form with values in that of the language. Models that quote the values write
    Python; calls without quotes need the decoder of the language.
    """
    if reply.decoder is not None and case.rules.language != "python" and not calls.calls:
        try:
            return calls_of(decode_prompt(reply.text, case.rules.language))
        except Undecodable:
            pass
    return calls


def _answer_as_reply(answer: BfclAnswer) -> Reply:
    content = answer.content
    if isinstance(content, str):
        prompted = "python" if answer.prompt_format == DEFAULT_FORMAT else answer.prompt_format.decoder
        decoders = {"prompt": prompted, "text": answer.decoder}
        return Reply(content, decoder=decoders.get(answer.form))
    if answer.form == "decoded":
        return Reply(_UNKNOWN_TEXT)
    if isinstance(content, list):
        texts = [item for item in content if isinstance(item, str)]
        calls = [_raw_call(item) for item in content if not isinstance(item, str)]
        return Reply("\n".join(texts) if texts else _UNKNOWN_TEXT, tuple(calls))
    return Reply(malformed="The answer is neither text nor a list of calls.")


def _raw_call(item: object) -> RawCall:
    """One `{name: arguments}`. Anything else is a call without a name, which decoding rejects."""
    if isinstance(item, Mapping) and len(item) == 1:
        (name, arguments), *_ = item.items()
        return RawCall(name, arguments)
    return RawCall(None, None)


def _with_offered_names(calls: Sequence[Call], tools: Sequence[Tool]) -> list[Call]:
    """Restore dots in names that had underscores in their place, if only one tool can be meant."""
    offered = {tool.name for tool in tools}
    by_underscored: dict[str, list[str]] = {}
    for name in offered:
        by_underscored.setdefault(name.replace(".", "_"), []).append(name)
    return [
        replace(call, name=by_underscored[call.name][0])
        if call.name not in offered and len(by_underscored.get(call.name, ())) == 1
        else call
        for call in calls
    ]


def answer_of_reply(reply: Reply, calls: Calls) -> BfclAnswer:
    """Return a reply as the official harness stores it.

    The calls are the answer if another decoder read the text, or if a baseline kept only the calls.
    """
    if form := OFFICIAL_DECODERS.get(reply.decoder or ""):
        return BfclAnswer("prompt", reply.text, prompt_format=form)
    if reply.decoder is None and reply.tool_calls:
        return BfclAnswer("fc", [{str(raw.name): _json_text(raw.arguments)} for raw in reply.tool_calls])
    if calls.calls and calls.malformed is None:
        return decoded_answer(calls)
    return BfclAnswer("fc" if reply.decoder is None else "undecodable", reply.text)


def decoded_answer(calls: Calls) -> BfclAnswer:
    """Return calls as an answer that a decoder has read."""
    return BfclAnswer("decoded", [{call.name: dict(call.arguments)} for call in calls.calls])


def result_of_reply(reply: Reply) -> Json:
    """Return a reply as a result file has it: text, or native calls with underscores for the dots in names."""
    if reply.decoder is not None or not reply.tool_calls:
        return reply.text
    return [{str(raw.name).replace(".", "_"): _json_text(raw.arguments)} for raw in reply.tool_calls]


def _json_text(arguments: Json) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
