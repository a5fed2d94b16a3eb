"""`fcall schema`: the JSON Schema of case files, for completion and checks in an editor."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pytest_fcall.cases.editor import editor_schema
from pytest_fcall.cli.command_parser import command_parser

_EXAMPLES = """\
examples:
  fcall schema -o cases.schema.json                   write the schema to a file
  fcall schema --operator=iban -o cases.schema.json   include an operator that a conftest.py adds

Then make this the first line of a case file, with the path from there to the schema:
  # yaml-language-server: $schema=../cases.schema.json
"""


def run(arguments: Sequence[str]) -> int:
    """Print the schema, or write it to a file."""
    parser = command_parser("schema", "Write the JSON Schema (draft 2020-12) of case files, for editors.", _EXAMPLES)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to FILE (default: standard output)")
    parser.add_argument(
        "--operator", action="append", default=[], metavar="NAME", help="an operator of yours, without the dollar sign"
    )
    parser.add_argument(
        "--tool-source", action="append", default=[], metavar="NAME", help="a tool source of yours: a key under tools:"
    )
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
