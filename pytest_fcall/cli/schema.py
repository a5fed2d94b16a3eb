"""`fcall schema`: completion and checks for case files in an editor."""

from __future__ import annotations

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

from pytest_fcall.cases.editor import editor_schema

_EXAMPLES = """\
examples:
  fcall schema -o cases.schema.json                   write it to a file
  fcall schema --operator=iban -o cases.schema.json   with an operator that a conftest.py adds

Then make this the first line of a case file, with the path from there to the schema:
  # yaml-language-server: $schema=../cases.schema.json
"""


def run(arguments: Sequence[str]) -> int:
    """Print the schema, or write it to a file."""
    parser = _parser()
    options = parser.parse_args(arguments)
    text = json.dumps(editor_schema(options.operator, options.tool_source), indent=2, ensure_ascii=False) + "\n"
    if options.output is None:
        print(text, end="")
        return 0
    try:
        options.output.write_text(text, encoding="utf-8")
    except OSError as error:
        parser.error(f"cannot write {options.output}: {error.strerror}")
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall schema",
        description="Write the JSON Schema (draft 2020-12) of case files, which editors read.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to FILE (default: the screen)")
    parser.add_argument(
        "--operator", action="append", default=[], metavar="NAME", help="an operator of your own, without the dollar"
    )
    parser.add_argument(
        "--tool-source", action="append", default=[], metavar="NAME", help="a source of tools of your own"
    )
    return parser
