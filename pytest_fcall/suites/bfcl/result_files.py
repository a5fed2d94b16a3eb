"""The leaderboard's own result and score files: rows, files and table written, files of earlier runs merged."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import Final, TypeAlias

from pytest_fcall.core.case import Case
from pytest_fcall.core.conversation import Step, Transcript
from pytest_fcall.core.reply import Reply, Usage
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.suites.bfcl.agentic import AgenticJudge
from pytest_fcall.suites.bfcl.categories import CATEGORIES
from pytest_fcall.suites.bfcl.figures import DEVIATION, MAX_DELTA, format_scores_header, leaderboard_figures
from pytest_fcall.suites.bfcl.judge import BfclJudge, result_of_reply
from pytest_fcall.suites.bfcl.multi_turn.judge import MultiTurnJudge, closing_texts, with_case_decoder
from pytest_fcall.suites.bfcl.prompt_formats import FORMAT_CATEGORY, format_of
from pytest_fcall.suites.json_files import BrokenRow, parse_record


def conversation_result_row(case: Case, transcript: Transcript, verdict: Verdict) -> dict[str, Json]:
    """What is kept of one conversation: the row of results, and what the row of scores adds where it is wrong.

    Those that were held before it have rows of results, too.
    """
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
            **_asked_columns(case),
        }
    return row


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


def _asked_columns(case: Case) -> Mapping[str, Json]:
    if not isinstance(case.conversation_judge, MultiTurnJudge | AgenticJudge):
        return {}
    row = case.conversation_judge.row
    left_out = ("function", "category", "ground_truth")
    return {
        "prompt": {name: value for name, value in row.items() if name not in left_out},
        "possible_answer": row.get("ground_truth"),
    }


def _by_turns(transcript: Transcript, told: Callable[[Step], Json]) -> Json:
    """Something of every reply. What nobody counted is 0, which the harness leaves out of its sums."""
    return [[0 if (value := told(step)) is None else value for step in held.steps] for held in transcript.turns]


def _usage(step: Step) -> Usage:
    return step.reply.usage or Usage()


def _step_result(case: Case, step: Step) -> Json:
    """An app that carries out its calls itself says them all at once; the steps were told apart by others."""
    if step.reply.trail:
        return [{call.name: json.dumps(call.arguments)} for call in step.calls.calls] or step.reply.text
    return result_of_reply(with_case_decoder(case, step.reply))


ResultRow = Mapping[str, Json]

_PERCENT_COLUMNS = {
    "non_live_ast": "Non-Live AST Acc",
    "live": "Live Acc",
    "multi_turn": "Multi Turn Acc",
    "irrelevance": "Irrelevance Detection",
}
_POINT_COLUMNS = {
    MAX_DELTA: "Format Sensitivity Max Delta",
    DEVIATION: "Format Sensitivity Standard Deviation",
}
"""These are told in percentage points, without a sign."""
_CATEGORY_COLUMNS = {
    "multiple": "Non-Live Multiple AST",
    "parallel": "Non-Live Parallel AST",
    "parallel_multiple": "Non-Live Parallel Multiple AST",
    "live_simple": "Live Simple AST",
    "live_multiple": "Live Multiple AST",
    "live_parallel": "Live Parallel AST",
    "live_parallel_multiple": "Live Parallel Multiple AST",
    "live_relevance": "Relevance Detection",
    "web_search_base": "Web Search Base",
    "web_search_no_snippet": "Web Search No Snippet",
    "memory_kv": "Memory KV",
    "memory_vector": "Memory Vector",
    "memory_rec_sum": "Memory Recursive Summarization",
    "multi_turn_base": "Multi Turn Base",
    "multi_turn_miss_func": "Multi Turn Miss Func",
    "multi_turn_miss_param": "Multi Turn Miss Param",
    "multi_turn_long_context": "Multi Turn Long Context",
}
_MEAN_COLUMNS = {
    "Non-Live Simple AST": ("simple_python", "simple_java", "simple_javascript"),
    "Web Search Acc": ("web_search_base", "web_search_no_snippet"),
    "Memory Acc": ("memory_kv", "memory_vector", "memory_rec_sum"),
}
"""What each is the mean of; unknown where one of these is."""
_COLUMNS = (
    *("Rank", "Overall Acc", "Model", "Model Link", "Total Cost ($)"),
    *("Latency Mean (s)", "Latency Standard Deviation (s)", "Latency 95th Percentile (s)"),
    *("Non-Live AST Acc", "Non-Live Simple AST", "Non-Live Multiple AST", "Non-Live Parallel AST"),
    *("Non-Live Parallel Multiple AST", "Live Acc", "Live Simple AST", "Live Multiple AST", "Live Parallel AST"),
    *("Live Parallel Multiple AST", "Multi Turn Acc", "Multi Turn Base", "Multi Turn Miss Func"),
    *("Multi Turn Miss Param", "Multi Turn Long Context", "Web Search Acc", "Web Search Base"),
    *("Web Search No Snippet", "Memory Acc", "Memory KV", "Memory Vector", "Memory Recursive Summarization"),
    *("Relevance Detection", "Irrelevance Detection", "Format Sensitivity Max Delta"),
    *("Format Sensitivity Standard Deviation", "Organization", "License"),
    "Non-Live Exec Acc",
)
"""Those of its table; its command `scores` asks for the last one, too, though its own table lacks it."""
TABLE_PATH: Final = "score/data_overall.csv"
NATIVE_SUFFIX: Final = "-FC"
"""Ends the leaderboard's name for a model that is asked in native calls."""


def result_row(case: Case, reply: Reply, verdict: Verdict) -> dict[str, Json]:
    """What is kept of one answer: the row of results, and what the row of scores adds where it is wrong."""
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
        asked = case.judge.row if isinstance(case.judge, BfclJudge) else {}
        row["wrong"] = {
            "error": [reason.message for reason in verdict.reasons],
            "error_type": verdict.error_type,
            "prompt": {name: asked.get(name) for name in ("id", "question", "function")},
            "possible_answer": asked.get("ground_truth"),
        }
    return row


def files_of_model(
    model: str, rows: Sequence[ResultRow], kept: Sequence[ResultRow] | None = None
) -> Iterator[tuple[str, str]]:
    """The files of one model that `rows` have a part in, each with its path.

    `kept` are all rows of the model, where earlier runs left some.
    """
    name = official_model_name(model, rows)
    for category in dict.fromkeys(map(file_category, rows)):
        own = [row for row in (rows if kept is None else kept) if file_category(row) == category]
        place = result_path_stem(name, category)
        yield f"result/{place}_result.json", _json_lines([_mapping(row["result"]) for row in own])
        if earlier := _earlier_results(own):
            yield f"result/{place}_prereq_result.json", _json_lines(earlier)
        yield f"score/{place}_score.json", _json_lines(_scores(name, category, own))


def score_table(
    models: Mapping[str, Sequence[ResultRow]], costs: Mapping[str, float | None], kept: Sequence[Mapping[str, str]] = ()
) -> tuple[str, str]:
    """The table of all models, best first, with its path. `kept` are lines of models that are not among these."""
    told = [*(_table_line(model, rows, costs.get(model)) for model, rows in models.items()), *kept]
    lines = [{**line, "Rank": str(rank)} for rank, line in enumerate(sorted(told, key=_overall, reverse=True), 1)]
    cells = [_COLUMNS, *([line.get(column, "N/A").replace(",", " ") for column in _COLUMNS] for line in lines)]
    return TABLE_PATH, "\n".join(map(",".join, cells)) + "\n"


def official_model_name(model: str, rows: Sequence[ResultRow]) -> str:
    """The leaderboard's name for a model: one that is asked in native calls ends in `-FC`."""
    return f"{model}{NATIVE_SUFFIX}" if all(row["native"] for row in rows) else model


def result_path_stem(name: str, category: str) -> str:
    """Where the files of a category lie, by the leaderboard's name for the model, up to what they hold."""
    folder = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)
    return f"{folder}/{_group(category)}/BFCL_v4_{category}"


def file_category(row: ResultRow) -> str:
    """The category whose file a row stands in: formats, which are categories here, have one for all."""
    return str(row["category"]).partition("/")[0]


def _earlier_results(rows: Sequence[ResultRow]) -> list[ResultRow]:
    """The results of conversations that were held before others; each once, though several processes may hold it."""
    told = [earlier for row in rows if isinstance(earlier := row.get("earlier"), list)]
    by_id = {str(_mapping(each).get("id")): _mapping(each) for earlier in told for each in earlier}
    return [*by_id.values()]


def _group(category: str) -> str:
    if category == FORMAT_CATEGORY:
        return FORMAT_CATEGORY
    if category.startswith("web_search"):
        return "agentic"
    if category.startswith("memory_"):
        return f"agentic/memory/{category.removeprefix('memory_')}"
    return next((group for group in ("live", "multi_turn") if category.startswith(group)), "non_live")


def _scores(model: str, category: str, rows: Sequence[ResultRow]) -> Iterator[ResultRow]:
    right = sum("wrong" not in row for row in rows)
    judged = ((str(_mapping(row["result"])["id"]), "wrong" not in row) for row in rows)
    spread = format_scores_header(judged) if category == FORMAT_CATEGORY else {}
    yield {"accuracy": right / len(rows), "correct_count": right, "total_count": len(rows), **spread}
    for row in rows:
        if "wrong" in row:
            result = _mapping(row["result"])
            yield {
                "id": result["id"],
                "model_name": model,
                "test_category": category,
                "valid": False,
                **_mapping(row["wrong"]),
                "model_result_raw": result["result"],
            }


def _table_line(model: str, rows: Sequence[ResultRow], cost: float | None) -> dict[str, str]:
    tallies = {
        category: (sum("wrong" not in row for row in own), len(own))
        for category in dict.fromkeys(str(row["category"]) for row in rows)
        if (own := [row for row in rows if row["category"] == category])
    }
    shares = {figure.name: figure.share for figure in leaderboard_figures(tallies)}
    overall = shares.get("overall", 0.0)
    seconds = sorted(number for row in rows for number in _seconds(_mapping(row["result"])["latency"]))
    known = {name: _share(tallies.get(name, (0, 0))) for names in _MEAN_COLUMNS.values() for name in names}
    return {
        "Model": official_model_name(model, rows),
        "Overall Acc": _percent(overall),
        **({"Total Cost ($)": f"{cost:.2f}"} if cost is not None else {}),
        **_latencies(seconds),
        **{column: _percent(shares.get(name)) for name, column in _PERCENT_COLUMNS.items()},
        **{column: _percent(shares.get(name)).removesuffix("%") for name, column in _POINT_COLUMNS.items()},
        **{column: _percent(_share(tallies.get(name, (0, 0)))) for name, column in _CATEGORY_COLUMNS.items()},
        **{column: _percent(_mean([known[name] for name in names])) for column, names in _MEAN_COLUMNS.items()},
    }


def _latencies(seconds: Sequence[float]) -> dict[str, str]:
    if len(seconds) < 2:
        return {}
    place = 0.95 * (len(seconds) - 1)
    low, high = seconds[int(place)], seconds[min(int(place) + 1, len(seconds) - 1)]
    return {
        "Latency Mean (s)": f"{fmean(seconds):.2f}",
        "Latency Standard Deviation (s)": f"{stdev(seconds):.2f}",
        "Latency 95th Percentile (s)": f"{low + (high - low) * (place - int(place)):.2f}",
    }


def _seconds(latency: Json) -> Iterator[float]:
    """That of one request, or those of a conversation turn by turn; 0 stands for one that nobody knows."""
    if isinstance(latency, list):
        for each in latency:
            yield from _seconds(each)
    elif isinstance(latency, int | float) and latency:
        yield float(latency)


def _share(pair: tuple[int, int]) -> float | None:
    right, asked = pair
    return right / asked if asked else None


def _mean(shares: Sequence[float | None]) -> float | None:
    return None if None in shares else fmean(share or 0.0 for share in shares)


def _percent(share: float | None) -> str:
    return "N/A" if share is None else f"{share * 100:.2f}%"


def _overall(line: Mapping[str, str]) -> float:
    return float(line["Overall Acc"].removesuffix("%"))


def _json_lines(rows: Iterator[ResultRow] | Sequence[ResultRow]) -> str:
    return "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows)


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


ReadText: TypeAlias = Callable[[str], "str | None"]
"""Gives the text of a file in the folder, by its path; None where there is none."""

_SCORE_COLUMNS = ("id", "model_name", "test_category", "valid", "model_result_raw")
"""What a row of scores says beside what was wrong."""


def with_earlier_rows(model: str, rows: Sequence[ResultRow], there: ReadText) -> list[ResultRow]:
    """The rows of a model, and those of its files that this run did not ask, in the order of their ids.

    A file that has no scores beside it, or cannot be read, is passed over: nobody knows what was right.
    """
    asked = {_row_key(row) for row in rows}
    kept = [row for row in _earlier_rows(official_model_name(model, rows), there) if _row_key(row) not in asked]
    return sorted([*kept, *rows], key=_row_order) if kept else [*rows]


def earlier_table_lines(models: Mapping[str, Sequence[ResultRow]], there: ReadText) -> list[Mapping[str, str]]:
    """The lines of the table that are about models which this run did not ask."""
    asked = {official_model_name(model, rows) for model, rows in models.items()}
    told = csv.DictReader((there(TABLE_PATH) or "").splitlines(), restval="N/A")
    share = re.compile(r"[0-9.]+%")
    return [
        line
        for line in told
        if line.get("Model", "") not in {"", *asked} and share.fullmatch(line.get("Overall Acc") or "")
    ]


def _earlier_rows(name: str, there: ReadText) -> Iterator[ResultRow]:
    for category in CATEGORIES:
        place = result_path_stem(name, category)
        results, scores = (there(f"{kind}/{place}_{kind}.json") for kind in ("result", "score"))
        if results is None or scores is None:
            continue
        try:
            wrong = {str(row.get("id")): row for row in _parse_records(scores)[1:]}
            rows = _parse_records(results)
            earlier = _parse_records(there(f"result/{place}_prereq_result.json") or "")
        except BrokenRow:
            continue
        for number, result in enumerate(rows):
            id_ = str(result.get("id"))
            row: dict[str, Json] = {"category": category, "native": name.endswith(NATIVE_SUFFIX), "result": result}
            if category == FORMAT_CATEGORY:
                row["category"] = format_of(id_).category
            if id_ in wrong:
                row["wrong"] = {key: value for key, value in wrong[id_].items() if key not in _SCORE_COLUMNS}
            if earlier and not number:
                row["earlier"] = [*earlier]
            yield row


def _parse_records(text: str) -> list[Mapping[str, Json]]:
    return [parse_record(line.encode()) for line in text.splitlines() if line.strip()]


def _row_key(row: ResultRow) -> tuple[str, str]:
    return file_category(row), _row_id(row)


def _row_order(row: ResultRow) -> tuple[str, list[int]]:
    return file_category(row), [int(number) for number in re.findall(r"[0-9]{1,9}", _row_id(row))]


def _row_id(row: ResultRow) -> str:
    result = row["result"]
    return str(result.get("id")) if isinstance(result, Mapping) else ""
