from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.cli.score.apibench import ApiBenchJudge
from pytest_fcall.core import Json
from pytest_fcall.suites.apibench.original_rule import install_command, original_parser_folder
from tests.integration.command import fcall

APIS: list[dict[str, Json]] = [
    {"domain": "Vision", "api_call": "torch.hub.load(repo_or_dir='zoo/vision', model='tinynet', pretrained=True)"},
    {"domain": "Vision", "api_call": "torch.hub.load(repo_or_dir='zoo/vision', model='bignet', pretrained=True)"},
    {"domain": "Speech", "api_call": "torch.hub.load(repo_or_dir='zoo/speech', model='listener', pretrained=True)"},
]
ROW: dict[str, Json] = {
    "hub": "torchhub",
    "setting": "mine_0_shot",
    "question_id": 1,
    "response": "'api_call': \"torch.hub.load('zoo/vision', 'bignet')\", 'api_provider': 'PyTorch'",
    "gold_api_call": APIS[0]["api_call"],
    "gold_domain": "Vision",
}
NAMED = {"hub": "torchhub", "setting": "mine_0_shot", "question_id": 1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "torchhub_api.jsonl").write_text("".join(f"{json.dumps(api)}\n" for api in APIS))
    write(tmp_path, ROW)
    return tmp_path


def write(folder: Path, *rows: dict[str, Json]) -> None:
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def score(folder: Path, *options: str) -> list[dict[str, Json]]:
    done = fcall(folder, "score", "--format", "apibench", "--api-db", ".", *options, "rows.jsonl")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_an_answer_is_judged_by_both_rules(folder: Path) -> None:
    write(folder, ROW, {**ROW, "response": str(ROW["response"]).replace("bignet", "tinynet")})
    assert score(folder) == [
        {**NAMED, "verdict": "correct", "strict_verdict": "correct", "strict_exact": False},
        {**NAMED, "verdict": "correct", "strict_verdict": "correct", "strict_exact": True},
    ]


def test_a_data_base_may_be_compressed(folder: Path) -> None:
    plain = folder / "torchhub_api.jsonl"
    (folder / "torchhub_api.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert score(folder)[0]["verdict"] == "correct"


def test_an_earlier_verdict_is_compared_and_never_looked_at(folder: Path) -> None:
    write(folder, {**ROW, "verdict": "wrong"})
    done = fcall(folder, "score", "--format", "apibench", "--api-db", ".", "--compare", "rows.jsonl")
    assert done.returncode == 1
    assert 'rows.jsonl:1: verdict is "correct", the row has "wrong"' in done.stderr


def test_the_arguments_by_which_apis_are_told_apart_can_be_chosen(folder: Path) -> None:
    assert score(folder, "--checked", "torch.hub.load=repo_or_dir")[0]["strict_exact"] is True


def test_totals_are_told_for_each_hub_and_setting(folder: Path) -> None:
    write(folder, ROW, ROW, ROW, {**ROW, "response": "Sorry."}, {**ROW, "setting": "other"})
    done = fcall(folder, "score", "--format", "apibench", "--api-db", ".", "--totals", "rows.jsonl")
    mark = "" if original_parser_folder() else " (not the original's parser)"
    assert (
        f"torchhub mine_0_shot: 4 rows, 75.00% correct{mark}, 0.00% hallucination{mark}, 25.00% wrong{mark}, "
        "0.00% exact by strict, 75.00% correct by strict, 0.00% wrong by strict, 0.00% hallucination by strict, "
        "25.00% unparsable by strict"
    ) in done.stderr
    assert f"torchhub other: 1 row, 100.00% correct{mark}" in done.stderr
    assert (install_command() in done.stderr) is bool(mark)


@pytest.mark.parametrize(("parser", "mark"), [(None, " (not the original's parser)"), ("here", "")])
def test_totals_that_depend_on_the_parser_say_that_it_is_lacking(folder: Path, parser: str | None, mark: str) -> None:
    facts = ApiBenchJudge(folder, folder / parser if parser else None, (), totals=True)
    rule = original_parser_folder() if parser else None
    if parser and rule is None:
        pytest.skip("the original's parser is not in this environment")
    judged = replace(facts, parser=rule).judge(ROW)
    assert judged.group_facts is not None
    assert [*judged.group_facts.facts][:4] == [
        *(f"{word}{mark}" for word in ("correct", "hallucination", "wrong")),
        "exact by strict",
    ]


def test_constraints_of_a_question_are_judged_beside_the_call(folder: Path) -> None:
    apis = [{**api, "performance": {"accuracy": accuracy}} for api, accuracy in zip(APIS, (70, 85, None), strict=True)]
    (folder / "torchhub_api.jsonl").write_text("".join(f"{json.dumps(api)}\n" for api in apis))
    asked: dict[str, Json] = {**ROW, "question": "At least 80% accuracy. Use this API documentation for reference: 99%"}
    said = str(ROW["response"])
    answers = (
        said,
        said.replace("bignet", "tinynet"),
        said.replace("vision', 'bignet", "speech', 'listener"),
        "Sorry.",
    )
    write(folder, ROW, *({**asked, "response": answer} for answer in answers))
    found = score(folder)
    assert [row.get("constraints") for row in found] == [None, "met", "unmet", "not judged", "unmet"]
    assert [row["strict_verdict"] for row in found[1:3]] == ["correct", "correct"]


def test_an_answer_by_a_former_document_is_outdated(folder: Path) -> None:
    new = {
        **ROW,
        "gold_api_call": str(ROW["gold_api_call"]).replace("zoo", "park"),
        "former_api_call": APIS[1]["api_call"],
    }
    write(
        folder, new, {**new, "response": str(ROW["response"]).replace("zoo/vision', 'bignet", "park/vision', 'tinynet")}
    )
    assert [(row["strict_verdict"], row["strict_exact"]) for row in score(folder)] == [
        ("outdated", False),
        ("correct", True),
    ]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({**ROW, "former_api_call": 1}, "`former_api_call` and `gold_api_call` must be calls as text"),
        ({**ROW, "former_api_call": ROW["gold_api_call"]}, "the change of a document changes nothing"),
        ({"hub": "torchhub"}, "needs `hub`, `response`, `gold_domain` and `gold_api_call`, all of them strings"),
        (
            {**ROW, "response": 1},
            "a row needs `hub`, `response`, `gold_domain` and `gold_api_call`, all of them strings",
        ),
        ({**ROW, "hub": "huggingface"}, "has no API database of the hub 'huggingface'"),
        ({**ROW, "hub": "../torchhub"}, "has no API database of the hub '../torchhub'"),
    ],
)
def test_a_row_that_cannot_be_judged_says_why(folder: Path, row: dict[str, Json], why: str) -> None:
    write(folder, row)
    done = fcall(folder, "score", "--format", "apibench", "--api-db", ".", "rows.jsonl")
    assert done.returncode == 1
    assert why in json.loads(done.stdout)["error"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--api-db", "nowhere"], "cannot read nowhere: not a folder"),
        (["--api-db", "empty"], "no torchhub_api.jsonl, tensorflowhub_api.jsonl, huggingface_api"),
        (["--api-db", "broken"], "torchhub_api.jsonl:2: `domain` and `api_call` must be strings"),
        (["--api-db", ".", "--parser", "empty"], "no parser in empty. Get it with: pip install --no-deps --target"),
        (["--api-db", ".", "--checked", "model"], "expected API=NAMES"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_judged(folder: Path, options: list[str], why: str) -> None:
    (folder / "empty").mkdir()
    (folder / "broken").mkdir()
    (folder / "broken" / "torchhub_api.jsonl").write_text(f'{json.dumps(APIS[0])}\n{{"domain": "Vision"}}\n')
    done = fcall(folder, "score", "--format", "apibench", *options, "rows.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
