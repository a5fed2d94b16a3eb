"""A small benchmark in the native form: two questions over three albums."""

from __future__ import annotations

import json
from pathlib import Path

from pytest_fcall.core import Json

QUESTIONS = "MUSIC_Q_SINGLE_STEP_ONE_SHOT_V1"
FUNCTIONS = "MUSIC_FUNC_ONE_PARAM_SIMPLE_DESC_NO_EX_V01"
ALBUMS = "release_name,artist_name,avg_rating,rating_count\nOne,Ann,3.5,10\nTwo,Ann,4.5,900\nThree,Bob,4,200\n"


def function(name: str, **parameters: str) -> dict[str, Json]:
    properties: Json = {each: {"type": kind} for each, kind in parameters.items()}
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": [*parameters]}}


def question(
    id_: str, paths: list[Json], answer: dict[str, Json], category: str = "Selection", ordered: tuple[str, ...] = ()
) -> dict[str, Json]:
    return {
        "id": id_,
        "category": category,
        "question": f"Question {id_}?",
        "target": {"solution_paths": paths, "expected_answer": {"ordered_items": [*ordered], "answer": answer}},
    }


def path(**calls: dict[str, Json]) -> dict[str, Json]:
    return {"functions": [*calls], "parameters": [*calls.values()]}


BY_ANN = question("Q1", [path(albums_by_artist_1={"artist_name": "Ann"})], {"albums": ["One", "Two"]})
BEST = question(
    "Q2",
    [path(top_rated_albums={"n": 1}), path(high_rated_albums={"rating_threshold": 4.2})],
    {"album": "Two"},
    "Long-Tail",
)
OFFERED = [
    function("albums_by_artist_1", artist_name="string"),
    function("top_rated_albums", n="number"),
    function("high_rated_albums", rating_threshold="number"),
]


def write(
    folder: Path,
    questions: list[dict[str, Json]],
    functions: list[dict[str, Json]],
    asked: str = QUESTIONS,
    offered: str = FUNCTIONS,
) -> Path:
    config = folder / "src" / "config"
    config.mkdir(parents=True, exist_ok=True)
    sets = {"question_sets": [{"id": asked, "domain": "Music", "function_sets": [offered], "questions": questions}]}
    (config / "question_sets.json").write_text(json.dumps(sets))
    (config / "function_sets.json").write_text(
        json.dumps({"function_sets": [{"id": offered, "domain": "Music", "functions": functions}]})
    )
    return folder


def write_tables(folder: Path) -> Path:
    tables = folder / "src" / "data"
    tables.mkdir(parents=True, exist_ok=True)
    (tables / "albums_1.csv").write_text(ALBUMS)
    return folder
