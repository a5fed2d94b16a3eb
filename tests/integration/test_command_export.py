from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.command import fcall_here

APIS = [
    {"domain": "Vision", "api_call": "load('tiny')", "description": "finds people there"},
    {"domain": "Speech", "api_call": "load('ear')", "description": "hears voices there"},
    {"domain": "Text", "api_call": "load('pen')", "description": "writes words there"},
]


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    rows(tmp_path / "torchhub_api.jsonl", *APIS)
    evaluation = {"code": "###Instruction: Secret.", "api_call": "load('ear')", "api_data": APIS[1]}
    rows(tmp_path / "torchhub_eval.json", evaluation)
    asked = {"api_call": "load('ear')", "provider": "P", "api_data": APIS[1]}
    rows(
        tmp_path / "torchhub_train.json",
        {"code": "###Instruction: Find people\n###Output: <<<api_call>>>: load('ear')", **asked},
        {"code": "{'Instruction': Hear voices, 'Output': {'api_call': 'load'}}", **asked},
    )
    return tmp_path


def rows(path: Path, *records: object) -> None:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))


def pairs(hub: Path, part: str) -> list[str]:
    out = hub / f"{part}.jsonl"
    done = fcall_here(hub, "export", f"apibench:{part}", "--path", ".", "--out", out.name)
    assert (done.returncode, done.stdout) == (0, f"{out.name}: 2 pairs\n"), done.stderr
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert all(row["api_data"] == APIS[1] and row["provider"] == "P" for row in found)
    assert "Secret" not in out.read_text()
    return [row["code"] for row in found]


def test_the_document_stands_between_the_question_and_its_answer(hub: Path) -> None:
    said = "Use this API documentation for reference:"
    assert pairs(hub, "torchhub_bm25") == [
        f"###Instruction: Find people \n {said} {APIS[0]}\n###Output: <<<api_call>>>: load('ear')",
        f"{{'Instruction': Hear voices \n {said} {APIS[1]}, 'Output': {{'api_call': 'load'}}}}",
    ]
    assert [f"{said} {APIS[1]}" in pair for pair in pairs(hub, "torchhub_oracle")] == [True, True]
    assert not any(said in pair for pair in pairs(hub, "torchhub"))


def test_a_row_that_is_no_pair_is_named_and_left_out(hub: Path) -> None:
    good = (hub / "torchhub_train.json").read_text()
    (hub / "torchhub_train.json").write_text(
        good + '{"code": "Do it."}\n{"code": "###Instruction: a ###Output: b"}\n[]\n'
    )
    done = fcall_here(hub, "export", "apibench:torchhub", "--path", ".", "--out", "pairs.jsonl")
    assert (done.returncode, done.stdout) == (1, "pairs.jsonl: 2 pairs\n")
    assert done.stderr.splitlines() == [
        "left out: torchhub_train.json:3: `code` must be a text with an instruction and an output",
        "left out: torchhub_train.json:4: `domain` and `api_call` must be strings",
        "left out: torchhub_train.json:5: expected a JSON object, got list",
    ]


@pytest.mark.parametrize(
    ("part", "out", "why"),
    [
        ("bfcl:live", "new.jsonl", "'bfcl:live' is no hub of apibench; write apibench:torchhub_bm25"),
        ("apibench:", "new.jsonl", "'apibench:' is no hub of apibench"),
        ("apibench:nohub", "new.jsonl", "no nohub_api.jsonl in ."),
        ("apibench:torchhub_gpt_index", "new.jsonl", "no questions of torchhub with documents by embeddings"),
        ("apibench:torchhub", "torchhub_train.json", "torchhub_train.json exists, and is not overwritten"),
    ],
)
def test_what_cannot_be_written_is_said(hub: Path, part: str, out: str, why: str) -> None:
    done = fcall_here(hub, "export", part, "--path", ".", "--out", out)
    assert done.returncode == 2
    assert why in done.stderr


def test_questions_of_the_evaluation_are_no_training(hub: Path) -> None:
    (hub / "torchhub_train.json").unlink()
    done = fcall_here(hub, "export", "apibench:torchhub", "--path", ".", "--out", "pairs.jsonl")
    assert done.returncode == 2
    assert "no questions of torchhub for training in ." in done.stderr
    assert not (hub / "pairs.jsonl").exists()
