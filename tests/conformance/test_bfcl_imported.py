"""Case files that were made of the leaderboard: their verdicts on real answers are the official ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.core import Case, RawCall, Reply
from pytest_fcall.decoding.decoders import DECODERS, decode
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge
from tests.conformance.corpus import CASES, VERDICTS, rows, write_cases
from tests.integration.command import fcall

LEFT_OUT = {
    *("simple_java_64", "live_simple_106-63-0", "live_simple_112-68-0"),
    *("parallel_multiple_12", "parallel_multiple_26"),
    *("live_multiple_862-181-3", "live_multiple_964-207-0"),
}
"""Cases whose ground truth lacks lists of alternatives, or names other arguments than the tool has."""
NAMELESS = {"irrelevance_196"}
"""An answer with a key that is no text, which no call of ours can have."""
DECODER = {"python": "bfcl", "java": "bfcl_java", "javascript": "bfcl_javascript"}

pytestmark = pytest.mark.skipif(not CASES.is_file(), reason="FCALL_CORPUS names no folder with the corpus of answers")


def import_cases(folder: Path, chosen: Collection[str]) -> dict[str, Case]:
    write_cases(folder / "data", chosen)
    done = fcall(folder, "import", "bfcl", "--path", "data", "--out", "cases")
    assert {line.split(": ")[1] for line in done.stderr.splitlines()[:-1]} == LEFT_OUT
    assert done.stderr.endswith(f"{len(LEFT_OUT)} of {len(chosen):,} cases left out\n")
    known = Extensions(decoders=frozenset(DECODERS))
    files = [read_case_file(path, root=folder, extensions=known) for path in (folder / "cases").iterdir()]
    return {case.id: case for file in files for case in file.entries if isinstance(case, Case)}


def test_all_cases_that_can_be_said_are_there_and_judge_as_the_official_checker_does(
    tmp_path: Path, every: int
) -> None:
    every = min(every, 5)  # among fewer, answers with some kinds of values would be missing
    chosen = {row["id"] for row in islice(rows(CASES), 0, None, every)} | LEFT_OUT | NAMELESS
    imported = import_cases(tmp_path, chosen)
    assert imported.keys() == chosen - LEFT_OUT
    told = [row for row in rows(VERDICTS) if row["id"] in imported and is_plain(row)]
    wrong = {(row["model"], row["id"]) for row in told if valid(imported[row["id"]], row) is not row["valid"]}
    assert len(told) > 30_000 / every
    assert {id_ for _, id_ in wrong} <= NAMELESS


def is_plain(row: Mapping[str, Any]) -> bool:
    """Whether the answer is there as the model gave it, and in one piece: some have text between native calls."""
    raw = row.get("raw")
    known = row["decoder"] in ("fc_json", "prompt_default")
    return known and (isinstance(raw, str) or all(isinstance(item, dict) for item in raw or ()))


def valid(case: Case, row: Mapping[str, Any]) -> bool:
    reply = reply_of(case, row)
    (turn,) = case.turns
    assert turn.expect is not None
    return judge(reply, decode(reply, case.tools), turn.expect, MatchContext(case.tools, case.rules)).valid


def reply_of(case: Case, row: Mapping[str, Any]) -> Reply:
    raw = row["raw"]
    if isinstance(raw, str):
        return Reply(raw, decoder=DECODER[case.rules.language] if row["style"] == "prompt" else None)
    wired = {tool.name: tool.name.replace(".", "_") for tool in case.tools}
    names = {**{told: name for name, told in wired.items()}, **wired} if row["underscore_to_dot"] else {}
    return Reply(tool_calls=tuple(RawCall(names.get(name, name), said) for item in raw for name, said in item.items()))
