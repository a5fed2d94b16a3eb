"""Reasons why the profiles `strict` and `bfcl` differ on an answer. docs/explanation/profiles.md explains each name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from pytest_fcall.core.expectation import Strings
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason
from pytest_fcall.matching.bfcl.checker import check_answer
from pytest_fcall.matching.bfcl.official_case import Ruling
from pytest_fcall.matching.strings import NORMAL_FORMS
from pytest_fcall.suites.bfcl.cases import BfclCase
from pytest_fcall.suites.bfcl.judge import ProfileResults

_SPELLINGS: Mapping[str, Strings] = MappingProxyType({"case_only": "relaxed", "punctuation_only": "bfcl"})
_NO_MATCH = "parallel_function_checker_no_order:cannot_find_match"


def profile_difference(case: BfclCase, score: ProfileResults) -> str | None:
    """Return the name of the reason; None if the profiles agree."""
    if score.official.ruling.valid == score.strict.verdict.valid:
        return None
    return _reason_refused(case, score) if score.official.ruling.valid else _reason_accepted(case, score)


def _reason_refused(case: BfclCase, score: ProfileResults) -> str:
    """The reason why `strict` refuses what the official checker accepts."""
    reasons = score.strict.verdict.reasons
    kinds = {reason.kind for reason in reasons}
    if case.expect.kind == "no_call":
        return "malformed_abstention" if "malformed" in kinds else "call_in_abstention"
    if "malformed" in kinds:
        return "malformed"
    if any(strict.keys() - official.keys() for strict, official in _readings(score)):
        return "positional_dropped"
    if "unknown_tool" in kinds:
        return "unknown_tool"
    if kinds != {"wrong_value"}:
        return "type" if "wrong_type" in kinds else "schema"
    for name, strings in _SPELLINGS.items():
        if all(_differs_in_spelling(reason, strings) for reason in reasons):
            return name
    if all(reason.got in ("", [], {}) for reason in reasons):
        return "empty_for_nothing"
    return "source_literal" if case.official_case.language != "python" else "value"


def _reason_accepted(case: BfclCase, score: ProfileResults) -> str:
    """The reason why `strict` accepts what the official checker refuses."""
    ruling = _first_refusal(score)
    error = ruling.error_type or ""
    if ruling.valid:
        return "greedy_only_failure"
    pairs = _readings(score)
    if any(strict.keys() - official.keys() for strict, official in pairs):
        return "positional_dropped"
    if error in _BY_ERROR:
        return _BY_ERROR[error]
    if case.official_case.language != "python":
        return "source_literal"
    if any(strict != official for strict, official in pairs):
        return "literal_misread"
    if any(official.get(ruling.argument or "", "") is None for _, official in pairs):
        return "null_for_nothing"
    return "spelling" if error.startswith("value_error") else error


_BY_ERROR: Mapping[str, str] = MappingProxyType(
    {
        "ast_decoder:decoder_failed": "undecodable_but_readable",
        "ast_decoder:decoder_wrong_output_format": "undecodable_but_readable",
        "relevance_error:decoder_failed": "undecodable_but_readable",
        "simple_function_checker:wrong_func_name": "dotted_name",
        "simple_function_checker:missing_optional": "default_left_out",
        "value_error:dict_key": "default_left_out",
        "simple_function_checker:unexpected_param": "default_spelled_out",
        "type_error:nested": "int_for_float_in_list",
    }
)
"""The reasons that follow from the official error alone."""


def _first_refusal(score: ProfileResults) -> Ruling:
    """The ruling on the first refused call; valid if only the pairing of calls was at fault."""
    official = score.official
    if official.ruling.error_type != _NO_MATCH or not isinstance(official.decoded, list):
        return official.ruling
    for expected, index in score.strict.verdict.pairs:
        case = official.official_case
        alone = replace(case, category="multiple", truth=[case.truth[expected]])
        if not (ruling := check_answer(alone, official.decoded[index : index + 1])).valid:
            return ruling
    return Ruling(True)


def _readings(score: ProfileResults) -> list[tuple[Mapping[str, Json], Mapping[str, Json]]]:
    """The arguments of each call, as `strict` and as the official decoder read them; empty if the counts differ."""
    calls, decoded = score.strict.calls.calls, score.official.decoded
    if not isinstance(decoded, list) or len(decoded) != len(calls):
        return []
    arguments = [next(iter(item.values()), None) if isinstance(item, dict) else None for item in decoded]
    return [(call.arguments, each) for call, each in zip(calls, arguments, strict=True) if isinstance(each, dict)]


def _differs_in_spelling(reason: Reason, strings: Strings) -> bool:
    """Whether a string differs from an expected one only in what this comparison of strings ignores."""
    normal = NORMAL_FORMS[strings]
    return isinstance(reason.got, str) and normal(reason.got) in map(normal, _texts(reason.expected))


def _texts(expected: Pattern) -> list[str]:
    if isinstance(expected, str):
        return [expected]
    if isinstance(expected, Operator):
        return _texts(expected.operand)
    return [text for each in expected for text in _texts(each)] if isinstance(expected, list | tuple) else []
