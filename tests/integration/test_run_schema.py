"""What runs write is what the published schema of run files says, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.tracking.run_file import run_paths
from tests.integration.command import fcall
from tests.integration.conftest import Shop
from tests.integration.exam import Exam, called
from tests.integration.mind import RIGHT, WRONG, Mind
from tests.run_schema import faults_of_run
from tests.servers import Server

APP = """
import json, os, urllib.request


def answer(request):
    # An app that asks a model, and does not listen to it.
    body = json.dumps({"model": "exam-1", "messages": request.messages}).encode()
    headers = {"Authorization": "Bearer x", "Content-Type": "application/json"}
    asked = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
    with urllib.request.urlopen(asked) as reply:
        json.load(reply)
    return json.loads(request.messages[-1]["content"])
"""

CASES = f"""
cases:
  - {{id: right, tags: [a], prompt: '{called("Oslo")}', expect: [{{get_weather: {{city: Oslo}}}}]}}
  - {{id: sampled, samples: 2, prompt: Hello!, expect: [{{get_weather: {{city: Oslo}}}}]}}
  - {{id: known, xfail: not yet, prompt: Hello!, expect: [{{get_weather: {{city: Oslo}}}}]}}
  - {{id: left, skip: not today, prompt: Hello!, expect: no_call}}
  - {{id: faulty, prompt: Hello!, expect: [{{get_wether: {{}}}}]}}
  - id: turns
    stubs: {{get_weather: Sunny.}}
    turns:
      - {{user: '{called("Oslo")}', expect: [{{get_weather: {{city: Oslo}}}}]}}
      - {{user: Thanks., expect: no_call}}
"""


def valid(folder: Path) -> list[dict[str, object]]:
    """The results of the runs in a folder, all of which have the fields of the schema and no others."""
    results: list[dict[str, object]] = []
    for path in run_paths(folder):
        assert faults_of_run(path) == []
        results += json.loads(path.read_bytes())["results"]["results"]
    assert results
    return results


def test_a_run_of_all_sorts_of_cases(exam: Exam) -> None:
    exam.shop.pytester.makepyprojecttoml('[tool.fcall.prices."openai:exam"]\ninput = 25\noutput = 50\n')
    exam.shop.cases(CASES, "exam.fc.yaml")
    exam.run("--fc-gate=accuracy>=0.9", "--fc-report=report.json")
    statuses = [str(each["status"]) for each in valid(exam.path)]
    assert sorted(statuses) == ["error", "failed", "passed", "passed", "skipped", "xfailed"]
    assert faults_of_run(exam.path / "report.json") == []


def test_a_run_without_replies(exam: Exam) -> None:
    exam.cities("Oslo")
    exam.run("--fc-replay")
    assert [each["no_reply"] for each in valid(exam.path)] == [True]


def test_a_run_in_which_cases_regressed_and_were_fixed(mind: Mind) -> None:
    mind.cases("worse", "better")
    mind.says({"worse": RIGHT, "better": WRONG})
    mind.run("--fc-accept=all")
    mind.says({"worse": WRONG, "better": RIGHT})
    mind.run()
    assert {"regressed", "fixed"} <= {each["outcome"] for each in valid(mind.path)}


def test_a_run_of_an_app_that_asks_models(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    shop.file("conftest.py", APP)
    shop.file("mind.py", APP)
    shop.cases(f"cases:\n  - {{id: oslo, prompt: '{called('Oslo')}', expect: [{{get_weather: {{city: Oslo}}}}]}}\n")
    shop.run("--fc-model=python:mind:answer")
    (result,) = valid(shop.pytester.path)
    assert result["inside"]


@pytest.mark.nightly  # written as any run
def test_shards_and_what_they_are_merged_to(weather: Shop) -> None:
    for shard in ("1/2", "2/2"):
        weather.ask(f"--fc-shard={shard}")
    shards = run_paths(weather.pytester.path)
    valid(weather.pytester.path)
    fcall(weather.pytester.path, "merge", *map(str, shards), "-o", "merged.json")
    assert faults_of_run(weather.pytester.path / "merged.json") == []


def test_a_run_that_was_broken_off(weather: Shop) -> None:
    weather.ask("-x")
    valid(weather.pytester.path)
    assert json.loads(run_paths(weather.pytester.path)[0].read_bytes())["broken_off"] is True


def test_a_field_that_the_schema_does_not_name_is_found(weather: Shop) -> None:
    weather.ask()
    (path,) = run_paths(weather.pytester.path)
    run = json.loads(path.read_bytes())
    run["results"]["results"][0]["colour"] = run["mood"] = "red"
    path.write_text(json.dumps(run), encoding="utf-8")
    assert len(faults_of_run(path)) == 2
