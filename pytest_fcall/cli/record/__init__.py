"""`fcall record`: recorded replies: moved into files and back, and made elsewhere by a plan of requests."""

from __future__ import annotations

from argparse import ArgumentError, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.project import existing_paths
from pytest_fcall.core.duration import duration_in_seconds
from pytest_fcall.core.storage import is_address

_EXAMPLES = """\
examples:
  fcall record --export                 write the replies of the last runs to files for version control
  fcall record --export cases/shop.fc.yaml
  fcall record --export --model openai:gpt-5.2
  fcall record --load                   read such files into the store
  fcall record --prune                  delete replies that the last run of their case did not use
  fcall record --prune --older 30d      delete replies that no run has used for 30 days
  fcall record --stats                  show the number and the age of the replies

  fcall record --plan requests.jsonl cases/         write the requests that these cases will make
  fcall record --plan requests.jsonl -- -k shop --fc-samples=5
  fcall record --from replies.jsonl cases/          take replies that something else made
  fcall record --from replies.jsonl --plan next.jsonl
  fcall record --rounds                             show the plans so far, and the replies to them

  fcall record --engine=batch cases/ --fc-model=openai:gpt-5.2      submit, or go on
  fcall record --resume --wait                      go on with all that is under way, to the end
  fcall record --engine=ray cases/                  have a cluster answer; see fcall record --engine=ray --help

pytest records replies when it asks a model, in .fcall/replies.db below the root folder, or on the server that fc_store
names. The exported files are in __fcall__/MODEL/ beside the case file. Commit them: other machines then need no API
key.

exit status: 0 done; 1 something is damaged, not taken or not planned; 2 wrong command line; 10 requests are open still.
"""
_ACTIONS = {
    "export": "write files for version control",
    "load": "read such files into the store",
    "prune": "delete replies that are no longer used",
    "stats": "show the number and the age of the replies",
    "rounds": "show the plans so far, and the replies to them",
}


def run(arguments: Sequence[str]) -> int:
    """Do one thing with the replies; see the exit status above."""
    own, for_pytest = _split(arguments)
    if _engine(own) == "ray":
        from pytest_fcall.cli.record.ray_engine import record_by_ray

        return record_by_ray(own, for_pytest)
    parser = _parser()
    options = parser.parse_args(own)
    _check_together(parser, options, for_pytest)
    if _is_batch(options):
        from pytest_fcall.cli.record.batch import record_in_batches
        from pytest_fcall.cli.record.plan_run import planned_cases

        return record_in_batches(planned_cases(parser, options, for_pytest), options)
    if options.action is None:
        from pytest_fcall.cli.record.offline import plan_requests, take_replies
        from pytest_fcall.cli.record.plan_run import planned_cases

        cases = planned_cases(parser, options, for_pytest)
        return take_replies(cases, options) if options.origins else plan_requests(cases, options)
    if options.action == "rounds":
        from pytest_fcall.cli.record.offline import show_rounds

        return show_rounds(options.paths)
    return _run_on_store(parser, options)


def _is_batch(options: Namespace) -> bool:
    return bool(options.engine or options.resume or options.cancel)


def _run_on_store(parser: ArgumentParser, options: Namespace) -> int:
    from pytest_fcall.backends.store import ReplyStore, StoreError
    from pytest_fcall.cli.configuration import configured_store
    from pytest_fcall.cli.record.recordings import RecordScope, export_replies, load_replies, prune_store, show_stats

    scope = RecordScope(existing_paths(parser, options.paths))
    try:
        place = configured_store(scope.root)
    except StoreError as error:
        scope.report_problem(str(error))
        return 1
    with closing(ReplyStore(place)) as store:
        try:
            match options.action:
                case "export":
                    export_replies(store, scope, options.models)
                case "load":
                    load_replies(store, scope)
                case "prune":
                    prune_store(store, scope, None if options.older is None else store.now() - options.older)
                case _:
                    show_stats(store, scope)
        except StoreError as error:
            scope.report_problem(str(error))
        for fault in store.faults:
            scope.report_problem(fault.message)
    return 1 if scope.problems else 0


def _engine(arguments: Sequence[str]) -> str | None:
    """The engine of the command line, on which further options depend."""
    parser = ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    parser.add_argument("--engine")
    try:
        engine: str | None = parser.parse_known_args(arguments)[0].engine
    except ArgumentError:  # the whole parser says what is wrong
        return None
    return engine


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments of the command, and those after `--`, which are for pytest."""
    if "--" not in arguments:
        return [*arguments], []
    place = [*arguments].index("--")
    return [*arguments[:place]], [*arguments[place + 1 :]]


def _check_together(parser: ArgumentParser, options: Namespace, for_pytest: Sequence[str]) -> None:
    """End the program through `parser` where options do not go together."""
    offline = options.plan is not None or bool(options.origins)
    _check_engine(parser, options, is_alone=not offline and options.action is None)
    if _is_batch(options):
        return
    if offline == (options.action is not None):
        _refuse_actions(parser, options, offline=offline)
    if options.older is not None and options.action != "prune":
        parser.error("--older can only be used with --prune")
    if options.models and options.action != "export":
        parser.error("--model can only be used with --export")
    if options.paths and options.action in ("prune", "stats"):
        parser.error(f"--{options.action} takes no PATH: it covers all replies")
    if not offline and (options.fc_model or for_pytest):
        parser.error("--fc-model, and options of pytest after --, can only be used with --plan and --from")
    if options.format != "fcall" and options.plan is None:
        parser.error("--format can only be used with --plan")
    for name in options.origins:
        if name != "-" and not is_address(name) and not Path(name).is_file():
            parser.error(f"--from: {'it is a folder' if Path(name).is_dir() else 'no such file'}: {name}")


def _refuse_actions(parser: ArgumentParser, options: Namespace, *, offline: bool) -> None:
    """End the program through `parser`: there are two things to do, or none."""
    if offline:
        parser.error(f"--{options.action} goes with neither --plan nor --from")
    names = ", ".join(f"--{name}" for name in _ACTIONS)
    parser.error(f"name what to do: {names}, --plan FILE or --from FILE, or an --engine")


def _check_engine(parser: ArgumentParser, options: Namespace, *, is_alone: bool) -> None:
    """End the program through `parser` where options of engines do not go together."""
    if not _is_batch(options):
        if given := [name for name in ("yes", "wait", "fc_max_cost") if getattr(options, name)]:
            parser.error(f"--{given[0].replace('_', '-')} can only be used with --engine and --resume")
        return
    if not is_alone:
        parser.error("--engine, --resume and --cancel go with no other thing to do")
    if options.resume and options.cancel:
        parser.error("--resume goes on with batches, and --cancel ends them: name one")


def _parser() -> ArgumentParser:
    usage = (
        "fcall record (--export | --load | --prune | --stats | --plan FILE | --from FILE | --rounds | --engine=batch | "
        "--resume | --cancel) [PATH …]"
    )
    parser = command_parser(
        "record", "Move recorded replies into files and back, or have them made elsewhere.", _EXAMPLES, usage
    )
    actions = parser.add_mutually_exclusive_group()
    for name, summary in _ACTIONS.items():
        actions.add_argument(f"--{name}", dest="action", action="store_const", const=name, help=summary)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: this folder)")
    parser.add_argument(
        "--model",
        dest="models",
        action="append",
        default=[],
        metavar="KIND:NAME",
        help="with --export: only replies of this model (repeatable; default: all, or those that fc_model names)",
    )
    parser.add_argument(
        "--older", type=_age, metavar="AGE", help="with --prune: only replies that were not used for AGE, such as 30d"
    )
    elsewhere = parser.add_argument_group("requests that are answered elsewhere")
    elsewhere.add_argument(
        "--plan",
        metavar="FILE",
        help="write the requests that no recording answers: .jsonl, or .parquet, by a path or an address such as "
        "s3://bucket/name; or - for standard output",
    )
    elsewhere.add_argument(
        "--format",
        choices=("fcall", "batch"),
        default="fcall",
        help="with --plan: our own rows with tools by digest (fcall, the default), or whole bodies as queues of "
        "providers and `vllm run-batch` read them (batch)",
    )
    elsewhere.add_argument(
        "--from",
        dest="origins",
        action="append",
        default=[],
        metavar="FILE",
        help="take the replies in a file: .jsonl, .jsonl.gz, or .parquet, by a path or an address; or - for standard "
        "input (repeatable)",
    )
    elsewhere.add_argument(
        "--fc-model",
        action="append",
        default=[],
        metavar="KIND:NAME",
        help="with --plan, --from and --engine: the model (repeatable; default: the configured ones)",
    )
    engines = parser.add_argument_group("requests that an engine answers")
    engines.add_argument(
        "--engine",
        choices=("batch", "ray"),
        help="have what is open answered: by the batches of OpenAI, Anthropic or Gemini, within a day and for less "
        "(batch), or by a cluster of Ray, whose options fcall record --engine=ray --help shows (ray)",
    )
    engines.add_argument("--yes", action="store_true", help="submit without a question")
    engines.add_argument("--wait", action="store_true", help="wait for all answers instead of going away")
    engines.add_argument(
        "--resume", action="store_true", help="go on with the batches under way, whichever command began them"
    )
    engines.add_argument("--cancel", action="store_true", help="have the batches under way be answered no further")
    engines.add_argument(
        "--fc-max-cost", metavar="DOLLARS", help="submit nothing that could cost more, with what is under way"
    )
    return parser


def _age(text: str) -> int:
    try:
        return duration_in_seconds(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
