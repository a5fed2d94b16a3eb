"""The classes of errors of the publication's section 4.3, as far as calls, answer and question show them.

Its authors read each failure. Here a rule decides, so the class is a likely one, and never part of a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final

from pytest_fcall.conversation.score_formulas import ExpectedPath, closest_path, same_value
from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json
from pytest_fcall.suites.mannheim.score import MannheimScore, answer_object

UNREADABLE: Final = "unreadable answer"
"""An answer without the object that was asked for; the publication has no class for it."""

_SIMILAR: Final = 0.6
_DATE: Final = re.compile(r"[0-9]{4}(?:-[0-9]{2})?|[0-9]{1,4}(?P<mark>[-./])[0-9]{1,2}(?P=mark)[0-9]{1,4}")
_NON_LATIN: Final = re.compile(r"[\u0370-\u1dff\u2e80-\uffdc]")
_MONEY: Final = re.compile(
    r"[$€£¥₺]|\b(?:dollars?|cents?|euros?|pounds?|yuan|yen|rupees?|lira|liras|lek|usd|eur|gbp)\b", re.IGNORECASE
)
_SUM: Final = re.compile(
    r"\b(?:sum|total|in all|altogether|average|mean|difference|ratio|per cent|percent)\b", re.IGNORECASE
)
_COUNT: Final = re.compile(r"\b(?:how many|number of|count)\b", re.IGNORECASE)
_LATE: Final = re.compile(
    r"\b(?:latest|newest|oldest|earliest|recent|recently|(?:first|last) released|released last)\b", re.IGNORECASE
)
_RANK: Final = re.compile(
    r"\b(?:[0-9]+(?:st|nd|rd|th)|first|second|third|(?:high|low|long|short|larg|small|great|cheap|bigg)est|most|least|"
    r"top|maximum|minimum|best|worst)\b",
    re.IGNORECASE,
)


def error_classes(
    question: str,
    made: Sequence[Call],
    paths: Sequence[ExpectedPath],
    score: MannheimScore,
    text: str,
    right: Mapping[str, Json],
) -> tuple[str, ...]:
    """Return the classes of a failure: of its functions, its parameters, or of an answer after right calls."""
    if (score.functions.grade, score.parameters.grade, score.answer) == ("Correct",) * 3:
        return ()
    path = closest_path(made, paths)
    if not made and path:
        return ("reliance on previous knowledge",) if text.strip() else ("incomplete function invocation",)
    found = [*_function_errors(made, path), *_parameter_errors(question, made, path)]
    if not found and score.answer != "Correct":
        found = [_answer_error(question, answer_object(text), right)]
    return tuple(dict.fromkeys(found))


def _function_errors(made: Sequence[Call], path: ExpectedPath) -> Iterator[str]:
    names, expected = [call.name for call in made], [call.name for call in path]
    if names == expected:
        return
    if _is_subsequence(names, expected):
        yield "incomplete function invocation"
    elif _is_subsequence(expected, names):
        yield "additional function calls"
    else:
        yield "wrong function invocation"


def _is_subsequence(some: Sequence[str], whole: Sequence[str]) -> bool:
    rest = iter(whole)
    return all(each in rest for each in some)


def _parameter_errors(question: str, made: Sequence[Call], path: ExpectedPath) -> Iterator[str]:
    """The errors in the arguments of calls of right functions, each beside the next expected call of its name."""
    rest = list(enumerate(path))
    for call in made:
        pair = next((each for each in rest if each[1].name == call.name), None)
        if pair is None:
            continue
        rest.remove(pair)
        place, expected = pair
        for name, value in expected.arguments.items():
            if name not in call.arguments:
                yield "incomplete parameter values"
            elif not same_value(call.arguments[name], value):
                yield _value_error(question, call.arguments[name], value, later=place > 0)


def _value_error(question: str, given: Json, right: Json, *, later: bool) -> str:
    if later and _is_part(given, right):
        return "list passing error"
    if isinstance(right, str) and _DATE.fullmatch(right):
        return "date inference error"
    if _is_number(right):
        return _number_error(question, given, right)
    if _NON_LATIN.search(question):
        return "misinterpretation of non-Latin characters"
    near = SequenceMatcher(None, str(given).casefold(), str(right).casefold()).ratio() >= _SIMILAR
    return "incorrect string handling" if near or _is_part(given, right) else "parameter hallucination"


def _number_error(question: str, given: Json, right: Json) -> str:
    if not _is_number(given):
        return "misidentification of numeric entities"
    if _MONEY.search(question):
        return "currency and conversion error"
    said = {float(each) for each in re.findall(r"[0-9]+(?:\.[0-9]+)?", question)}
    return "parameter hallucination" if right in said else "text-to-number conversion error"


def _is_part(given: Json, right: Json) -> bool:
    """Whether a value is some, and not all, of the items of a list or of a text with commas."""
    one, other = _items(given), _items(right)
    return bool(one) and len(one) < len(other) and all(item in other for item in one)


def _items(value: Json) -> list[Json]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return value if isinstance(value, list) else [value]


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _answer_error(question: str, answer: Mapping[str, Json] | None, right: Mapping[str, Json]) -> str:
    """The class of a wrong answer after right calls, by the first value that is wrong."""
    if answer is None or answer.keys() != right.keys():
        return UNREADABLE
    wrong = next((name for name, value in right.items() if not same_value(answer[name], value)), None)
    if wrong is None:
        return "sorting anomaly (dates)" if _LATE.search(question) else "sorting anomaly (numeric values)"
    given, expected = answer[wrong], right[wrong]
    if _is_number(expected):
        return "counting discrepancy" if _COUNT.search(question) and not _SUM.search(question) else "arithmetic anomaly"
    if _LATE.search(question):
        return "sorting anomaly (dates)"
    one, other = _items(given), _items(expected)
    if isinstance(expected, list) and any(item in other for item in one):
        return "multi-information retrieval error"
    if _RANK.search(question):
        return "sorting anomaly (numeric values)"
    near = SequenceMatcher(None, str(given).casefold(), str(expected).casefold()).ratio() >= _SIMILAR
    return "inexact matching" if near else "query misinterpretation"
