"""A checkout of ACEBench, made up, with questions about boats."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_fcall.core import Case
from pytest_fcall.suites.acebench.suite import AceBenchSuite

Rows = Sequence[Mapping[str, Any]]

PROMPTS = '''
SYSTEM_PROMPT_FOR_NORMAL_DATA_{0} = """Answer in calls.
{{time}}
Functions: {{function}}"""
SYSTEM_PROMPT_FOR_PREFERENCE_DATA_{0} = "For {{profile}}: {{function}}"
SYSTEM_PROMPT_FOR_SPECIAL_DATA_{0} = "Name problems. {{time}} {{function}}"
USER_PROMPT_{0} = """Said:\\n{{question}}"""
OTHER = len("never run")
'''
SAIL = {
    "name": "boat_sail",
    "description": "Sails.",
    "parameters": {
        "type": "dict",
        "properties": {
            "port": {"type": "string"},
            "crew": {"type": "integer"},
            "sails": {"type": "array", "items": {"type": "string"}},
            "route": {"type": "object", "properties": {"via": {"type": "string"}}},
        },
        "required": ["port"],
    },
}
MOOR = {
    "name": "boat_moor",
    "arguments": {"type": "object", "properties": {}, "required": []},
    "results": {"type": "string"},
}


def question(id_: str, truth: Any, text: str = "user: Sail to Oslo.\n", **more: Any) -> tuple[Any, Any]:
    """A row of questions, and one of possible answers."""
    known = {"profile": "{'name': 'Ann'}"} if "preference" in id_ else {"time": "It is noon."}
    return {"id": id_, "question": text, "function": [SAIL, MOOR], **known, **more}, {"id": id_, "ground_truth": truth}


def write(folder: Path, category: str, rows: Sequence[tuple[Any, Any]], language: str = "en") -> Path:
    """Write a category of a checkout; returns the file of its questions."""
    (folder / "model_inference").mkdir(parents=True, exist_ok=True)
    prompts = PROMPTS.format(language.upper())
    (folder / "model_inference" / f"prompt_{language}.py").write_text(prompts, encoding="utf-8")
    file = folder / "data_all" / f"data_{language}" / f"data_{category}.json"
    for path, place in ((file, 0), (file.parent / "possible_answer" / file.name, 1)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(row[place])}\n" for row in rows), encoding="utf-8")
    return file


def cases(folder: Path, part: str) -> list[Case]:
    found = list(AceBenchSuite().cases(part, folder))
    assert all(isinstance(case, Case) for case in found), found
    return [case for case in found if isinstance(case, Case)]
