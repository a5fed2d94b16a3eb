"""Names of models, cases and files that become names of files, and links: nothing is written outside its folder."""

from __future__ import annotations

import os
import signal
import sys
import unicodedata
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.recordings.file import recordings_path
from pytest_fcall.backends.store import ReplyStore, store_path
from pytest_fcall.core import Model, Reply, Request
from pytest_fcall.core.files import create_file, replace_file
from pytest_fcall.tracking.baseline_file import baseline_path
from tests.attacks.commands import said
from tests.integration.exam import Exam

NAMES = (
    *("../x", "../../etc/passwd", "/etc/passwd", "..", ".", "", "a/../../b", "..\\..\\x", "C:\\x", "C:x", "//host/x"),
    *("con", "NUL", "com1.txt", "aux.", "x.", "x ", " x", "x:y", "x?y", "x*y", 'x"y', "x<y>", "x|y"),
    *("x\0y", "x\ny", "x\x1b[31my", "\u202ex", "\ud800", "é", "e\u0301", "ı", "İ", "ß", "🙂"),
    *("a" * 300, "A" * 300, "é" * 300, "a" * 201, ".hidden", "-rf", "~", "$HOME", "%TEMP%", "`x`"),
)
KINDS = ("openai", "../../x", "..", "/etc", "x/y", "x\0", "con", "", "K" * 300, "local.", "\ud800", "wire")


@pytest.mark.parametrize("name", NAMES, ids=ascii)
@pytest.mark.parametrize("kind", KINDS, ids=ascii)
def test_the_folder_of_a_model_is_one_folder_on_every_file_system(kind: str, name: str) -> None:
    folder = Model(kind, name).folder
    assert len(folder.encode()) < 256 - len(".exam")
    assert folder.isascii()
    assert folder.isprintable()
    assert not set(folder) & set('/\\:*?"<>|\0 ')
    assert folder not in ("", ".", "..")
    assert not folder.endswith(".")
    assert folder.partition(".")[0].lower() not in ("con", "nul", "aux", "prn", "com1", "lpt1")
    for path in (
        baseline_path(Path("/cases/a.fc.yaml"), Model(kind, name)),
        recordings_path(Path("/cases/a.fc.yaml"), Model(kind, name)),
    ):
        assert path.parent.parent == Path("/cases/__fcall__")


def test_no_two_models_share_a_folder_where_case_and_composition_do_not_count() -> None:
    models = {f"{kind}:{name}" for kind in KINDS for name in NAMES}
    folders = {unicodedata.normalize("NFKD", Model.by_id(each).folder).casefold() for each in models}
    named = {(Model.by_id(each).kind, Model.by_id(each).name) for each in models}
    assert len(folders) == len(named)


@pytest.mark.parametrize("model", ["../../../outside:x", "/srv/outside:x", "openai:../../x", "x\0y:z"], ids=ascii)
@pytest.mark.parametrize(
    "file", ["cases/exam.fc.yaml", "../exam.fc.yaml", "/etc/passwd", "cases/../../x.fc.yaml", "cases"]
)
def test_an_export_of_a_store_of_somebody_else_writes_in_its_folder(
    exam: Exam, tmp_path: Path, model: str, file: str
) -> None:
    exam.cities("Oslo")
    project = exam.path
    (project.parent / "exam.fc.yaml").write_text("cases: []\n")
    with closing(ReplyStore(store_path(project))) as store:
        store.put(model, file, Recording("Oslo", "0" * 64, Request(()), Reply("x"), "2026-01-01T00:00:00+00:00"))
    before = {*project.parent.iterdir()}  # other tests have their folders there, with thousands of files
    _, text = said(project, "record", "--export")
    assert "Traceback" not in text
    assert {*project.parent.iterdir()} == before
    assert all(path.parent.parent.name == "__fcall__" for path in project.rglob("*.jsonl"))


@pytest.mark.parametrize("name", ["n" * 236, "é" * 118, "a b", "-rf", "x'y", "con"], ids=ascii)
def test_case_files_with_such_names_are_run_or_a_sentence(exam: Exam, name: str) -> None:
    exam.cities("Oslo")
    case_file = exam.path / "cases/exam.fc.yaml"
    case_file.rename(case_file.with_name(f"{name}.fc.yaml"))
    for options in (["--fc-accept"], ["--fc-replay"]):
        result = exam.run(*options)
        text = result.stdout.str() + result.stderr.str()
        assert "Traceback" not in text
        assert "INTERNALERROR" not in text
        assert result.ret in (0, 1, 10)
    status, text = said(exam.path, "record", "--export")
    assert status in (0, 1)
    assert "Traceback" not in text


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
@pytest.mark.parametrize("linked", ["cases/__fcall__", "cases/__fcall__/openai-exam", ".fcall/runs"])
def test_a_link_that_leads_out_of_the_project_is_not_followed(exam: Exam, linked: str) -> None:
    exam.cities("Oslo")
    outside = exam.path.with_name(f"{exam.path.name}-outside")
    outside.mkdir()
    (exam.path / linked).parent.mkdir(parents=True, exist_ok=True)
    (exam.path / linked).symlink_to(outside, target_is_directory=True)
    result = exam.run("--fc-accept")
    text = result.stdout.str() + result.stderr.str()
    assert "Traceback" not in text
    assert "link" in text
    for arguments in (
        ["record", "--export"],
        ["accept"],
        ["mv", "cases/exam.fc.yaml::Oslo", "cases/exam.fc.yaml::Rome"],
    ):
        assert "Traceback" not in said(exam.path, *arguments)[1]
    assert [*outside.iterdir()] == []


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_where_replies_are_kept_by_a_link_is_told(exam: Exam) -> None:
    exam.cities("Oslo")
    outside = exam.path.with_name(f"{exam.path.name}-outside")
    outside.mkdir()
    (exam.path / ".fcall").symlink_to(outside, target_is_directory=True)
    result = exam.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f".fcall is a link: what is kept is in {outside}"])
    exam.run("--fc-replay").assert_outcomes(passed=1)


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_a_link_in_the_place_of_a_draft_is_not_written_through(tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("a letter")
    (tmp_path / f".a.{os.getpid()}").symlink_to(mine)
    replace_file(tmp_path / "a", [b"new"])
    assert ((tmp_path / "a").read_bytes(), mine.read_text()) == (b"new", "a letter")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes of POSIX")
@pytest.mark.parametrize("write", [replace_file, create_file])
@pytest.mark.parametrize("before", [b"old " * 100_000, None])
def test_kill_9_leaves_a_file_as_it_was(tmp_path: Path, write: Callable[..., None], before: bytes | None) -> None:
    path = tmp_path / "file"
    if before is not None:
        path.write_bytes(before)

    def until_killed() -> object:
        yield b"new " * 50_000
        os.kill(os.getpid(), signal.SIGKILL)
        yield b"new"

    if (child := os.fork()) == 0:
        write(path, until_killed())
        os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    assert (path.read_bytes() if path.exists() else None) == before
    if before is None or write is replace_file:
        write(path, [b"new"])
        assert path.read_bytes() == b"new"
    else:
        with pytest.raises(FileExistsError):
            write(path, [b"new"])
        assert path.read_bytes() == before
