"""Running `fcall` as people do: in a folder, as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def fcall(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return python(folder, "-m", "pytest_fcall.cli", *arguments, **environment)


def python(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV", "GITHUB"))}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=plain | {"PYTHONIOENCODING": "utf-8"} | environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
