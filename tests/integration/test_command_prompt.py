"""`fcall prompt`: what a model would be told for a case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.command import fcall_here

TOOLS = """\
tools:
  - name: jira.search
    description: Find issues.
    parameters: {type: object, properties: {text: {type: string}}, required: [text]}
"""
CASES = (
    TOOLS
    + """\
cases:
  - id: find
    system: You search.
    prompt: Find "ü".
    settings: {temperature: 0}
    expect: [{jira.search: {text: ü}}]
  - id: faulty
    prompt: Find it.
    expect: [{jira.serch: {text: it}}]
"""
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "cases.fc.yaml").write_text(CASES, encoding="utf-8")
    ini = ("filterwarnings = error", "addopts = -n 2")
    (tmp_path / "pytest.ini").write_text("\n".join(["[pytest]", *ini, ""]), encoding="utf-8")
    return tmp_path


def test_an_api_is_sent_this_json_and_what_is_changed_is_noted(project: Path) -> None:
    done = fcall_here(project, "prompt", "cases.fc.yaml::find", "--fc-model=openai:gpt-5.2?seed=7")
    assert done.returncode == 0, done.stderr
    sent = json.loads(done.stdout)
    assert sent["messages"] == [
        {"role": "system", "content": "You search."},
        {"role": "user", "content": 'Find "ü".'},
    ]
    assert sent["tools"][0]["function"]["name"] == "jira_search"
    assert (sent["model"], sent["temperature"], sent["seed"]) == ("gpt-5.2", 0, 7)
    assert "note: " in done.stderr
    assert "jira_search" in done.stderr


@pytest.mark.parametrize("model", ["any:anthropic/claude", "python:app:answer"])
def test_other_kinds_show_what_they_hand_over(project: Path, model: str) -> None:
    done = fcall_here(project, "prompt", "cases.fc.yaml::find", f"--fc-model={model}")
    assert json.loads(done.stdout)["messages"][1]["content"] == 'Find "ü".'


def test_a_local_model_is_told_this_text(project: Path) -> None:
    done = fcall_here(project, "prompt", "cases.fc.yaml::find", "--fc-model=local:smollm2")
    assert done.stdout.startswith("<|im_start|>system\nYou search.\n")
    assert "jira.search(text): Find issues.<|im_end|>\n" in done.stdout
    assert done.stdout.endswith('<|im_start|>user\nFind "ü".<|im_end|>\n<|im_start|>assistant\n')


def test_the_model_of_the_configuration_is_meant_where_none_is_named(project: Path) -> None:
    with (project / "pytest.ini").open("a") as ini:
        ini.write("fc_model = openai:configured\n")
    done = fcall_here(project, "prompt", "cases.fc.yaml::find")
    assert json.loads(done.stdout)["model"] == "configured"


def test_hooks_of_a_conftest_have_their_part_in_it(project: Path) -> None:
    (project / "conftest.py").write_text(
        "from dataclasses import replace\n\n\n"
        "def pytest_fcall_request(request):\n"
        "    print('printed by a conftest file')\n"
        "    return replace(request, messages=request.messages[1:])\n"
    )
    done = fcall_here(project, "prompt", "cases.fc.yaml::find", "--fc-model=openai:gpt-5.2")
    assert len(json.loads(done.stdout)["messages"]) == 1


@pytest.mark.parametrize(
    ("case", "models", "status", "told"),
    [
        ("cases.fc.yaml::fnd", ["openai:x"], 1, "no case 'fnd'; did you mean `find`?"),
        ("cases.fc.yaml::zebra", ["openai:x"], 1, "no case 'zebra'; available: find, faulty"),
        ("cases.fc.yaml::faulty", ["openai:x"], 1, "jira.serch"),
        ("cases.fc.yaml::find", [], 1, "no model is named"),
        ("cases.fc.yaml::find", ["openai:x", "openai:y"], 1, "choose one of find[openai:x], find[openai:y]"),
        ("cases.fc.yaml::find", ["pigeon:post"], 2, "there is no model of kind 'pigeon'; the kinds are "),
        ("cases.fc.yaml::find", ["openai:x?tmperature=1"], 1, "`tmperature` is not a setting"),
        ("cases.fc.yaml::find", ["local:no/such"], 1, "the weights of no/such are not on this machine"),
        ("cases.fc.yaml::find", ["nothing"], 2, "'nothing' is not the name of a model"),
        ("cases.fc.yaml", ["openai:x"], 2, "write FILE::ID"),
        ("absent.fc.yaml::find", ["openai:x"], 2, "no such file: absent.fc.yaml"),
        ("broken.fc.yaml::find", ["openai:x"], 1, "broken.fc.yaml:"),
        ("notes.txt::find", ["openai:x"], 1, "notes.txt"),
    ],
)
def test_why_there_is_no_prompt_is_told(project: Path, case: str, models: list[str], status: int, told: str) -> None:
    (project / "broken.fc.yaml").write_text("cases: [")
    (project / "notes.txt").write_text("x")
    done = fcall_here(project, "prompt", case, *[f"--fc-model={model}" for model in models])
    assert (done.returncode, done.stdout) == (status, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_the_model_of_a_fixture_is_not_offered_where_no_test_runs(project: Path) -> None:
    (project / "conftest.py").write_text("import pytest\n@pytest.fixture\ndef fc_model(): return 'openai:x'\n")
    done = fcall_here(project, "prompt", "cases.fc.yaml::find")
    assert done.returncode == 1
    assert "no model is named, and that of a fixture `fc_model` is there in tests only. Name one\n" in done.stderr
    assert "conftest.py" not in done.stderr


def test_one_of_several_models_is_chosen_by_the_name_of_the_test(project: Path) -> None:
    models = ["--fc-model=openai:x", "--fc-model=openai:y"]
    done = fcall_here(project, "prompt", "cases.fc.yaml::find[openai:y]", *models)
    assert json.loads(done.stdout)["model"] == "y"
