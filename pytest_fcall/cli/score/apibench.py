"""`fcall score --format apibench`: answers to the questions of APIBench."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, TypeAlias, get_args

from pytest_fcall.cli.score.rows import GroupFacts, RowJudge, RowVerdict
from pytest_fcall.core.values import Json
from pytest_fcall.suites.apibench.apis import ApiChange, ApiEntry, entry_call, read_apis
from pytest_fcall.suites.apibench.constraints import NO_CONSTRAINTS, Constraints, read_constraints
from pytest_fcall.suites.apibench.files import HUBS, question_without_document
from pytest_fcall.suites.apibench.grades import Grade, GradedAnswer
from pytest_fcall.suites.apibench.original_rule import (
    OriginalRule,
    install_command,
    original_parser_folder,
    parser_of,
)
from pytest_fcall.suites.apibench.strict_rule import StrictRule, finding_of_answer, parse_checked
from pytest_fcall.suites.json_files import BrokenRow, find_file

ArgumentRules: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]

_NO_PARSER_NOTE = """\
fcall score: the parser of the original scripts is not installed; some answers with broken code may be judged otherwise.
  It takes Python 3.11 and a C compiler: {command}"""
_OTHER_PARSER = " (not the original's parser)"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this format."""
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
        help="the folder with the parser of the original scripts, which reads broken code differently",
    )
    parser.add_argument(
        "--checked",
        action="append",
        default=[],
        type=_checked_arguments,
        metavar="API=NAMES",
        help="the arguments that identify an API for the strict rule, such as torch.hub.load=repo_or_dir,model",
    )
    parser.add_argument("--totals", action="store_true", help="show the scores of each hub and setting at the end")


def _checked_arguments(text: str) -> tuple[str, tuple[str, ...]]:
    try:
        return parse_checked(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def judge_of(parser: ArgumentParser, options: Namespace) -> ApiBenchJudge:
    """The judge of the command line. A file that cannot be read ends the program through `parser`."""
    if not options.api_db.is_dir():
        parser.error(f"cannot read {options.api_db}: not a folder")
    folder = options.parser or original_parser_folder()
    judge = ApiBenchJudge(options.api_db, folder, tuple(options.checked), options.totals)
    try:
        parser_of(folder)
        known = [name for name in HUBS if _read_hub(judge.api_db, name) is not None]
    except OSError as error:
        parser.error(f"cannot read {options.api_db}: {error.strerror or error}")
    except ValueError as error:
        parser.error(str(error))
    if not known:
        parser.error(f"no {', '.join(f'{hub.apis}.jsonl' for hub in HUBS.values())} in {options.api_db}")
    if folder is None:
        print(_NO_PARSER_NOTE.format(command=install_command()), file=sys.stderr)
    return judge


@dataclass(frozen=True, slots=True)
class ApiBenchJudge(RowJudge):
    """Judges rows by API databases in a folder, which each process reads for itself."""

    row_fields: ClassVar = ("hub", "setting", "question_id")

    api_db: Path
    parser: Path | None
    checked: ArgumentRules
    totals: bool

    def judge(self, row: Mapping[str, Json]) -> RowVerdict:
        """Judge the answer in `row` by the original rule and the strict one."""
        match row:
            case {"hub": str(hub), "response": str(answer), "gold_domain": str(domain), "gold_api_call": str(right)}:
                rules = _rules(self.api_db, self.parser, self.checked, hub)
            case _:
                raise BrokenRow("a row needs `hub`, `response`, `gold_domain` and `gold_api_call`, all of them strings")
        if rules is None:
            raise BrokenRow(f"{self.api_db} has no API database of the hub {hub!r}")
        original, strict = rules
        change = _change_of(row, domain, right)
        ours = strict(answer, domain, right) if change is None else _graded_after_change(strict, answer, change)
        theirs = original(answer, domain)
        identity = {name: row.get(name) for name in self.row_fields}
        verdict = {**identity, "verdict": theirs, "strict_verdict": ours.grade, "strict_exact": ours.exact}
        if constraints := _constraints_of(row):
            verdict["constraints"] = finding_of_answer(constraints, ours).fulfilment
        mark = _OTHER_PARSER if self.parser is None else ""
        facts = {f"{word}{mark}": theirs == word for word in ("correct", "hallucination", "wrong")}
        facts["exact by strict"] = ours.exact
        words = [word for word in get_args(Grade) if word != "outdated" or change is not None]
        facts |= {f"{word} by strict": ours.grade == word for word in words}
        group = f"{hub} {row.get('setting', '')}".strip()
        return RowVerdict(verdict, group_facts=GroupFacts(group, facts) if self.totals else None)

    def recorded_verdict(self, row: Mapping[str, Json]) -> Mapping[str, Json]:
        """The verdict of the original script."""
        return {key: row[key] for key in ("verdict",) if key in row}


def _constraints_of(row: Mapping[str, Json]) -> Constraints:
    """The demands of the question in a row on the model that is called."""
    question = row.get("question")
    return read_constraints(question_without_document(question)) if isinstance(question, str) else NO_CONSTRAINTS


def _change_of(row: Mapping[str, Json], domain: str, right: str) -> ApiChange | None:
    """The change of the document that the model was given; None if the row names no former call."""
    former = row.get("former_api_call")
    if former is None:
        return None
    if not isinstance(former, str) or entry_call(former) is None or entry_call(right) is None:
        raise BrokenRow("`former_api_call` and `gold_api_call` must be calls as text")
    return ApiChange(ApiEntry(domain, former, {}), ApiEntry(domain, right, {}))


def _graded_after_change(rule: StrictRule, answer: str, change: ApiChange) -> GradedAnswer:
    try:
        rule.refuse_empty(change)
    except ValueError as error:
        raise BrokenRow(str(error)) from None
    return rule.after_change(answer, change)


@lru_cache(maxsize=8)
def _read_hub(folder: Path, hub: str) -> tuple[ApiEntry, ...] | None:
    """The APIs of a hub; None where the folder has no database of it."""
    path = find_file(folder, f"{HUBS[hub].apis}.jsonl") if hub in HUBS else None
    return None if path is None else read_apis(path)


@lru_cache(maxsize=8)
def _rules(
    folder: Path, parser: Path | None, checked: ArgumentRules, hub: str
) -> tuple[OriginalRule, StrictRule] | None:
    """The original and the strict rule of a hub; None where the folder has no database of it."""
    apis = _read_hub(folder, hub)
    if apis is None:
        return None
    return OriginalRule(HUBS[hub], apis, parser_of(parser)), StrictRule(apis, dict(checked))
