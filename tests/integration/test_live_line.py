"""What people see on a terminal while they wait. A real one: pytest writes into a pseudo-terminal."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.servers import Answer, Asked, Server, echo

pty = pytest.importorskip("pty", reason="no pseudo-terminals here")

CASES = """\
cases:
  - {id: a, prompt: Hello, expect: no_call}
  - {id: b, prompt: Hi, expect: no_call}
"""


def slowly(asked: Asked) -> Answer:
    return replace(echo(asked), latency=1.0)


def test_a_line_below_says_how_the_asking_goes_and_is_gone_afterwards(
    pytester: pytest.Pytester, forked_programs: Path
) -> None:
    pytester.makefile(".fc.yaml", talk=CASES)
    with Server(slowly) as server:
        shown = on_a_terminal(forked_programs / "pytest", f"--fc-model=openai:exam?base_url={server.url}")
    assert "\x1b[2K2 in flight, 0 of 2 done\x1b[A" in shown
    assert "\x1b[2K\x1b[A" in shown[shown.rindex("in flight") :]
    assert "2 passed" in shown


def test_elsewhere_there_is_none(pytester: pytest.Pytester) -> None:
    pytester.makefile(".fc.yaml", talk=CASES)
    with Server(slowly) as server:
        run = pytester.runpytest_subprocess(f"--fc-model=openai:exam?base_url={server.url}")
    run.assert_outcomes(passed=2)
    run.stdout.no_fnmatch_line("*in flight*")


def on_a_terminal(program: Path, *arguments: str) -> str:
    """Run it, and give all that it writes to its terminal."""
    screen, terminal = os.openpty()
    with subprocess.Popen([program, *arguments], stdin=terminal, stdout=terminal, stderr=terminal) as running:
        os.close(terminal)
        said = b""
        try:
            while chunk := os.read(screen, 65536):
                said += chunk
        except OSError:  # how a terminal ends whose last user is gone
            pass
        os.close(screen)
        assert running.wait() == 0
    return said.decode()
