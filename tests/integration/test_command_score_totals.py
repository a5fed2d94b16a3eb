"""`fcall score --totals` and `--csv`: what stored answers come to, as tables of the suite."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from tests.bfcl_data import SAIL, question, truth, write_category, write_leaderboard, write_rows
from tests.integration.command import fcall

MODELS = """
models = {
    "shop/sailor-FC": ModelConfig(
        model_name="sailor", display_name="Sailor (FC)", url="https://sea.example", org="Shop", license="MIT",
        model_handler=SailorHandler, input_price=2, output_price=10,
    ),
}
"""


def said(port: str, number: int) -> Json:
    return {
        "id": f"simple_python_{number}",
        "result": [{"sail": json.dumps({"port": port})}],
        "latency": 2.5 + number,
        "input_token_count": 100_000,
        "output_token_count": 10_000,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_leaderboard(tmp_path / "bfcl_eval/data")
    (tmp_path / "bfcl_eval/constants").mkdir()
    (tmp_path / "bfcl_eval/constants/model_config.py").write_text(MODELS, encoding="utf-8")
    results = tmp_path / "result/shop_sailor-FC/non_live/BFCL_v4_simple_python_result.json"
    write_rows(results, [said(port, number) for number, port in enumerate(("Oslo", "Bergen", "Paris"))])  # type: ignore[misc]
    return tmp_path


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_the_categories_and_scores_of_each_model_are_printed_at_the_end(folder: Path) -> None:
    write_rows(
        folder / "other.jsonl", [{"category": "irrelevance", "id": "irrelevance_0", "style": "prompt", "raw": "No."}]
    )
    done = fcall(
        folder,
        *("score", "--format", "bfcl", "--cases", "bfcl_eval", "--totals", "other.jsonl"),
        "result/shop_sailor-FC/non_live/BFCL_v4_simple_python_result.json",
    )
    assert done.returncode == 0
    assert lines(done.stderr) == [
        ["other", "answers", "right", "accuracy"],
        ["irrelevance", "1", "1", "100.00", "%"],
        ["overall", "(not", "asked:", "wrong)", "5.00", "%"],
        ["shop_sailor-FC", "answers", "right", "accuracy"],
        ["simple_python", "3", "of", "4", "2", "66.67", "%"],
        ["overall", "(not", "asked:", "wrong)", "0.56", "%"],
    ]


def test_the_tables_are_written_as_the_harness_writes_them(folder: Path) -> None:
    done = fcall(
        folder,
        *("score", "--format", "bfcl", "--cases", "bfcl_eval", "--csv", "score", "-j", "2", "result"),
    )
    names = ["overall", "non_live", "live", "multi_turn", "agentic", "format_sensitivity"]
    assert done.stderr.splitlines()[-6:] == [str(Path("score") / f"data_{name}.csv") for name in names]
    text = (folder / "score/data_overall.csv").read_text(encoding="utf-8")
    columns, line = csv.reader(text.splitlines())
    assert (len(columns), text.endswith("\n")) == (36, False)
    told = dict(zip(columns, line, strict=True))
    assert told["Model"] == "Sailor (FC)"
    assert (told["Model Link"], told["Organization"], told["License"]) == ("https://sea.example", "Shop", "MIT")
    assert told["Total Cost ($)"] == "0.9"
    assert [told[f"Latency {name} (s)"] for name in ("Mean", "Standard Deviation", "95th Percentile")] == [
        "3.5",
        "1.0",
        "4.4",
    ]
    assert (told["Overall Acc"], told["Live Acc"], told["Live Simple AST"]) == ("0.56%", "0.00%", "N/A")


def test_a_row_that_cannot_be_judged_counts_as_wrong(folder: Path) -> None:
    write_rows(
        folder / "rows.jsonl", [{"id": "simple_python_0", "result": 5}, {"id": "simple_python_77", "result": ""}]
    )
    told = ("--cases", "bfcl_eval", "--csv", "t.csv", "--model", "m")
    done = fcall(folder, "score", "--format", "bfcl", *told, "rows.jsonl")
    assert done.returncode == 1
    assert ["simple_python", "2", "of", "4", "0", "0.00", "%"] in lines(done.stderr)
    assert (folder / "t.csv").read_text(encoding="utf-8").splitlines()[1].startswith("1,0.00%,m,N/A,N/A,")


def test_results_of_the_first_version_have_its_names_and_its_table(tmp_path: Path) -> None:
    write_category(
        tmp_path / "data",
        "simple_python",
        [question(f"simple_python_{n}", "Sail.", SAIL) for n in range(2)],
        [truth(f"simple_python_{n}", {"sail": {"port": ["Oslo"], "crew": [""]}}) for n in range(2)],
    )
    retired = tmp_path / "data/unused_datasets"
    write_rows(retired / "question/BFCL_v4_exec_simple.json", [question("exec_simple_0", "Sail.", SAIL)])
    write_rows(
        retired / "possible_answer/BFCL_v4_exec_simple.json",
        [{"id": "exec_simple_0", "ground_truth": ["sail(port='Oslo')"], "execution_result_type": ["exact_match"]}],
    )
    call: Json = [{"sail": '{"port": "Oslo"}'}]
    stem = "result/sailor/gorilla_openfunctions_v1_test_"
    write_rows(tmp_path / f"{stem}simple_result.json", [{"idx": 0, "result": call}, {"id": "simple_1", "result": []}])
    write_rows(tmp_path / f"{stem}executable_simple_result.json", [{"idx": 0, "result": call}])
    names = [f"{stem}simple_result.json", f"{stem}executable_simple_result.json"]
    done = fcall(tmp_path, "score", "--format", "bfcl", "--cases", "data", "--csv", "out", *names)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["id"], row["valid"]) for row in rows] == [
        ("simple_python_0", True),
        ("simple_python_1", False),
        ("exec_simple_0", True),
    ]
    (table,) = (tmp_path / "out").iterdir()
    assert table.name == "data.csv"
    (line,) = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
    assert (line["Overall Acc"], line["Python Simple Function AST"]) == ("66.67%", "50.00%")
    assert (line["Simple Function Exec"], line["Exec Summary"], line["Relevance Detection"]) == (
        "100.00%",
        "25.00%",
        "0.00%",
    )


def test_tasks_of_toolbench_have_the_means_of_their_scores(tmp_path: Path) -> None:
    steps = {"task": "virtual_home", "case": "lamp", "labels": ["Agent.Find(floor_lamp)\nAgent.SwitchOn(floor_lamp)"]}
    write_rows(
        tmp_path / "rows.jsonl",
        [{**steps, "prediction": "Agent.Find(floor_lamp)"}, {**steps, "prediction": "Agent.Eat(x)"}],
    )
    done = fcall(tmp_path, "score", "--format", "toolbench", "--csv", "totals.csv", "rows.jsonl")
    assert lines(done.stderr)[1] == ["virtual_home", "2", "50.00", "%", "25.00", "%", "50.00", "%"]
    (line,) = csv.DictReader((tmp_path / "totals.csv").read_text(encoding="utf-8").splitlines())
    assert (line["task"], line["executability"], line["success"], line["lcs(executable)"]) == (
        *("virtual_home", "50.00 %", "", "50.00 %"),
    )


def test_a_folder_without_rows_is_named(folder: Path) -> None:
    done = fcall(folder, "score", "--format", "bfcl", "--cases", "bfcl_eval", "bfcl_eval/constants")
    assert done.returncode == 2
    assert "bfcl_eval/constants is a folder without files that end in _result.json" in done.stderr


def test_a_folder_that_cannot_be_written_to_is_found_before_anything_is_judged(folder: Path) -> None:
    (folder / "score").write_text("")
    done = fcall(folder, "score", "--format", "bfcl", "--cases", "bfcl_eval", "--csv", "score/x", "-")
    assert done.returncode == 2
    assert "--csv" in done.stderr
