"""Case files that an editor is in the middle of saving when a run ends: the run is kept, and reported."""

from __future__ import annotations

import pytest

from pytest_fcall.tracking.run_file import run_paths
from tests.integration.conftest import Shop

APP = """
from pathlib import Path


def answer(request):
    if request.messages[-1]["content"] == "last":
        change(Path("cases/weather.fc.yaml"))
    return "hello"


def change(path):
    {change}
"""
HALF_SAVED = "path.write_text(path.read_text('utf-8') + '  - id: [half', encoding='utf-8')"


def cases(shop: Shop, *ids: str) -> None:
    lines = "".join(f"  - {{id: {each}, prompt: {each}, expect: no_call}}\n" for each in ids)
    shop.cases(f"cases:\n{lines}")


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["here", "worker"])
@pytest.mark.parametrize("change", [HALF_SAVED, "path.unlink()"], ids=["half saved", "gone"])
def test_a_file_that_cannot_be_read_at_the_end_moves_nothing(shop: Shop, change: str, workers: list[str]) -> None:
    model = "--fc-model=python:saving:answer"
    shop.file("saving.py", APP.format(change="pass"))
    cases(shop, "first", "gone", "last")
    shop.run(model, "--fc-accept").assert_outcomes(passed=3)
    before = len(run_paths(shop.pytester.path))
    shop.file("saving.py", APP.format(change=change))
    cases(shop, "first", "new", "last")
    result = shop.pytester.runpytest_subprocess("-p", "no:cacheprovider", model, "--fc-report=report.md", *workers)
    result.assert_outcomes(passed=3)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["fcall: python:saving:answer 3/3 right*"])
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    assert len(run_paths(shop.pytester.path)) == before + 1
    assert (shop.pytester.path / "report.md").is_file()
