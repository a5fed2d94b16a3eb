from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.expectation_places import ExpectationPlaces, ExpectationTrail, PlacedPart
from pytest_fcall.core import Case

FILE = """\
include: shared.tools.yaml
tools:
  - name: act
    parameters: {type: object, properties: {a: {type: string}, b: {type: array, items: {type: string}}}}
match:
  "act.a": {strings: relaxed}
cases:
  - id: plain
    prompt: Do it.
    expect:
      - act:
          a:
            $any:
              - x
              - $contains: y
          b: {$unordered: [
            p,
            {$regex: q}]}
        args: open
      - then:
          - act: {$ignore: true}
    answer: {$contains: done}
  - id: choices
    prompt: Do it.
    match: {"act.b": {$ignore: true}}
    expect:
      any_of:
        - calls: [act: {a: x}]
        - calls:
            - act:
                a: z
          extra: allow
  - id: turns
    turns:
      - {user: Hi, expect: no_call}
      - user: Go on.
        expect:
          never: [act]
"""
SHARED = """\
match:
  "*.c": {$ignore: true}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("places")
    (folder / "a.fc.yaml").write_text(FILE, encoding="utf-8")
    (folder / "shared.tools.yaml").write_text(SHARED, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("case", "trail", "line"),
    [
        ("plain", ExpectationTrail("argument", path=("a",)), 12),
        ("plain", ExpectationTrail("argument", path=("a", "$1")), 15),
        ("plain", ExpectationTrail("argument", path=("b", 1)), 18),
        ("plain", ExpectationTrail("argument", path=("gone",)), 12),
        ("plain", ExpectationTrail("args"), 19),
        ("plain", ExpectationTrail("arguments", call=1), 21),
        ("plain", ExpectationTrail("answer"), 22),
        ("plain", ExpectationTrail("match", path=("act.a",)), 6),
        ("plain", ExpectationTrail("match", path=("*.c",)), 2),
        ("plain", ExpectationTrail("match", path=("no.such",)), 8),
        ("choices", ExpectationTrail("match", path=("act.b",)), 25),
        ("choices", ExpectationTrail("argument", alternative=1, path=("a",)), 31),
        ("choices", ExpectationTrail("extra", alternative=1), 32),
        ("turns", ExpectationTrail("expect"), 35),
        ("turns", ExpectationTrail("extra", turn=1), 38),
    ],
)
def test_every_expectation_has_its_line(folder: Path, case: str, trail: ExpectationTrail, line: int) -> None:
    path = folder / "a.fc.yaml"
    found = {each.id: each for each in read_case_file(path, root=folder).entries if isinstance(each, Case)}
    place = ExpectationPlaces(folder).location(path, found[case], trail)
    assert place.line == line
    assert place.path == ("shared.tools.yaml" if trail.path == ("*.c",) else "a.fc.yaml")


def test_a_file_that_cannot_be_read_any_more_has_the_place_of_the_case(folder: Path) -> None:
    path = folder / "a.fc.yaml"
    case = next(each for each in read_case_file(path, root=folder).entries if isinstance(each, Case))
    part: PlacedPart = "extra"
    place = ExpectationPlaces(folder).location(folder / "gone.fc.yaml", case, ExpectationTrail(part))
    assert place == case.location
