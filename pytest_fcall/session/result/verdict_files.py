"""The verdicts that `fcall score` prints, read as results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.core.values import Json
from pytest_fcall.reporting.results import Result
from pytest_fcall.suites.acebench.categories import read_id
from pytest_fcall.suites.json_files import BrokenFile, BrokenRow, open_lines, parse_record, read_lines

_NO_VERDICT: Final = frozenset({"error", "not_judged", "skipped"})
"""Fields that say why a row has no verdict."""


class Judged(NamedTuple):
    """The facts in a row: the case, and whether the answer is right."""

    suite: str
    category: str
    case: str
    right: bool


class VerdictFile(NamedTuple):
    """The results in a file of verdicts."""

    results: tuple[Result, ...]
    broken: int
    """Rows that are no verdict, or say that a row could not be judged."""
    repeated: int
    """Verdicts on a case that the file has another one on."""


def is_verdict_file(path: Path) -> bool:
    """Whether the first line of a file is a row of `fcall score`. Raises OSError."""
    with open_lines(path) as stream:
        try:
            row = parse_record(next(iter(read_lines(stream)), b""))
        except (BrokenRow, BrokenFile):
            return False
    return not _NO_VERDICT.isdisjoint(row) or judged_row(row) is not None


def read_verdicts(path: Path, model: str) -> VerdictFile:
    """Read the verdicts of a file as results of a model, one for each case, whatever the number of its answers.

    Raises OSError, and BrokenFile where it cannot be unpacked.
    """
    cases: dict[tuple[str, str, str], tuple[int, int]] = {}
    broken = 0
    with open_lines(path) as stream:
        for judged in map(_judged_line, filter(bytes.strip, read_lines(stream))):
            if judged is None:
                broken += 1
            else:
                case = judged.suite, judged.category, judged.case
                right, asked = cases.get(case, (0, 0))
                cases[case] = right + judged.right, asked + 1
    results = tuple(_result(*case, model, *counts) for case, counts in cases.items())
    return VerdictFile(results, broken, sum(asked - 1 for _, asked in cases.values()))


def _judged_line(line: bytes) -> Judged | None:
    try:
        return judged_row(parse_record(line))
    except BrokenRow:
        return None


def judged_row(row: Mapping[str, Json]) -> Judged | None:
    """The verdict in a row of `fcall score`, whatever its format; None where it is none, or has no verdict."""
    match row:
        case {"category": str(category), "id": str(id_), "valid": bool(valid)}:
            return Judged("bfcl", category, id_, valid)
        case {"file": str(file), "id": str(id_), "valid": bool(valid)}:
            return Judged("", file, id_, valid)
        case {"case": str(case), "valid": bool(valid)}:
            return Judged("api_blend", case.rpartition("_")[0], case, valid)
        case {"hub": str(hub), "setting": str(setting), "question_id": int(number), "verdict": str(verdict)}:
            return Judged("apibench", f"{hub} {setting}", f"{hub}_{setting}_{number}", verdict == "correct")
        case {"case": str(case), "function": str(), "argument": str(), "answer": str(answer)}:
            return Judged("mannheim", "answer", case, answer == "Correct")
        case {"task": str(task), "case": str(case), "crashed": bool(crashed), "success": success, "lcs_score": steps}:
            right = success if isinstance(success, bool) else not crashed and steps == 1
            return Judged("toolbench", task, f"{task}_{case}", right)
        case {"sample_id": str(id_), "valid": bool(valid)}:
            return Judged("nestful", "nestful", id_, valid)
        case {"id": str(id_), "valid": bool(valid), "progress": _} if named := read_id(id_):
            category = "_".join(filter(None, (named.language, named.category.name)))
            return Judged("acebench", category, id_, valid)
        case {"id": str(id_), "valid": bool(valid)}:
            return Judged("", id_.rpartition("_")[0], id_, valid)
    return None


def _result(suite: str, category: str, case: str, model: str, right: int, asked: int) -> Result:
    return Result(
        nodeid=f"{suite}::{category}::{case}",
        case=case,
        model=model,
        status="passed" if right == asked else "failed",
        category=category,
        file=suite or category,
        samples=(right, asked) if asked > 1 else None,
        suite=suite,
    )
