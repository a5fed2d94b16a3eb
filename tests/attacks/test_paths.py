"""Paths in case files: what lies elsewhere goes to no model unasked, and what is no file is not read."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import CaseFileContent, read_case_file
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.files import anywhere
from pytest_fcall.cases.preamble import tool_sources
from pytest_fcall.core import Fault
from pytest_fcall.core.files import UnfitFile, open_regular, read_regular
from tests.attacks.files import UNFIT
from tests.unit.cases.reading import NOTHING

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")

PRIVATE = "nobody's business"
PIXEL = b"\x89PNG\r\n\x1a\n" + bytes(8)
TOOL = "{name: f, parameters: {type: object, properties: {x: {}}}}"
CASE = "{id: a, prompt: hi, expect: no_call}"
KEYS = {
    "prompt": "cases: [{id: a, prompt: {file: '%s'}, expect: no_call}]",
    "a part of a prompt": "cases: [{id: a, prompt: [{image: '%s'}], expect: no_call}]",
    "messages": "cases: [{id: a, messages: {file: '%s'}, expect: no_call}]",
    "system": "cases: [{id: a, system: {file: '%s'}, prompt: hi, expect: no_call}]",
    "system of all cases": f"defaults: {{system: {{file: '%s'}}}}\ncases: [{CASE}]",
    "user of a turn": "cases: [{id: a, turns: [{user: {file: '%s'}, expect: no_call}]}]",
    "row of a matrix": "cases: [{id: a, matrix: [{p: {file: '%s'}}], prompt: '{p}', expect: no_call}]",
    "include": f"include: '%s'\ncases: [{CASE}]",
    "tools": f"tools: [{{file: '%s'}}]\ncases: [{CASE}]",
    "openapi": f"tools: [{{openapi: '%s'}}]\ncases: [{CASE}]",
    "data of a suite": "suite: nothing\npath: '%s'",
}
"""Every key that names a path."""


def read(text: str, folder: Path, outside: tuple[Path, ...] = ()) -> CaseFileContent:
    path = folder / "shop.fc.yaml"
    path.write_text(text)
    return read_case_file(path, root=folder, outside=outside, extensions=NOTHING)


def faults(text: str, folder: Path) -> tuple[Fault, ...]:
    try:
        return read(text, folder).faults
    except UnreadableFile as unreadable:
        return (unreadable.fault,)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The root folder, with a file beside it that is nobody's business."""
    (tmp_path / "secret.txt").write_text(PRIVATE)
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.mark.parametrize("key", [key for key in KEYS if key != "data of a suite"])
@pytest.mark.parametrize("way", ["up", "absolute", "link", "linked folder", "system"])
def test_no_key_leads_out_of_the_root_folder(project: Path, key: str, way: str) -> None:
    (project / "link.txt").symlink_to("../secret.txt")
    (project / "folder").symlink_to("..")
    name = {
        "up": "../secret.txt",
        "absolute": str(project.parent / "secret.txt"),
        "link": "link.txt",
        "linked folder": "folder/secret.txt",
        "system": "/proc/self/environ",
    }[way]
    found = faults(KEYS[key] % name, project)
    assert {fault.code for fault in found} == {"outside-root"}
    assert found[0].location.path == "shop.fc.yaml"
    told = found[0].message
    assert str("/environ" if way == "system" else project.parent / "secret.txt") in told
    assert str(project) in told
    assert "fc_outside" in found[0].hint
    assert PRIVATE not in f"{found}"


def test_the_data_of_a_suite_lies_in_the_root_folder(project: Path) -> None:
    from tests.unit.cases.test_suite import found

    (fault,) = found("suite: quiz\npath: ../data\n", project).faults
    assert (fault.code, fault.location.line) == ("outside-root", 2)


def test_an_included_file_leads_no_further_than_the_case_file(project: Path) -> None:
    (project / "inner").mkdir()
    (project / "inner/shared.yaml").write_text("defaults: {system: {file: ../../secret.txt}}\n")
    (fault,) = read(f"include: inner/shared.yaml\ncases: [{CASE}]", project).faults
    assert (fault.code, fault.location.path) == ("outside-root", "inner/shared.yaml")


@pytest.mark.parametrize("allowed", ["../secret.txt", "..", "../project/.."])
def test_what_a_person_allows_may_be_named(project: Path, allowed: str) -> None:
    file = read(KEYS["prompt"] % "../secret.txt", project, outside=(project / allowed,))
    assert file.faults == ()


def test_a_folder_beside_the_allowed_one_is_not_allowed(project: Path) -> None:
    (project.parent / "shared").mkdir()
    (project.parent / "shared-secrets").mkdir()
    (project.parent / "shared-secrets/a.txt").write_text(PRIVATE)
    (project / "up").symlink_to("../shared-secrets")
    for name in ("../shared-secrets/a.txt", "../shared/../shared-secrets/a.txt", "up/a.txt"):
        (fault,) = read(KEYS["prompt"] % name, project, outside=(project.parent / "shared",)).faults
        assert fault.code == "outside-root"


def test_a_case_file_elsewhere_has_its_own_folder_as_root(project: Path) -> None:
    other = project.parent / "other"
    other.mkdir()
    (other / "p.txt").write_text("Hello")
    path = other / "a.fc.yaml"
    path.write_text(KEYS["prompt"] % "p.txt")
    assert read_case_file(path, root=project).faults == ()
    path.write_text(KEYS["prompt"] % "../secret.txt")
    (fault,) = read_case_file(path, root=project).faults
    assert fault.code == "outside-root"


def test_a_file_of_the_root_folder_may_be_named_by_its_way_through_links(project: Path) -> None:
    (project / "p.txt").write_text("Hello")
    (project.parent / "alias").symlink_to(project)
    (project / "link.txt").symlink_to("../alias/p.txt")
    assert read(KEYS["prompt"] % "link.txt", project).faults == ()
    assert read_case_file(project.parent / "alias/shop.fc.yaml", root=project.parent / "alias").faults == ()
    assert read_case_file(project.parent / "alias/shop.fc.yaml", root=project).faults == ()


def test_commands_that_ask_no_model_read_all_the_same(project: Path) -> None:
    (project.parent / "catalogue.yaml").write_text("tools: [{mcp: {command: [server]}}]\n")
    path = project / "a.fc.yaml"
    path.write_text(f"include: ../catalogue.yaml\ncases: [{CASE}]\n")
    assert len(tool_sources(path, root=project)) == 1
    assert anywhere(Path("a")) == (Path("/"),)


@pytest.mark.parametrize(("make", "told"), UNFIT.values(), ids=UNFIT)
@pytest.mark.parametrize("key", [key for key in KEYS if key != "data of a suite"])
def test_what_is_no_file_is_not_read_whatever_names_it(tmp_path: Path, key: str, make: object, told: str) -> None:
    assert callable(make)
    make(tmp_path / "thing")
    found = read(KEYS[key] % "thing", tmp_path, outside=(Path("/dev"),)).faults
    assert found
    assert told in found[0].message
    assert found[0].location.path in ("shop.fc.yaml", "thing")


@pytest.mark.parametrize(("make", "told"), UNFIT.values(), ids=UNFIT)
def test_what_is_no_file_is_no_case_file(tmp_path: Path, make: object, told: str) -> None:
    assert callable(make)
    make(tmp_path / "a.fc.yaml")
    with pytest.raises(UnreadableFile) as unreadable:
        read_case_file(tmp_path / "a.fc.yaml", root=tmp_path)
    assert told in unreadable.value.fault.message
    assert unreadable.value.fault.location.path == "a.fc.yaml"


@pytest.mark.parametrize(("make", "told"), UNFIT.values(), ids=UNFIT)
def test_what_is_no_file_is_never_opened(tmp_path: Path, make: object, told: str) -> None:
    assert callable(make)
    make(tmp_path / "a")
    with pytest.raises(OSError, match=told):
        read_regular(tmp_path / "a")


def test_a_file_that_is_replaced_by_a_pipe_while_it_is_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("")
    pipe = tmp_path / "pipe"
    UNFIT["a named pipe"][0](pipe)
    stat = Path.stat

    def stale(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        return stat(tmp_path / "a" if path == pipe else path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", stale)
    with pytest.raises(UnfitFile, match="a named pipe"):
        open_regular(pipe)


def test_files_of_the_system_that_have_content_and_no_size_are_bounded(tmp_path: Path) -> None:
    if not Path("/proc/self/maps").exists():
        pytest.skip("no such files")
    with pytest.raises(UnfitFile, match="larger"):
        read_regular(Path("/proc/self/maps"), 100)


def test_a_picture_in_the_root_folder_is_still_one(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PIXEL)
    assert read(KEYS["a part of a prompt"] % "a.png", tmp_path).faults == ()
