"""Whether models err more often where a rule of `fcall tools lint` applies: recorded answers with official verdicts.

    FCALL_CORPUS=… python -m benchmarks.tool_lint

reads `bfcl_cases.jsonl.gz` and `bfcl_verdicts.jsonl.gz` of that folder: answers of many models to the single-turn
cases of the Berkeley Function Calling Leaderboard, with the verdicts of its own checker. Prints, for each rule, how
often the models called a tool that was not wanted, or gave this argument wrongly, where the rule applies and where it
does not: the difference within the same model, category and type of argument (Mantel-Haenszel), with a 95 % interval
that treats all answers to a case as one. Answers that cannot be decoded are left out.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pytest_fcall.core import Tool
from pytest_fcall.schema.lint.rules import RULES, argument_findings, tool_findings
from pytest_fcall.schema.sources.tool_data import tools_from_data
from pytest_fcall.schema.tool_schema import tool_schema

CATEGORIES = (
    *("simple_python", "live_simple", "multiple", "live_multiple"),
    *("parallel_multiple", "live_parallel_multiple"),
)
ARGUMENT_RULES = [rule for rule in RULES if rule not in ("same-name", "no-description", "alike", "many-tools")]
MANY = 8
"""No case of the corpus offers as many tools as the rule says."""
FEW = 10
"""Of fewer cases an interval says nothing."""
NAMED = re.compile(r"parameter:? '([^']+)'", re.IGNORECASE)
WRONG_CHOICE = ("wrong_func_name", "wrong_count", "decoder")


class Seen(NamedTuple):
    """One answer, or one argument of it: whether a rule applied, and whether it was wrong."""

    stratum: tuple[str, ...]
    case: str
    applies: bool
    wrong: bool


class Effect(NamedTuple):
    """What was measured of a rule."""

    applied: int
    cases: int
    rate_where: float
    rate_elsewhere: float
    difference: float
    low: float
    high: float


def effect(seen: Iterable[Seen]) -> Effect | None:
    """The difference within strata, weighted as Mantel and Haenszel do; its variance by cases.

    None where nothing can be compared.
    """
    strata: dict[tuple[str, ...], list[Seen]] = defaultdict(list)
    for each in seen:
        strata[each.stratum].append(each)
    total = where = elsewhere = 0.0
    applied, cases = 0, set[str]()
    kept = []
    for rows in strata.values():
        those = [row for row in rows if row.applies]
        others = [row for row in rows if not row.applies]
        if not those or not others:
            continue
        weight = len(those) * len(others) / len(rows)
        rates = [sum(row.wrong for row in group) / len(group) for group in (those, others)]
        total += weight
        where += weight * rates[0]
        elsewhere += weight * rates[1]
        applied += len(those)
        cases |= {row.case for row in those}
        kept.append((weight, rates, those, others))
    if not total:
        return None
    by_case: dict[str, float] = defaultdict(float)
    for weight, rates, those, others in kept:
        for rate, group, sign in ((rates[0], those, 1), (rates[1], others, -1)):
            for row in group:
                by_case[row.case] += sign * weight * (row.wrong - rate) / len(group) / total
    error = 1.96 * math.sqrt(sum(value * value for value in by_case.values()))
    difference = (where - elsewhere) / total
    return Effect(
        applied, len(cases), where / total, elsewhere / total, difference, difference - error, difference + error
    )


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


class Exam(NamedTuple):
    """A case: what is expected, and where rules apply."""

    expected: frozenset[str]
    """The names of the expected tools."""
    others: Mapping[str, bool]
    """The tools that are not expected, and whether each is alike to one that is."""
    number: int
    """The number of tools."""
    arguments: Mapping[str, tuple[str, frozenset[str]]]
    """The type of each argument of the expected tool, and the rules that apply; empty where several are expected."""


def exam_of(row: Mapping[str, Any]) -> Exam:
    tools = tools_from_data(row["function"], source="bfcl")
    expected = frozenset(name for call in row["ground_truth"] for name in call)
    alike = {frozenset((found.tool, found.other)) for found in tool_findings(tools) if found.rule == "alike"}
    return Exam(
        frozenset(map(official_name, expected)),
        {
            official_name(tool.name): any(frozenset((tool.name, name)) in alike for name in expected)
            for tool in tools
            if tool.name not in expected
        },
        len(tools),
        arguments_of(next(tool for tool in tools if tool.name in expected)) if len(row["ground_truth"]) == 1 else {},
    )


def arguments_of(tool: Tool) -> dict[str, tuple[str, frozenset[str]]]:
    rules: dict[str, set[str]] = defaultdict(set)
    for found in argument_findings(tool, ()):
        rules[re.split(r"[.\[]", found.argument)[0]].add(found.rule)
    return {name: (str(own.get("type")), frozenset(rules[name])) for name, own in tool_schema(tool).parameters.items()}


def official_name(name: str) -> str:
    """A name as models of either style write it: some cannot say the dot."""
    return name.replace(".", "_")


def called_names(decoded: Any) -> set[str]:
    if not isinstance(decoded, list) or not all(isinstance(each, dict) for each in decoded):
        return set()
    return {official_name(str(name)) for each in decoded for name in each}


def measured(folder: Path) -> dict[str, list[Seen]]:
    exams = {
        row["id"]: exam_of(row) for row in json_lines(folder / "bfcl_cases.jsonl.gz") if row["category"] in CATEGORIES
    }
    seen: dict[str, list[Seen]] = {rule: [] for rule in RULES}
    for row in json_lines(folder / "bfcl_verdicts.jsonl.gz"):
        exam = exams.get(row["id"])
        if exam is None or not (row["same_question"] and row["same_function"] and row["same_answer"]):
            continue
        stratum = row["model"], row["category"]
        if called := called_names(row["decoded"]):
            for name, is_alike in exam.others.items():
                seen["alike"].append(Seen(stratum, row["id"], is_alike, name in called))
            if exam.others:
                many = exam.number > MANY
                seen["many-tools"].append(Seen(stratum, row["id"], many, bool(called & exam.others.keys())))
        if row["valid"] or not any(part in str(row["error_type"]) for part in WRONG_CHOICE):
            named = {each for text in row["error"] or () for each in NAMED.findall(str(text))}
            for name, (kind, rules) in exam.arguments.items():
                for rule in ARGUMENT_RULES:
                    seen[rule].append(Seen((*stratum, kind), row["id"], rule in rules, name in named))
    return seen


def main() -> None:
    print("| rule | answers | cases | wrong where it applies | elsewhere | difference, in points |")
    print("|---|--:|--:|--:|--:|--:|")
    for rule, rows in measured(Path(os.environ["FCALL_CORPUS"])).items():
        found = effect(rows)
        if found is None:
            print(f"| `{rule}` | 0 | 0 | | | |")
            continue
        interval = f"({100 * found.low:+.1f} to {100 * found.high:+.1f})" if found.cases >= FEW else "(too few cases)"
        print(
            f"| `{rule}` | {found.applied:,} | {found.cases:,} | {found.rate_where:.1%} | {found.rate_elsewhere:.1%} "
            f"| {100 * found.difference:+.1f} {interval} |"
        )


if __name__ == "__main__":
    main()
