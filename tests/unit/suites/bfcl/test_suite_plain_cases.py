"""Cases of the leaderboard as cases of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.core import Case, FaultyCase, Reply
from pytest_fcall.decoding.decoders import DECODERS, decode
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge
from pytest_fcall.suites.bfcl.suite import BfclSuite
from pytest_fcall.suites.case_files import case_file_text, split_by_tools
from tests.bfcl_data import PACK, SAIL, question, truth, write_category, write_leaderboard


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_leaderboard(tmp_path)


def read_back(part: str, folder: Path) -> list[Case]:
    cases = [case for case in BfclSuite().plain(part, folder) if isinstance(case, Case)]
    extensions = Extensions(decoders=frozenset(DECODERS))
    found = []
    for own in split_by_tools(cases):
        file = read_case_text(case_file_text(own, "a part"), folder / "x.fc.yaml", root=folder, extensions=extensions)
        assert file.faults == ()
        found += [entry for entry in file.entries if isinstance(entry, Case)]
    return found


@pytest.mark.parametrize("part", ["simple_python", "simple_java", "irrelevance", "exec_simple"])
def test_a_case_that_was_written_says_what_it_said(folder: Path, part: str) -> None:
    before = [case for case in BfclSuite().plain(part, folder) if isinstance(case, Case)]
    after = read_back(part, folder)
    assert [case.id for case in after] == [case.id for case in before]
    for was, now in zip(before, after, strict=True):
        assert now.turns == was.turns
        assert now.category == was.category
        assert (now.rules.profile, now.rules.language) == ("bfcl", was.rules.language)
        assert [(tool.name, tool.declared) for tool in now.tools] == [(tool.name, tool.declared) for tool in was.tools]


@pytest.mark.parametrize(
    ("id_", "text"),
    [
        ("simple_python_1", "[sail(port='BERGEN')]"),
        ("simple_python_1", "[sail(port='Bergen', crew='1')]"),
        ("parallel_multiple_0", "[sail(port='Oslo, Norway'), trip.pack(items=['Tent', 'rope'], note='')]"),
        ("parallel_multiple_0", "[sail(port='Oslo'), trip.pack(items=['rope', 'tent'])]"),
        ("irrelevance_0", "Very deep."),
        ("simple_java_0", "[Shelf.put(row=3)]"),
    ],
)
def test_its_verdicts_are_those_of_the_suite(folder: Path, id_: str, text: str) -> None:
    part = id_.rpartition("_")[0]
    (ours,) = [case for case in read_back(part, folder) if case.id == id_]
    (native,) = [case for case in BfclSuite().cases(part, folder) if case.id == id_]
    assert isinstance(native, Case)
    assert native.judge is not None
    reply = Reply(text, decoder="bfcl" if ours.rules.language == "python" else "bfcl_java")
    calls = decode(reply, ours.tools)
    expect = ours.turns[0].expect
    assert expect is not None
    official, verdict = (
        native.judge(native, reply, calls),
        judge(reply, calls, expect, MatchContext(ours.tools, ours.rules)),
    )
    assert verdict.valid == official.valid


def test_tools_of_one_name_that_differ_go_to_files_of_their_own(folder: Path) -> None:
    other = {**SAIL, "description": "Sails away."}
    rows = [question(f"multiple_{n}", "Sail.", tool, PACK) for n, tool in enumerate([SAIL, other, SAIL])]
    write_category(folder, "multiple", rows, [truth(f"multiple_{n}", {"sail": {"port": ["Oslo"]}}) for n in range(3)])
    cases = [case for case in BfclSuite().plain("multiple", folder) if isinstance(case, Case)]
    assert [[case.id for case in own] for own in split_by_tools(cases)] == [
        ["multiple_0", "multiple_2"],
        ["multiple_1"],
    ]


def test_a_prompt_of_unusual_characters_survives(folder: Path) -> None:
    said = 'NO: "yes" \x85\x7f \ud83c\udf0a\\ {x} é\n- #'.encode("utf-16", "surrogatepass").decode("utf-16")
    write_category(folder, "irrelevance", [question("irrelevance_0", said, SAIL)])
    (case,) = read_back("irrelevance", folder)
    assert case.turns[0].messages == ({"role": "user", "content": said},)


def test_a_truth_that_lacks_a_list_of_alternatives_cannot_be_said(folder: Path) -> None:
    write_category(
        folder,
        "multiple",
        [question("multiple_0", "Sail.", SAIL, PACK)],
        [truth("multiple_0", {"sail": {"port": "Oslo"}})],
    )
    (case,) = BfclSuite().plain("multiple", folder)
    assert isinstance(case, FaultyCase)
    assert "in place of a list of alternatives" in case.faults[0].message


def test_what_nothing_judges_is_not_imported(folder: Path) -> None:
    assert all(
        isinstance(case, FaultyCase) for part in ("rest", "chatable") for case in BfclSuite().plain(part, folder)
    )
