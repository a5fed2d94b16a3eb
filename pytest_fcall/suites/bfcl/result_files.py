"""The leaderboard's own result and score files: rows, files and the table, merged with those of earlier runs."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.core.case import Case, with_case_decoder
from pytest_fcall.core.conversation import Step, Transcript
from pytest_fcall.core.reply import Reply, Usage
from pytest_fcall.core.values import Json, mapping_or_empty
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.suites.bfcl.agentic import AgenticJudge
from pytest_fcall.suites.bfcl.categories import CATEGORIES, FORMAT_CATEGORY, format_of
from pytest_fcall.suites.bfcl.figures import format_scores_header, leaderboard_shares
from pytest_fcall.suites.bfcl.judge import BfclJudge, result_of_reply
from pytest_fcall.suites.bfcl.leaderboard_csv import (
    LATENCY_COLUMNS,
    OVERALL_COLUMNS,
    UNKNOWN,
    CsvLine,
    cell_text,
    latency_cells,
    measured_numbers,
    overall_cells,
)
from pytest_fcall.suites.bfcl.multi_turn.conversations import MultiTurnJudge, closing_texts
from pytest_fcall.suites.json_files import BrokenRow, parse_record

BfclResultRow: TypeAlias = Mapping[str, Json]
"""One answer: `category`, `native`, the row `result`, and under `wrong` the columns that a row of scores adds."""
ReadText: TypeAlias = Callable[[str], "str | None"]
"""Returns the text of a file in the folder, by its path; None if there is no such file."""

_TABLE_PATH: Final = "score/data_overall.csv"
_NATIVE_SUFFIX: Final = "-FC"
"""The end of the leaderboard's name for a model with native calls."""
_SCORE_COLUMNS = ("id", "model_name", "test_category", "valid", "model_result_raw")
"""The columns that all rows of scores have."""
_COLUMNS = (*OVERALL_COLUMNS, "Non-Live Exec Acc")
"""The columns of the official table, and the one that the official command `scores` requires in addition."""
_RESULT_FILE: Final = re.compile(r"(?:BFCL_v\d|(gorilla_openfunctions_v1_test))_(.+)_result\.jsonl?(?:\.gz)?")
_GROUP_FOLDERS: Final = frozenset(
    ("non_live", "live", "multi_turn", "agentic", "memory", "kv", "vector", "rec_sum", "format_sensitivity")
)
"""The folders that the harness puts between that of a model and its files."""
_BY_FIRST_NAME: Final[Mapping[str, str]] = MappingProxyType(
    {category.first_name: name for name, category in CATEGORIES.items() if category.first_name}
)


def result_row(case: Case, reply: Reply, verdict: Verdict) -> dict[str, Json]:
    """Return the row of one answer."""
    usage = reply.usage
    row: dict[str, Json] = {
        "category": case.category,
        "native": reply.decoder is None,
        "result": {
            "id": case.id,
            "result": result_of_reply(reply),
            "input_token_count": usage.input_tokens if usage else None,
            "output_token_count": usage.output_tokens if usage else None,
            "latency": reply.seconds,
        },
    }
    if not verdict.valid:
        judged = case.judge.row if isinstance(case.judge, BfclJudge) else {}
        row["wrong"] = {
            "error": [reason.message for reason in verdict.reasons],
            "error_type": verdict.error_type,
            "prompt": {name: judged.get(name) for name in ("id", "question", "function")},
            "possible_answer": judged.get("ground_truth"),
        }
    return row


def conversation_result_row(case: Case, transcript: Transcript, verdict: Verdict) -> dict[str, Json]:
    """Return the row of one conversation, with the results of its earlier conversations under `earlier`."""
    row: dict[str, Json] = {
        "category": case.category,
        "native": case.decoder is None,
        "result": _conversation_result(case, transcript),
    }
    if case.earlier and transcript.earlier:
        row["earlier"] = [*map(_conversation_result, case.earlier.cases, transcript.earlier)]
    if not verdict.valid:
        row["wrong"] = {
            "error": {
                "error_message": [reason.message for reason in verdict.reasons],
                "error_type": verdict.error_type,
            },
            **_question_columns(case),
        }
    return row


def _question_columns(case: Case) -> Mapping[str, Json]:
    if not isinstance(case.conversation_judge, MultiTurnJudge | AgenticJudge):
        return {}
    row = case.conversation_judge.row
    left_out = ("function", "category", "ground_truth")
    return {
        "prompt": {name: value for name, value in row.items() if name not in left_out},
        "possible_answer": row.get("ground_truth"),
    }


def _conversation_result(case: Case, transcript: Transcript) -> dict[str, Json]:
    return {
        "id": case.id,
        "result": [
            [*(_step_result(case, step) for step in held.steps), *closing_texts(held)] for held in transcript.turns
        ],
        "input_token_count": _by_turns(transcript, lambda step: _usage(step).input_tokens),
        "output_token_count": _by_turns(transcript, lambda step: _usage(step).output_tokens),
        "latency": _by_turns(transcript, lambda step: step.reply.seconds),
    }


def _by_turns(transcript: Transcript, value_of: Callable[[Step], Json]) -> Json:
    """A value of every reply. An unknown value is 0, which the official harness leaves out of its sums."""
    return [[0 if (value := value_of(step)) is None else value for step in held.steps] for held in transcript.turns]


def _usage(step: Step) -> Usage:
    return step.reply.usage or Usage()


def _step_result(case: Case, step: Step) -> Json:
    """The result of a step. An app that executes its calls itself returns them all at once."""
    if step.reply.trail:
        return [{call.name: json.dumps(call.arguments)} for call in step.calls.calls] or step.reply.text
    return result_of_reply(with_case_decoder(case, step.reply))


def model_files(
    model: str, rows: Sequence[BfclResultRow], merged: Sequence[BfclResultRow] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the paths and texts of the files for the categories of `rows`; `merged` adds rows of earlier runs."""
    name = _official_model_name(model, rows)
    for category in dict.fromkeys(map(_file_category, rows)):
        own = [row for row in (rows if merged is None else merged) if _file_category(row) == category]
        stem = _path_stem(name, category)
        yield f"result/{stem}_result.json", _json_lines([mapping_or_empty(row["result"]) for row in own])
        if earlier := _earlier_results(own):
            yield f"result/{stem}_prereq_result.json", _json_lines(earlier)
        yield f"score/{stem}_score.json", _json_lines(_scores(name, category, own))


def score_table(
    models: Mapping[str, Sequence[BfclResultRow]],
    costs: Mapping[str, float | None],
    earlier: Sequence[Mapping[str, str]] = (),
) -> tuple[str, str]:
    """Return the path and text of the table of all models, best first; `earlier` are lines of other models."""
    unsorted = [*(_table_line(model, rows, costs.get(model)) for model, rows in models.items()), *earlier]
    lines = [{**line, "Rank": str(rank)} for rank, line in enumerate(sorted(unsorted, key=_overall, reverse=True), 1)]
    cells = [_COLUMNS, *([cell_text(line.get(column)) for column in _COLUMNS] for line in lines)]
    return _TABLE_PATH, "\n".join(map(",".join, cells)) + "\n"


def _official_model_name(model: str, rows: Sequence[BfclResultRow]) -> str:
    return f"{model}{_NATIVE_SUFFIX}" if all(row["native"] for row in rows) else model


def _path_stem(name: str, category: str) -> str:
    """The path of a category's files, by the leaderboard's name for the model, without the kind of file."""
    folder = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)
    return f"{folder}/{_group(category)}/BFCL_v4_{category}"


def _file_category(row: BfclResultRow) -> str:
    """The category of a row's file. All prompt formats, which are categories here, share one file."""
    return str(row["category"]).partition("/")[0]


def _earlier_results(rows: Sequence[BfclResultRow]) -> list[BfclResultRow]:
    """The results of earlier conversations, each once, though several processes may have had it."""
    listed = [earlier for row in rows if isinstance(earlier := row.get("earlier"), list)]
    by_id = {str(mapping_or_empty(each).get("id")): mapping_or_empty(each) for earlier in listed for each in earlier}
    return [*by_id.values()]


def _group(category: str) -> str:
    if category == FORMAT_CATEGORY:
        return FORMAT_CATEGORY
    if category.startswith("web_search"):
        return "agentic"
    if category.startswith("memory_"):
        return f"agentic/memory/{category.removeprefix('memory_')}"
    return next((group for group in ("live", "multi_turn") if category.startswith(group)), "non_live")


def _scores(model: str, category: str, rows: Sequence[BfclResultRow]) -> Iterator[BfclResultRow]:
    right = sum("wrong" not in row for row in rows)
    judged = ((str(mapping_or_empty(row["result"])["id"]), "wrong" not in row) for row in rows)
    spread = format_scores_header(judged) if category == FORMAT_CATEGORY else {}
    yield {"accuracy": right / len(rows), "correct_count": right, "total_count": len(rows), **spread}
    for row in rows:
        if "wrong" in row:
            result = mapping_or_empty(row["result"])
            yield {
                "id": result["id"],
                "model_name": model,
                "test_category": category,
                "valid": False,
                **mapping_or_empty(row["wrong"]),
                "model_result_raw": result["result"],
            }


def _table_line(model: str, rows: Sequence[BfclResultRow], cost: float | None) -> dict[str, str]:
    tallies = {
        category: (sum("wrong" not in row for row in own), len(own))
        for category in dict.fromkeys(str(row["category"]) for row in rows)
        if (own := [row for row in rows if row["category"] == category])
    }
    seconds = [number for row in rows for number in measured_numbers(mapping_or_empty(row["result"])["latency"])]
    cells: CsvLine = {
        **overall_cells(leaderboard_shares(tallies), tallies),
        "Model": _official_model_name(model, rows),
        "Total Cost ($)": None if cost is None else f"{cost:.2f}",
        **dict(zip(LATENCY_COLUMNS, latency_cells(seconds), strict=True)),
    }
    return {column: cell_text(cell) for column, cell in cells.items()}


def _overall(line: Mapping[str, str]) -> float:
    return float(line["Overall Acc"].removesuffix("%"))


def _json_lines(rows: Iterator[BfclResultRow] | Sequence[BfclResultRow]) -> str:
    return "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows)


def with_earlier_rows(model: str, rows: Sequence[BfclResultRow], read_text: ReadText) -> list[BfclResultRow]:
    """Return the rows of a model with those of its files that this run did not ask, in the order of their ids.

    A result file without a readable score file is ignored, since its verdicts are unknown.
    """
    asked = {_row_key(row) for row in rows}
    earlier = _earlier_rows(_official_model_name(model, rows), read_text)
    unasked = [row for row in earlier if _row_key(row) not in asked]
    return sorted([*unasked, *rows], key=_row_order) if unasked else [*rows]


def earlier_table_lines(models: Mapping[str, Sequence[BfclResultRow]], read_text: ReadText) -> list[Mapping[str, str]]:
    """Return the lines of the existing table for models that this run did not ask."""
    asked = {_official_model_name(model, rows) for model, rows in models.items()}
    lines = csv.DictReader((read_text(_TABLE_PATH) or "").splitlines(), restval=UNKNOWN)
    share = re.compile(r"[0-9.]+%")
    return [
        line
        for line in lines
        if line.get("Model", "") not in {"", *asked} and share.fullmatch(line.get("Overall Acc") or "")
    ]


def _earlier_rows(name: str, read_text: ReadText) -> Iterator[BfclResultRow]:
    for category in CATEGORIES:
        stem = _path_stem(name, category)
        results, scores = (read_text(f"{kind}/{stem}_{kind}.json") for kind in ("result", "score"))
        if results is None or scores is None:
            continue
        try:
            wrong = {str(row.get("id")): row for row in _parse_records(scores)[1:]}
            rows = _parse_records(results)
            earlier = _parse_records(read_text(f"result/{stem}_prereq_result.json") or "")
        except BrokenRow:
            continue
        for number, result in enumerate(rows):
            id_ = str(result.get("id"))
            row: dict[str, Json] = {"category": category, "native": name.endswith(_NATIVE_SUFFIX), "result": result}
            if category == FORMAT_CATEGORY:
                row["category"] = format_of(id_).category
            if id_ in wrong:
                row["wrong"] = {key: value for key, value in wrong[id_].items() if key not in _SCORE_COLUMNS}
            if earlier and not number:
                row["earlier"] = [*earlier]
            yield row


def _parse_records(text: str) -> list[Mapping[str, Json]]:
    return [parse_record(line.encode()) for line in text.splitlines() if line.strip()]


def _row_key(row: BfclResultRow) -> tuple[str, str]:
    return _file_category(row), _row_id(row)


def _row_order(row: BfclResultRow) -> tuple[str, list[int]]:
    return _file_category(row), [int(number) for number in re.findall(r"[0-9]{1,9}", _row_id(row))]


def _row_id(row: BfclResultRow) -> str:
    result = row["result"]
    return str(result.get("id")) if isinstance(result, Mapping) else ""


@lru_cache(maxsize=64)
def model_of_file(name: str) -> str:
    """Return whose answers a file has: the harness calls a folder by the model, others call the file so."""
    path = Path(name)
    if name == "-":
        return "stdin"
    if not _RESULT_FILE.fullmatch(path.name):
        return re.sub(r"\.jsonl?(\.gz)?\Z", "", path.name)
    folders = (folder.name for folder in path.absolute().parents)
    return next((folder for folder in folders if folder and folder not in _GROUP_FOLDERS), path.name)


@lru_cache(maxsize=64)
def category_of_file(name: str) -> str:
    """Return the category of a result file of the first version; empty for other files, whose rows say it."""
    found = _RESULT_FILE.fullmatch(Path(name).name)
    return _BY_FIRST_NAME.get(found[2], "") if found and found[1] else ""


def with_current_id(row: Mapping[str, Json], category: str) -> Mapping[str, Json]:
    """Return a row of results of the first version with the id that its case has today.

    Rows had a name and a number, such as `simple_17`, and before that a number alone, in the file of `category`.
    """
    id_, number = row.get("id"), row.get("idx")
    if "result" not in row or "category" in row:
        return row
    if id_ is None and category and isinstance(number, int):
        return {**row, "id": f"{category}_{number}"}
    first, _, place = str(id_).rpartition("_")
    return {**row, "id": f"{_BY_FIRST_NAME[first]}_{place}"} if first in _BY_FIRST_NAME else row
