"""`fcall schema`: the JSON Schema of case files, for completion and checks in an editor, and that of run files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pytest_fcall.cases.editor.case_file import editor_schema
from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.session.result.run_schema import run_schema

_EXAMPLES = """\
examples:
  fcall schema -o cases.schema.json                   write the schema to a file
  fcall schema --operator=iban -o cases.schema.json   include an operator that a conftest.py adds
  fcall schema run -o run-file.schema.json            what reads run files can check them by it

Make this the first line of a case file, with the path from there to the schema:
  # yaml-language-server: $schema=../cases.schema.json
"""


def run(arguments: Sequence[str]) -> int:
    """Print the schema, or write it to a file."""
    parser = command_parser("schema", "Write the JSON Schema (draft 2020-12) of case files or of run files.", _EXAMPLES)
    parser.add_argument(
        "files",
        nargs="?",
        choices=("cases", "run"),
        default="cases",
        help="`cases`: case files, for editors (default); `run`: the files of runs in .fcall/runs",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to FILE (default: standard output)")
    parser.add_argument(
        "--operator", action="append", default=[], metavar="NAME", help="an operator of yours, without the dollar sign"
    )
    parser.add_argument(
        "--tool-source", action="append", default=[], metavar="NAME", help="a tool source of yours: a key under tools:"
    )
    parser.add_argument(
        "--relation", action="append", default=[], metavar="NAME", help="a relation of yours: a name under variants:"
    )
    options = parser.parse_args(arguments)
    added = options.operator, options.tool_source, options.relation
    if options.files == "run" and any(added):
        parser.error("--operator, --tool-source and --relation are for case files")
    schema = run_schema() if options.files == "run" else editor_schema(*added)
    text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    if options.output is None:
        print(text, end="")
        return 0
    try:
        options.output.write_text(text, encoding="utf-8")
    except OSError as error:
        parser.error(f"cannot write {options.output}: {error.strerror}")
    return 0
