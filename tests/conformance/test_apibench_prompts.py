"""Prompts of APIBench are those of Gorilla's own script, byte for byte.

The script and the questions are in Gorilla's repository, of which FCALL_GORILLA names a folder.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.core import Case
from pytest_fcall.suites.apibench.prompt import SCRIPT, SETTINGS
from pytest_fcall.suites.apibench.suite import ApiBenchSuite
from tests.conformance.conftest import Held

GORILLA = Path(os.environ.get("FCALL_GORILLA") or "no-gorilla").absolute()
NAMES = {"torchhub": "torchhub", "tensorflowhub": "tensorhub", "huggingface": "huggingface"}

pytestmark = pytest.mark.skipif(not (GORILLA / SCRIPT).is_file(), reason="FCALL_GORILLA names no folder of Gorilla's")


@pytest.mark.parametrize("hub", NAMES)
@pytest.mark.parametrize("setting", ["0_shot", *SETTINGS])
def test_every_prompt_is_that_of_the_script(hub: str, setting: str, held: Held) -> None:
    encode = original_function()
    part = hub if setting == "0_shot" else f"{hub}_{setting}"
    cases = [case for case in ApiBenchSuite().cases(part, GORILLA) if isinstance(case, Case)]
    questions = GORILLA / f"gorilla/eval/eval-data/questions/{hub}/questions_{hub}_{setting}.jsonl"
    asked = [json.loads(line)["text"] for line in questions.read_text(encoding="utf-8").splitlines()]
    assert [[*case.turns[0].messages] for case in cases] == [encode(text, NAMES[hub]) for text in asked]
    assert {case.proposed_settings["temperature"] for case in cases} == {0}
    held("APIBench", "messages of a request", "the original script", len(cases))


def original_function() -> Callable[[str, str], list[Any]]:
    """The function itself; its module asks for libraries of providers."""
    module = ast.parse((GORILLA / SCRIPT).read_text(encoding="utf-8"))
    body: list[ast.stmt] = [
        each for each in module.body if isinstance(each, ast.FunctionDef) and each.name == "encode_question"
    ]
    names: dict[str, Any] = {}
    exec(compile(ast.Module(body, []), SCRIPT, "exec"), names)  # noqa: S102  the original's own code
    found: Callable[[str, str], list[Any]] = names["encode_question"]
    return found
