from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.exams import exams
from tests.fuzz.files import FileTarget, make_project, targets
from tests.fuzz.growth import Shape, shapes
from tests.fuzz.mutations import mutations
from tests.fuzz.targets import judging, reading
from tests.fuzz.texts import texts

READING = reading()


@pytest.mark.parametrize("name", READING)
@given(text=texts)
def test_no_text_breaks_a_reader(name: str, text: str) -> None:
    READING[name](text)


@pytest.mark.parametrize("run", list(judging().values()), ids=list(judging()))
@given(exam=exams)
def test_no_exam_breaks_a_judge(run: Callable[[Any], object], exam: Any) -> None:
    run(exam)


EVERY = 8
"""Of so many shapes one belongs to `make test`."""
ALONE = {
    *("'[' over and over", "a sum in a call", "many arguments", "many calls in JSON", "maps in Java"),
    "open lists in JavaScript",
}
"""These do, too: no other test of the day takes the branch that they take."""


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(
            shape, id=shape.name, marks=pytest.mark.nightly if number % EVERY and shape.name not in ALONE else ()
        )
        for number, shape in enumerate(shapes())
    ],
)
def test_no_shape_of_text_breaks_a_reader(shape: Shape) -> None:
    text = shape.text(3_000)
    for run in READING.values():
        run(text)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    make_project(folder)
    return folder


@pytest.mark.parametrize("target", list(targets().values()), ids=list(targets()))
@given(data=st.data())
def test_no_file_breaks_its_reader(target: FileTarget, project: Path, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        target.run(data.draw(mutations(list(target.seeds(project)))), Path(folder))
