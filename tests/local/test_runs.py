"""Whole runs of pytest on a model of this machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CASES = """\
tools: [{name: get_weather, parameters: {type: object, properties: {city: {enum: [Oslo, Rome]}}, required: [city]}}]
cases:
"""
CASE = "  - {{id: question{0}, prompt: 'Will it rain, {0}?', expect: any_call}}\n"


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """Twelve cases."""
    (pytester.path / "weather.fc.yaml").write_text(CASES + "".join(map(CASE.format, range(12))))
    return pytester


def test_all_workers_are_answered_by_one_process(project: pytest.Pytester, tiny: Path) -> None:
    result = project.runpytest_subprocess(f"--fc-model=local:{tiny}?grammar=tools&max_new_tokens=40", "-n", "2", "-v")
    text = result.stdout.str()
    assert re.search(r"1[0-2]/12 right|12 passed", text), text
    [figures] = [line for line in text.splitlines() if "tokens a second" in line]
    assert re.fullmatch(
        rf"local:{tiny}: [\d,]+ tokens a second, batches \d+ % full, \d\.\d GB at most, loaded in \d+\.\d s", figures
    )


def test_a_model_that_is_not_there_is_one_error(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess("--fc-model=local:nowhere")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*the weights of nowhere are not on this machine*"])
