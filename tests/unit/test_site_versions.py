"""Versions of the documentation side by side, made of the tags of a repository."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
from pathlib import Path
from shutil import which

import pytest

from tests.pages import ROOT

MAKEFILE = """\
docs-site:
\tmkdir -p build/site/_static
\tcp page.html build/site/index.html
\tcp page.html build/site/$$(cat page.html).html
"""
TAGS = ["v0.9.0", "v0.10.0rc1", "v0.10.0", "v0.2.0"]

pytestmark = pytest.mark.skipif(None in map(which, ("git", "make")), reason="git and make build the versions")


def git(repository: Path, *arguments: str) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *author, "-C", str(repository), *arguments], check=True, capture_output=True, env=kept)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repository = tmp_path_factory.mktemp("repository")
    git(repository, "init", "--quiet")
    (repository / "Makefile").write_text(MAKEFILE, "utf-8")
    for tag in TAGS:
        (repository / "page.html").write_text(f"of-{tag}\n", "utf-8")
        git(repository, "add", ".")
        git(repository, "commit", "--quiet", "-m", tag)
        git(repository, "tag", tag)
    latest = tmp_path_factory.mktemp("built") / "site"
    (latest / "_static").mkdir(parents=True)
    (latest / "index.html").write_text("of main", "utf-8")
    versions = tmp_path_factory.mktemp("published") / "versions"
    runpy.run_path(str(ROOT / "docs/site/versions.py"))["main"](latest, versions, repository)
    return versions


def test_each_release_is_built_from_its_tag_and_latest_from_the_checkout(folder: Path) -> None:
    pages = {path.parent.name: path.read_text("utf-8").strip() for path in folder.glob("*/index.html")}
    assert pages == {"0.10.0": "of-v0.10.0", "0.9.0": "of-v0.9.0", "0.2.0": "of-v0.2.0", "latest": "of main"}


def test_the_list_begins_with_the_newest_release_and_names_the_pages_of_each(folder: Path) -> None:
    assert json.loads((folder / "versions.json").read_text("utf-8")) == [
        {"name": "0.10.0", "pages": ["index.html", "of-v0.10.0.html"]},
        {"name": "0.9.0", "pages": ["index.html", "of-v0.9.0.html"]},
        {"name": "0.2.0", "pages": ["index.html", "of-v0.2.0.html"]},
        {"name": "latest", "pages": ["index.html"]},
    ]


def test_each_folder_has_the_same_list_as_a_script(folder: Path) -> None:
    scripts = {path.read_text("utf-8") for path in folder.glob("*/_static/versions.js")}
    assert scripts == {f"const VERSIONS = {(folder / 'versions.json').read_text('utf-8').strip()};\n"}
    assert len([*folder.glob("*/_static/versions.js")]) == 4


def test_the_address_leads_to_the_newest_release(folder: Path) -> None:
    assert 'content="0; url=0.10.0/index.html"' in (folder / "index.html").read_text("utf-8")
