"""A run of pytest that leaves nothing but what it imported, compiled and remembered, for all that is forked later."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest

from tests.suite_tools import WITHOUT_TOOLS

_APP = "first_run_app"
_ANSWERS = """
def answer(request):
    return [{"name": "get_weather", "arguments": {"city": request.messages[-1]["content"]}}]
"""
_CASES = """
tools: [{name: get_weather, parameters: {type: object, properties: {city: {type: string}}, required: [city]}}]
cases:
  - {id: right, prompt: Paris, expect: [{get_weather: {city: Paris}}]}
  - {id: wrong, prompt: Paris, expect: [{get_weather: {city: Rome}}]}
"""
_ARGUMENTS = ("-q", "-p", "no:faulthandler", "--capture=sys", "--color=no", f"--fc-model=python:{_APP}:answer")


def run_once() -> None:
    """Run a case that passes and one that fails, in a project that is gone afterwards. Raises RuntimeError."""
    before = {*threading.enumerate()}
    with _project(), redirect_stdout(StringIO()) as output, redirect_stderr(output):
        pytest.main([*_ARGUMENTS])
    if "1 failed, 1 passed" not in output.getvalue():
        raise RuntimeError(f"the first run should have one right answer and a wrong one:\n{output.getvalue()}")
    if left := {*threading.enumerate()} - before:
        raise RuntimeError(f"a process with threads cannot be forked: {left}")


@contextmanager
def _project() -> Iterator[None]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        Path(folder, f"{_APP}.py").write_text(_ANSWERS, "utf-8")
        Path(folder, "first_run.fc.yaml").write_text(_CASES, "utf-8")
        stack.enter_context(chdir(folder))
        stack.enter_context(patch.dict(os.environ, variables | {"PYTEST_ADDOPTS": WITHOUT_TOOLS}, clear=True))
        stack.enter_context(patch.object(sys, "path", [folder, *sys.path]))
        stack.enter_context(patch.object(sys, "meta_path", [*sys.meta_path]))
        stack.enter_context(patch.object(sys, "dont_write_bytecode", True))
        stack.callback(sys.modules.pop, _APP, None)
        yield
