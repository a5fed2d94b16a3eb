"""`fcall score --format apibench`: answers to the questions of APIBench."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, get_args

from pytest_fcall.cli.score.rows import RowVerdict
from pytest_fcall.core.values import Json
from pytest_fcall.suites.apibench.grades import Grade
from pytest_fcall.suites.json_files import BrokenRow

if TYPE_CHECKING:
    from pytest_fcall.suites.apibench.apis import Api
    from pytest_fcall.suites.apibench.original_rule import OriginalRule
    from pytest_fcall.suites.apibench.strict_rule import StrictRule


CheckedArguments = tuple[tuple[str, tuple[str, ...]], ...]


def add_options(parser: ArgumentParser) -> None:
    """Add what this format needs to know."""
    parser.add_argument(
        "--api-db",
        required=True,
        type=Path,
        metavar="DIR",
        help="the folder with torchhub_api.jsonl, tensorflowhub_api.jsonl and huggingface_api.jsonl, also gzipped",
    )
    parser.add_argument(
        "--parser",
        type=Path,
        metavar="DIR",
        help="a folder with the parser of the original scripts, which reads broken text otherwise than today's",
    )
    parser.add_argument(
        "--checked",
        action="append",
        default=[],
        type=_checked_arguments,
        metavar="API=NAMES",
        help="the arguments by which the strict rule tells APIs apart, such as torch.hub.load=repo_or_dir,model",
    )
    parser.add_argument("--totals", action="store_true", help="tell the scores of each hub and setting at the end")


def judge_of(parser: ArgumentParser, options: Namespace) -> ApiBenchJudge:
    """Read what judging needs, so that what is wrong with it is said before anything is judged."""
    from pytest_fcall.suites.apibench.files import HUBS
    from pytest_fcall.suites.apibench.parsers import original_parser, original_parser_folder

    if not options.api_db.is_dir():
        parser.error(f"cannot read {options.api_db}: it is no folder")
    folder = options.parser or original_parser_folder()
    judge = ApiBenchJudge(options.api_db, folder, tuple(options.checked), options.totals)
    try:
        if folder is not None:
            original_parser(folder)
        known = [name for name in HUBS if _read_hub(judge.api_db, name) is not None]
    except OSError as error:
        parser.error(f"cannot read {options.api_db}: {error.strerror or error}")
    except ValueError as error:
        parser.error(str(error))
    if not known:
        parser.error(f"{options.api_db} holds none of {', '.join(f'{hub.apis}.jsonl' for hub in HUBS.values())}")
    if folder is None:
        print(_NO_PARSER_NOTE, file=sys.stderr)
    return judge


@dataclass(frozen=True, slots=True)
class ApiBenchJudge:
    """Judges rows by API data bases in a folder, which each process reads for itself."""

    names: ClassVar = ("hub", "setting", "question_id")

    api_db: Path
    parser: Path | None
    checked: CheckedArguments
    totals: bool

    def __call__(self, row: Mapping[str, Json]) -> RowVerdict:
        """Judge the answer in `row` by both rules."""
        named = {name: row.get(name) for name in self.names}
        match row:
            case {"hub": str(hub), "response": str(answer), "gold_domain": str(domain), "gold_api_call": str(right)}:
                original, strict = self._rules(hub)
            case _:
                raise BrokenRow("a row needs `hub`, `response`, `gold_domain` and `gold_api_call`, all of them text")
        ours = strict(answer, domain, right)
        theirs = original(answer, domain)
        verdict = {**named, "verdict": theirs, "strict_verdict": ours.grade, "strict_exact": ours.exact}
        counted = {word: theirs == word for word in ("correct", "hallucination", "wrong")}
        counted["exact by strict"] = ours.exact
        counted |= {f"{word} by strict": ours.grade == word for word in get_args(Grade)}
        group = f"{hub} {row.get('setting', '')}".strip()
        return RowVerdict(verdict, counted=(group, counted) if self.totals else None)

    def earlier(self, row: Mapping[str, Json]) -> Mapping[str, Json]:
        """The verdict of the original script."""
        return {key: row[key] for key in ("verdict",) if key in row}

    def _rules(self, hub: str) -> tuple[OriginalRule, StrictRule]:
        rules = _rules(self.api_db, self.parser, self.checked, hub)
        if rules is None:
            raise BrokenRow(f"{self.api_db} holds no data base of the hub {hub!r}")
        return rules


_NO_PARSER_NOTE = """\
fcall score: no parser of the original scripts; some answers with broken code may be judged otherwise than by them.
  The documentation, on judging stored answers, says how to get it."""


def _checked_arguments(text: str) -> tuple[str, tuple[str, ...]]:
    from pytest_fcall.suites.apibench.strict_rule import parse_checked

    try:
        return parse_checked(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


@lru_cache(maxsize=8)
def _read_hub(folder: Path, hub: str) -> tuple[Api, ...] | None:
    from pytest_fcall.suites.apibench.apis import read_apis
    from pytest_fcall.suites.apibench.files import HUBS
    from pytest_fcall.suites.json_files import find_file

    path = find_file(folder, f"{HUBS[hub].apis}.jsonl") if hub in HUBS else None
    return None if path is None else read_apis(path)


@lru_cache(maxsize=8)
def _rules(
    folder: Path, parser: Path | None, checked: CheckedArguments, hub: str
) -> tuple[OriginalRule, StrictRule] | None:
    from pytest_fcall.suites.apibench.files import HUBS
    from pytest_fcall.suites.apibench.original_rule import OriginalRule
    from pytest_fcall.suites.apibench.parsers import installed_parser, original_parser
    from pytest_fcall.suites.apibench.strict_rule import StrictRule

    apis = _read_hub(folder, hub)
    if apis is None:
        return None
    parse = installed_parser() if parser is None else original_parser(parser)
    return OriginalRule(HUBS[hub], apis, parse), StrictRule(apis, dict(checked))
