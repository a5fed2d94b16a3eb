"""A copy of an example, as a newcomer makes one: in a folder of its own, with an environment of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.pages import ROOT, blocks_of, commands, first_missing

EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/pyproject.toml"))
WHEELS = os.environ.get("EXAMPLES")
"""The folder with the wheel of this checkout, which `make test-examples` builds."""
_OURS = re.compile(
    r"PYTEST|PYTHONPATH|VIRTUAL_ENV|COV|GITHUB|CI$|FC_|.*_(API_KEY|BASE_URL)$|(HTTPS?|ALL|NO)_PROXY$", re.IGNORECASE
)
_NOBODY = "http://127.0.0.1:1"
_OFFLINE = {"HTTPS_PROXY": _NOBODY, "HTTP_PROXY": _NOBODY, "ALL_PROXY": _NOBODY, "NO_PROXY": "127.0.0.1,localhost"}
"""A machine that reaches nobody: who leaves it all the same meets a port where nobody listens."""
_LEFT_OUT = shutil.ignore_patterns(".venv", ".fcall", "__pycache__", ".pytest_cache", "*.egg-info", "models")


class Copy:
    """The folder. Its README is followed word by word, and only pip may go to the network."""

    def __init__(self, example: Path, folder: Path) -> None:
        self.folder = Path(shutil.copytree(example, folder, ignore=_LEFT_OUT))
        self._page = example / "README.md"

    def follow(self) -> None:
        """Run the commands of the README. Each must print what the page shows under it, and succeed."""
        for block in blocks_of(self._page):
            for command, expected in commands(block) if block.info == "console" else ():
                done = self.run(command, online=command.startswith("pip "))
                told = f"{block.id}: $ {command}\n{done.stdout}"
                assert done.returncode == 0, told
                missing = first_missing(expected, done.stdout)
                assert missing is None, f"not printed: {missing}\n{told}"

    def run(self, command: str, *, online: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command of a shell in which the environment of the copy is active."""
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self._environment() | ({} if online else _OFFLINE),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=280,
            check=False,
        )

    @contextmanager
    def changed(self, file: str, old: str, new: str) -> Iterator[None]:
        """Have `new` where `old` stands in a file, as long as the `with` block lasts."""
        path = self.folder / file
        text = path.read_text("utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new), "utf-8")
        try:
            yield
        finally:
            path.write_text(text, "utf-8")

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not _OURS.match(name)}
        return kept | {
            "PATH": os.pathsep.join([str(self.folder / ".venv/bin"), kept.get("PATH", "")]),
            "PIP_FIND_LINKS": str(WHEELS),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "COLUMNS": "100",
            "NO_COLOR": "1",
        }
