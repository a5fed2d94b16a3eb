"""How long it takes from an empty folder to a first green run, here and elsewhere: `python -m benchmarks.first_run`.

Each program is installed by the command of its documentation into a fresh environment, and judges one answer: a call of
`get_weather` with `city: Oslo`, by a stand-in for a model, so that no key is needed. What its packages weigh is counted
as `du` does, with compiled modules and without pip.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.environments import ROOT

_SCRIPT = """
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected

call = {"name": "get_weather", "arguments": {"city": "Oslo"}}
dataset = Dataset(name="weather", cases=[Case(inputs="Oslo?", expected_output=call)], evaluators=[EqualsExpected()])
report = dataset.evaluate_sync(lambda question: call)
assert report.averages().assertions == 1
"""
_DEEPEVAL = """
from deepeval import assert_test
from deepeval.metrics import ToolCorrectnessMetric
from deepeval.test_case import LLMTestCase, ToolCall

def test_weather():
    called = [ToolCall(name="get_weather", input_parameters={"city": "Oslo"})]
    case = LLMTestCase(input="Oslo?", actual_output="", tools_called=called, expected_tools=called)
    assert_test(case, [ToolCorrectnessMetric()])
"""
_CALLS = '[{"tool": "get_weather", "args": {"city": "Oslo"}}]'
_PROMPTFOO = """
prompts: ['{"name": "get_weather", "arguments": {"city": "Oslo"}}']
providers: [echo]
tests:
  - assert:
      - type: javascript
        value: "JSON.parse(output).arguments.city === 'Oslo'"
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A program, and the least that somebody writes to see it green."""

    package: str
    commands: Sequence[Sequence[str]]
    files: dict[str, str] = field(default_factory=dict)
    by_npm: bool = False


PROGRAMS = {
    "pytest-fcall": Program("pytest-fcall", [["fcall", "init"], ["pytest"]]),
    "promptfoo": Program(
        "promptfoo", [["npx", "promptfoo", "eval", "--no-cache"]], {"promptfooconfig.yaml": _PROMPTFOO}, by_npm=True
    ),
    "deepeval": Program("deepeval", [["deepeval", "test", "run", "test_weather.py"]], {"test_weather.py": _DEEPEVAL}),
    "Toolscore": Program(
        "tool-scorer", [["toolscore", "eval", "gold.json", "trace.json"]], {"gold.json": _CALLS, "trace.json": _CALLS}
    ),
    "EvalView": Program("evalview", [["evalview", "demo"]]),
    "pydantic-evals": Program("pydantic-evals", [["python", "weather.py"]], {"weather.py": _SCRIPT}),
}


def first_run(name: str, folder: Path) -> None:
    """Install a program, run it once, and print its row."""
    program, environment = PROGRAMS[name], folder / "venv"
    variables = dict(os.environ, PATH=f"{environment}/bin:{os.environ['PATH']}", OPENAI_API_KEY="none")
    variables |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "PROMPTFOO_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
    for variable in ("CI", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH"):
        variables.pop(variable, None)
    for file, text in program.files.items():
        (folder / file).write_text(text, "utf-8")
    wanted = _wheel(folder) if program.package == "pytest-fcall" else program.package
    install = [["npm", "install", "--silent", "--no-audit", "--no-fund", wanted]]
    if not program.by_npm:
        install = [[sys.executable, "-m", "venv", str(environment)], ["python", "-m", "pip", "install", "-q", wanted]]
    seconds = [_seconds(commands, folder, variables) for commands in (install, program.commands)]
    packages, weight, version = _of_npm(folder, wanted) if program.by_npm else _of_pip(environment, program.package)
    lines = sum(text.strip().count("\n") + 1 for text in program.files.values())
    commands = len(install) + len(program.commands)
    figures = f"{seconds[0]:.0f} | {seconds[1]:.1f} | {commands} | {lines} | {packages} | {weight / 1e6:.0f}"
    print(f"| {name} {version} | {figures} |", flush=True)


def _seconds(commands: Sequence[Sequence[str]], folder: Path, variables: dict[str, str]) -> float:
    begun = time.perf_counter()
    for command in commands:
        done = subprocess.run(
            command,
            cwd=folder,
            env=variables,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-3000:]}")
    return time.perf_counter() - begun


def _wheel(folder: Path) -> str:
    built = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", f"--wheel-dir={folder}", str(ROOT)]
    subprocess.run(built, check=True)
    return str(next(folder.glob("*.whl")))


def _of_pip(environment: Path, package: str) -> tuple[int, int, str]:
    python = str(environment / "bin/python")
    listed = subprocess.run([python, "-m", "pip", "freeze"], check=True, stdout=subprocess.PIPE, text=True).stdout
    shown = [python, "-c", f"import importlib.metadata as m; print(m.version({package!r}))"]
    version = subprocess.run(shown, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    (packages,) = environment.glob("lib/python3*/site-packages")
    own = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence")
    brought = [path for path in packages.iterdir() if not path.name.startswith(own)]
    return len(listed.splitlines()), sum(map(_weight, brought)), version


def _of_npm(folder: Path, package: str) -> tuple[int, int, str]:
    modules = folder / "node_modules"
    listed = subprocess.run(
        ["npm", "ls", "--all", "--parseable"], cwd=folder, check=False, stdout=subprocess.PIPE, text=True
    )
    shown = ["node", "-p", f"require('./node_modules/{package}/package.json').version"]
    version = subprocess.run(shown, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return len(set(listed.stdout.splitlines()[1:])), _weight(modules), version


def _weight(path: Path) -> int:
    return sum(each.lstat().st_blocks * 512 for each in (path, *path.rglob("*")))


def main() -> None:
    """Measure those of the command line, by default all."""
    print("| program | install, s | run, s | commands | lines | packages | MB |\n|---|---|---|---|---|---|---|")
    for name in sys.argv[1:] or PROGRAMS:
        with TemporaryDirectory() as folder:
            first_run(name, Path(folder))


if __name__ == "__main__":
    main()
