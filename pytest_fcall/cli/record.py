"""`fcall record`: what happens to recorded replies between runs."""

from __future__ import annotations

import time
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Sequence
from contextlib import closing

from pytest_fcall.backends.store import ReplyStore, StoreError, store_path
from pytest_fcall.cli.project import existing_paths
from pytest_fcall.cli.recorded import Records
from pytest_fcall.cli.recorded_files import export_replies, import_replies
from pytest_fcall.cli.recorded_store import prune, show
from pytest_fcall.core.age import age_in_seconds

_HELP = """\
examples:
  fcall record --export                 write the replies of the last runs to files for version control
  fcall record --export cases/shop.fc.yaml
  fcall record --import                 take the replies in such files into the store
  fcall record --prune                  forget what the last run of its case did not use
  fcall record --prune --older 30d      forget what no run has used for 30 days
  fcall record --stats                  what is kept, and how old it is

Replies are recorded by a run that asks a model: pytest --fc-model=KIND:NAME. They are kept in .fcall/replies.db below
the root folder. The files lie in __fcall__/MODEL/ beside the case file; commit them, and a run elsewhere needs no key.
"""


def run(arguments: Sequence[str]) -> int:
    """Do one thing with the replies; 1 where something is damaged, or could not be written."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.older is not None and options.action != "prune":
        parser.error("--older belongs to --prune")
    if options.paths and options.action not in ("export", "import"):
        parser.error(f"--{options.action} takes no PATH: it is about all replies")
    records = Records.of(existing_paths(parser, options.paths))
    with closing(ReplyStore(store_path(records.root))) as store:
        try:
            match options.action:
                case "export":
                    export_replies(store, records)
                case "import":
                    import_replies(store, records)
                case "prune":
                    prune(store, records, None if options.older is None else time.time() - options.older)
                case _:
                    show(store, records)
        except StoreError as error:
            records.problem(str(error))
        for fault in store.faults:
            records.problem(fault.message)
    return records.status


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall record",
        description="Carry recorded replies to version control and back, or forget old ones. No model is asked.",
        epilog=_HELP,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    actions = parser.add_mutually_exclusive_group(required=True)
    for name, does in (
        ("export", "write files for version control"),
        ("import", "read such files into the store"),
        ("prune", "forget what is not used any more"),
        ("stats", "show what is kept"),
    ):
        actions.add_argument(f"--{name}", dest="action", action="store_const", const=name, help=does)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: this folder)")
    parser.add_argument(
        "--older", type=_age, metavar="AGE", help="with --prune: only what no run has used for so long, such as 30d"
    )
    return parser


def _age(text: str) -> int:
    try:
        return age_in_seconds(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
