"""The cases of the leaderboard: rows with a question, the functions offered and the ground truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fcall.core.case import Case, Turn
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.fault import Location
from pytest_fcall.core.rules import Language, Rules, Strings
from pytest_fcall.core.values import Json, Message
from pytest_fcall.matching.bfcl import Exam
from pytest_fcall.suites.bfcl.fields import objects, text
from pytest_fcall.suites.bfcl.tools import tools_of
from pytest_fcall.suites.bfcl.truth import expectation_of, true_calls
from pytest_fcall.suites.json_lines import BrokenRow


@dataclass(frozen=True, slots=True)
class BfclCase:
    """One case twice: as the `strict` profile judges it, and as the official checker is told of it."""

    case: Case
    expect: Expectation
    exam: Exam


def case_of(row: Mapping[str, Json], location: Location) -> BfclCase:
    """Read one row of cases; BrokenRow says what is wrong with it."""
    exam = exam_of(row)
    calls = true_calls(exam.truth)
    expect = expectation_of(exam.category, exam.functions, calls)
    case = Case(
        id=text(row, "id"),
        location=location,
        turns=(Turn(messages_of(row.get("question")), expect),),
        tools=tools_of(exam.functions, calls),
        rules=Rules(strings=STRINGS[exam.language], language=exam.language),
        category=exam.category,
    )
    return BfclCase(case, expect, exam)


def exam_of(row: Mapping[str, Json]) -> Exam:
    """Read a row for the official checker alone, on the same terms."""
    category = text(row, "category")
    return Exam(category, objects(row, "function"), objects(row, "ground_truth"), language_of(category))


STRINGS: Mapping[Language, Strings] = {"python": "relaxed", "java": "exact", "javascript": "exact"}
"""Ground truths leave case to the reader, of which source text has none: there other case is another name."""


def language_of(category: str) -> Language:
    """Tell whose literals the arguments are, by the category's name."""
    if "relevance" in category:
        return "python"
    return "javascript" if "javascript" in category else "java" if "java" in category else "python"


def messages_of(question: Json) -> tuple[Message, ...]:
    """Give the messages of the one turn that these cases have; in 2024 a question was plain text."""
    if isinstance(question, str):
        return ({"role": "user", "content": question},)
    turns: Json = [] if question is None else question
    first: Json = (turns[0] if turns else []) if isinstance(turns, list) else None
    if not isinstance(first, list) or not all(isinstance(message, Mapping) for message in first):
        raise BrokenRow("`question` is not a list of turns, each a list of messages")
    return tuple(message for message in first if isinstance(message, Mapping))
