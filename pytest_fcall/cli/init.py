"""`fcall init`: a folder of cases that is green at once."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from shlex import quote
from types import MappingProxyType

_FILES: Mapping[str, str] = MappingProxyType(
    {
        "cases/first.fc.yaml": "first.fc.yaml",
        "tools.py": "tools.py.txt",
        "agent.py": "agent.py.txt",
        "conftest.py": "conftest.py.txt",
        ".github/workflows/tool-calls.yml": "tool-calls.yml",
    }
)
"""What is written, and the template that it is written from."""

_EXAMPLES = """\
examples:
  fcall init              start in this folder
  fcall init evals        start in the folder evals
"""

_NEXT = """\
Next:
  {go}pytest
      run the cases; agent.py answers, so that no model and no key is needed
  {go}fcall lint
      check the case files without running them
  {go}pytest --fc-model=python:MODULE:FUNCTION
      let your own app answer; `pytest --help` shows the other models under fcall
"""


def run(arguments: Sequence[str]) -> int:
    """Write the files that do not exist yet, and say what to do next."""
    parser = _parser()
    given: str = parser.parse_args(arguments).folder
    folder = Path(given)
    try:
        written = {target: _write(folder / target, template) for target, template in _FILES.items()}
    except OSError as error:
        parser.error(f"cannot write {error.filename}: {error.strerror}")
    for target, new in written.items():
        print(f"{'wrote' if new else 'left alone, it exists already:'} {folder / target}")
    print("\n" + _NEXT.format(go="" if given == "." else f"cd {quote(given)} && "), end="")
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall init",
        description="Leave case files, a stand-in for an app and a CI workflow: a suite that is green at once.\n"
        "A file that exists already is left alone.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="where to start (default: this folder)")
    return parser


def _write(path: Path, template: str) -> bool:
    """Write a file unless it exists, also as a link that leads nowhere."""
    text = (files("pytest_fcall.cli") / "templates" / template).read_text(encoding="utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True
