"""The published prompt is read from the script that has it; its words here are of our making."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.suites.apibench.prompt import PublishedPrompt, published_prompt

SCRIPT = '''
import openai

def encode_question(question, api_name):
    """Encode."""
    prompts = []
    if api_name == "torchhub":
        domains = "1. {Vision, \\
        Speech}"
    elif api_name == "tensorhub":
        domains = "2."
    prompt = question + "\\nCall " + api_name + ".\\n" + domains
    prompts.append({"role": "system", "content": "You help."})
    prompts.append({"role": "user", "content": prompt})
    return prompts
'''


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "gorilla" / "eval" / "get_llm_responses.py"
    path.parent.mkdir(parents=True)
    path.write_text(SCRIPT, encoding="utf-8")
    return path


@pytest.mark.parametrize("folder", [".", "gorilla", "gorilla/eval", "gorilla/eval/eval-data"])
def test_the_script_is_found_from_each_folder_of_the_data(script: Path, tmp_path: Path, folder: str) -> None:
    (tmp_path / "gorilla" / "eval" / "eval-data").mkdir()
    prompt = published_prompt("torchhub", tmp_path / folder)
    assert prompt is not None
    assert prompt.messages(" Hear.", "torchhub") == (
        {"role": "system", "content": "You help."},
        {"role": "user", "content": " Hear.\nCall torchhub.\n1. {Vision,         Speech}"},
    )


def test_a_hub_has_the_name_that_the_script_knows(script: Path) -> None:
    assert PublishedPrompt(script).messages("?", "tensorflowhub")[1]["content"] == "?\nCall tensorhub.\n2."


def test_a_hub_of_ones_own_has_no_published_prompt(script: Path) -> None:
    assert published_prompt("zoo", script.parent) is None


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("encode_question", "encode", "it has no function encode_question"),
        ("prompts = []", "prompts = list()", "is not as it was published: line 6"),
        ("prompts = []", "import os", "is not as it was published: line 6"),
        ("question + ", "unknown + ", "is not as it was published: 'unknown'"),
        (
            "prompts = []",
            "prompts = question" + "\n    prompts = prompts + prompts" * 60,
            "is not as it was published: line 30",
        ),
        ("def ", "def def ", "invalid syntax"),
    ],
)
def test_another_script_is_refused(script: Path, old: str, new: str, fault: str) -> None:
    script.write_text(SCRIPT.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=fault):
        PublishedPrompt(script).messages("?", "torchhub")
