from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_fcall.cli.project import Project
from pytest_fcall.cli.tools.sides import NoSide, ToolSide, side_of
from pytest_fcall.cli.tools.sources import SourceClient


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = (tmp_path / "project").resolve()
    (root / "cases").mkdir(parents=True)
    (root / "shop.tools.yaml").write_text("tools: [{mcp: {command: [shop]}}, {file: more.json}]")
    (root / "more.json").write_text("[]")
    cases = root / "cases" / "a.fc.yaml"
    cases.write_text("include: ../shop.tools.yaml\ncases: [{id: a, prompt: Hi, expect: no_call}]\n")
    return Project(root, (cases,), frozenset())


def side(name: str, project: Project) -> ToolSide:
    folder = project.root.parent / "side"
    folder.mkdir()
    return side_of(name, project, folder, SourceClient(1.0, project.root))


def test_a_file_stands_for_the_one_of_its_kind_and_brings_its_lock_file(project: Project) -> None:
    old = project.root.parent / "old.tools.yaml"
    old.write_text("tools: []")
    old.with_name("old.tools.yaml.lock.json").write_text("{}")
    before = side(str(old), project)
    assert before.tool_file(project.root / "shop.tools.yaml") == old
    assert before.tool_file(project.root / "shop.tools.yaml.lock.json").parent == old.parent
    assert before.tool_file(project.root / "more.json") == project.root / "more.json"


def test_kinds_are_lock_files_other_json_and_yaml(project: Project) -> None:
    for name, stands_for in {"l.lock.json": "shop.tools.yaml.lock.json", "m.json": "more.json"}.items():
        (project.root / name).write_text("{}")
        before = ToolSide(name, "", "", files=side(str(project.root / name), project).files)
        (project.root.parent / "side").rmdir()
        assert before.tool_file(project.root / stands_for) == project.root / name


def test_where_several_files_may_be_meant_they_are_listed(project: Project) -> None:
    (project.root / "shop.tools.yaml").write_text("tools: [{file: more.json}, {file: most.json}]")
    (project.root / "old.json").write_text("[]")
    (project.root / "most.json").write_text("[]")
    with pytest.raises(NoSide, match=r"write NAMED=.*old\.json; files with tools: .*shop.tools.yaml, more.json, most"):
        side(str(project.root / "old.json"), project)


@pytest.mark.needs("git")
def test_files_of_a_revision_are_read_when_they_are_needed(project: Project) -> None:
    root = project.root
    for step in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "tools"]):
        subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@example.com", *step], cwd=root, check=True)
    (root / "more.json").write_text("[1]")
    (root / "new.json").write_text("[2]")
    before = side("git:HEAD", project)
    assert [*Path(before.folder).iterdir()] == []
    assert before.tool_file(root / "more.json").read_text() == "[]"
    assert not before.tool_file(root / "new.json").exists()
    assert before.tool_file(root.parent / "elsewhere.json") == root.parent / "elsewhere.json"
    assert (root / "more.json").read_text() == "[1]"
