"""A small leaderboard of our own, in the leaderboard's format."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_fcall.core import Json

PACK: Mapping[str, Json] = {
    "name": "trip.pack",
    "description": "Packs a bag.",
    "parameters": {
        "type": "dict",
        "properties": {
            "items": {"type": "array", "items": {"type": "string"}, "description": "What goes in."},
            "weight": {"type": "float", "description": "In kilograms."},
            "note": {"type": "string", "description": "What to write on it."},
        },
        "required": ["items"],
    },
}
SAIL: Mapping[str, Json] = {
    "name": "sail",
    "description": "Sails somewhere.",
    "parameters": {
        "type": "dict",
        "properties": {"port": {"type": "string", "description": "Where to."}, "crew": {"type": "integer"}},
        "required": ["port"],
    },
}
SHELF: Mapping[str, Json] = {
    "name": "Shelf.put",
    "description": "Puts books on a shelf.",
    "parameters": {
        "type": "dict",
        "properties": {
            "row": {"type": "integer", "description": "Which row."},
            "books": {"type": "ArrayList", "items": {"type": "String"}, "description": "Which books."},
        },
        "required": ["row"],
    },
}


def question(id_: str, said: str, *functions: Json) -> dict[str, Json]:
    """A row of questions."""
    return {"id": id_, "question": [[{"role": "user", "content": said}]], "function": list(functions)}


def truth(id_: str, *calls: Json) -> dict[str, Json]:
    """A row of ground truths."""
    return {"id": id_, "ground_truth": list(calls)}


def write_rows(path: Path, rows: Sequence[Mapping[str, Json]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_category(
    folder: Path, name: str, questions: Sequence[Mapping[str, Json]], truths: Sequence[Mapping[str, Json]] = ()
) -> None:
    """Write the files of a category of version 4."""
    write_rows(folder / f"BFCL_v4_{name}.json", questions)
    if truths:
        write_rows(folder / "possible_answer" / f"BFCL_v4_{name}.json", truths)


def write_leaderboard(folder: Path) -> Path:
    """Write five small categories, and give back their folder."""
    ports = ("Oslo", "Bergen", "Turku", "Narvik")
    write_category(
        folder,
        "simple_python",
        [question(f"simple_python_{n}", f"Sail to {port} with {n}.", SAIL) for n, port in enumerate(ports)],
        [truth(f"simple_python_{n}", {"sail": {"port": [port], "crew": [n, ""]}}) for n, port in enumerate(ports)],
    )
    write_category(
        folder,
        "parallel_multiple",
        [question("parallel_multiple_0", "Pack tent and rope, then sail to Oslo.", PACK, SAIL)],
        [
            truth(
                "parallel_multiple_0",
                {"trip.pack": {"items": [["tent", "rope"]], "weight": [2.0, ""], "note": ["", "for Ann"]}},
                {"sail": {"port": ["Oslo", "Oslo, Norway"], "crew": [""]}},
            )
        ],
    )
    write_category(
        folder,
        "simple_java",
        [question("simple_java_0", "Put A and B into row 3.", SHELF)],
        [truth("simple_java_0", {"Shelf.put": {"row": [3], "books": [["A", "B"], ""]}})],
    )
    write_category(folder, "irrelevance", [question("irrelevance_0", "How deep is the sea?", SAIL)])
    retired = folder / "unused_datasets"
    write_rows(
        retired / "question" / "BFCL_v4_exec_simple.json", [question("exec_simple_0", "Sail to Oslo with two.", SAIL)]
    )
    write_rows(
        retired / "possible_answer" / "BFCL_v4_exec_simple.json",
        [{"id": "exec_simple_0", "ground_truth": ["sail(port='Oslo', crew=1+1)"], "execution_result_type": ["exact"]}],
    )
    write_rows(retired / "question" / "BFCL_v4_rest.json", [question("rest_0", "What does the sea say?", SAIL)])
    write_rows(retired / "possible_answer" / "BFCL_v4_rest.json", [{"id": "rest_0", "ground_truth": '{"a": 1}'}])
    write_rows(retired / "question" / "BFCL_v4_chatable.json", [{"question": "Hello?", "function": ""}])
    return folder
