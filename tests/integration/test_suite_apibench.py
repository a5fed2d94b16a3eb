from __future__ import annotations

import json

import pytest

from tests.integration.command import fcall
from tests.integration.conftest import Shop

DOCUMENT = {"domain": "Vision", "api_call": "torch.hub.load(repo_or_dir='zoo/vision', model='tinynet')"}
FILE = """
suite: apibench:torchhub
path: hub
cases:
  - id: own
    prompt: Find people in pictures.
    answer: {$api_call: "torch.hub.load('zoo/vision', 'tinynet')"}
"""
APP = """
def right(request):
    return "<<<api_call>>>: torch.hub.load('zoo/vision', 'tinynet'), <<<api_provider>>>: PyTorch"


def wrong(request):
    return "<<<api_call>>>: torch.hub.load('zoo/vision', 'hugenet'), <<<api_provider>>>: PyTorch"
"""


@pytest.fixture
def hub(shop: Shop) -> Shop:
    shop.file("exam.fc.yaml", FILE)
    shop.file("writer.py", APP)
    shop.file("hub/torchhub_api.jsonl", json.dumps(DOCUMENT))
    row = {"code": "###Instruction: Find people.\n###Output: x", "api_call": DOCUMENT["api_call"], "api_data": DOCUMENT}
    shop.file("hub/torchhub_eval.json", json.dumps(row))
    return shop


def test_answers_are_judged_by_the_api_that_they_call(hub: Shop) -> None:
    hub.run("--fc-model=python:writer:right", "exam.fc.yaml").assert_outcomes(passed=2)


def test_a_failure_says_what_is_wrong_with_the_call(hub: Shop) -> None:
    result = hub.run("--fc-model=python:writer:wrong", "exam.fc.yaml")

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*`torch.hub.load('zoo/vision', 'hugenet')` is called, expected `torch.hub.load('zoo/vision', 'tinynet')`*",
            "*hallucination: `torch.hub.load('zoo/vision', 'hugenet')` is no API of the data base*",
        ]
    )


def test_a_suite_without_a_file_is_named_on_the_command_line(hub: Shop) -> None:
    result = hub.run("--fc-model=python:writer:right", "--fc-suite=apibench:torchhub", "--fc-suite-path=hub")

    assert result.parseoutcomes()["passed"] >= 1


@pytest.mark.parametrize(("app", "outcomes"), [("right", {"passed": 1}), ("wrong", {"failed": 1})])
def test_an_imported_case_is_judged_alike(hub: Shop, app: str, outcomes: dict[str, int]) -> None:
    done = fcall(hub.pytester.path, "import", "apibench:torchhub", "--path", "hub", "--out", "taken")
    assert done.returncode == 0, done.stderr

    result = hub.run(f"--fc-model=python:writer:{app}", "taken/torchhub_Vision.fc.yaml")

    result.assert_outcomes(**outcomes)
