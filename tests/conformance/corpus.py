"""The corpus of answers as the files that a suite reads, and an app that gives its answers again."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_fcall.core import Location
from pytest_fcall.suites.bfcl.cases import BfclCase, case_of
from pytest_fcall.suites.json_files import open_lines, parse_record, read_lines
from tests.bfcl_data import write_rows

CORPUS = Path(os.environ.get("FCALL_CORPUS") or "no-corpus").absolute()
CASES, VERDICTS = CORPUS / "bfcl_cases.jsonl.gz", CORPUS / "bfcl_verdicts.jsonl.gz"

CONFTEST = """
import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.core import RawCall, Reply

ROWS = {row["id"]: row for row in map(json.loads, Path("rows.jsonl").read_text(encoding="utf-8").splitlines())}
VERDICTS = open("verdicts.jsonl", "w", encoding="utf-8")


def pytest_fcall_request(case, request):
    return replace(request, settings={"case": case.id})


@pytest.hookimpl(wrapper=True)
def pytest_fcall_verdict(case, verdict):
    print(json.dumps([case.category, case.id, verdict.valid, verdict.error_type]), file=VERDICTS, flush=True)
    return (yield)


def answer(request):
    row = ROWS[request.settings["case"]]
    raw = row["raw"]
    if row["style"] == "prompt":
        return Reply(raw, decoder="bfcl")
    if isinstance(raw, str):
        return Reply(raw)
    # What was offered as `a_b` for `a.b` comes back as `a.b`, and what was not offered under this name does not.
    wired = {tool["function"]["name"]: tool["function"]["name"].replace(".", "_") for tool in request.tools}
    names = {**{dotted: name for name, dotted in wired.items()}, **wired} if row["underscore_to_dot"] else {}
    return Reply(tool_calls=tuple(RawCall(names.get(name, name), said) for item in raw for name, said in item.items()))
"""


def rows(path: Path, having: str = "") -> Iterator[dict[str, Any]]:
    """The rows of a file of the corpus; only those in which this occurs, as the others take longest to parse."""
    text = having.encode()
    with open_lines(path) as stream:
        yield from (dict(parse_record(line)) for line in read_lines(stream) if text in line)


def read_cases(every: int, others: Container[str] = ()) -> list[BfclCase]:
    """One of so many cases of the leaderboard, and those of these ids."""
    chosen = (row for number, row in enumerate(rows(CASES)) if number % every == 0 or row["id"] in others)
    return [case_of(row, Location(CASES.name)) for row in chosen]


def write_part(path: Path, folder: Path, every: int) -> Path:
    """Write one of so many rows of a file of the corpus, as they are; returns the file."""
    part = folder / path.name.removesuffix(".gz")
    with open_lines(path) as stream:
        part.write_bytes(b"".join(islice(stream, 0, None, every)))
    return part


def write_cases(folder: Path, ids: Container[str] | None = None) -> None:
    """Write the cases, all or those of these ids, as the leaderboard's own files."""
    questions: dict[str, list[dict[str, Any]]] = {}
    truths: dict[str, list[dict[str, Any]]] = {}
    for row in rows(CASES):
        if ids is not None and row["id"] not in ids:
            continue
        asked = {key: row[key] for key in ("id", "question", "function")}
        questions.setdefault(row["category"], []).append(asked)
        truths.setdefault(row["category"], []).append({"id": row["id"], "ground_truth": row["ground_truth"]})
    for category, asked_of in questions.items():
        write_rows(folder / f"BFCL_v4_{category}.json", asked_of)
        if "relevance" not in category:
            write_rows(folder / "possible_answer" / f"BFCL_v4_{category}.json", truths[category])


def write_exam(folder: Path, model: str, every: int) -> list[dict[str, Any]]:
    """Write all that a run needs in which one of so many of the model's answers is given again; returns their rows."""
    write_cases(folder / "data")
    answered = [row for row in rows(VERDICTS, model) if row["model"] == model][::every]
    write_rows(folder / "rows.jsonl", answered)
    ids = json.dumps([row["id"] for row in answered])
    (folder / "exam.fc.yaml").write_text(f"suite: bfcl\npath: data\npick: {ids}\n", encoding="utf-8")
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    return answered
