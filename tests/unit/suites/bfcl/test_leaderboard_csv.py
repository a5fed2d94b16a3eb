"""The leaderboard's tables: what is not known, what is rounded, and names of models."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from pytest_fcall.suites.bfcl.known_models import GpuPrice, KnownModel, KnownModels, known_models
from pytest_fcall.suites.bfcl.leaderboard_csv import ModelScores, csv_files, latency_cells, measured_numbers
from pytest_fcall.suites.bfcl.result_files import category_of_file, model_of_file, with_current_id

LOCAL = KnownModel("Local", "link", "maker", "MIT", None, None)


def overall(model: ModelScores, known: KnownModels) -> dict[str, str]:
    text = dict(csv_files([model], known))["data_overall.csv"]
    (line,) = csv.DictReader(text.splitlines())
    return line


def test_time_is_the_cost_of_a_model_on_own_machines_and_an_unknown_model_has_none() -> None:
    model = ModelScores("local", {"irrelevance": (1, 1)}, seconds=[3600.0, 3600.0])
    known = KnownModels({"local": LOCAL}, GpuPrice(25.0, 10.0))
    assert overall(model, known)["Total Cost ($)"] == "5.0"
    assert overall(model, KnownModels({}, GpuPrice(25.0, 10.0)))["Total Cost ($)"] == "N/A"


def test_prices_without_counted_tokens_are_no_cost() -> None:
    known = KnownModels({"m": LOCAL._replace(input_price=1.0, output_price=2.0)}, GpuPrice(25.0, 10.0))
    assert overall(ModelScores("m", {}, seconds=[5.0]), known)["Total Cost ($)"] == "N/A"


@pytest.mark.parametrize(
    ("seconds", "cells"),
    [([], (None, None, None)), ([2.5], ("2.5", None, "2.5")), ([1, 2, 3], ("2", "1.0", "2.9"))],
)
def test_latencies_are_rounded_and_one_has_no_deviation(
    seconds: list[float], cells: tuple[str | None, str | None, str | None]
) -> None:
    assert latency_cells(seconds) == cells


def test_what_was_measured_of_turns_counts_one_by_one_and_what_is_no_number_does_not() -> None:
    assert measured_numbers([[1, 0], [2.5]]) == [1, 2.5]
    assert measured_numbers(3) == [3]
    for other in ([1, 2], [], None, "2", [["2"]], float("nan"), float("inf"), 0):
        assert measured_numbers(other) == []


def test_models_in_the_package_are_read_without_running_it(tmp_path: Path) -> None:
    (tmp_path / "constants").mkdir()
    (tmp_path / "constants/model_config.py").write_text(
        'raise SystemExit\nmodels = {"a/b": ModelConfig(display_name="B", url="u", input_price=1), 5: 6, **others}\n'
    )
    (tmp_path / "constants/eval_config.py").write_text(
        "H100_X8_PRICE_PER_HOUR = 24\nLOCAL_SERVER_MAX_CONCURRENT_REQUEST = 100\nROOT = Path()\n"
    )
    known = known_models(tmp_path)
    assert known.get("a_b") == known.get("a/b") == KnownModel("B", "u", "N/A", "N/A", 1.0, None)
    assert known.gpu_price == GpuPrice(24.0, 100.0)


@pytest.mark.parametrize("content", ["", "models = {", "\0", "x" * 3])
def test_a_package_that_cannot_be_read_knows_no_model(tmp_path: Path, content: str) -> None:
    (tmp_path / "constants").mkdir()
    (tmp_path / "constants/model_config.py").write_text(content)
    assert known_models(tmp_path) == KnownModels({}, None)


@pytest.mark.parametrize(
    ("file", "model"),
    [
        ("result/m/non_live/BFCL_v4_multiple_result.json", "m"),
        ("m/agentic/memory/rec_sum/BFCL_v4_memory_rec_sum_result.json.gz", "m"),
        ("m/gorilla_openfunctions_v1_test_simple_result.json", "m"),
        ("answers/m.jsonl.gz", "m"),
        ("m.json", "m"),
        ("-", "stdin"),
    ],
)
def test_a_file_says_whose_answers_it_has(file: str, model: str) -> None:
    assert model_of_file(file) == model


def test_rows_of_the_first_version_get_the_ids_of_today() -> None:
    category = category_of_file("m/gorilla_openfunctions_v1_test_executable_simple_result.json")
    assert category == "exec_simple"
    assert category_of_file("m/BFCL_v4_simple_python_result.json") == ""
    assert with_current_id({"idx": 3, "result": ""}, category)["id"] == "exec_simple_3"
    assert with_current_id({"id": "relevance_3", "result": ""}, "")["id"] == "irrelevance_3"
    others: list[dict[str, Json]] = [
        {"id": "live_relevance_3", "result": ""},
        {"id": "simple_3", "raw": ""},
        {"idx": 3, "result": ""},
    ]
    for row in others:
        assert with_current_id(row, "") == row
