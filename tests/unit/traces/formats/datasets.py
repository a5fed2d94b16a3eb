"""Data sets of other tools, imported as a whole, and replies judged by the cases that were made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.core import Case, Condition, FaultyCase, Json, RawCall, Reply
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.traces.case_files import WrittenFile, write_case_files
from pytest_fcall.traces.extraction import Extraction
from pytest_fcall.traces.masking import Masker
from pytest_fcall.traces.record import SkippedEntry

Calls = Sequence[tuple[str, Mapping[str, Any]]]


class Imported(NamedTuple):
    """The case file as plain data, its cases, and what was told."""

    written: Mapping[str, Any]
    cases: Mapping[str, Case | FaultyCase]
    told: list[str]

    @property
    def only(self) -> Mapping[str, Any]:
        """The one case, as it is written, without its prompt and its name."""
        (case,) = self.written["cases"]
        return {key: value for key, value in case.items() if key not in ("id", "prompt", "skip")}


def imported(path: Path) -> Imported:
    """Import a file or a folder, as `fcall import` does."""
    files = sorted(each for each in path.iterdir() if each.is_file()) if path.is_dir() else [path]
    extraction = Extraction(files, Masker([], usual=False))
    out = path.parent / f"{path.name}.out"
    left_out: list[SkippedEntry] = []
    written: dict[str, Any] = {"cases": []}
    cases: dict[str, Case | FaultyCase] = {}
    for each in write_case_files(extraction.cases(), out, "made"):
        if isinstance(each, WrittenFile):
            written = yaml.safe_load(each.path.read_text(encoding="utf-8"))
            cases |= {entry.id: entry for entry in read_case_file(each.path, root=out).entries}
        else:
            left_out.append(each)
    told = [f"{each.place}: {each.reason}" for each in (*extraction.skipped, *left_out)]
    return Imported(written, cases, told)


def imported_json(folder: Path, data: Json, name: str = "data.json") -> Imported:
    """Import a JSON file with this value."""
    (folder / name).write_text(json.dumps(data), encoding="utf-8")
    return imported(folder / name)


def imported_text(folder: Path, text: str, name: str = "data.yaml") -> Imported:
    """Import a file with this text."""
    (folder / name).write_text(text, encoding="utf-8")
    return imported(folder / name)


def is_right(case: Case, calls: Calls, answer: str = "", turn: int = 0) -> bool:
    """Whether these calls, with this text, are right by a turn of the case."""
    raw = tuple(RawCall(name, json.dumps(arguments)) for name, arguments in calls)
    reply = Reply(text=answer or ("" if raw else "Hello!"), tool_calls=raw, finish="tool_calls" if raw else "stop")
    return judge_turn(reply, decode(reply), case.turns[turn], MatchContext(tools=case.tools)).valid


def reasons(skip: tuple[Condition, ...]) -> list[str]:
    """The reasons to skip a case."""
    return [each.reason for each in skip]
