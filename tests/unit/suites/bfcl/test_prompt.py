from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.cases.case import plan_request
from pytest_fcall.core import Case
from pytest_fcall.suites.bfcl.prompt import BfclPrompt
from pytest_fcall.suites.bfcl.suite import BfclSuite
from tests.bfcl_data import write_leaderboard

WORDS = """
import os
OUTPUT_FORMAT_MAPPING = {"python": "[f(x=1)]"}
PARAM_TYPE_MAPPING = {"python": ""}
PROMPT_STYLE_TEMPLATES = {"classic": {
    "persona": "Sailor. ", "task": "Sail.", "tool_call_no_tag": "As {output_format}!{param_types}",
    "multiturn_behavior": "On.", "available_tools": "In {format}: {functions}",
}}
_PLAINTEXT_SYSTEM_PROMPT_TEMPLATE = ("{persona}{task}\\n" "{tool_call_format}|{multiturn_behavior}|{available_tools}")
OTHER = os.environ
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "constants").mkdir()
    (tmp_path / "constants" / "default_prompts.py").write_text(WORDS)
    return write_leaderboard(tmp_path / "data")


def test_the_words_of_the_package_are_filled_with_the_documents(folder: Path) -> None:
    (system, user) = BfclPrompt(folder).messages_with_functions([{"role": "user", "content": "Hi"}], [{"name": "f"}])
    assert system["content"] == 'Sailor. Sail.\nAs [f(x=1)]!|On.|In json: [\n    {\n        "name": "f"\n    }\n]'
    assert user == {"role": "user", "content": "Hi"}


def test_braces_in_documents_are_left_alone(folder: Path) -> None:
    (system,) = BfclPrompt(folder).messages_with_functions([], [{"name": "{persona}{functions}"}])
    assert "{persona}{functions}" in str(system["content"])


def test_a_system_prompt_of_the_case_stands_below(folder: Path) -> None:
    (system,) = BfclPrompt(folder).messages_with_functions([{"role": "system", "content": "Be brief."}], [])
    assert str(system["content"]).endswith("In json: []\n\nBe brief.")


def test_a_prompted_case_is_sent_without_tools_and_read_by_its_language(folder: Path) -> None:
    (java,) = BfclSuite().prompted("simple_java", folder)
    assert isinstance(java, Case)
    assert plan_request(java).tools == ()
    assert java.decoder == "bfcl_java"
    assert '"type": "string"' in str(java.turns[0].messages[0]["content"])


def test_without_the_package_the_error_says_what_is_needed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"get constants/default_prompts\.py"):
        list(BfclSuite().prompted("simple_python", write_leaderboard(tmp_path / "data")))


def test_words_of_another_version_are_refused(folder: Path) -> None:
    (folder.parent / "constants" / "default_prompts.py").write_text("OUTPUT_FORMAT_MAPPING = {}")
    with pytest.raises(ValueError, match="not those of bfcl-eval 2026: no 'PROMPT_STYLE_TEMPLATES'"):
        BfclPrompt(folder)


def test_code_in_the_words_is_never_run(folder: Path) -> None:
    (folder.parent / "constants" / "default_prompts.py").write_text(WORDS + "raise SystemExit(1)\n")
    BfclPrompt(folder)
