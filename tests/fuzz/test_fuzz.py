from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings

from tests.fuzz.exams import exams
from tests.fuzz.growth import Shape, shapes
from tests.fuzz.targets import judging, reading
from tests.fuzz.texts import texts


@pytest.mark.parametrize("name", list(reading()))
@settings(max_examples=30)
@given(text=texts)
def test_no_text_breaks_a_reader(name: str, text: str) -> None:
    reading()[name](text)


@pytest.mark.parametrize("run", list(judging().values()), ids=list(judging()))
@given(exam=exams)
def test_no_exam_breaks_a_judge(run: Callable[[Any], object], exam: Any) -> None:
    run(exam)


@pytest.mark.parametrize("shape", list(shapes()), ids=lambda shape: shape.name)
def test_no_shape_of_text_breaks_a_reader(shape: Shape) -> None:
    text = shape.text(3_000)
    for run in reading().values():
        run(text)
