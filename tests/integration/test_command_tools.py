from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from pytest_fcall.cli import main
from pytest_fcall.schema.sources.lock_file import LockEntry, write_lock
from pytest_fcall.schema.sources.tool_data import tools_from_data
from tests.by_night import by_night
from tests.integration.command import fcall, run_pytest

SERVER = Path(__file__).parents[1] / "mcp_server.py"
SEARCH: dict[str, Any] = {
    "name": "search",
    "description": "Find goods.",
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}
BUY: dict[str, Any] = {
    "name": "buy",
    "description": "Buy goods.",
    "inputSchema": {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]},
}
CASES = """
cases:
  - {id: tea, prompt: Find tea, expect: [{shop__search: {query: tea}}]}
  - {id: any_tea, prompt: Find tea, expect: {any_of: [{calls: [{shop__search: {query: tea}}]}, no_call]}}
  - {id: thanks, prompt: Thanks, expect: no_call}
"""
PETS = """
openapi: 3.1.0
info: {title: Pets, version: "1"}
paths:
  /pets:
    get: {operationId: listPets, responses: {"200": {description: ok}}}
    post: {operationId: addPet, responses: {"200": {description: ok}}}
"""


class Shop:
    """A project whose case file names an MCP server that offers what `offer` says."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lock = root / "cases/shop.tools.lock.json"
        (root / "pyproject.toml").touch()
        (root / "cases").mkdir()
        self.offer(SEARCH, BUY)
        self.write(f"tools:\n  - mcp: {{command: {json.dumps(self.command())}}}\n    as: shop\n{CASES}")

    def command(self, *more: str) -> list[str]:
        return [sys.executable, str(SERVER), "../offered.json", *more]

    def offer(self, *tools: dict[str, Any]) -> None:
        (self.root / "offered.json").write_text(json.dumps(tools), encoding="utf-8")

    def write(self, text: str, name: str = "cases/shop.fc.yaml") -> None:
        (self.root / name).write_text(dedent(text), encoding="utf-8")

    def keep(self) -> None:
        """Lock what is offered now, without asking for it."""
        offered = json.loads((self.root / "offered.json").read_text(encoding="utf-8"))
        write_lock(self.lock, [LockEntry({"mcp": {"command": self.command()}}, tuple(tools_from_data(offered)))])

    def tools(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        done = fcall(self.root, "tools", *arguments, **environment)
        assert "Traceback" not in done.stdout + done.stderr
        return done


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@contextmanager
def web(folder: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is the base class's
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_a_case_file_is_faulty_until_its_server_is_locked_and_then_needs_none(shop: Shop) -> None:
    unlocked = fcall(shop.root, "lint")
    assert unlocked.returncode == 1
    assert "fcall tools lock cases/shop.fc.yaml" in unlocked.stdout
    done = shop.tools("lock", "cases/shop.fc.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("cases/shop.tools.lock.json: mcp: ")
    assert done.stdout.endswith(" has 2 tools\n")
    (shop.root / "offered.json").unlink()
    sound = fcall(shop.root, "lint")
    assert (sound.returncode, sound.stdout) == (0, "3 cases in 1 file: no faults\n")


def test_pytest_runs_cases_on_the_lock_alone(shop: Shop) -> None:
    shop.keep()
    (shop.root / "offered.json").unlink()
    ran = run_pytest(shop.root, "-p", "no:cacheprovider", "--collect-only", "-q", "cases")
    assert ran.returncode == 0
    assert "cases/shop.fc.yaml::tea" in ran.stdout


def test_locking_again_changes_no_byte(shop: Shop) -> None:
    shop.keep()
    before = shop.lock.read_bytes()
    assert shop.tools("lock").returncode == 0
    assert shop.lock.read_bytes() == before


def test_nothing_changed_is_said_in_one_line(shop: Shop) -> None:
    shop.keep()
    done = shop.tools("diff")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 source: no change\n", "")


def test_drift_is_told_with_the_argument_and_the_cases_it_touches(shop: Shop) -> None:
    shop.keep()
    schema = SEARCH["inputSchema"]
    more = {**schema, "properties": {**schema["properties"], "limit": {"type": "integer"}}, "required": ["limit"]}
    shop.offer({**SEARCH, "inputSchema": more}, {**BUY, "name": "order"})
    done = shop.tools("diff", "cases/shop.fc.yaml")
    assert done.returncode == 1
    first, *changes = done.stdout.splitlines()
    assert first.startswith("cases/shop.fc.yaml: mcp: ")
    assert changes == [
        "  - buy",
        "      offered in 3 cases",
        "  + order",
        "  ~ search",
        "      `query` became optional",
        "      `limit` is new and required",
        "      expected by tea, any_tea",
        "      offered in 1 more case",
        "1 source: 1 changed",
        "cases to review, because they expect a changed tool:",
        "  cases/shop.fc.yaml::tea",
        "  cases/shop.fc.yaml::any_tea",
        "to take it over: fcall tools lock cases/shop.fc.yaml",
    ]


def test_a_renamed_argument_is_told_wherever_it_is_met_with_the_command_that_renews_the_lock(shop: Shop) -> None:
    shop.keep()
    schema = {"type": "object", "properties": {"words": {"type": "string", "title": "Words"}}, "required": ["words"]}
    shop.offer({**SEARCH, "inputSchema": schema}, BUY)
    shop.write((shop.root / "cases/shop.fc.yaml").read_text(encoding="utf-8").replace("query", "words"))
    command = "fcall tools lock cases/shop.fc.yaml"

    linted = fcall(shop.root, "lint")
    assert "`shop__search` has no argument `words`" in linted.stdout
    assert f"one of: query; if its source has it, the lock file is old: {command}\n" in linted.stdout

    changes = "  ~ search\n      `query` was renamed to `words`\n"
    compared = shop.tools("diff")
    assert changes in compared.stdout
    assert compared.stdout.endswith(f"to take it over: {command}\n")

    locked = shop.tools("lock")
    assert locked.stdout.partition("has 2 tools\n")[2].startswith(changes)
    assert fcall(shop.root, "lint").returncode == 0


def test_an_unknown_tool_may_be_one_that_the_lock_lacks(shop: Shop) -> None:
    shop.keep()
    shop.write((shop.root / "cases/shop.fc.yaml").read_text(encoding="utf-8").replace("shop__search", "shop__seek"))
    said = fcall(shop.root, "lint").stdout
    command = "fcall tools lock cases/shop.fc.yaml"
    assert f"if its source has it, the lock file is old: {command}; did you mean `shop__search`?\n" in said


def test_a_source_that_was_never_locked_has_drifted(shop: Shop) -> None:
    done = shop.tools("diff")
    assert done.returncode == 1
    assert "  not in shop.tools.lock.json\n" in done.stdout
    assert done.stdout.endswith("to take it over: fcall tools lock cases/shop.fc.yaml\n")


def test_a_server_that_cannot_be_asked_keeps_its_entry_and_is_told(shop: Shop) -> None:
    shop.keep()
    before = shop.lock.read_bytes()
    (shop.root / "offered.json").unlink()
    locked = shop.tools("lock")
    assert locked.returncode == 1
    assert "cases/shop.fc.yaml: mcp: " in locked.stderr
    assert shop.lock.read_bytes() == before
    compared = shop.tools("diff")
    assert compared.returncode == 10
    assert "cases/shop.fc.yaml: mcp: " in compared.stderr


def test_one_dead_server_does_not_keep_the_others_from_being_locked(shop: Shop) -> None:
    shop.write(f"""
        tools:
          - mcp: {{command: [no-such-server]}}
          - mcp: {{command: {json.dumps(shop.command())}}}
        cases: [{{id: a, prompt: Hi, expect: no_call}}]
    """)
    done = shop.tools("lock")
    assert done.returncode == 1
    assert "command not found: no-such-server" in done.stderr
    assert "has 2 tools" in done.stdout
    assert len(json.loads(shop.lock.read_text(encoding="utf-8"))["sources"]) == 1


def test_secrets_come_from_the_environment_and_stay_out_of_the_lock(shop: Shop) -> None:
    server = {"command": shop.command("--token", "s3cret"), "env": {"SHOP_TOKEN": "${MY_KEY}"}}
    shop.write(f"tools: [{{mcp: {json.dumps(server)}, as: shop}}]\n{CASES}")
    missing = shop.tools("lock")
    assert missing.returncode == 1
    assert "the environment variable MY_KEY is not set" in missing.stderr
    wrong = shop.tools("lock", MY_KEY="guess")
    assert "shop: SHOP_TOKEN is wrong" in wrong.stderr
    assert not shop.lock.exists()
    assert shop.tools("lock", MY_KEY="s3cret").returncode == 0
    source = next(iter(json.loads(shop.lock.read_text(encoding="utf-8"))["sources"].values()))["source"]
    assert source["mcp"]["env"] == ["SHOP_TOKEN"]


def test_sources_of_an_included_file_are_locked_once_beside_it(shop: Shop) -> None:
    shop.write(f"tools: [{{mcp: {{command: {json.dumps(shop.command())}}}, as: shop}}]", "cases/all.tools.yaml")
    shop.write(f"include: [all.tools.yaml]\n{CASES}")
    done = shop.tools("lock", "cases/shop.fc.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("cases/all.tools.yaml.lock.json: mcp: ")
    assert not shop.lock.exists()
    shop.write(f"include: [all.tools.yaml]\n{CASES}", "cases/new.fc.yaml")
    assert fcall(shop.root, "lint").stdout == "6 cases in 2 files: no faults\n"
    shop.offer({**SEARCH, "description": "Finds."}, BUY)
    changed = shop.tools("diff").stdout
    assert changed.startswith("cases/all.tools.yaml: mcp: ")
    assert changed.count("~ search") == 1
    assert "  cases/new.fc.yaml::tea\n" in changed
    assert "  cases/shop.fc.yaml::tea\n" in changed


def test_a_catalogue_has_its_servers_in_its_own_folder(shop: Shop) -> None:
    (shop.root / "tools").mkdir()
    shop.write(f"tools: [{{mcp: {{command: {json.dumps(shop.command())}}}, as: shop}}]", "tools/all.tools.yaml")
    (shop.root / "cases" / "deep").mkdir()
    shop.write(f"include: [../../tools/all.tools.yaml]\n{CASES}", "cases/deep/shop.fc.yaml")
    assert "has 2 tools" in shop.tools("lock", "cases/deep").stdout


def test_a_file_of_tools_is_locked_by_its_name_before_any_case_includes_it(shop: Shop) -> None:
    (shop.root / "cases/shop.fc.yaml").unlink()
    shop.write(f"tools: [{{mcp: {{command: {json.dumps(shop.command())}}}, as: shop}}]", "cases/all.tools.yaml")
    lost = shop.tools("lock")
    assert lost.returncode == 2
    assert "cases/all.tools.yaml holds tools alone" in lost.stderr
    unlocked = shop.tools("lint", "cases/all.tools.yaml")
    assert "run: fcall tools lock cases/all.tools.yaml\n" in unlocked.stderr
    done = shop.tools("lock", "cases/all.tools.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("cases/all.tools.yaml.lock.json: mcp: ")
    assert shop.tools("diff", "cases/all.tools.yaml").stdout == "1 source: no change\n"
    shop.write(f"include: all.tools.yaml\n{CASES}")
    assert fcall(shop.root, "lint").stdout == "3 cases in 1 file: no faults\n"


def test_a_named_file_without_a_server_has_nothing_to_lock(shop: Shop) -> None:
    shop.write("tools: [{name: ask}]", "cases/all.tools.yaml")
    done = shop.tools("lock", "cases/all.tools.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("is not named in cases/all.tools.yaml\n")


@pytest.mark.parametrize("name", ["pets.yaml", by_night("pets.json")])
def test_an_openapi_document_is_fetched_and_its_drift_told(shop: Shop, name: str) -> None:
    import yaml

    document = yaml.safe_load(PETS)
    text = PETS if name.endswith("yaml") else json.dumps(document)
    (shop.root / name).write_text(text, encoding="utf-8")
    with web(shop.root) as url:
        shop.write(
            f"tools: [{{openapi: '{url}/{name}'}}]\ncases: [{{id: a, prompt: Hi, expect: [{{listPets: {{}}}}]}}]\n"
        )
        assert shop.tools("lock").returncode == 0
        assert fcall(shop.root, "lint").returncode == 0
        del document["paths"]["/pets"]["get"]
        (shop.root / name).write_text(json.dumps(document), encoding="utf-8")
        done = shop.tools("diff")
    assert done.returncode == 1
    assert "  - listPets\n      expected by a\n" in done.stdout


@pytest.mark.parametrize(("content", "said"), [("{", "is not JSON"), ("a: [", "pets.yaml: "), ("[]", "pets.yaml")])
def test_a_document_that_cannot_be_read_is_told(shop: Shop, content: str, said: str) -> None:
    (shop.root / "pets.yaml").write_text(content, encoding="utf-8")
    with web(shop.root) as url:
        shop.write(f"tools: [{{openapi: '{url}/pets.yaml'}}]\ncases: [{{id: a, prompt: Hi, expect: no_call}}]\n")
        done = shop.tools("lock")
    assert done.returncode == 1
    assert said in done.stderr


def test_an_address_without_a_document_is_told(shop: Shop) -> None:
    with web(shop.root) as url:
        shop.write(f"tools: [{{openapi: '{url}/none.json'}}]\ncases: [{{id: a, prompt: Hi, expect: no_call}}]\n")
        assert "/none.json answered 404 File not found" in shop.tools("lock").stderr
    assert "/none.json cannot be read: " in shop.tools("lock").stderr


def test_a_damaged_lock_is_told_by_diff_and_mended_by_lock(shop: Shop) -> None:
    shop.lock.write_text("<<<<<<< HEAD\n", encoding="utf-8")
    compared = shop.tools("diff")
    assert compared.returncode == 1
    assert "  shop.tools.lock.json contains merge conflict markers\n" in compared.stdout
    assert compared.stdout.endswith("to take it over: fcall tools lock cases/shop.fc.yaml\n")
    assert shop.tools("lock").returncode == 0
    assert shop.tools("diff").returncode == 0


def test_a_project_without_servers_has_nothing_to_lock(shop: Shop) -> None:
    shop.write("cases: [{id: a, prompt: Hi, expect: no_call}]\n")
    done = shop.tools("lock")
    assert (done.returncode, done.stdout.startswith("nothing to lock")) == (0, True)


def test_a_file_that_cannot_be_read_is_told(shop: Shop) -> None:
    shop.write("cases: [", "cases/broken.fc.yaml")
    done = shop.tools("lock")
    assert done.returncode == 1
    assert "cases/broken.fc.yaml:" in done.stderr
    assert "has 2 tools" in done.stdout


def test_the_tools_of_a_file_are_listed_with_their_arguments(shop: Shop) -> None:
    weather = {
        "name": "get_weather",
        "description": "Tell the weather.\nMore.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "unit": {"enum": ["C", "F"]},
                "days": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "any": {},
            },
            "required": ["city"],
        },
    }
    shop.offer(weather)
    shop.write(
        f"tools: [{{mcp: {{command: {json.dumps(shop.command())}}}}}]\n"
        "cases: [{id: a, prompt: Hi, expect: no_call}]\n"
    )
    shop.keep()
    done = shop.tools("list")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:3] == [
        "cases/shop.fc.yaml: 1 tool",
        '  get_weather(city: string, unit?: "C" | "F", days?: integer | null, any?: any)',
        "      Tell the weather.",
    ]


def test_arguments_of_classes_are_listed_by_the_names_of_the_classes(shop: Shop) -> None:
    (shop.root / "post.py").write_text(
        "from typing import TypedDict\n\nclass Address(TypedDict):\n    street: str\n\n"
        "def send(to: Address, back: Address | None = None) -> None:\n    pass\n",
        encoding="utf-8",
    )
    shop.write("tools: [{python: 'post:send'}]\ncases: [{id: a, prompt: Hi, expect: no_call}]\n")
    done = shop.tools("list")
    assert "  send(to: Address, back?: Address | null)" in done.stdout


def test_listing_a_faulty_file_tells_the_faults(shop: Shop) -> None:
    done = shop.tools("list")
    assert done.returncode == 1
    assert "fcall tools lock" in done.stderr


def test_without_the_package_mcp_the_way_to_it_is_told(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "mcp" or name.endswith(".mcp_server")]:
        monkeypatch.delitem(sys.modules, name)
    (shop.root / "mcp.py").write_text("raise ImportError('No module named mcp')", encoding="utf-8")
    monkeypatch.syspath_prepend(shop.root)
    monkeypatch.chdir(shop.root)
    assert main(["tools", "lock"]) == 1
    assert 'pip install "pytest-fcall[mcp]"' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: ACTION"),
        (["lok"], "invalid choice: 'lok'"),
        (["lock", "nowhere"], "no such file or folder: nowhere"),
        (["lock", "--timeout=0"], "must be a positive number"),
        (["lock", "--timeout=soon"], "must be a positive number"),
    ],
)
def test_a_wrong_command_line_is_told(shop: Shop, arguments: list[str], said: str) -> None:
    done = shop.tools(*arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_what_no_case_names_is_shown(shop: Shop) -> None:
    shop.keep()
    done = shop.tools("coverage")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == "shop__buy: no case expects it\n1 of 2 tools expected\n"


def test_where_all_is_named_coverage_is_content(shop: Shop) -> None:
    shop.offer(SEARCH)
    shop.keep()
    done = shop.tools("coverage", "cases/shop.fc.yaml")
    assert (done.returncode, done.stdout) == (0, "1 of 1 tool expected\n")


def test_a_faulty_case_is_told_by_coverage(shop: Shop) -> None:
    done = shop.tools("coverage")
    assert done.returncode == 1
    assert "is not in the lock file" in done.stderr
