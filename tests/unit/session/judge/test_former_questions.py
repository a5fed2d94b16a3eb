from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.core import Json, Request, Tool
from pytest_fcall.reporting.account import Account, AccountAnswer, AskedStep, account_to_json
from pytest_fcall.session.judge.former_questions import FormerQuestions
from pytest_fcall.tracking.question_digests import question_digests
from pytest_fcall.tracking.run_accounts import (
    AccountWriter,
    ToolSetWriter,
    account_line,
    accounts_path,
    read_account_lines,
    tool_of_line,
)
from pytest_fcall.tracking.run_file import runs_folder


def asked(system: str) -> Request:
    return Request(({"role": "system", "content": system}, {"role": "user", "content": "Weather in Oslo?"}))


def digest_of(system: str) -> str:
    return question_digests(asked(system))["system"]


def keep_run(root: Path, number: int, *accounts: dict[str, Json]) -> Path:
    path = runs_folder(root) / f"20260101-00000{number}-aaaa.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}", "utf-8")
    writer = AccountWriter(accounts_path(path))
    for each in accounts:
        writer.add(account_line(each))
    writer.close()
    return accounts_path(path)


def account(system: str) -> dict[str, Json]:
    answer = AccountAnswer(valid=True, steps=(AskedStep(asked(system).messages),))
    return account_to_json(Account("cases/a.fc.yaml::one", (answer,)))


def test_a_prompt_of_any_run_that_is_kept_is_found_by_its_digest(tmp_path: Path) -> None:
    keep_run(tmp_path, 1, account("Be polite."))
    keep_run(tmp_path, 2, account("Be brief."), account("Be kind."))
    prompts = FormerQuestions(tmp_path)

    found = [prompts.find("system", digest_of(each)) for each in ("Be polite.", "Be brief.", "Be rude.", "Be kind.")]

    assert found == ["Be polite.", "Be brief.", None, "Be kind."]


def test_without_runs_none_is_found(tmp_path: Path) -> None:
    assert FormerQuestions(tmp_path).find("system", digest_of("Be brief.")) is None


@pytest.mark.parametrize(
    "damaged",
    [
        {},
        {"nodeid": "a", "answers": []},
        {"nodeid": "a", "answers": [{"valid": True, "reasons": [], "steps": []}]},
        {"nodeid": "a", "answers": [{"valid": True, "reasons": [], "steps": [{"messages": ["Be brief."]}]}]},
        {"nodeid": "a", "answers": [{"valid": True, "reasons": [], "steps": [{"messages": [{"role": ["system"]}]}]}]},
        {
            "nodeid": "a",
            "answers": [
                {"valid": True, "reasons": [], "steps": [{"messages": [{"role": "system", "content": float("nan")}]}]}
            ],
        },
    ],
)
def test_an_account_that_cannot_be_read_is_passed_over(tmp_path: Path, damaged: dict[str, Json]) -> None:
    keep_run(tmp_path, 1, account("Be brief."))
    keep_run(tmp_path, 2, damaged, account("Be kind."))
    prompts = FormerQuestions(tmp_path)

    assert [prompts.find("system", digest_of(each)) for each in ("Be kind.", "Be brief.")] == ["Be kind.", "Be brief."]


def test_a_file_that_breaks_off_gives_what_it_has(tmp_path: Path) -> None:
    keep_run(tmp_path, 1, account("Be brief."))
    path = keep_run(tmp_path, 2, account("Be kind."))
    path.write_bytes(path.read_bytes()[:-9])

    assert FormerQuestions(tmp_path).find("system", digest_of("Be brief.")) == "Be brief."


def test_a_tool_of_a_run_that_is_kept_is_found_by_its_digest(tmp_path: Path) -> None:
    _, lines = ToolSetWriter().name((Tool("find", "Finds.", {"type": "object"}),))
    path = keep_run(tmp_path, 1, *map(json.loads, lines), {"tool": {"name": "find"}}, {"tool": 5}, account("Be kind."))
    (digest,) = (tool.digest for line in read_account_lines(path) if (tool := tool_of_line(line)))
    questions = FormerQuestions(tmp_path)

    assert questions.find("tool:find", digest) == {"description": "Finds.", "parameters": {"type": "object"}}
    assert questions.find("tool:find", "0" * 16) is None
    assert questions.find("tool:book", digest) is None
    assert questions.find("system", digest_of("Be kind.")) == "Be kind."


def test_a_prompt_is_found_by_its_digest_and_a_long_one_is_not_kept(tmp_path: Path) -> None:
    def prompts(*texts: str) -> list[Request]:
        return [Request(({"role": "user", "content": text},)) for text in texts]

    short, long = prompts("Weather in Oslo?", "x" * 5_000)
    for request in (short, long):
        answer = AccountAnswer(valid=True, steps=(AskedStep(request.messages),))
        keep_run(tmp_path, 1 if request is short else 2, account_to_json(Account("a", (answer,))))
    questions = FormerQuestions(tmp_path)

    digests = [question_digests(request)["prompt"] for request in (short, long)]
    assert [questions.find("prompt", digest) for digest in digests] == ["Weather in Oslo?", None]
