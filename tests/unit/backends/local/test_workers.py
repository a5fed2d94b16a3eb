"""Whole runs of pytest, whose workers share one process."""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path

import pytest

from tests.unit.backends.local.asking import ENGINES, Watched
from tests.unit.backends.local.engines import TELL

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="processes are watched as Linux has it")

CONFTEST = f'''
from pytest_fcall.backends.local.backend import LocalBackend
from pytest_fcall.backends.local.process_data import ProcessSpec

class Parrot(LocalBackend):
    def check(self):
        """A parrot has no weights that may be missing."""

def parrot(model, root):
    spec = ProcessSpec("{ENGINES}:parrot", {{"loaded": str(root / "loaded")}})
    return Parrot(model, spec, {{}}, root / "processes")

def pytest_fcall_backends(config):
    return {{"parrot": parrot}}
'''
TOOLS = "tools: [{name: get_weather, parameters: {type: object, properties: {city: {type: string}}}}]"
CASE = """
  - id: {0}
    prompt: '{1}'
    expect: [{{get_weather: {{city: {0}}}}}]
"""
RUN = ("-p", "no:cacheprovider", "--fc-model=parrot:any", "--fc-record=off", "-n", "2")


def write_cases(path: Path, *prompts: str) -> None:
    (path / "conftest.py").write_text(CONFTEST)
    cases = "".join(CASE.format(f"town{number}", prompt) for number, prompt in enumerate(prompts))
    (path / "weather.fc.yaml").write_text(f"{TOOLS}\ncases:{cases}")


def test_one_process_answers_a_whole_run_and_ends_with_it(pytester: pytest.Pytester) -> None:
    calls = [f'[{{"name": "get_weather", "arguments": {{"city": "town{number}"}}}}]' for number in range(12)]
    write_cases(pytester.path, *calls)
    pytester.runpytest_subprocess(*RUN).assert_outcomes(passed=12)
    [pid] = (pytester.path / "loaded").read_text("ascii").split()
    assert Watched(int(pid)).ends()


def test_it_ends_when_the_controller_is_killed_in_the_middle(pytester: pytest.Pytester) -> None:
    fifo = pytester.path / "fifo"
    os.mkfifo(fifo)
    write_cases(pytester.path, *[f"{TELL}{fifo}"] * 2)
    told = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    with pytester.popen([sys.executable, "-m", "pytest", *RUN]) as controller:
        assert select.select([told], [], [], 60)[0]
        watched = Watched(int(os.read(told, 20)))
        os.close(told)
        controller.kill()
        assert watched.ends()


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("?grammar=tools", "local:smollm2[?]grammar=tools"),
        ("?grammar=off", "local:smollm2"),
        ("?grammar=x", "local:smollm2"),
    ],
)
def test_a_run_says_first_whether_a_grammar_holds(pytester: pytest.Pytester, query: str, shown: str) -> None:
    result = pytester.runpytest("--collect-only", f"--fc-model=local:smollm2{query}")
    result.stdout.fnmatch_lines([f"fcall: {shown} (command line)*"])
