"""What source text is read as, and how arguments are ruled by the official rules, word by word."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_fcall.matching.bfcl.checker import check_answer
from pytest_fcall.matching.bfcl.java import java_value
from pytest_fcall.matching.bfcl.javascript import javascript_value
from pytest_fcall.matching.bfcl.official_case import OfficialCase
from tests.unit.kept_tables import assert_answers_are_kept
from tests.unit.matching.bfcl.exams import function

HERE = Path(__file__).parent


def of_source_text(question: str) -> Iterator[str]:
    """The language, the type, the type of items, and the text."""
    language, word, inner, text = literal_eval(question)
    yield f"  {(java_value if language == 'java' else javascript_value)(text, word, inner)!r}"


def of_rulings(question: str) -> Iterator[str]:
    """The language, the type of an argument, the right values, and the arguments that were given."""
    language, word, alternatives, given = literal_eval(question)
    exam = OfficialCase("simple", [function(x=word, required=["x"])], [{"f": {"x": alternatives}}], language)
    yield f"  {check_answer(exam, given)}"


@pytest.mark.parametrize("of", [of_source_text, of_rulings])
def test_what_is_said_is_what_the_table_says(of: Callable[[str], Iterator[str]]) -> None:
    assert_answers_are_kept(HERE / f"{of.__name__}.txt", of)
