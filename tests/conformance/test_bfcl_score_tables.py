"""The tables of `fcall score --csv` are those of the official harness, and those that were published.

FCALL_BFCL_TABLES names a folder with the tables of the leaderboard's website (data_overall.csv and so on), and
FCALL_BFCL_RESULTS one of its result repository of 2024, with score-BFCL/data.csv and the score files beside it.
"""

from __future__ import annotations

import csv
import json
import os
import random
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_fcall.suites.bfcl.categories import CATEGORIES, FORMATS, GROUPS
from pytest_fcall.suites.bfcl.figures import format_scores_header
from pytest_fcall.suites.bfcl.known_models import KnownModels, known_models
from pytest_fcall.suites.bfcl.leaderboard_csv import MEASURED, ModelScores, csv_files, measured_numbers
from tests.conformance.conftest import Held
from tests.conformance.official.client import PYTHON, ROOT

PUBLISHED: Final = Path(os.environ.get("FCALL_BFCL_TABLES") or "no-tables").absolute()
RESULTS: Final = Path(os.environ.get("FCALL_BFCL_RESULTS") or "no-results").absolute()
SIZES: Final = {
    "simple_python": 400,
    "simple_java": 100,
    "simple_javascript": 50,
    **dict.fromkeys(("multiple", "parallel", "parallel_multiple", *GROUPS["multi_turn"]), 200),
    "irrelevance": 240,
    "live_irrelevance": 884,
    "live_relevance": 16,
    "live_simple": 258,
    "live_multiple": 1053,
    "live_parallel": 16,
    "live_parallel_multiple": 24,
    **dict.fromkeys(GROUPS["web_search"], 100),
    **dict.fromkeys(GROUPS["memory"], 155),
}
PLACES: Final[Mapping[str, Mapping[str, str]]] = {
    "non_live": {
        "Python Simple AST": "simple_python",
        "Java Simple AST": "simple_java",
        "JavaScript Simple AST": "simple_javascript",
        "Multiple AST": "multiple",
        "Parallel AST": "parallel",
        "Parallel Multiple AST": "parallel_multiple",
        "Irrelevance Detection": "irrelevance",
    },
    "live": {
        "Python Simple AST": "live_simple",
        "Python Multiple AST": "live_multiple",
        "Python Parallel AST": "live_parallel",
        "Python Parallel Multiple AST": "live_parallel_multiple",
        "Irrelevance Detection": "live_irrelevance",
        "Relevance Detection": "live_relevance",
    },
    "multi_turn": {
        "Base": "multi_turn_base",
        "Miss Func": "multi_turn_miss_func",
        "Miss Param": "multi_turn_miss_param",
        "Long Context": "multi_turn_long_context",
    },
    "agentic": {
        "Web Search Base": "web_search_base",
        "Web Search No Snippet": "web_search_no_snippet",
        "Memory KV": "memory_kv",
        "Memory Vector": "memory_vector",
        "Memory Recursive Summarization": "memory_rec_sum",
    },
    "format_sensitivity": {f"Config {each.config}": each.category for each in FORMATS},
}
"""The columns of the published tables that are one category."""
MEASURED_COLUMNS: Final = {"Rank", "Model Link", "Total Cost ($)", "Organization", "License"} | {
    f"Latency {name} (s)" for name in ("Mean", "Standard Deviation", "95th Percentile")
}


def has_numpy() -> bool:
    asked = [str(PYTHON), "-c", "import numpy"]
    return PYTHON.exists() and not subprocess.run(asked, check=False, capture_output=True).returncode


def generated_models(seed: int) -> list[dict[str, Any]]:
    """Models of the harness's own list, some of which were not asked everything, with rows that measured something."""
    rnd = random.Random(seed)  # noqa: S311  # nobody guesses it
    package = next((ROOT / ".venv-official/lib").glob("*/site-packages/bfcl_eval"))
    found = []
    for name in rnd.sample(sorted(known_models(package).models), 12):
        asked = [category for category in SIZES if rnd.random() < rnd.choice([0.6, 1])]
        heads: dict[str, Any] = {}
        for category in asked:
            right = rnd.randint(0, SIZES[category])
            heads[category] = {"accuracy": right / SIZES[category], "total_count": SIZES[category]}
        formats = [each.config for each in FORMATS if rnd.random() < 0.7]
        judged = [(f"format_sensitivity_0:{each}:x", rnd.random() < 0.6) for each in formats for _ in range(200)]
        if judged and rnd.random() < 0.7:
            heads["format_sensitivity"] = {"accuracy": 0, "total_count": 1, **format_scores_header(judged)}
        count = rnd.choice([0, 2, 3, 50, 501])
        found.append({"name": name, "heads": heads, "results": [row(rnd) for _ in range(count)]})
    return found


def row(rnd: random.Random) -> dict[str, Any]:
    def of_turns(number: Any) -> Any:
        return [[number(), 0], [number()]] if rnd.random() < 0.3 else number()

    return {
        "latency": of_turns(lambda: rnd.choice([rnd.expovariate(0.3), rnd.randint(0, 900) / 100])),
        "input_token_count": of_turns(lambda: rnd.randint(0, 9000)),
        "output_token_count": of_turns(lambda: rnd.randint(0, 900)),
    }


def tallies_of(heads: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """The counts that the heads of score files stand for."""
    own = {name: head for name, head in heads.items() if name != "format_sensitivity"}
    formats = {each.category: heads.get("format_sensitivity", {}).get(each.config) for each in FORMATS}
    return {
        **{name: (round(head["accuracy"] * head["total_count"]), head["total_count"]) for name, head in own.items()},
        **{name: (head["correct_count"], head["total_count"]) for name, head in formats.items() if head},
    }


@pytest.mark.skipif(not has_numpy(), reason="`make conformance` makes the official environment")
def test_the_harness_writes_the_same_bytes(tmp_path: Path, held: Held) -> None:
    generated = {tmp_path / str(seed): generated_models(seed) for seed in range(5)}
    for folder in generated:
        folder.mkdir()
    subprocess.run(
        [str(PYTHON), "-m", "tests.conformance.official.tables"],
        cwd=ROOT,
        input=json.dumps({str(folder): models for folder, models in generated.items()}),
        text=True,
        check=True,
        capture_output=True,
    )
    for folder, models in generated.items():
        compare_tables(folder, models, held)


def compare_tables(folder: Path, models: Sequence[Mapping[str, Any]], held: Held) -> None:
    package = next((ROOT / ".venv-official/lib").glob("*/site-packages/bfcl_eval"))
    ours = [
        ModelScores(
            model["name"],
            tallies_of(model["heads"]),
            *([each for row in model["results"] for each in measured_numbers(row[name])] for name in MEASURED),
        )
        for model in models
    ]
    written = dict(csv_files(ours, known_models(package)))
    assert {path.name for path in folder.iterdir()} == {*written}
    for name, text in written.items():
        assert text == (folder / name).read_text(encoding="utf-8"), (folder.name, name)
        held(
            "BFCL",
            "lines of the tables, byte by byte",
            "the harness, on made-up results of models in its list",
            len(ours),
        )


@pytest.mark.skipif(
    not (PUBLISHED / "data_overall.csv").is_file(), reason="FCALL_BFCL_TABLES names no folder of published tables"
)
def test_published_scores_come_out_of_the_published_categories(held: Held) -> None:
    tallies: dict[str, dict[str, tuple[int, int]]] = {}
    for part, columns in PLACES.items():
        for line in csv.DictReader((PUBLISHED / f"data_{part}.csv").read_text(encoding="utf-8").splitlines()):
            own = tallies.setdefault(line["Model"], {})
            for column, category in columns.items():
                if line[column] != "N/A":
                    size = SIZES.get(category, 200)
                    own[category] = round(float(line[column].removesuffix("%")) * size / 100), size
    written = dict(csv_files([ModelScores(model, own) for model, own in tallies.items()], KnownModels({})))
    for name, text in written.items():
        published = {
            line["Model"]: line for line in csv.DictReader((PUBLISHED / name).read_text(encoding="utf-8").splitlines())
        }
        ours = {line["Model"]: line for line in csv.DictReader(text.splitlines())}
        assert ours.keys() == published.keys()
        assert len(published) > 100
        for model, line in published.items():
            assert {column: ours[model][column] for column in line if column not in MEASURED_COLUMNS} == {
                column: cell for column, cell in line.items() if column not in MEASURED_COLUMNS
            }, (name, model)
            figures = len(line.keys() - MEASURED_COLUMNS)
            held("BFCL", "figures of the website, from those of categories", "the tables of April 2026", figures)


@pytest.mark.skipif(
    not (RESULTS / "score-BFCL/data.csv").is_file(), reason="FCALL_BFCL_RESULTS names no folder with score-BFCL"
)
def test_the_published_table_of_the_first_version_comes_out_of_its_score_files(held: Held) -> None:
    names = {category.first_name: name for name, category in CATEGORIES.items() if category.first_name}
    models = []
    for folder in sorted(path for path in (RESULTS / "score-BFCL").iterdir() if path.is_dir()):
        tallies = {}
        for path in folder.glob("*_score.json"):
            head = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
            tallies[names[path.name.removesuffix("_score.json")]] = head["correct_count"], head["total_count"]
        models.append(ModelScores(folder.name, tallies))
    (name, text), *others = csv_files(models, KnownModels({}))
    assert (name, others) == ("data.csv", [])
    published = [*csv.reader((RESULTS / "score-BFCL/data.csv").read_text(encoding="utf-8").splitlines())]
    ours = [*csv.reader(text.splitlines())]
    assert ours[0] == published[0]
    # The names are the makers': a line is known by its figures.
    assert sorted([line[1], *line[6:22]] for line in ours[1:]) == sorted(
        [each[1], *each[6:22]] for each in published[1:]
    )
    held("BFCL", "figures of version 1, from the score files", "the table of July 2024", 17 * len(models))
