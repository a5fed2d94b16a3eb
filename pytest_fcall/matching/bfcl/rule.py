"""A whole answer: its form, whether there is a call at all, and which rules hold for the calls."""

from __future__ import annotations

from typing import Any, TypeGuard

from pytest_fcall.matching.bfcl.counts import multiple, parallel, simple
from pytest_fcall.matching.bfcl.exam import Exam
from pytest_fcall.matching.bfcl.ruling import VALID, Ruling, objection


def rule(exam: Exam, decoded: object) -> Ruling:
    """Judge what the official decoder gave, or anything else. Never raises."""
    try:
        if "relevance" in exam.category:
            return _relevance(exam.category, called=_is_calls(decoded) and bool(decoded))
        return _calls(exam, decoded)
    except Exception as crash:  # whatever the case and the answer hold between them
        return objection(f"case_error:{type(crash).__name__}", "the official checker breaks on this")


def undecodable(exam: Exam, why: str) -> Ruling:
    """Judge an answer that the official decoder could not read, which passes for an abstention."""
    if "relevance" in exam.category:
        return _relevance(exam.category, called=False)
    return objection("ast_decoder:decoder_failed", f"the answer cannot be decoded: {why}")


def _relevance(category: str, *, called: bool) -> Ruling:
    """Judge where only calling or not counts; whom, and with what, does not."""
    if "irrelevance" in category:
        return objection("irrelevance_error:decoder_success", "no call is wanted") if called else VALID
    return VALID if called else objection("relevance_error:decoder_failed", "a call is wanted")


def _calls(exam: Exam, decoded: object) -> Ruling:
    if not _is_calls(decoded):
        return objection("ast_decoder:decoder_wrong_output_format", "the answer is no list of calls")
    if "parallel" in exam.category:
        return parallel(exam, decoded)
    if "multiple" in exam.category:
        return multiple(exam, decoded)
    return simple(exam, decoded)


def _is_calls(decoded: object) -> TypeGuard[list[dict[Any, dict[Any, Any]]]]:
    """Tell a list of `{name: {argument: value}}`; an empty one is one, too. No subclasses."""
    if type(decoded) is not list:
        return False
    for item in decoded:
        if type(item) is not dict or len(item) != 1:
            return False
        (arguments,) = item.values()
        if type(arguments) is not dict:
            return False
    return True
