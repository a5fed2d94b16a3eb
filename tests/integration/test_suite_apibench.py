from __future__ import annotations

import json

import pytest

from pytest_fcall.tracking.run_file import run_paths
from tests.by_night import by_night
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


def ask(hub: Shop, *options: str) -> pytest.RunResult:
    return hub.run("--fc-suite=apibench:torchhub", "--fc-suite-path=hub", "--fc-model=python:writer:right", *options)


def test_answers_are_judged_by_the_api_that_they_call(hub: Shop) -> None:
    hub.run("--fc-model=python:writer:right", "exam.fc.yaml").assert_outcomes(passed=2)


def test_a_failure_says_what_is_wrong_with_the_call(hub: Shop) -> None:
    result = hub.run("--fc-model=python:writer:wrong", "exam.fc.yaml")

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*`torch.hub.load('zoo/vision', 'hugenet')` is called; expected `torch.hub.load('zoo/vision', 'tinynet')`*",
            "*hallucination: `torch.hub.load('zoo/vision', 'hugenet')` is not in the API data base*",
        ]
    )


def test_a_suite_without_a_file_is_named_on_the_command_line(hub: Shop) -> None:
    assert ask(hub).parseoutcomes()["passed"] >= 1


@pytest.mark.parametrize(("app", "outcomes"), [by_night("right", {"passed": 1}), ("wrong", {"failed": 1})])
def test_an_imported_case_is_judged_alike(hub: Shop, app: str, outcomes: dict[str, int]) -> None:
    done = fcall(hub.pytester.path, "import", "apibench:torchhub", "--path", "hub", "--out", "taken")
    assert done.returncode == 0, done.stderr

    result = hub.run(f"--fc-model=python:writer:{app}", "taken/torchhub_Vision.fc.yaml")

    result.assert_outcomes(**outcomes)


RIGHT = [
    "python:writer:right *torchhub *domain_accuracy *1  1.0000",
    "*exact_accuracy *1  1.0000",
    "*hallucination *1  0.0000",
    "*wrong *1  0.0000",
    "*unparsable *1  0.0000",
]
WRONG = [
    "python:writer:wrong *torchhub *domain_accuracy *1  0.0000",
    "*exact_accuracy *1  0.0000",
    "*hallucination *1  1.0000",
]


def test_workers_and_shares_tell_what_kinds_of_answers_there_were(hub: Shop) -> None:
    gate = "--fc-gate=hallucination[python:writer:wrong]==1 and domain_accuracy[torchhub]>=0.5"
    both = ask(hub, "--fc-model=python:writer:wrong", gate, "-n2")
    assert both.ret == 0
    for told in (RIGHT, WRONG):  # in the order in which workers are done
        both.stdout.fnmatch_lines(told)
    ask(hub, "--fc-model=python:writer:wrong", gate, "--fc-shard=1/1")
    (share,) = (str(path) for path in run_paths(hub.pytester.path) if "of" in path.stem)
    merged = fcall(hub.pytester.path, "merge", share)
    assert merged.returncode == 0
    lines = [*RIGHT, *WRONG, "gate hallucination* holds", "gate domain* holds"]
    pytest.LineMatcher(merged.stdout.splitlines()).fnmatch_lines(lines)


def test_constraints_of_questions_choose_among_them(hub: Shop) -> None:
    row = {
        "code": "###Instruction: Find people with under 5 million parameters.",
        "api_call": "x",
        "api_data": DOCUMENT,
    }
    hub.file("hub/torchhub_api.jsonl", json.dumps({**DOCUMENT, "performance": {"Params (M)": 4.5}}))
    hub.file(
        "hub/torchhub_eval.json",
        "\n".join(json.dumps({**row, **other}) for other in ({}, {"code": "###Instruction: Go."})),
    )
    chosen = ask(hub, "-m", "parameter_count", "--fc-gate=accuracy[parameter_count]>=1", "--strict-markers")
    chosen.assert_outcomes(passed=1, deselected=1)
    assert chosen.ret == 0


def test_which_arguments_matter_stands_in_the_configuration(hub: Shop) -> None:
    hub.pytester.makeini("[pytest]\nfc_apibench_checked = torch.hub.load=repo_or_dir\n")
    ask(hub, "--fc-model=python:writer:wrong").assert_outcomes(passed=2)

    hub.pytester.makeini("[pytest]\nfc_apibench_checked = torch.hub.load=model\n")
    ask(hub, "--fc-model=python:writer:wrong").assert_outcomes(passed=1, failed=1)
    option = "--fc-apibench-checked=torch.hub.load=repo_or_dir"
    ask(hub, "--fc-model=python:writer:wrong", option).assert_outcomes(passed=2)

    hub.pytester.makeini("[pytest]\nfc_apibench_checked = torch.hub.load\n")
    result = ask(hub)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: fc_apibench_checked: expected API=NAMES, *got 'torch.hub.load'*"])
    hub.pytester.makeini("[pytest]\n")
    assert ask(hub, "--fc-apibench-checked=load").ret == pytest.ExitCode.USAGE_ERROR


def test_an_answer_by_the_old_document_is_told_apart(hub: Shop) -> None:
    hub.file("hub/torchhub_changes.jsonl", json.dumps({"was": "zoo/vision", "now": "park/vision"}))
    gate = "--fc-gate=outdated[torchhub_changed]==1 and hallucination==0"
    result = hub.run(
        "--fc-suite=apibench:torchhub_changed", "--fc-suite-path=hub", "--fc-model=python:writer:right", gate
    )
    result.stdout.fnmatch_lines(
        [
            "*outdated: `torch.hub.load('zoo/vision', 'tinynet')` is how the API was*expected *park/vision*",
            "gate *holds",
        ]
    )
    result.assert_outcomes(failed=1)
    listed = fcall(hub.pytester.path, "suites", "apibench", "--path", "hub")
    assert "torchhub_changed: questions with a document that has changed" in listed.stdout
