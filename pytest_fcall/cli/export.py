"""`fcall export`: training pairs of a public benchmark, with the documents that a retriever finds."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_fcall.cases.suite import split_suite_name
from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.core.files import create_file
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.suites.apibench.prompt import training_pairs

_SUITE = "apibench"
_EXAMPLES = """\
examples:
  fcall export apibench:torchhub_oracle --path gorilla --out pairs.jsonl   with the document of the right API
  fcall export apibench:torchhub_bm25 --path gorilla --out pairs.jsonl     with the document that BM25 finds
  fcall export apibench:torchhub --path gorilla --out pairs.jsonl          without documents

Pairs are made of the questions for training, HUB_train.json, and never of those of the evaluation. They are rows of
that file, in whose `code` the document stands behind the instruction.

Exit codes: 0, all rows are written; 1, a row was left out.
"""


def run(arguments: Sequence[str]) -> int:
    """Write the pairs; 1 where a row is left out, or there is none."""
    parser = command_parser("export", "Write pairs for retriever-aware training, as JSON Lines.", _EXAMPLES)
    parser.add_argument("part", metavar="apibench:PART", help="a hub, with _bm25 or _oracle for documents")
    parser.add_argument("--path", type=Path, required=True, metavar="DIR", help="the folder of the data")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="a new file; none is overwritten")
    options = parser.parse_args(arguments)
    suite, parts = split_suite_name(options.part)
    if suite != _SUITE or len(parts) != 1 or not parts[0]:
        parser.error(f"{options.part!r} is no hub of {_SUITE}; write {_SUITE}:torchhub_bm25, or another hub")
    try:
        rows = list(training_pairs(parts[0], options.path))
        pairs = [row.data for row in rows if not row.fault]
        create_file(options.out, (f"{json.dumps(pair)}\n".encode() for pair in pairs))
    except FileExistsError:
        parser.error(f"{options.out} exists, and is not overwritten")
    except (ValueError, OSError) as error:
        parser.error(str(error))
    print(safe_line(f"{options.out}: {plural_text(len(pairs), 'pair')}"))
    for row in rows:
        if row.fault:
            print(safe_line(f"left out: {row.location.path}:{row.location.line}: {row.fault}"), file=sys.stderr)
    return 0 if pairs and len(pairs) == len(rows) else 1
