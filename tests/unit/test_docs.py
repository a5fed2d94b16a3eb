"""Every block of the documentation does what it says. The rules stand in docs/contributing.md."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from jsonschema_rs import Draft202012Validator

import pytest_fcall
from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.editor.case_file import editor_schema
from pytest_fcall.cases.faults import Faults, SourceFile
from pytest_fcall.cases.node_values import value
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.cases.yaml.reader import read_yaml
from pytest_fcall.core import Json
from pytest_fcall.decoding.decoders import DECODERS
from pytest_fcall.suites.builtin import SUITE_OPERATORS, SUITES
from tests.integration.command import completed, python
from tests.pages import FENCE, FRAMEWORKS, ROOT, Block, blocks_of, commands, first_missing, write
from tests.suite_tools import WITHOUT_TOOLS

EXAMPLES = [ROOT / "examples/README.md", *sorted((ROOT / "examples").glob("*/README.md"))]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *EXAMPLES]
HERE = [page for page in PAGES if page.parent != FRAMEWORKS and page not in EXAMPLES]
"""The pages that need nothing but what is installed here; `make test-frameworks` and `test-examples` try the others."""
LINK = re.compile(r"(?<!!)\[[^]]*\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def blocks(*infos: str, name: str = "") -> list[object]:
    """The blocks of these kinds; with `name` only files of that name, a glob."""
    return [
        pytest.param(block, id=block.id)
        for block in BLOCKS
        if block.info in infos and (not name or (block.page in HERE and block.path and Path(block.path).match(name)))
    ]


def folder_for(block: Block, folder: Path) -> Path:
    """The files of the block's page; where a name stands twice the last one, but the block itself in any case."""
    for other in blocks_of(block.page):
        if other.path:
            write(other, folder)
    write(block, folder)
    return folder


@pytest.fixture
def clean_imports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Forget the page's own modules: another page has modules of the same names."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    own = {path.stem for path in tmp_path.iterdir()}
    for name in sys.modules.keys() - before:
        if name.partition(".")[0] in own:
            del sys.modules[name]


def extensions_in(folder: Path) -> Extensions:
    """What the page's conftest.py adds to the language."""
    if not (folder / "conftest.py").exists():
        return Extensions(comparators=frozenset(SUITE_OPERATORS), decoders=frozenset(DECODERS), suites=SUITES)
    sys.path.insert(0, str(folder))
    hooks = runpy.run_path(str(folder / "conftest.py"))
    sources, comparators, decoders, suites = (
        hooks[f"pytest_fcall_{what}"](None) if f"pytest_fcall_{what}" in hooks else {}
        for what in ("tool_sources", "comparators", "decoders", "suites")
    )
    return Extensions(
        tool_sources=sources,
        comparators=frozenset((*SUITE_OPERATORS, *comparators)),
        decoders=frozenset((*DECODERS, *decoders)),
        suites=SUITES.with_others(suites),
    )


def is_run(command: str) -> bool:
    return re.match(r"(python -m )?(pytest|fcall)\b|python \w+\.py", command) is not None


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = shlex.split(command, comments=True)
    program, *arguments = words[2:] if words[:2] == ["python", "-m"] else words
    kept = {name: value for name, value in os.environ.items() if not re.match("PYTEST|FC_|CI$|GITHUB", name)}
    environment = kept | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")]),
        "PYTEST_ADDOPTS": f"{WITHOUT_TOOLS} -p no:cacheprovider",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    if program == "python":
        return python(folder, *arguments)
    return completed(program, folder, arguments, environment)


@pytest.mark.parametrize("block", blocks("json"))
def test_json_parses(block: Block) -> None:
    json.loads(block.text)


@pytest.mark.parametrize("block", blocks("toml"))
def test_toml_parses(block: Block) -> None:
    tomllib.loads(block.text)


@pytest.mark.parametrize("block", blocks("yaml", "yaml faulty"))
def test_yaml_is_yaml(block: Block) -> None:
    yaml.compose(block.text, Loader=yaml.CSafeLoader)


@pytest.mark.usefixtures("clean_imports")
@pytest.mark.parametrize("block", blocks("yaml", name="*.fc.yaml"))
def test_a_case_file_is_read_without_a_fault(block: Block, tmp_path: Path) -> None:
    folder = folder_for(block, tmp_path)
    read = read_case_file(folder / str(block.path), root=folder, extensions=extensions_in(folder))
    assert read.faults == ()
    assert read.entries


@pytest.mark.usefixtures("clean_imports")
@pytest.mark.parametrize("block", blocks("yaml faulty", name="*.fc.yaml"))
def test_a_faulty_case_file_has_a_fault(block: Block, tmp_path: Path) -> None:
    folder = folder_for(block, tmp_path)
    assert read_case_file(folder / str(block.path), root=folder, extensions=extensions_in(folder)).faults


@pytest.mark.usefixtures("clean_imports")
@pytest.mark.parametrize("block", blocks("yaml", name="*.fc.yaml"))
def test_the_editor_schema_accepts_a_case_file(block: Block, tmp_path: Path) -> None:
    known = extensions_in(folder_for(block, tmp_path))
    schema = editor_schema(known.comparators, known.tool_sources)
    assert [error.message for error in Draft202012Validator(schema).iter_errors(plain(block.text))] == []


def plain(text: str) -> Json:
    source = SourceFile("block", text)
    root = read_yaml(source)
    return None if root is None else value(root, Faults(source))


@pytest.mark.parametrize("block", blocks("python"))
def test_python_compiles(block: Block) -> None:
    compile(block.text, block.id, "exec")


@pytest.mark.parametrize("page", HERE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_print_what_it_says(page: Path, tmp_path: Path) -> None:
    for block in blocks_of(page):
        if block.path:
            write(block, tmp_path)
        if block.info != "console":
            continue
        for command, expected in commands(block):
            if not is_run(command):
                continue
            done = run(command, tmp_path)
            printed = done.stdout + done.stderr
            told = f"{block.id}: $ {command}\n{printed}"
            assert expected or done.returncode == 0, told
            missing = first_missing(expected, printed)
            assert missing is None, f"not printed: {missing}\n{told}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_test_file_is_run_by_a_command_of_its_page(page: Path) -> None:
    shown = "".join(block.text for block in blocks_of(page) if block.info == "console")
    named = [block.path for block in blocks_of(page) if block.path and Path(block.path).match("test_*.py")]
    assert [path for path in named if path not in shown] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target, heading in LINK.findall(prose):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        if heading:
            headings = {slug(found) for found in HEADING.findall(FENCE.sub("", linked.read_text(encoding="utf-8")))}
            assert heading in headings, f"{target}#{heading}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_column_of_a_table_says_what_it_holds(page: Path) -> None:
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    heads = re.findall(r"^\|(.*)\|\n\|[-:| ]+\|$", prose, re.MULTILINE)
    assert [head for head in heads if not all(cell.strip() for cell in head.split("|"))] == []


def test_the_page_of_names_has_all_that_is_exported() -> None:
    page = (ROOT / "docs/reference/api.md").read_text(encoding="utf-8")
    names = [*vars(pytest_fcall)["__all__"], "hookspecs"]
    assert sorted(re.findall(r":: pytest_fcall\.(\w+)$", page, re.MULTILINE)) == sorted(names)


def slug(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")
