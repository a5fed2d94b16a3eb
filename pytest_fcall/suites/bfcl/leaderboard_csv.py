"""The leaderboard's tables as its harness writes them: columns, order, rounding, and what stands for the unknown."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, isfinite
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.core.extension import Figure
from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.categories import CATEGORIES, FORMATS, GROUPS
from pytest_fcall.suites.bfcl.figures import (
    SEVERAL,
    SIMPLE,
    LeaderboardShares,
    Tallies,
    category_shares,
    format_spread,
    is_first_version,
    leaderboard_shares,
    mean,
    mean_by_size,
)
from pytest_fcall.suites.bfcl.known_models import KnownModel, KnownModels

UNKNOWN: Final = "N/A"
_NOT_ASKED: Final = "what was not asked counts as wrong"
OVERALL_FILE: Final = "data_overall.csv"

MEASURED: Final = ("latency", "input_token_count", "output_token_count")
"""The fields of a result that were measured, in the order of `ModelScores`."""

CsvCell: TypeAlias = float | str | None
"""A share; text as it is written; None for what is not known."""
CsvLine: TypeAlias = dict[str, CsvCell]
"""The cells of a model, by column."""

_FORMAT_COLUMNS: Final = ("Format Sensitivity Max Delta", "Format Sensitivity Standard Deviation")
LATENCY_COLUMNS: Final = ("Latency Mean (s)", "Latency Standard Deviation (s)", "Latency 95th Percentile (s)")
OVERALL_COLUMNS: Final = (
    *("Rank", "Overall Acc", "Model", "Model Link", "Total Cost ($)", *LATENCY_COLUMNS),
    *("Non-Live AST Acc", "Non-Live Simple AST", "Non-Live Multiple AST", "Non-Live Parallel AST"),
    *("Non-Live Parallel Multiple AST", "Live Acc", "Live Simple AST", "Live Multiple AST", "Live Parallel AST"),
    *("Live Parallel Multiple AST", "Multi Turn Acc", "Multi Turn Base", "Multi Turn Miss Func"),
    *("Multi Turn Miss Param", "Multi Turn Long Context", "Web Search Acc", "Web Search Base"),
    *("Web Search No Snippet", "Memory Acc", "Memory KV", "Memory Vector", "Memory Recursive Summarization"),
    *("Relevance Detection", "Irrelevance Detection", *_FORMAT_COLUMNS, "Organization", "License"),
)
FIRST_COLUMNS: Final = (
    *("Rank", "Overall Acc", "Model", "Model Link", "Organization", "License", "AST Summary", "Exec Summary"),
    *("Simple Function AST", "Python Simple Function AST", "Java Simple Function AST"),
    *("JavaScript Simple Function AST", "Multiple Functions AST", "Parallel Functions AST", "Parallel Multiple AST"),
    *("Simple Function Exec", "Python Simple Function Exec", "REST Simple Function Exec"),
    *("Multiple Functions Exec", "Parallel Functions Exec", "Parallel Multiple Exec", "Relevance Detection"),
    *("Cost ($ Per 1k Function Calls)", *LATENCY_COLUMNS),
)
_FIRST_PARTS: Final = ("Simple Function", "Multiple Functions", "Parallel Functions", "Parallel Multiple")
_FIRST_CATEGORIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Python Simple Function AST": "simple_python",
        "Java Simple Function AST": "simple_java",
        "JavaScript Simple Function AST": "simple_javascript",
        "Multiple Functions AST": "multiple",
        "Parallel Functions AST": "parallel",
        "Parallel Multiple AST": "parallel_multiple",
        "Python Simple Function Exec": "exec_simple",
        "REST Simple Function Exec": "rest",
        "Multiple Functions Exec": "exec_multiple",
        "Parallel Functions Exec": "exec_parallel",
        "Parallel Multiple Exec": "exec_parallel_multiple",
        "Relevance Detection": "irrelevance",
    }
)
_NOT_SENT: Final = "calls that need a network are not executed, and requests are not sent"
_FIRST_REASONS: Final = dict.fromkeys(("Overall Acc", "Exec Summary", "Simple Function Exec"), _NOT_SENT)
_OVERALL_CATEGORIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Non-Live Multiple AST": "multiple",
        "Non-Live Parallel AST": "parallel",
        "Non-Live Parallel Multiple AST": "parallel_multiple",
        "Live Simple AST": "live_simple",
        "Live Multiple AST": "live_multiple",
        "Live Parallel AST": "live_parallel",
        "Live Parallel Multiple AST": "live_parallel_multiple",
        "Multi Turn Base": "multi_turn_base",
        "Multi Turn Miss Func": "multi_turn_miss_func",
        "Multi Turn Miss Param": "multi_turn_miss_param",
        "Multi Turn Long Context": "multi_turn_long_context",
        "Web Search Base": "web_search_base",
        "Web Search No Snippet": "web_search_no_snippet",
        "Memory KV": "memory_kv",
        "Memory Vector": "memory_vector",
        "Memory Recursive Summarization": "memory_rec_sum",
        "Relevance Detection": "live_relevance",
    }
)


@dataclass(frozen=True, slots=True)
class ModelScores:
    """The scores of the answers of a model."""

    name: str
    tallies: Tallies
    seconds: Sequence[float] = ()
    input_tokens: Sequence[float] = ()
    output_tokens: Sequence[float] = ()


def csv_files(models: Sequence[ModelScores], known: KnownModels) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the harness's tables, that of the overall scores first.

    Models that answered the questions of the first version have its table.
    """
    first = [model for model in models if is_first_version(model.tallies)]
    if newer := [model for model in models if model not in first]:
        yield from _current_files(newer, known)
    if first:
        yield "data.csv", table_text(FIRST_COLUMNS, "Overall Acc", [first_cells(model, known) for model in first])


def _current_files(models: Sequence[ModelScores], known: KnownModels) -> Iterator[tuple[str, str]]:
    shares = {model.name: leaderboard_shares(model.tallies) for model in models}
    facts = {model.name: known.get(model.name) or _unknown(model.name) for model in models}
    titles: Mapping[str, CsvLine] = {name: {"Model": each.title} for name, each in facts.items()}
    overall: list[CsvLine] = [
        {
            **overall_cells(shares[model.name], model.tallies),
            **titles[model.name],
            "Model Link": facts[model.name].link,
            "Total Cost ($)": _cost(model, facts[model.name], known),
            **dict(zip(LATENCY_COLUMNS, latency_cells(model.seconds), strict=True)),
            "Organization": facts[model.name].maker,
            "License": facts[model.name].licence,
        }
        for model in models
    ]
    yield OVERALL_FILE, table_text(OVERALL_COLUMNS, "Overall Acc", overall)
    for name, cells_of in _PARTS.items():
        lines: list[CsvLine] = [{**titles[each], **cells_of(shares[each])} for each in shares]
        yield f"data_{name}.csv", table_text(("Rank", *lines[0]), [*lines[0]][1], lines)
    formats: list[CsvLine] = [{**titles[model.name], **_format_cells(model.tallies)} for model in models]
    yield "data_format_sensitivity.csv", table_text(("Rank", *formats[0]), _FORMAT_COLUMNS[0], formats)


def overall_cells(shares: LeaderboardShares, tallies: Tallies) -> CsvLine:
    """Return the shares of a line in the overall table."""
    of = shares.categories
    return {
        "Overall Acc": shares.overall.value,
        "Non-Live AST Acc": shares.non_live.known,
        "Non-Live Simple AST": shares.simple.known,
        "Live Acc": shares.live.value,
        "Multi Turn Acc": shares.multi_turn.value,
        "Web Search Acc": shares.web_search.known,
        "Memory Acc": shares.memory.known,
        "Irrelevance Detection": shares.irrelevance.known,
        **{column: of[name].known for column, name in _OVERALL_CATEGORIES.items()},
        **dict(zip(_FORMAT_COLUMNS, _spread(tallies), strict=True)),
    }


def first_cells(model: ModelScores, known: KnownModels) -> CsvLine:
    """Return the line of a model in the table of the first version; what a thousand calls cost then is not known."""
    of = category_shares(model.tallies)
    facts = known.get(model.name) or _unknown(model.name)
    simple = mean_by_size(*(of[name] for name in SIMPLE))
    simple_exec = mean_by_size(of["exec_simple"], of["rest"])
    ast = (simple, *(of[name] for name in SEVERAL))
    executed = (simple_exec, *(of[f"exec_{name}"] for name in SEVERAL))
    return {
        "Overall Acc": mean_by_size(*ast, *executed, of["irrelevance"]).value,
        "Model": facts.title,
        "Model Link": facts.link,
        "Organization": facts.maker,
        "License": facts.licence,
        "AST Summary": mean(*ast).value,
        "Exec Summary": mean(*executed).value,
        "Python Simple Function AST": of["simple_python"].value,
        "Java Simple Function AST": of["simple_java"].value,
        "JavaScript Simple Function AST": of["simple_javascript"].value,
        "Python Simple Function Exec": of["exec_simple"].value,
        "REST Simple Function Exec": of["rest"].value,
        "Relevance Detection": of["irrelevance"].value,
        **{
            f"{column} {kind}": share.value
            for kind, shares in (("AST", ast), ("Exec", executed))
            for column, share in zip(_FIRST_PARTS, shares, strict=True)
        },
        **dict(zip(LATENCY_COLUMNS, latency_cells(model.seconds), strict=True)),
    }


def published_figures(tallies: Tallies) -> list[Figure]:
    """Return the shares of a line in the overall table. Those that count wrong what was not asked say so."""
    if is_first_version(tallies):
        first = first_cells(ModelScores("", tallies), KnownModels({}))
        named = ((column, cell, _FIRST_CATEGORIES.get(column, "")) for column, cell in first.items())
        return [
            Figure(column, cell, of, _FIRST_REASONS.get(column, "") or _reason(of))
            for column, cell, of in named
            if isinstance(cell, float) and (not of or of in tallies)
        ]
    shares = leaderboard_shares(tallies)
    whole = {"Overall Acc": shares.overall, "Live Acc": shares.live, "Multi Turn Acc": shares.multi_turn}
    reasons = {column: _NOT_ASKED for column, share in whole.items() if not share.is_whole}
    reasons["Web Search Acc"] = _reason("web_search_base")
    return [
        Figure(column, cell, of, reasons.get(column) or _reason(of))
        for column, cell in overall_cells(shares, tallies).items()
        for of in [_OVERALL_CATEGORIES.get(column, "")]
        if isinstance(cell, float) and (column not in whole or whole[column].value)
    ]


def _reason(category: str) -> str:
    """The reason why a category may have another accuracy here than on the leaderboard."""
    known = CATEGORIES.get(category)
    judged_otherwise = known is not None and (known.truth in ("source", "answer") or category in GROUPS["web_search"])
    return known.note if known and judged_otherwise else ""


def _non_live_cells(shares: LeaderboardShares) -> CsvLine:
    of = shares.categories
    return {
        "Non-Live Overall Acc": shares.non_live.value,
        "AST Summary": shares.non_live.known,
        "Simple AST": shares.simple.known,
        "Python Simple AST": of["simple_python"].known,
        "Java Simple AST": of["simple_java"].known,
        "JavaScript Simple AST": of["simple_javascript"].known,
        "Multiple AST": of["multiple"].known,
        "Parallel AST": of["parallel"].known,
        "Parallel Multiple AST": of["parallel_multiple"].known,
        "Irrelevance Detection": of["irrelevance"].known,
    }


def _live_cells(shares: LeaderboardShares) -> CsvLine:
    of = shares.categories
    return {
        "Live Overall Acc": shares.live.value,
        "AST Summary": shares.live.known,
        "Python Simple AST": of["live_simple"].known,
        "Python Multiple AST": of["live_multiple"].known,
        "Python Parallel AST": of["live_parallel"].known,
        "Python Parallel Multiple AST": of["live_parallel_multiple"].known,
        "Irrelevance Detection": of["live_irrelevance"].known,
        "Relevance Detection": of["live_relevance"].known,
    }


def _multi_turn_cells(shares: LeaderboardShares) -> CsvLine:
    titles = {"base": "Base", "miss_func": "Miss Func", "miss_param": "Miss Param", "long_context": "Long Context"}
    own = {title: shares.categories[f"multi_turn_{name}"].known for name, title in titles.items()}
    return {"Multi Turn Overall Acc": shares.multi_turn.value, **own}


def _agentic_cells(shares: LeaderboardShares) -> CsvLine:
    of = shares.categories
    return {
        "Agentic Overall Acc": shares.agentic.value,
        "Web Search Summary": shares.web_search.known,
        "Web Search Base": of["web_search_base"].known,
        "Web Search No Snippet": of["web_search_no_snippet"].known,
        "Memory Summary": shares.memory.known,
        "Memory KV": of["memory_kv"].known,
        "Memory Vector": of["memory_vector"].known,
        "Memory Recursive Summarization": of["memory_rec_sum"].known,
    }


_PARTS: Final = MappingProxyType(
    {"non_live": _non_live_cells, "live": _live_cells, "multi_turn": _multi_turn_cells, "agentic": _agentic_cells}
)


def _format_cells(tallies: Tallies) -> CsvLine:
    shares = {each.config: tallies.get(each.category, (0, 0)) for each in FORMATS}
    return {
        **dict(zip(_FORMAT_COLUMNS, _spread(tallies), strict=True)),
        **{f"Config {config}": right / asked if asked else None for config, (right, asked) in shares.items()},
    }


def _spread(tallies: Tallies) -> tuple[str | None, str | None]:
    """The spread over the formats that were asked, in points."""
    pairs = [tallies[each.category] for each in FORMATS if each.category in tallies]
    shares = [right / asked for right, asked in pairs if asked]
    if not shares:
        return None, None
    most, deviation = format_spread(shares)
    return str(round(most * 100, 2)), str(round(deviation * 100, 2))


def _unknown(name: str) -> KnownModel:
    return KnownModel(name, UNKNOWN, UNKNOWN, UNKNOWN, None, None)


def _cost(model: ModelScores, facts: KnownModel, known: KnownModels) -> str | None:
    """The cost of tokens; of models on one's own machines, that of the time. Unknown models have no price."""
    if facts.input_price is not None and facts.output_price is not None:
        if not (model.input_tokens and model.output_tokens):
            return None
        dollars = (
            sum(model.input_tokens) * facts.input_price / 1000000
            + sum(model.output_tokens) * facts.output_price / 1000000
        )
        return str(round(dollars, 2))
    if not (model.seconds and known.gpu_price and known.get(model.name)):
        return None
    return str(round(sum(model.seconds) / 3600 * known.gpu_price.hour / known.gpu_price.requests, 2))


def measured_numbers(value: Json) -> Sequence[float]:
    """Return the numbers in a field of a result: one, or a list for each turn. 0 stands for what is not known."""
    turns = value if isinstance(value, list) and all(isinstance(turn, list) for turn in value) else [[value]]
    found = (each for turn in turns if isinstance(turn, list) for each in turn)
    return [each for each in found if isinstance(each, int | float) and each and isfinite(each)]


def latency_cells(seconds: Sequence[float]) -> tuple[str | None, str | None, str | None]:
    """Return the mean of latencies, their standard deviation and their 95th percentile."""
    if not seconds:
        return None, None, None
    deviation = str(round(statistics.stdev(seconds), 2)) if len(seconds) > 1 else None
    return str(round(statistics.mean(seconds), 2)), deviation, str(_percentile_95(seconds))


def _percentile_95(seconds: Sequence[float]) -> float:
    """The percentile as NumPy interpolates and rounds it, which is not always as Python does."""
    ordered = sorted(map(float, seconds))
    place = (len(ordered) - 1) * 0.95
    low = floor(place)
    before, behind = ordered[low], ordered[min(low + 1, len(ordered) - 1)]
    part = place - low
    step = behind - before
    value = behind - step * (1 - part) if part >= 0.5 else before + step * part
    return round(value * 100) / 100


def table_text(columns: Sequence[str], sorted_by: str, lines: Iterable[CsvLine]) -> str:
    """Return the text of a table, best line first; the unknown comes last."""

    def order(line: CsvLine) -> float:
        cell = line.get(sorted_by)
        return -1 if cell is None else float(cell)

    ranked = sorted(lines, key=order, reverse=True)
    rows = [{**line, "Rank": str(rank)} for rank, line in enumerate(ranked, 1)]
    cells = [columns, *([cell_text(row.get(column)) for column in columns] for row in rows)]
    return "\n".join(map(",".join, cells))


def cell_text(cell: CsvCell) -> str:
    """Return a cell as it is written. The harness quotes none, so that a comma in a name would part it."""
    if isinstance(cell, str):
        return " ".join(cell.replace(",", " ").splitlines())
    return UNKNOWN if cell is None else f"{cell * 100:.2f}%"
