"""Stored answers judged, to a suite and to cases of one's own: `python -m benchmarks answers`.

It measures the environment that it runs in; with Ray where that is installed, as in the one of `make test-ray`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import repeat
from pathlib import Path
from typing import Final

from benchmarks.matching import CASE, ROW
from benchmarks.measure import run

FEW: Final = 20_000
MANY: Final = 200_000
_FCALL: Final = (sys.executable, "-m", "pytest_fcall.cli")
_CASES: Final = 20
_ENDED: Final = (0, 1, 10)


def answers(folder: Path, _: int) -> None:
    """Print what 20,000 and 200,000 answers take."""
    print_answers(folder, MANY)


def print_answers(folder: Path, most: int) -> None:
    """Print the rate and the memory for 20,000 answers and for so many, for each way to judge them."""
    for title, write in (("a suite", _write_suite), ("own cases", _write_own)):
        command = [*_FCALL, "score", *write(folder, most)]
        print(f"### Stored answers to {title}\n")
        print("| answers | judged with | wall s | answers a second beyond the first | peak MB of one process |")
        print("|---|---|---|---|---|", flush=True)
        for how, options in _ways():
            few, many = (run([*command, *options, f"{count}.jsonl"], folder, _ENDED) for count in (FEW, most))
            print(f"| {FEW:,} | {how} | {few.wall:.1f} | | {few.rss:.0f} |")
            rate = (most - FEW) / (many.wall - few.wall)
            print(f"| {most:,} | {how} | {many.wall:.1f} | {rate:,.0f} | {many.rss:.0f} |", flush=True)
        print()


def _ways() -> Iterator[tuple[str, Sequence[str]]]:
    yield "one process", ()
    yield "`-j 2`", ("-j2",)
    if find_spec("ray") is not None:
        yield "`--engine=ray`", ("--engine=ray",)


def _write_suite(folder: Path, most: int) -> Sequence[str]:
    (folder / "cases.jsonl").write_text(json.dumps(CASE))
    _write_rows(folder, most, repeat(ROW, most))
    return "--format=bfcl", "--cases=cases.jsonl"


def _write_own(folder: Path, most: int) -> Sequence[str]:
    """Cases with a call, and one in ten with a conversation; one answer in fifty is wrong, and no two are the same."""
    cases = [_case(number) for number in range(_CASES)]
    tool = {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
    (folder / "own.fc.yaml").write_text(json.dumps({"tools": [tool], "cases": cases}))
    _write_rows(folder, most, _own_rows(most))
    return "--cases=own.fc.yaml", "--format=json"


def _case(number: int) -> Mapping[str, object]:
    expect = [{"weather": {"city": f"City {number}"}}]
    if number % 10:
        return {"id": f"city_{number}", "prompt": f"Weather in City {number}?", "expect": expect}
    turns = [{"user": f"Weather in City {number}?", "expect": expect}, {"user": "Thanks.", "expect": "no_call"}]
    return {"id": f"city_{number}", "turns": turns}


def _own_rows(most: int) -> Iterator[Mapping[str, object]]:
    for number in range(most):
        case = number % _CASES
        city = f"City {case if number % 50 else number}"
        called = {"name": "weather", "arguments": json.dumps({"city": city})}
        message = {"role": "assistant", "tool_calls": [{"id": f"c{number}", "type": "function", "function": called}]}
        row = {"reply": message} if case % 10 else {"replies": [message, "It is sunny.", "You are welcome."]}
        yield {"id": f"city_{case}", "key": f"trace-{number}", **row}


def _write_rows(folder: Path, most: int, rows: Iterable[Mapping[str, object]]) -> None:
    with (folder / f"{FEW}.jsonl").open("w") as few, (folder / f"{most}.jsonl").open("w") as many:
        for number, row in enumerate(rows):
            line = f"{json.dumps(row)}\n"
            many.write(line)
            if number < FEW:
                few.write(line)
