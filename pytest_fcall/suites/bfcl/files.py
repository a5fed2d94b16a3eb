"""Results and scores in the files of the leaderboard's own harness, for its tools to read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.suites.bfcl.figures import DEVIATION, MAX_DELTA, figures
from pytest_fcall.suites.bfcl.judging import BfclJudge, answer_of_reply
from pytest_fcall.suites.bfcl.prompt_format import PART
from pytest_fcall.suites.bfcl.spread import header_of

Row = Mapping[str, Json]

_PERCENT = {
    "non_live_ast": "Non-Live AST Acc",
    "live": "Live Acc",
    "multi_turn": "Multi Turn Acc",
    "irrelevance": "Irrelevance Detection",
}
_POINTS = {
    MAX_DELTA: "Format Sensitivity Max Delta",
    DEVIATION: "Format Sensitivity Standard Deviation",
}
"""These are told in percentage points, without a sign."""
_CATEGORIES = {
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
_MEANS = {
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
TABLE: Final = "score/data_overall.csv"
NATIVE: Final = "-FC"
"""Ends the leaderboard's name for a model that is asked in native calls."""


def row_of(case: Case, reply: Reply, verdict: Verdict) -> dict[str, Json]:
    """What is kept of one answer: the row of results, and what the row of scores adds where it is wrong."""
    usage = reply.usage
    row: dict[str, Json] = {
        "category": case.category,
        "native": reply.decoder is None,
        "result": {
            "id": case.id,
            "result": answer_of_reply(reply),
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


def files_of(model: str, rows: Sequence[Row], kept: Sequence[Row] | None = None) -> Iterator[tuple[str, str]]:
    """The files of one model that `rows` have a part in, each with its path.

    `kept` are all rows of the model, where earlier runs left some.
    """
    name = name_of(model, rows)
    for category in dict.fromkeys(map(file_of, rows)):
        own = [row for row in (rows if kept is None else kept) if file_of(row) == category]
        place = place_of(name, category)
        yield f"result/{place}_result.json", _lines([_mapping(row["result"]) for row in own])
        if earlier := _earlier(own):
            yield f"result/{place}_prereq_result.json", _lines(earlier)
        yield f"score/{place}_score.json", _lines(_scores(name, category, own))


def table_of(
    models: Mapping[str, Sequence[Row]], costs: Mapping[str, float | None], kept: Sequence[Mapping[str, str]] = ()
) -> tuple[str, str]:
    """The table of all models, best first, with its path. `kept` are lines of models that are not among these."""
    told = [*(_line(model, rows, costs.get(model)) for model, rows in models.items()), *kept]
    lines = [{**line, "Rank": str(rank)} for rank, line in enumerate(sorted(told, key=_overall, reverse=True), 1)]
    cells = [_COLUMNS, *([line.get(column, "N/A").replace(",", " ") for column in _COLUMNS] for line in lines)]
    return TABLE, "\n".join(map(",".join, cells)) + "\n"


def name_of(model: str, rows: Sequence[Row]) -> str:
    """The leaderboard's name for a model: one that is asked in native calls ends in `-FC`."""
    return f"{model}{NATIVE}" if all(row["native"] for row in rows) else model


def place_of(name: str, category: str) -> str:
    """Where the files of a category lie, by the leaderboard's name for the model, up to what they hold."""
    folder = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)
    return f"{folder}/{_group(category)}/BFCL_v4_{category}"


def file_of(row: Row) -> str:
    """The category whose file a row stands in: formats, which are categories here, have one for all."""
    return str(row["category"]).partition("/")[0]


def _earlier(rows: Sequence[Row]) -> list[Row]:
    """The results of conversations that were held before others; each once, though several processes may hold it."""
    told = [earlier for row in rows if isinstance(earlier := row.get("earlier"), list)]
    by_id = {str(_mapping(each).get("id")): _mapping(each) for earlier in told for each in earlier}
    return [*by_id.values()]


def _group(category: str) -> str:
    if category == PART:
        return PART
    if category.startswith("web_search"):
        return "agentic"
    if category.startswith("memory_"):
        return f"agentic/memory/{category.removeprefix('memory_')}"
    return next((group for group in ("live", "multi_turn") if category.startswith(group)), "non_live")


def _scores(model: str, category: str, rows: Sequence[Row]) -> Iterator[Row]:
    right = sum("wrong" not in row for row in rows)
    judged = ((str(_mapping(row["result"])["id"]), "wrong" not in row) for row in rows)
    spread = header_of(judged) if category == PART else {}
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


def _line(model: str, rows: Sequence[Row], cost: float | None) -> dict[str, str]:
    tallies = {
        category: (sum("wrong" not in row for row in own), len(own))
        for category in dict.fromkeys(str(row["category"]) for row in rows)
        if (own := [row for row in rows if row["category"] == category])
    }
    shares = {figure.name: figure.share for figure in figures(tallies)}
    overall = shares.get("overall", 0.0)
    seconds = sorted(number for row in rows for number in _seconds(_mapping(row["result"])["latency"]))
    known = {name: _share(tallies.get(name, (0, 0))) for names in _MEANS.values() for name in names}
    return {
        "Model": name_of(model, rows),
        "Overall Acc": _percent(overall),
        **({"Total Cost ($)": f"{cost:.2f}"} if cost is not None else {}),
        **_latencies(seconds),
        **{column: _percent(shares.get(name)) for name, column in _PERCENT.items()},
        **{column: _percent(shares.get(name)).removesuffix("%") for name, column in _POINTS.items()},
        **{column: _percent(_share(tallies.get(name, (0, 0)))) for name, column in _CATEGORIES.items()},
        **{column: _percent(_mean([known[name] for name in names])) for column, names in _MEANS.items()},
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


def _lines(rows: Iterator[Row] | Sequence[Row]) -> str:
    return "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows)


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
