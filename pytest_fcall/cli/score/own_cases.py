"""`fcall score --cases PATH`: stored answers to cases of one's own, judged as a run of pytest judges them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from platform import node
from typing import TYPE_CHECKING, ClassVar, Final

from pytest_fcall.cli.project import existing_paths
from pytest_fcall.cli.score.own_summary import OwnSummary, RowResult
from pytest_fcall.cli.score.rows import RowJudge, RowVerdict
from pytest_fcall.cli.score.stored_answers import answer_key, case_names, rows_of_other_file, stored_answer
from pytest_fcall.core.values import Json
from pytest_fcall.reporting.safe_text import laid_out
from pytest_fcall.session.endings import CaseEnded
from pytest_fcall.session.result.exit_status import FAILED
from pytest_fcall.suites.json_files import BrokenRow

if TYPE_CHECKING:
    from pytest_fcall.cli.score.collected_cases import CollectedCases, OwnCase

EXAMPLES: Final = """\
examples:
  fcall score --cases cases answers.jsonl                        a rate for each case
  fcall score --cases cases --format json answers.jsonl          an object for each answer
  fcall score --cases cases/shop.fc.yaml logs/run.eval           the samples of a log of inspect_ai
  fcall score --cases cases -j 4 --output verdicts.parquet s3://bucket/answers/

A row is {"id": the id of a case, "reply": what an app may return: a text, calls, or messages}; or it has `replies`,
those of a conversation in order. Files of recorded replies (*.replies.jsonl) and logs of inspect_ai are read, too. A
case may have any number of answers. Nothing is asked, and nothing is recorded.

Exit codes: 0, all cases pass; 1, a case fails, or a row cannot be read; 10, nothing is wrong, but an answer could not
be judged, or a case has none.
"""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of answers to cases of one's own."""
    parser.set_defaults(totals=True)
    parser.add_argument("--cases", required=True, metavar="PATH", help="a case file, or a folder of them")
    parser.add_argument(
        "--key",
        default="",
        metavar="FIELD",
        help="the field of a row that tells its answer apart (default: `key`, else a digest of the answer)",
    )


def judge_of(parser: ArgumentParser, options: Namespace) -> OwnCaseJudge:
    """The judge of the command line. Cases that cannot be collected end the program through `parser`."""
    from pytest_fcall.cli.score.collected_cases import UnreadableCases

    existing_paths(parser, [options.cases])
    judge = OwnCaseJudge(options.cases, Path(), options.key)
    try:
        collected = judge.collected
    except UnreadableCases as problem:
        parser.exit(FAILED, f"{laid_out(str(problem))}\n")
    if not collected.all:
        parser.error(f"no cases in {options.cases}")
    return replace(judge, digest=collected.digest)


def summary_of(judge: OwnCaseJudge, options: Namespace) -> OwnSummary:
    """The summary of answers to all cases."""
    return OwnSummary(judge.collected, compares=options.compare)


@dataclass(frozen=True, slots=True)
class OwnCaseJudge(RowJudge):
    """Judges rows by the cases that pytest collects, which each process does for itself."""

    row_fields: ClassVar = ("id",)
    file_endings: ClassVar = (".jsonl", ".jsonl.gz", ".parquet", ".eval")

    cases: str
    folder: Path
    """The folder in which the command was started."""
    key: str = ""
    """The field with the key of an answer; empty for the usual one."""
    digest: str = ""
    """The digest of the case files, which must be the same in each process; empty where there is but one."""

    @property
    def collected(self) -> CollectedCases:
        """The cases. Raises UnreadableCases."""
        from pytest_fcall.cli.score.collected_cases import UnreadableCases, collected_cases

        found = collected_cases(self.cases, self.folder)
        if self.digest not in ("", found.digest):
            raise UnreadableCases(f"{self.cases} in {self.folder.absolute()} holds other cases on {node()}")
        return found

    def lines_of(self, name: str) -> Iterator[bytes] | None:
        """The rows that stand for a log or for recordings."""
        return rows_of_other_file(name)

    def judge(self, row: Mapping[str, Json]) -> RowVerdict:
        """Judge an answer as a run would, if it decides about its case."""
        answer = stored_answer(row, self.key)
        owners = self._owners(answer.names)
        if len(owners) != 1:
            files = " and ".join(case.file for case in owners)
            reason = f"cases of {files} have this id: write FILE::ID" if files else "no case has this id"
            name = answer.names[0]
            return _not_judged(
                {"key": answer.key, "id": name}, RowResult("", "open", answer.key, reason, f"{name:.200}")
            )
        case = owners[0]
        identity = _identity(answer.key, case)
        if case.fault:
            raise BrokenRow(case.fault)
        if case.skip:
            return RowVerdict(
                {**identity, "skipped": case.skip}, finding=RowResult(case.name, "skipped", answer.key, case.skip)
            )
        if case.undecided:
            return _not_judged(identity, RowResult(case.name, "open", answer.key, case.undecided))
        return _judged(identity, RowResult(case.name, "right", answer.key), case, answer.replies)

    def verdict_of_broken(self, row: Mapping[str, Json]) -> RowVerdict:
        """The key and the case of a row, as far as they are known."""
        key = ""
        with suppress(BrokenRow):
            key = answer_key(row, self.key) if row else ""
        names = case_names(row)
        if len(owners := self._owners(names)) == 1:
            identity, name = _identity(key, owners[0]), owners[0].name
        else:
            identity, name = {"key": key, "id": names[0] if names else ""}, ""
        known = {field: value for field, value in identity.items() if value}
        return RowVerdict(known, finding=RowResult(name, "error", key))

    def recorded_verdict(self, row: Mapping[str, Json]) -> Mapping[str, Json]:
        """An earlier verdict of ours."""
        return {"valid": row["valid"]} if isinstance(row.get("valid"), bool) else {}

    def _owners(self, names: Iterable[str]) -> Sequence[OwnCase]:
        """The cases of the first name that there are any of."""
        return next((found for name in names if (found := self.collected.named(name))), ())


def _identity(key: str, case: OwnCase) -> dict[str, Json]:
    return {"key": key, "id": case.id, "file": case.file}


def _not_judged(identity: Mapping[str, Json], finding: RowResult) -> RowVerdict:
    return RowVerdict({**identity, "not_judged": finding.why}, finding=finding)


def _judged(identity: Mapping[str, Json], finding: RowResult, case: OwnCase, replies: tuple[object, ...]) -> RowVerdict:
    from pytest_fcall.backends.apps.answers.errors import AnswerError
    from pytest_fcall.session.judge.given_answers import UndecidedAnswer

    try:
        verdict = case.answers.verdict(replies)
    except UndecidedAnswer as reason:
        return _not_judged(identity, finding._replace(outcome="open", why=str(reason)))
    except (AnswerError, CaseEnded) as problem:
        raise BrokenRow(str(problem)) from None
    except Exception as error:  # of an operator or a hook of the project
        raise BrokenRow(f"it cannot be judged: {type(error).__name__}: {error}") from None
    reasons: list[Json] = [{"kind": each.kind, "path": each.path, "message": each.message} for each in verdict.reasons]
    if not verdict.valid:
        why = "; ".join(each.message for each in verdict.reasons)
        kinds = tuple(dict.fromkeys(each.kind for each in verdict.reasons))
        finding = finding._replace(outcome="wrong", why=f"{why:.300}", kinds=kinds)
    return RowVerdict({**identity, "valid": verdict.valid, "reasons": reasons}, finding=finding)
