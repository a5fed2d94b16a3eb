"""Making cases of a log, against reading its JSON and nothing else."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.measure import side_by_side, table
from benchmarks.projects import tool

LINES = 100_000
FLOOR = "json.loads"
_READ = "import collections, json; collections.deque(map(json.loads, open('log.jsonl', encoding='utf-8')), maxlen=0)"
_WRITE = (
    "import shutil, sys; from pytest_fcall.cli import main; shutil.rmtree('out', ignore_errors=True); sys.exit(main())"
)


def traces(folder: Path, rounds: int) -> None:
    """`fcall import` of requests with their answers, each another one."""
    write_log(folder / "log.jsonl", exchange, LINES)
    commands = {
        FLOOR: [sys.executable, "-c", _READ],
        "fcall import": [sys.executable, "-c", _WRITE, "import", "log.jsonl", "--out", "out"],
    }
    runs = side_by_side(commands, folder, min(rounds, 3))
    print(f"### {LINES:,} lines of a log\n")
    print(table(runs, FLOOR))
    print(f"\n{LINES / median(run.cpu for run in runs['fcall import']):,.0f} lines a second of CPU.\n")
    shutil.rmtree(folder / "out")


def write_log(path: Path, line: Callable[[int], object], count: int) -> None:
    """Write a log of so many lines."""
    with path.open("w", encoding="utf-8") as log:
        log.writelines(f"{json.dumps(line(number))}\n" for number in range(count))


def exchange(number: int) -> dict[str, object]:
    """A question and the call that answers it, with the tools that were offered."""
    arguments = json.dumps({"city": f"City {number}", "days": number % 9, "unit": "celsius"})
    call = {"id": "c1", "type": "function", "function": {"name": f"tool_{number % 3}", "arguments": arguments}}
    asked = {
        "model": "exam-1",
        "messages": [
            {"role": "system", "content": "You know the weather."},
            {"role": "user", "content": f"What is the weather going to be in City {number}, in {number % 9} days?"},
        ],
        "tools": [{"type": "function", "function": tool(n)} for n in range(3)],
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"request": asked, "response": {"choices": [{"message": message, "finish_reason": "tool_calls"}]}}


def _langsmith_run(number: int) -> dict[str, object]:
    """The same as a run of LangSmith."""
    asked, message = _parts(number)
    return {
        "run_type": "llm",
        "start_time": "2026-11-20T10:00:00",
        "inputs": {"messages": asked["messages"]},
        "outputs": {"choices": [{"message": message}]},
        "extra": {"invocation_params": {"model": "exam-1", "tools": asked["tools"]}},
    }


def _otel_span(number: int) -> dict[str, object]:
    """The same as a span of OpenTelemetry, whose attributes are JSON."""
    asked, message = _parts(number)
    return {
        "name": "chat exam-1",
        "traceId": f"{number:032x}",
        "spanId": f"{number:016x}",
        "startTimeUnixNano": str(number),
        "attributes": {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(asked["messages"]),
            "gen_ai.output.messages": json.dumps([message]),
            "gen_ai.tool.definitions": json.dumps(asked["tools"]),
        },
    }


def _parts(number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The request, and the message of the answer."""
    line: dict[str, Any] = exchange(number)
    return line["request"], line["response"]["choices"][0]["message"]


LOGS: Final[Mapping[str, Callable[[int], object]]] = {
    "Chat Completions": exchange,
    "LangSmith": _langsmith_run,
    "OpenTelemetry": _otel_span,
}
"""A line of each format, by its name."""
