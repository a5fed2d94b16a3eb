"""`fcall score --format api_blend`: stored answers are scored as those of a run."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pytest_fcall.core import Json
from tests.integration.command import fcall, run_pytest

ASKED = [
    {"input": "A room", "output": "FindHotel(city = Oslo, Norway ; stars = 4)"},
    {"input": "A taxi", "output": "GetRide(to = Oslo)"},
]
TOOLS: Json = {"query": "Weather?", "api_list": [{"tool_name": "a", "api_name": "b"}], "relevant APIs": [["a", "b"]]}
ANSWERS = {
    "seq_sgd_1": "FindHotel(city = Oslo ; stars = 4)",
    "seq_sgd_2": "GetRide(to = Oslo)",
    "toolllm_g1_1": "a.c()",
}
APP = """
import json
from dataclasses import replace
from pathlib import Path

SAID = json.loads(Path("said.json").read_text(encoding="utf-8"))


def pytest_fcall_request(case, request):
    return replace(request, settings={"case": case.id})


def answer(request):
    return SAID[request.settings["case"]]
"""


def write(path: Path, *rows: Json) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def write_sets(folder: Path) -> None:
    write(folder / "sets" / "seq_sgd.jsonl", *ASKED)
    write(folder / "sets" / "toolllm_g1.jsonl", TOOLS)
    write(folder / "answers.jsonl", *[{"case": id_, "answer": said} for id_, said in ANSWERS.items()])


def score(folder: Path, *options: str) -> tuple[list[dict[str, Json]], list[str], int]:
    done = fcall(folder, "score", "--format", "api_blend", "--data", "sets", *options, "answers.jsonl")
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.splitlines(), done.returncode


def test_answers_are_scored_and_slots_that_miss_by_notation_alone_count_in_a_second_figure(tmp_path: Path) -> None:
    write_sets(tmp_path)
    (first, second, third), _, status = score(tmp_path)
    assert status == 0
    assert first == {
        "case": "seq_sgd_1",
        "valid": False,
        "api_f1": 1.0,
        "parameter_f1": 0.5,
        "near_parameter_f1": 1.0,
        "lcs_f1": 1.0,
    }
    assert second["valid"] is True
    assert (third["api_f1"], third["parameter_f1"], third["lcs_f1"]) == (0.0, None, 0.0)


def test_totals_are_those_of_a_run_in_and_out_of_domain(tmp_path: Path) -> None:
    write_sets(tmp_path)
    (tmp_path / "said.json").write_text(json.dumps(ANSWERS), encoding="utf-8")
    (tmp_path / "conftest.py").write_text(APP, encoding="utf-8")
    _, told, _ = score(tmp_path, "--totals")
    shares = {row[0]: row[2:] for row in (re.split(r"  +", line) for line in told)}
    run = run_pytest(
        tmp_path, "--fc-suite=api_blend", "--fc-suite-path=sets", "--fc-model=python:conftest:answer"
    ).stdout
    for group, figure in (("all", "weighted"), ("in domain", "in_domain"), ("out of domain", "out_of_domain")):
        for place, name in ((0, "api_f1"), (1, "parameter_f1"), (3, "lcs_f1")):
            assert re.search(rf"^{figure}_{name} +{re.escape(shares[group][place])}$", run, re.MULTILINE), (run, told)
    assert shares["out of domain"] == ["0.00 %", "-", "-", "0.00 %"]


def test_a_row_of_no_case_is_told_and_the_others_are_scored(tmp_path: Path) -> None:
    write_sets(tmp_path)
    write(
        tmp_path / "answers.jsonl",
        {"case": "seq_sgd_3shot@7_1", "answer": None},
        {"case": "x", "answer": ""},
        {"case": 1},
    )
    (first, second, third), _, status = score(tmp_path)
    assert status == 1
    assert first["api_f1"] == 0
    assert "no case 'x'; cases are called as in a run" in str(second["error"])
    assert "a row needs `case` and `answer`" in str(third["error"])


def test_a_folder_without_data_sets_is_told(tmp_path: Path) -> None:
    write(tmp_path / "answers.jsonl", {})
    _, told, status = score(tmp_path)
    assert status == 2
    assert "no data set of API-BLEND in sets" in told[-1]
