"""One judge over all Python rows of the corpus: `python -m benchmarks.judges JUDGE CORPUS`.

Prints the CPU seconds of one pass for each style of answer, without imports and reading files. The judge `official`
runs in the official environment, so that only the standard library may be imported at the top.
"""

from __future__ import annotations

import gc
import gzip
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_fcall.core.expectation import Profile

STYLES = {"fc_json": "fc", "prompt_default": "prompt"}


def main() -> None:
    """Print the seconds and the numbers of rows as JSON."""
    prepare, corpus = JUDGES[sys.argv[1]], Path(sys.argv[2])
    cases = {case["id"]: case for case in _rows(corpus / "bfcl_cases.jsonl.gz") if case["language"] == "python"}
    ready: dict[str, list[Callable[[], object]]] = {style: [] for style in STYLES.values()}
    prepared = prepare(cases)
    for row in _rows(corpus / "bfcl_verdicts.jsonl.gz"):
        if row["id"] in cases and (style := STYLES.get(row["decoder"])):
            ready[style].append(prepared(style, row))
    print(json.dumps({style: {"seconds": _seconds(todo), "rows": len(todo)} for style, todo in ready.items()}))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _seconds(todo: list[Callable[[], object]]) -> float:
    gc.freeze()  # what waits to be judged is no garbage: looking through it would be a cost of the benchmark
    started = time.process_time()
    for judge in todo:
        judge()
    return time.process_time() - started


Cases = dict[str, dict[str, Any]]
Prepared = Callable[[str, dict[str, Any]], Callable[[], object]]


def official(cases: Cases) -> Prepared:
    """Decode and check with the official code."""
    from tests.conformance.official.judge import Official

    judge = Official()
    handlers = {style: judge.handler(style) for style in STYLES.values()}

    def prepared(style: str, row: dict[str, Any]) -> Callable[[], object]:
        case = cases[row["id"]]
        return judge.prepared(
            handlers[style],
            {
                "category": row["category"],
                "functions": case["function"],
                "truth": case.get("ground_truth") or [],
                "raw": row["raw"],
                "underscored": row["underscore_to_dot"],
                "format": None,
                "tags": False,
            },
        )

    return prepared


def bfcl(cases: Cases) -> Prepared:
    """Decode and check as the official code does, in code of ours."""
    from pytest_fcall.decoding.bfcl.decoders import decode_prompt
    from pytest_fcall.decoding.bfcl.official_form import Undecodable
    from pytest_fcall.decoding.bfcl.structured_calls import decode_native
    from pytest_fcall.matching.bfcl.checker import check_answer, check_undecodable
    from pytest_fcall.matching.bfcl.official_case import OfficialCase

    decoders: dict[str, Callable[[object], object]] = {"fc": decode_native, "prompt": decode_prompt}

    def prepared(style: str, row: dict[str, Any]) -> Callable[[], object]:
        case, raw, decode = cases[row["id"]], row["raw"], decoders[style]
        truth = case.get("ground_truth") or []
        exam = OfficialCase(row["category"], case["function"], truth, "python", row["underscore_to_dot"])

        def judge() -> object:
            try:
                decoded = decode(raw)
            except Undecodable as error:
                return check_undecodable(exam, str(error))
            return check_answer(exam, decoded)

        return judge

    return prepared


def profile(name: Profile, cases: Cases) -> Prepared:
    """Judge decoded calls by a profile, as the plugin does."""
    from pytest_fcall.core import Location
    from pytest_fcall.matching.context import MatchContext
    from pytest_fcall.matching.reply import judge
    from pytest_fcall.suites.bfcl.answers import read_answer
    from pytest_fcall.suites.bfcl.cases import case_of
    from pytest_fcall.suites.bfcl.judge import strict_reading

    read = {key: case_of(row, Location("cases", number)) for number, (key, row) in enumerate(cases.items(), 1)}

    def prepared(_style: str, row: dict[str, Any]) -> Callable[[], object]:
        case = read[row["id"]]
        reply, calls = strict_reading(read_answer(row, "raw"), case.case)
        return partial(
            judge, reply, calls, case.expect, MatchContext(case.case.tools, case.case.rules._replace(profile=name))
        )

    return prepared


JUDGES: dict[str, Callable[[Cases], Prepared]] = {
    "official": official,
    "bfcl": bfcl,
    "profile-bfcl": partial(profile, "bfcl"),
    "profile-strict": partial(profile, "strict"),
}

if __name__ == "__main__":
    main()
