"""The tables of the leaderboard's second and third version are those that the harness of that time wrote.

FCALL_GORILLA names a clone of Gorilla's repository, with its history.
"""

from __future__ import annotations

import ast
import csv
import os
import random
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_fcall.suites.bfcl.categories import GROUPS
from pytest_fcall.suites.bfcl.figures import version_figures
from tests.conformance.conftest import Held

GORILLA = Path(os.environ.get("FCALL_GORILLA") or "no-gorilla").absolute()
HARNESS = "berkeley-function-call-leaderboard"
VERSIONS = {
    "August 2024": ("30124c43", "eval_checker/eval_runner_helper.py", GROUPS["v2"]),
    "September 2024": (
        "70b6a4a2",
        "bfcl/eval_checker/eval_runner_helper.py",
        tuple(dict.fromkeys((*GROUPS["v2"], *GROUPS["v3"]))),
    ),
    "July 2025": ("a59b66c7", "bfcl_eval/eval_checker/eval_runner_helper.py", GROUPS["v3"]),
}
OLD_NAMES = {"simple_python": "simple", "simple_java": "java", "simple_javascript": "javascript"}
OURS = {
    "Overall Acc": "overall",
    "AST Summary": "ast_summary",
    "Exec Summary": "exec_summary",
    "Simple AST": "simple_ast",
    "Multiple AST": "multiple_ast",
    "Parallel Multiple AST": "parallel_multiple_ast",
    "Simple Exec": "simple_exec",
    "Multiple Exec": "multiple_exec",
    "Non-Live AST Acc": "ast_summary",
    "Non-Live Exec Acc": "exec_summary",
    "Non-Live Simple AST": "simple_ast",
    "Non-Live Parallel AST": "parallel_ast",
    "Non-Live Simple Exec": "simple_exec",
    "Live Acc": "live",
    "Multi Turn Acc": "multi_turn",
    "Relevance Detection": "relevance",
    "Irrelevance Detection": "irrelevance",
}

pytestmark = pytest.mark.skipif(not (GORILLA / ".git").exists(), reason="FCALL_GORILLA names no clone of Gorilla's")


@pytest.mark.parametrize("version", VERSIONS)
def test_random_tables_have_the_figures_of_the_harness(version: str, tmp_path: Path, held: Held) -> None:
    commit, path, categories = VERSIONS[version]
    names = harness(commit, path)
    chance = random.Random(version)  # noqa: S311  no secret
    for number in range(100):
        sizes = {name: chance.randint(5, 300) for name in categories}
        tallies = {name: (chance.randint(0, size), size) for name, size in sizes.items()}
        folder = tmp_path / str(number)
        folder.mkdir()
        official = overall_row(names, tallies, folder)
        ours = {figure.name: figure.share for figure in version_figures(tallies)}
        compared = [column for column in official if column in OURS]
        assert len(compared) >= 8
        assert {column: f"{(ours[OURS[column]] or 0) * 100:.2f}%" for column in compared} == {
            column: official[column] for column in compared
        }
        held("BFCL", "figures of versions 2 and 3", "the harness of their time, on made-up results", len(compared))


def harness(commit: str, path: str) -> dict[str, Any]:
    """The functions that write the tables; their modules ask for libraries of providers."""
    names: dict[str, Any] = {
        "MODEL_METADATA_MAPPING": {"m": ["m", "", "", ""]},
        "MODEL_CONFIG_MAPPING": {"m": SimpleNamespace(display_name="m", url="", org="", license="")},
        "get_cost_letency_info": lambda *_: ["N/A"] * 4,
        "get_cost_latency_info": lambda *_: ["N/A"] * 4,
        "print": lambda *_: None,
        "os": os,
        "Path": Path,
    }
    listed = git("ls-tree", "-r", "--name-only", commit, HARNESS).splitlines()
    for file in [f"{HARNESS}/{path}", *(each for each in listed if "constant" in each or "column_headers" in each)]:
        if file.endswith(".py"):
            run(git("show", f"{commit}:{file}"), names)
    return names


def run(source: str, names: dict[str, Any]) -> None:
    functions = {"generate_leaderboard_csv", "get_category_score", "write_score_csv_file"}
    for each in ast.parse(source).body:
        is_function = isinstance(each, ast.FunctionDef) and (each.name in functions or "accuracy" in each.name)
        is_header = isinstance(each, ast.Assign) and "COLUMNS" in ast.unparse(each.targets[0])
        if is_function or is_header:
            exec(compile(ast.Module([each], []), "harness", "exec"), names)  # noqa: S102  the original's own code


def git(*arguments: str) -> str:
    command = ["git", "-C", str(GORILLA), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout


def overall_row(names: Mapping[str, Any], tallies: Mapping[str, tuple[int, int]], folder: Path) -> Mapping[str, str]:
    scores = {
        OLD_NAMES.get(name, name): {"accuracy": right / size, "total_count": size, "display_accuracy": right / size}
        for name, (right, size) in tallies.items()
    }
    takes_path = "write_score_csv_file" in names
    names["generate_leaderboard_csv"]({"m": scores}, folder if takes_path else str(folder))
    (table,) = [*folder.glob("data_overall.csv"), *folder.glob("data_combined.csv")]
    header, row = csv.reader(table.read_text(encoding="utf-8").splitlines())
    return dict(zip(header, row, strict=True))
