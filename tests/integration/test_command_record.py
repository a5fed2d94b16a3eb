from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.recordings.file import bookkeeping_path, read_recordings, recordings_path, write_recordings
from pytest_fcall.backends.store import ReplyStore, store_path
from pytest_fcall.core import Model
from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.unit.backends.store.entries import FILE, MODEL, entry

OLD = "2020-01-01T00:00:00Z"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "cases").mkdir()
    (tmp_path / FILE).touch()
    return tmp_path


@pytest.fixture
def exported(project: Path) -> Path:
    return recordings_path(project / FILE, Model("openai", "gpt-5.2"))


def keep(project: Path, *entries: Recording, file: str = FILE, used: Sequence[Recording] = ()) -> None:
    """One run: it kept some replies, and used others that were there."""
    with closing(ReplyStore(store_path(project))) as store:
        for one in entries:
            store.put(MODEL, file, one)
        for one in used:
            store.note_use(MODEL, file, one.case, one.digest)


def record(folder: Path, *arguments: str, says: str = "", status: int = 0) -> str:
    done = fcall_here(folder, "record", *arguments)
    assert says in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == status, done.stderr
    return done.stdout


def cases(path: Path) -> list[str]:
    return [one.case for one in read_recordings(path).entries]


def test_exported_are_the_bytes_that_recordings_have(project: Path, exported: Path, tmp_path: Path) -> None:
    keep(project, entry("b"), entry("a"))
    record(project, "--export", says="cases/__fcall__/openai-gpt-5.2/weather.fc.yaml.replies.jsonl: 2 replies, 2 new")
    expected = tmp_path / "expected"
    write_recordings(expected, Model("openai", "gpt-5.2"), [entry("a"), entry("b")])
    assert exported.read_bytes() == expected.read_bytes()
    assert bookkeeping_path(exported).read_bytes() == bookkeeping_path(expected).read_bytes()


def test_files_that_are_as_they_should_be_are_not_touched(project: Path, exported: Path) -> None:
    keep(project, entry("b"), entry("a"))
    record(project, "--export")
    files = [exported, bookkeeping_path(exported), exported.parents[1] / ".gitattributes"]
    for file in files:
        os.utime(file, (1, 1))
    record(project, "--export", says="2 replies, 0 new")
    assert [file.stat().st_mtime for file in files] == [1, 1, 1]


def test_only_the_models_of_the_project_are_exported(project: Path, exported: Path) -> None:
    keep(project, entry("a"))
    (project / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\nfc_model = ["openai:gpt-6?max_tokens=9"]\n', "utf-8"
    )
    said = f"not exported: {MODEL}, which the configuration does not name; --model {MODEL} exports it"
    record(project, "--export", says=said)
    assert not exported.exists()
    record(project, "--export", "--model", MODEL, says="1 reply, 1 new")
    assert cases(exported) == ["a"]


def test_a_model_that_the_configuration_names_is_exported(project: Path, exported: Path) -> None:
    keep(project, entry("a"))
    settings = f'[tool.pytest.ini_options]\nfc_model = ["openai:gpt-6", "{MODEL}?max_tokens=9"]\n'
    (project / "pyproject.toml").write_text(settings, "utf-8")
    record(project, "--export", says="1 reply, 1 new")
    assert cases(exported) == ["a"]


def test_models_are_named_for_an_export_only(project: Path) -> None:
    record(project, "--stats", "--model", MODEL, status=2, says="--model can only be used with --export")


def test_what_was_exported_can_be_loaded_elsewhere(project: Path, exported: Path) -> None:
    keep(project, entry("a"), entry("b"))
    record(project, "--export")
    for file in store_path(project).parent.iterdir():
        file.unlink()
    record(project, "--load", says="2 replies, 2 new")
    record(project, "--load", FILE, says="2 replies, 0 new")
    record(project, "--load", str(exported), says="2 replies, 0 new")
    with closing(ReplyStore(store_path(project))) as store:
        assert [(kept.file, kept.entry) for kept in store.replies()] == [(FILE, entry("a")), (FILE, entry("b"))]


@pytest.mark.parametrize("folder", ["venv", "node_modules"])
def test_what_installed_packages_keep_is_read_only_where_it_is_named(project: Path, folder: str) -> None:
    theirs = recordings_path(project / folder / "theirs/weather.fc.yaml", Model("openai", "gpt-5.2"))
    write_recordings(theirs, Model("openai", "gpt-5.2"), [entry("a")])
    before = theirs.read_bytes()
    record(project, "--load", says="nothing to load")
    record(project, "--export", says="nothing to export")
    assert theirs.read_bytes() == before
    record(project, "--load", folder, says="1 reply, 1 new")


@pytest.mark.nightly  # as in a folder that is named
def test_recordings_are_found_in_the_folder_of_a_model_too(project: Path, exported: Path) -> None:
    keep(project, entry("a"))
    record(project, "--export")
    record(project, "--load", str(exported.parent), says="1 reply, 0 new")
    record(exported.parent, "--load", ".", says="1 reply, 0 new")
    record(exported.parents[1], "--load", ".", says="1 reply, 0 new")


def test_a_file_that_may_belong_to_any_cases_is_not_imported(project: Path, exported: Path) -> None:
    keep(project, entry("a"))
    record(project, "--export")
    loose = exported.rename(project / "mailed.replies.jsonl")
    record(project, "--load", loose.name, status=1, says="mailed.replies.jsonl must be in __fcall__/MODEL/")
    record(Path(project.anchor), "--load", str(loose), status=1, says="must be in __fcall__/MODEL/")


def test_the_name_of_a_case_file_is_no_pattern(project: Path) -> None:
    file = "cases/weather[1].fc.yaml"
    (project / file).touch()
    keep(project, entry("a"), file=file)
    record(project, "--export", file, says="1 reply, 1 new")
    record(project, "--load", file, says="1 reply, 0 new")


def test_only_what_the_last_run_of_a_case_used_is_exported(project: Path, exported: Path) -> None:
    greeting, old, new = entry("a", prompt="hello"), entry("a", prompt="old"), entry("a", prompt="new")
    keep(project, greeting, old, entry("b"))
    keep(project, new, used=[greeting])
    record(project, "--export")
    digests = {one.digest for one in read_recordings(exported).entries}
    assert digests == {greeting.digest, new.digest, entry("b").digest}


def test_what_colleagues_recorded_stays_in_the_file(project: Path, exported: Path) -> None:
    theirs = entry("a")._replace(recorded="2030-01-01T00:00:00Z")
    write_recordings(exported, Model("openai", "gpt-5.2"), [theirs, entry("c")])
    keep(project, entry("a"), entry("b"))
    record(project, "--export", says="3 replies, 1 new")
    assert read_recordings(exported).entries == (theirs, entry("b"), entry("c"))


def test_the_replies_of_one_file_or_folder_may_be_exported(project: Path, exported: Path) -> None:
    keep(project, entry("a"))
    keep(project, entry("b"), file="tests/test_shop.py")
    (project / "tests").mkdir()
    (project / "tests/test_shop.py").touch()
    record(project, "--export", "tests")
    assert not exported.exists()
    assert cases(project / "tests/__fcall__/openai-gpt-5.2/test_shop.py.replies.jsonl") == ["b"]
    record(project / "cases", "--export", "weather.fc.yaml")
    assert cases(exported) == ["a"]


def test_the_replies_of_a_file_that_is_gone_are_not_exported(project: Path, exported: Path) -> None:
    keep(project, entry("a"), entry("b"))
    (project / FILE).unlink()
    record(project, "--export", says=f"{FILE}: not exported: no such file; `fcall record --prune` deletes its")
    assert not exported.exists()


CASES = """\
cases:
  - {id: a, prompt: hello, expect: no_call}
  - id: b
    matrix: [{id: x}, {id: y}]
    prompt: hello
    expect: no_call
"""
LEFT_OUT = (
    "cases/weather.fc.yaml: not exported: {}, which it no longer has; after a renaming, `fcall mv OLD NEW` takes "
    "replies along\n"
)


def test_the_replies_of_cases_that_are_gone_are_left_out_and_named(project: Path, exported: Path) -> None:
    present = ["a", "a~typos-1", "b[x]"]
    keep(project, *(entry(case) for case in [*present, "c", "b[z]"]))
    write_recordings(exported, Model("openai", "gpt-5.2"), [entry("d")])
    (project / FILE).write_text(CASES, "utf-8")
    shown = record(project, "--export", says="3 replies, 3 new")
    assert shown.endswith(LEFT_OUT.format("b[z], c, d"))
    assert cases(exported) == present


@pytest.mark.parametrize("stored", [True, False])
def test_a_file_that_has_replies_of_such_cases_alone_is_removed(project: Path, exported: Path, *, stored: bool) -> None:
    write_recordings(exported, Model("openai", "gpt-5.2"), [entry("d")])
    if stored:
        keep(project, entry("d"))
    (project / FILE).write_text(CASES, "utf-8")
    assert record(project, "--export").endswith(f"removed\n{LEFT_OUT.format('d')}")
    assert not exported.exists()
    assert not bookkeeping_path(exported).exists()


@pytest.mark.parametrize("text", [f"{CASES}  - {{id: c, prompt: [}}", f"{CASES}  - {{id: c, prompts: hello}}", "a: b"])
def test_while_nobody_can_tell_which_cases_a_file_has_all_are_exported(
    project: Path, exported: Path, text: str
) -> None:
    keep(project, entry("a"), entry("other"))
    (project / FILE).write_text(text, "utf-8")
    record(project, "--export", says="2 replies, 2 new")
    assert cases(exported) == ["a", "other"]


def test_a_damaged_file_is_told_and_not_overwritten(project: Path, exported: Path) -> None:
    write_recordings(exported, Model("openai", "gpt-5.2"), [entry("a"), entry("b")])
    recorded = bookkeeping_path(exported)
    damaged = recorded.read_bytes().replace(b'"case": "a"', b'"case": 5', 1)
    recorded.write_bytes(damaged)
    keep(project, entry("c"))
    record(project, "--export", status=1, says="weather.fc.yaml.recorded.jsonl:3:1: `case` is not a string")
    assert recorded.read_bytes() == damaged
    record(project, "--load", status=1, says="1 reply, 1 new")
    with closing(ReplyStore(store_path(project))) as store:
        assert store.find(entry("b").digest)


@pytest.mark.parametrize("stored", [by_night(True), False])
def test_a_line_for_review_that_was_edited_is_told_and_written_anew(
    project: Path, exported: Path, *, stored: bool
) -> None:
    write_recordings(exported, Model("openai", "gpt-5.2"), [entry("a"), entry("b")])
    whole = exported.read_bytes()
    exported.write_bytes(whole.replace(b'"case": "a"', b'"case": "x"', 1))
    if stored:
        keep(project, entry("a"))
    shown = record(project, "--export")
    name = "cases/__fcall__/openai-gpt-5.2/weather.fc.yaml"
    number = whole.splitlines().index(next(line for line in whole.splitlines() if b'"case": "a"' in line)) + 1
    assert shown.splitlines() == [
        f"{name}.replies.jsonl:{number}: mended: no recording in weather.fc.yaml.recorded.jsonl has this reply",
        f"{name}.recorded.jsonl:3: mended: the reply of this recording is not in weather.fc.yaml.replies.jsonl",
        f"{name}.replies.jsonl: 2 replies, 0 new",
    ]
    assert exported.read_bytes() == whole
    record(project, "--export")
    assert exported.read_bytes() == whole


def test_a_damaged_store_is_told_once(project: Path) -> None:
    keep(project, entry("a"), entry("b"))
    path = store_path(project)
    path.write_bytes(b"\0" * 4096 + path.read_bytes()[4096:])
    record(project, "--stats", status=1, says="2 could be read and are kept")
    record(project, "--stats")


def test_a_store_that_cannot_be_written_is_told_in_a_line(project: Path) -> None:
    store_path(project).parent.touch()
    write_recordings(recordings_path(project / FILE, Model("openai", "x")), Model("openai", "x"), [entry()])
    record(project, "--load", status=1, says="fcall record: recorded replies in ")


def test_what_is_not_needed_any_more_is_forgotten(project: Path) -> None:
    keep(project, entry("a", prompt="old"), entry("b"))
    keep(project, entry("a", prompt="new"))
    keep(project, entry("c"), file="cases/gone.fc.yaml")
    record(project, "--prune", says="deleted: 2, kept: 2")


def test_replies_of_cases_that_their_file_has_no_more_are_forgotten(project: Path) -> None:
    (project / FILE).write_text("cases: [{id: a, prompt: Hi, expect: no_call}, {id: b, prompt: Hi, expect: no_call}]")
    keep(project, entry("a"), entry("a~typos-1"), entry("b"), entry("b (bisect)"), entry("c"), entry("c (bisect)"))
    keep(project, entry("test_plain"), file="tests/test_weather.py")
    (project / "tests").mkdir(exist_ok=True)
    (project / "tests" / "test_weather.py").touch()
    record(project, "--prune", says="deleted: 2, kept: 5")
    (project / FILE).write_text("cases: [")  # nobody knows what is in it
    record(project, "--prune", says="deleted: 0, kept: 5")


def test_what_no_run_has_used_for_long_is_forgotten(project: Path, exported: Path) -> None:
    unused, used = entry("a", recorded=OLD), entry("b", recorded=OLD)
    write_recordings(exported, Model("openai", "gpt-5.2"), [unused, used])
    record(project, "--load")
    keep(project, used=[used])
    record(project, "--prune", "--older", "30d", says="deleted: 1, kept: 1")


def test_it_is_shown_what_is_kept(project: Path) -> None:
    record(project, "--stats", says="no replies are recorded in .fcall/replies.db")
    keep(project, entry("a", recorded=OLD), entry("b"))
    shown = record(project, "--stats").splitlines()
    assert shown[1].split() == ["2", "1", "2020-01-01", "2026-11-21", "openai:gpt-5.2"]
    assert shown[2].endswith("MB in .fcall/replies.db")


def test_a_time_that_no_calendar_has_is_shown_as_unknown(project: Path) -> None:
    keep(project, entry("a", recorded="9999-12-31T23:59:59-12:00"))
    assert record(project, "--stats").splitlines()[1].split() == ["1", "1", "unknown", "unknown", "openai:gpt-5.2"]


@pytest.mark.parametrize("action", ["--export", "--load", "--prune", "--stats"])
def test_without_anything_recorded_nothing_is_made(project: Path, action: str) -> None:
    before = sorted(project.rglob("*"))
    record(project, action)
    assert sorted(project.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "name what to do: --export, --load, --prune, --stats, --rounds, --plan FILE or --from FILE"),
        (["--export", "--prune"], "not allowed with"),
        (["--stats", "cases"], "--stats takes no PATH: it covers all replies"),
        (["--export", "--older", "3d"], "--older can only be used with --prune"),
        (["--prune", "--older", "soon"], "'soon' is not a duration; use minutes, hours, days or weeks, such as"),
        (["--export", "nowhere"], "no such file or folder: nowhere"),
    ],
)
def test_a_wrong_command_line_is_told(project: Path, arguments: list[str], says: str) -> None:
    record(project, *arguments, status=2, says=says)
