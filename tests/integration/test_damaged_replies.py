from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.servers import Server

COUNT = 20
CASES = "cases:\n" + "".join(f"  - {{id: c{n}, prompt: Hello {n}, expect: no_call}}\n" for n in range(COUNT))


@pytest.fixture
def kept(pytester: pytest.Pytester, server: Server) -> Path:
    """The store of a run whose replies are all kept."""
    pytester.makefile(".fc.yaml", talk=CASES)
    ask(pytester, server).assert_outcomes(passed=COUNT)
    return pytester.path / ".fcall" / "replies.db"


def ask(pytester: pytest.Pytester, server: Server, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest(f"--fc-model=openai:exam?base_url={server.url}", *arguments)


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_a_damaged_store_is_told_and_what_is_lost_is_asked_again(
    pytester: pytest.Pytester, server: Server, kept: Path, workers: str
) -> None:
    with kept.open("r+b") as file:
        file.seek(kept.read_bytes().index(b"Hello 10"))
        file.write(b"\xff" * 5000)
    run = ask(pytester, server, workers)
    run.assert_outcomes(passed=COUNT)
    run.stdout.fnmatch_lines(["*.fcall/replies.db*damaged*"])
    assert COUNT < len(server.asked) < 2 * COUNT
    assert ask(pytester, server, workers, "--fc-replay").ret == 0


def test_damage_that_is_found_only_when_the_run_ends_is_told(
    pytester: pytest.Pytester, server: Server, kept: Path
) -> None:
    with closing(sqlite3.connect(kept)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'uses'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with kept.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    run = ask(pytester, server)
    run.assert_outcomes(passed=COUNT)
    run.stdout.fnmatch_lines(["*.fcall/replies.db*damaged*"])
    assert ask(pytester, server, "--fc-replay").ret == 0


def test_what_is_no_store_at_all_is_set_aside(pytester: pytest.Pytester, server: Server, kept: Path) -> None:
    kept.write_bytes(b"This is no database, but somebody's letter. " * 100)
    run = ask(pytester, server)
    run.assert_outcomes(passed=COUNT)
    assert (kept.parent / "replies.damaged-1.db").read_bytes().startswith(b"This is no database")
