"""The board of several runs and files of verdicts: their models, in the order of their accuracy."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.core.extension import Figure, published_of
from pytest_fcall.core.files import read_regular
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.values import Json
from pytest_fcall.reporting.reports.board.board import Board, BoardModel, PublishedFigure, share_of
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.run_table import models_of, of_model
from pytest_fcall.session.result.compared_runs import compare_neighbours
from pytest_fcall.session.result.suite_scores import Suites, all_figures, tallies
from pytest_fcall.suites.acebench.categories import read_id
from pytest_fcall.suites.json_files import BrokenFile, BrokenRow, open_lines, parse_record, read_lines

_MODEL_COLUMN: Final = "model"
_SHARE: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?%")


class BoardSource(NamedTuple):
    """The results of a run, or of a file of verdicts."""

    name: str
    """The mark that distinguishes it from other sources of the same model."""
    results: Sequence[Result]
    remarks: Sequence[str] = ()


PublishedScores = Mapping[str, Mapping[str, float]]
"""The figures of each model, by column; models without regard to how their names are written."""


def board_of(sources: Sequence[BoardSource], suites: Suites, published: PublishedScores) -> Board:
    """Put the models of all sources beside each other, best first.

    The parts of a model that several sources have asked are put together, if they have no case in common.
    """
    results = [*_distinct(sources)]
    names = models_of(results)
    models = [_model(name, of_model(name, results), suites, published) for name in names]
    is_by_overall = all(model.overall is not None for model in models) and _is_one_suite(results)
    ranked = sorted(models, key=_overall if is_by_overall else _accuracy, reverse=True)
    pairs = compare_neighbours(results, [model.name for model in ranked])
    return Board(
        models=tuple(ranked),
        categories=tuple(dict.fromkeys(result.category for result in results if result.answered)),
        pairs={(pair.now, pair.before): pair for pair in pairs},
        is_by_overall=is_by_overall,
        remarks=tuple(_remarks(sources, models, published)),
    )


def _distinct(sources: Sequence[BoardSource]) -> Iterator[Result]:
    """The results of all sources; a model that answered a case in two of them is another model in the second."""
    known: dict[str, set[tuple[str, str]]] = {}
    for source in sources:
        for model in models_of(source.results):
            own = of_model(model, source.results)
            cases = {(result.suite or result.file, result.case) for result in own}
            name = model
            while cases & known.get(name, set()):
                name = f"{name} ({source.name})"
            known.setdefault(name, set()).update(cases)
            yield from (result._replace(model=name) for result in own)


def _is_one_suite(results: Iterable[Result]) -> bool:
    return len({result.suite for result in results}) == 1


def _model(name: str, results: Sequence[Result], suites: Suites, published: PublishedScores) -> BoardModel:
    own: list[Figure] = []
    tables: list[Figure] = []
    for suite in dict.fromkeys(result.suite for result in results):
        if suite in suites:
            of_suite = [result for result in results if result.suite == suite]
            answers = [*_answers(of_suite)]
            own += all_figures(suites[suite], answers)
            tables += published_of(suites[suite], tallies(answers))
    return BoardModel(name, tuple(results), tuple(own), tuple(_published(name, results, tables, published)))


def _answers(results: Iterable[Result]) -> Iterator[Result]:
    """A result for each answer, as scores of a suite count; the numbers beside verdicts count once."""
    for result in results:
        samples = result.first or result.samples
        if not result.answered or samples is None:
            yield result
            continue
        right, asked = samples
        for number in range(asked):
            scores = () if number else result.scores
            yield result._replace(status="passed" if number < right else "failed", samples=None, scores=scores)


def _published(
    name: str, results: Sequence[Result], tables: Iterable[Figure], published: PublishedScores
) -> Iterator[PublishedFigure]:
    """The published figures of a model beside ours: those of the suite's tables, of a category, or of all cases."""
    columns = published.get(plain_name(name), {})
    by_category: dict[str, list[Result]] = {}
    for result in results:
        if result.answered:
            by_category.setdefault(result.category, []).append(result)
    for figure in tables:
        if figure.name in columns and figure.share is not None:
            same = _chance(columns[figure.name], by_category.get(figure.of, ()))
            yield PublishedFigure(figure.name, columns[figure.name], figure.share, same or figure.note)
    answered = [result for own in by_category.values() for result in own]
    for column, own in {**by_category, "accuracy": answered}.items():
        if column in columns and (share := share_of(own).value) is not None:
            yield PublishedFigure(column, columns[column], share, _chance(columns[column], own))


def _chance(published: float, own: Sequence[Result]) -> str:
    """Whether chance may explain a gap: not every answer of a model is the same when it is asked again."""
    low, high = share_of(own).interval
    return "within the 95 % interval" if own and low <= published <= high else ""


def _overall(model: BoardModel) -> float:
    return model.overall or 0.0


def _accuracy(model: BoardModel) -> float:
    share = model.share.value
    return -1.0 if share is None else share


def _remarks(sources: Iterable[BoardSource], models: Sequence[BoardModel], published: PublishedScores) -> Iterator[str]:
    for source in sources:
        yield from source.remarks
    for model in models:
        whole = model.whole
        if whole.errors or whole.skipped:
            unanswered = plural_text(whole.errors + whole.skipped, "case")
            yield f"{model.name}: {unanswered} without an answer, which count for nothing"
    if published and (unknown := [model.name for model in models if plain_name(model.name) not in published]):
        yield f"nothing is published of {', '.join(unknown)} under these names"


def plain_name(name: str) -> str:
    """A model's name as it is compared with published ones: its letters and digits.

    The leaderboard writes `GPT-4o (FC)` and `GPT-4o (Prompt)`, its folders are called `gpt-4o-FC` and `gpt-4o`, and in
    runs there is a kind before the name.
    """
    return re.sub(r"\(prompt\)|[^0-9a-z]", "", name.rpartition(":")[2].casefold())


def read_published(path: Path) -> PublishedScores:
    """Read a table with a column `Model`, and shares in percent. Raises OSError, and ValueError where it is none."""
    try:
        lines = [*csv.DictReader(io.StringIO(read_regular(path).decode("utf-8-sig")), restval="")]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path}: not a table of comma-separated values: {error}") from None
    column = next((each for each in (lines[0] if lines else ()) if each and each.casefold() == _MODEL_COLUMN), None)
    if column is None:
        raise ValueError(f"{path}: it has no line, or no column `Model`")
    return {plain_name(line[column]): dict(_shares(line)) for line in lines}


def _shares(line: Mapping[str | None, object]) -> Iterator[tuple[str, float]]:
    for column, cell in line.items():
        if column and isinstance(cell, str) and (found := _SHARE.fullmatch(cell.strip())):
            yield column, float(found[1]) / 100


_NO_VERDICT: Final = frozenset({"error", "not_judged", "skipped"})
"""Fields that say why a row has no verdict."""


class BoardRow(NamedTuple):
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


def _judged_line(line: bytes) -> BoardRow | None:
    try:
        return judged_row(parse_record(line))
    except BrokenRow:
        return None


def judged_row(row: Mapping[str, Json]) -> BoardRow | None:
    """The verdict in a row of `fcall score`, whatever its format; None where it is none, or has no verdict."""
    match row:
        case {"category": str(category), "id": str(id_), "valid": bool(valid)}:
            return BoardRow("bfcl", category, id_, valid)
        case {"file": str(file), "id": str(id_), "valid": bool(valid)}:
            return BoardRow("", file, id_, valid)
        case {"case": str(case), "valid": bool(valid)}:
            return BoardRow("api_blend", case.rpartition("_")[0], case, valid)
        case {"hub": str(hub), "setting": str(setting), "question_id": int(number), "verdict": str(verdict)}:
            return BoardRow("apibench", f"{hub} {setting}", f"{hub}_{setting}_{number}", verdict == "correct")
        case {"case": str(case), "function": str(), "argument": str(), "answer": str(answer)}:
            return BoardRow("mannheim", "answer", case, answer == "Correct")
        case {"task": str(task), "case": str(case), "crashed": bool(crashed), "success": success, "lcs_score": steps}:
            right = success if isinstance(success, bool) else not crashed and steps == 1
            return BoardRow("toolbench", task, f"{task}_{case}", right)
        case {"sample_id": str(id_), "valid": bool(valid)}:
            return BoardRow("nestful", "nestful", id_, valid)
        case {"id": str(id_), "valid": bool(valid), "progress": _} if named := read_id(id_):
            category = "_".join(filter(None, (named.language, named.category.name)))
            return BoardRow("acebench", category, id_, valid)
        case {"id": str(id_), "valid": bool(valid)}:
            return BoardRow("", id_.rpartition("_")[0], id_, valid)
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
