"""`fcall init`: a first set of cases that passes at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from shlex import quote
from types import MappingProxyType

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.core.files import create_file

_TEMPLATES: Mapping[str, str] = MappingProxyType(
    {
        "cases/first.fc.yaml": "first.fc.yaml",
        "tools.py": "tools.py.txt",
        "agent.py": "agent.py.txt",
        "conftest.py": "conftest.py.txt",
        ".github/workflows/tool-calls.yml": "tool-calls.yml",
    }
)
"""Each file that is written, and its template."""

_EXAMPLES = """\
examples:
  fcall init              create the files in this folder
  fcall init evals        create them in the folder evals
"""

_NEXT_STEPS = """\
Next:
  {go}pytest
      run the cases; agent.py answers them, so no model and no key is needed
  {go}fcall lint
      check the case files without running them
  {go}pytest --fc-model=python:MODULE:FUNCTION
      test your own app; `pytest --help` lists other models under fcall
"""


def run(arguments: Sequence[str]) -> int:
    """Write the files that do not exist yet, and print the next steps."""
    parser = command_parser(
        "init",
        "Create a first set of cases that passes at once: a case file with its tools, a stand-in for your app and\n"
        "a CI workflow. Existing files are not changed.",
        _EXAMPLES,
    )
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="the folder (default: this folder)")
    name: str = parser.parse_args(arguments).folder
    folder = Path(name)
    try:
        written = {target: _write(folder / target, template) for target, template in _TEMPLATES.items()}
    except OSError as error:
        parser.error(f"cannot write {error.filename}: {error.strerror}")
    for target, new in written.items():
        print(f"{'wrote' if new else 'exists already, not changed:'} {folder / target}")
    print("\n" + _NEXT_STEPS.format(go="" if name == "." else f"cd {quote(name)} && "), end="")
    return 0


def _write(path: Path, template: str) -> bool:
    """Write a file unless the path exists, even as a broken link."""
    text = (files("pytest_fcall.cli") / "templates" / template).read_text(encoding="utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        create_file(path, [text.encode()])
    except FileExistsError:
        return False
    return True
