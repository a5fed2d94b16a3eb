"""`fcall tools compare`: the same cases with two versions of their tools."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fcall.cli import main
from tests.by_night import by_night
from tests.integration.command import fcall, in_new_pythons

VAGUE = """\
tools:
  - {name: search_orders, description: Orders., parameters: {type: object, properties: {word: {type: string}}}}
  - {name: list_orders, description: Give all orders.}
"""
CLEAR = VAGUE.replace("Orders.,", "'Find orders: tea, socks, hats, lamps, gifts, books.',")
CASES = """\
include: shop.tools.yaml
cases:
  - id: find
    matrix: [{id: tea}, {id: socks}, {id: hats}, {id: lamps}, {id: gifts}, {id: books}]
    prompt: "Did she order {id}?"
    expect: [search_orders: {}]
  - {id: all, prompt: Give me everything., expect: [list_orders: {}]}
  - {id: thanks, prompt: Bye!, expect: no_call}
  - {id: later, skip: a draft, prompt: Hm?, expect: no_call}
"""
API = """\
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: "https://shop.example"}]
paths: {/bill: {get: {operationId: show_bill, description: The bill.}}}
"""
AGENT = """\
import re


def words(text):
    return set(re.findall("[a-z]+", text.lower()))


def answer(request):
    said = words(request.messages[-1]["content"])
    found = [(len(said & words(each["function"]["description"])), each["function"]["name"]) for each in request.tools]
    score, name = max(found)
    return [{"name": name, "arguments": {}}] if score else "You are welcome."
"""
SKIPPING = """\
import pytest


@pytest.fixture(autouse=True)
def fit(request):
    if request.node.name == "thanks" and "Find orders" in str(request.node.case.tools):
        pytest.skip("not with these tools")
"""
MODEL = "--fc-model=python:agent:answer"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --fc-report=report.md\n")
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "shop.tools.yaml").write_text(VAGUE)
    (tmp_path / "new.tools.yaml").write_text(CLEAR)
    (tmp_path / "shop.fc.yaml").write_text(CASES)
    return tmp_path


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {".git", "__pycache__"} & {*path.parts} and "replies.db" not in path.name
    }


def commit(folder: Path) -> None:
    for step in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "tools"]):
        subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@example.com", *step], cwd=folder, check=True)


@pytest.mark.parametrize("run", [fcall, by_night(in_new_pythons)])
def test_two_files_of_tools_are_compared_and_nothing_of_the_project_changes(
    shop: Path, run: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    runs = shop / ".fcall" / "runs"
    runs.mkdir(parents=True)
    (runs / "20260101-000000-aaaa.json").write_text("{}")
    (shop / ".fcall" / ".gitignore").write_text("*\n")
    before = files_of(shop)
    done = run(shop, "tools", "compare", "--to=new.tools.yaml", MODEL, COLUMNS="120")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:3] == [
        "~ search_orders: its description changed",
        "before: the tools of today",
        "now:    the tools of new.tools.yaml",
    ]
    assert [line.split()[:8] for line in lines[3:5]] == [
        ["model", "expects", "cases", "before", "now", "points", "95", "%"],
        ["python:agent:answer", "search_orders", "6", "0.0", "%", "100.0", "%", "+100.0"],
    ]
    assert [line.split()[:2] for line in lines[5:7]] == [["list_orders", "1"], ["no", "call"]]
    assert any(line.startswith("fcall: 8 cases, 25.0 % → 100.0 % right: +75.0 points [") for line in lines)
    assert lines[-2].endswith(", 0 lost, 6 won, p = 0.031")
    assert lines[-1] == "python:agent:answer: 6 won, 0 lost, 2 unchanged. Better, and hardly by chance."
    assert files_of(shop) == before


@pytest.mark.needs("git")
def test_tools_that_are_significantly_worse_than_those_of_a_revision_fail(shop: Path) -> None:
    (shop / "shop.tools.yaml").write_text(CLEAR)
    commit(shop)
    (shop / "shop.tools.yaml").write_text(VAGUE)
    done = fcall(shop, "tools", "compare", "--from=git:HEAD", "--format=json", MODEL, "--", "--fc-samples=2")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert (found["before"], found["now"], found["won"]) == ("git:HEAD", "today", [])
    assert found["lost"][:2] == ["shop.fc.yaml::find[tea]", "shop.fc.yaml::find[socks]"]
    assert [(each["cases"], each["lost"], each["is_significant"]) for each in found["models"]] == [(8, 6, True)]
    assert next((each["category"], each["before"], each["now"]) for each in found["tools"]) == ("search_orders", 6, 0)
    assert found["not_judged"] == {
        "git:HEAD": {"cases": [], "not_reached": 0},
        "today": {"cases": [], "not_reached": 0},
    }


@pytest.mark.needs("git")
def test_a_case_file_that_is_new_since_a_revision_is_left_out_and_named(shop: Path) -> None:
    commit(shop)
    (shop / "shop.tools.yaml").write_text(CLEAR)
    (shop / "new.fc.yaml").write_text(CLEAR + CASES.partition("\n")[2])
    done = fcall(shop, "tools", "compare", "--from=git:HEAD", MODEL)
    assert done.returncode == 0, done.stderr
    assert "fcall: 8 cases, " in done.stdout
    assert done.stdout.endswith("new.fc.yaml is new since git:HEAD (9 cases left out)\n")
    told = json.loads(fcall(shop, "tools", "compare", "--from=git:HEAD", "--format=json", MODEL).stdout)
    assert told["left_out"] == ["new.fc.yaml is new since git:HEAD (9 cases left out)"]
    done = fcall(shop, "tools", "compare", "--from=git:HEAD", MODEL, "new.fc.yaml")
    assert done.returncode == 2
    assert "nothing to compare: new.fc.yaml is new since git:HEAD (9 cases left out)" in done.stderr


@pytest.mark.needs("git")
def test_a_new_case_file_with_old_tools_is_compared(shop: Path) -> None:
    commit(shop)
    (shop / "shop.tools.yaml").write_text(CLEAR)
    (shop / "new.fc.yaml").write_text(CASES)
    done = fcall(shop, "tools", "compare", "--from=git:HEAD", MODEL, "new.fc.yaml")
    assert "fcall: 8 cases, " in done.stdout, done.stderr
    assert "left out" not in done.stdout


def test_a_side_without_answers_is_never_green(shop: Path) -> None:
    done = fcall(shop, "tools", "compare", "--from=new.tools.yaml", MODEL, "--", "--fc-replay", "--maxfail=4")
    assert done.returncode == 10
    assert (
        "not judged: 4 cases without an answer with the tools of new.tools.yaml, such as shop.fc.yaml::find[tea]"
        in (done.stderr)
    )
    assert "not judged: the run with the tools of new.tools.yaml ended before 5 cases" in done.stderr
    assert "  no recorded reply of python:agent:answer: --fc-model=python:agent:answer, without --fc-replay, asks" in (
        done.stderr
    )


def test_what_is_skipped_on_one_side_alone_is_never_green(shop: Path) -> None:
    (shop / "conftest.py").write_text(SKIPPING)
    done = fcall(shop, "tools", "compare", "--to=new.tools.yaml", MODEL)
    assert "1 case answered only before: not compared" in done.stdout
    assert done.returncode == 10


def test_the_reason_of_an_error_is_told_and_the_other_side_is_not_asked(shop: Path) -> None:
    done = fcall(shop, "tools", "compare", "--to=new.tools.yaml", "--fc-model=python:agent:nobody")
    assert (done.returncode, done.stdout) == (10, "")
    assert "  python:agent:nobody: agent has no 'nobody'" in done.stderr
    assert "with the tools of new.tools.yaml" not in done.stderr


def test_another_order_of_tools_is_another_version(shop: Path) -> None:
    head, first, second = VAGUE.splitlines(keepends=True)
    (shop / "new.tools.yaml").write_text(head + second + first)
    done = fcall(shop, "tools", "compare", "--to=new.tools.yaml", MODEL)
    assert done.stdout.startswith("~ the order of tools or arguments\n")


@pytest.mark.parametrize(
    ("tools", "arguments", "said"),
    [
        (VAGUE, (), "the tools of these cases are the same on both sides: today and new.tools.yaml"),
        (
            "tools: [{name: list_orders, description: Lists.}]",
            (),
            "find[tea], with the tools of new.tools.yaml: shop.fc.yaml:6:14: there is no tool `search_orders`",
        ),
        (
            "tools: [",
            ("--", "-k", "thanks"),
            "thanks, with the tools of new.tools.yaml: shop.tools.yaml:2:1: a value is missing here, or a bracket",
        ),
        (CLEAR, ("--", "--fc-accept"), "tools are compared by whole runs, of which nothing stays: no --fc-accept"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_asked(
    shop: Path, tools: str, arguments: tuple[str, ...], said: str
) -> None:
    (shop / "new.tools.yaml").write_text(tools)
    done = fcall(shop, "tools", "compare", "--to=new.tools.yaml", MODEL, *arguments, CI="")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (shop / ".fcall" / "replies.db").exists()


def test_a_file_stands_for_the_one_of_its_kind_of_its_name_or_with_a_lock_file_as_well(shop: Path) -> None:
    def comparable(given: str) -> bool:
        done = fcall(shop, "tools", "compare", f"--to={given}", MODEL)
        return done.stdout.startswith("~ search_orders: its description changed\n")

    (shop / "api.yaml").write_text(API)
    (shop / "shop.tools.yaml").write_text(f"{VAGUE}  - openapi: api.yaml\n")
    (shop / "new.tools.yaml").write_text(f"{CLEAR}  - openapi: api.yaml\n")
    assert comparable("new.tools.yaml")
    (shop / "more.tools.yaml").write_text("tools: [{name: wait}]")
    (shop / "more.fc.yaml").write_text("include: more.tools.yaml\ncases: [{id: hi, prompt: Hi!, expect: no_call}]\n")
    assert "write NAMED=new.tools.yaml" in fcall(shop, "tools", "compare", "--to=new.tools.yaml", MODEL).stderr
    (shop / "old").mkdir()
    (shop / "old" / "api.yaml").write_text(API)
    shutil.copy(shop / "new.tools.yaml", shop / "old" / "shop.tools.yaml")
    assert comparable("old/shop.tools.yaml")
    for catalogue in ("shop", "new"):
        (shop / f"{catalogue}.tools.yaml.lock.json").write_text('{"version": 1, "sources": {}}')
    assert comparable("new.tools.yaml")


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name two versions of the tools, such as --from=git:main"),
        (("--from=gone.yaml",), "--from: no such file: gone.yaml"),
        (("--from=git:main",), "--from: unknown git revision 'main': "),
        (
            ("--to=agent.py",),
            "--to: it is not clear which file it stands for: write NAMED=agent.py; files with tools: ",
        ),
        (("--to=agent.py=new.tools.yaml",), "write NAMED=new.tools.yaml; files with tools: shop.tools.yaml"),
        (("--to=live",), "--to: no case file names an agent, an MCP server or the URL of an OpenAPI document"),
    ],
)
def test_a_version_that_cannot_be_had_is_named(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tools", "compare", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_server_that_does_not_answer_leaves_the_comparison_open(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("mcp")
    (shop / "shop.tools.yaml").write_text('tools: [mcp: {command: ["{python}", -c, pass]}]')
    assert main(["tools", "compare", "--to=live", MODEL]) == 10
    assert "ended before it listed its tools" in capsys.readouterr().err
