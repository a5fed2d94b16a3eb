"""`variants:` in a case file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.core import Case
from pytest_fcall.core.variants import RELATIONS, REPETITION, Relation, RelationSpec, Unfit, WantedRelation

EXTENSIONS = Extensions(relations={"slang": Relation(RelationSpec("slang", {"of": "text"}), lambda *_: Unfit("no"))})
TOOLS = "tools:\n  - {name: look, parameters: {type: object, properties: {}}}\n"


def read(folder: Path, variants: str, defaults: str = "") -> tuple[tuple[WantedRelation, ...] | None, list[str]]:
    """The relations of the only case, and the faults: line, column, text."""
    path = folder / "a.fc.yaml"
    own = f"    variants: {variants}\n" if variants else ""
    text = f"{TOOLS}{defaults}cases:\n  - id: it\n    prompt: Look.\n    expect: no_call\n{own}"
    path.write_text(text, "utf-8")
    found = read_case_file(path, root=folder, extensions=EXTENSIONS)
    (case,) = found.entries
    faults = [f"{each.location.line}:{each.location.column} {each.message}; {each.hint}" for each in found.faults]
    return (case.variants if isinstance(case, Case) else None), faults


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("none", ()),
        ("[tool_order]", (WantedRelation("tool_order"),)),
        ("[typos: 3, tool_order]", (WantedRelation("typos", 3), WantedRelation("tool_order"))),
        ("[typos: {count: 2, samples: 4}]", (WantedRelation("typos", 2, 4),)),
        ("[typos: ]", (WantedRelation("typos"),)),
        ("[repetition: 5]", (WantedRelation(REPETITION, 5),)),
        ("[slang: {of: Oslo}]", (WantedRelation("slang", options={"of": "Oslo"}),)),
        ("[distractors: {tools: 7, near: true}]", (WantedRelation("distractors", options={"tools": 7, "near": True}),)),
        ("[distractors: {from: catalogue}]", (WantedRelation("distractors"),)),
    ],
)
def test_a_case_says_how_it_is_varied(tmp_path: Path, written: str, expected: tuple[WantedRelation, ...]) -> None:
    assert read(tmp_path, written) == (expected, [])


def test_a_case_that_says_nothing_is_varied_as_its_file_says(tmp_path: Path) -> None:
    assert read(tmp_path, "") == (None, [])
    defaults = "defaults: {variants: [typos: 2]}\n"
    assert read(tmp_path, "", defaults)[0] == (WantedRelation("typos", 2),)
    assert read(tmp_path, "[tool_order]", defaults)[0] == (WantedRelation("tool_order"),)
    assert read(tmp_path, "none", defaults)[0] == ()


def test_all_are_those_that_need_no_parameters(tmp_path: Path) -> None:
    found, _ = read(tmp_path, "all")
    assert found is not None
    assert {each.name for each in found} == {name for name, spec in RELATIONS.items() if not spec.needed} | {"slang"}


def test_distractors_come_from_this_file_or_another_one(tmp_path: Path) -> None:
    (tmp_path / "more.yaml").write_text(
        "tools:\n  - {file: elsewhere.json}\n  - {name: far, parameters: {type: object, properties: {}}}\n", "utf-8"
    )
    own, _ = read(tmp_path, "[distractors: {from: file}]")
    other, faults = read(tmp_path, "[distractors: {from: more.yaml}]")

    assert not faults
    assert own is not None
    assert other is not None
    assert [tool.name for tool in own[0].tools or ()] == ["look"]
    assert [tool.name for tool in other[0].tools or ()] == ["far"]


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("[tipos]", "7:16 there is no relation `tipos`; did you mean `typos`?"),
        ("[]", "7:15 `variants` is empty; write `variants: none` for no variants"),
        ("typos", "7:15 `variants` cannot be `typos`; such as `variants: [typos]`"),
        ("[typos: 0]", "7:23 the number of variants by `typos` must be a positive integer; "),
        ("[typos: 101]", "7:23 the number of variants by `typos` must be at most 100; "),
        (
            "[typos: many]",
            "7:23 `typos` must be a number of variants, or a mapping of parameters, not a string; ",
        ),
        ("[typos: {cuont: 2}]", "7:24 `typos` has no key `cuont`; did you mean `count`?"),
        ("[typos, typos: 2]", "7:23 `typos` is there twice; give it a `count` instead"),
        ("[{typos: 1, dates: 1}]", "7:16 a relation is a name, or one name with its parameters; such as `- typos: 3`"),
        ("[distractors: {tools: 0}]", "7:37 `tools` must be a positive integer; "),
        ("[distractors: {near: 1}]", "7:36 `near` must be a boolean, not the value `1`; "),
        ("[distractors: {from: gone.yaml}]", "7:36 there is no file `gone.yaml`; *"),
    ],
)
def test_faults_have_a_place_and_a_hint(tmp_path: Path, written: str, fault: str) -> None:
    _, faults = read(tmp_path, written)
    assert len(faults) == 1
    assert faults[0].startswith(fault.rstrip("*")), faults
