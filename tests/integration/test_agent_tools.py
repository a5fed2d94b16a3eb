"""`tools: [{agent: shop:agent}]`: the tools of an agent, locked, compared and offered.

The agent has the shape of one of openai-agents, with no more to it; tests/frameworks has the real ones.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from tests.integration.command import fcall

AGENT = """
import os
from agents.agent import Agent, FunctionTool, WebSearchTool

def schema(**properties):
    return {"type": "object", "properties": properties, "required": list(properties)}

if not os.environ.get("OPENAI_API_KEY"):
    raise SystemExit("no key")
search = FunctionTool("search", "Find goods.", schema(query={"type": "string"}))
agent = Agent("Shop", [search])
"""
PACKAGE = """
class Tool:
    def __init__(self, name):
        self.name = name

class FunctionTool(Tool):
    def __init__(self, name, description, schema):
        super().__init__(name)
        self.description, self.params_json_schema = description, schema

class WebSearchTool(Tool):
    pass

class Agent:
    def __init__(self, name, tools, handoffs=()):
        self.name, self.tools, self.handoffs = name, tools, handoffs
"""
CASES = """
tools:
  - agent: shop:agent
cases:
  - {id: tea, prompt: Find tea, expect: [{search: {query: tea}}]}
  - {id: thanks, prompt: Thanks, expect: no_call}
"""


class Shop:
    """A project whose case file names an agent."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "pyproject.toml").touch()
        self.write(PACKAGE, "agents/agent.py")
        self.write(AGENT, "shop.py")
        self.write(CASES)

    def write(self, text: str, name: str = "cases/shop.fc.yaml") -> None:
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")

    def tools(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        done = fcall(self.root, "tools", *arguments, OPENAI_API_KEY="")
        assert "Traceback" not in done.stdout + done.stderr
        return done


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_the_tools_of_an_agent_are_locked_without_a_key(shop: Shop) -> None:
    done = shop.tools("lock")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "cases/shop.tools.lock.json: agent: shop:agent has 1 tool\n"
    listed = shop.tools("list").stdout
    assert "  search(query: string)\n      Find goods.\n      from agent: shop:agent\n" in listed


def test_a_run_reads_the_lock_file_and_imports_no_agent(shop: Shop, pytester: pytest.Pytester) -> None:
    shop.tools("lock")
    shop.write("raise SystemExit('imported')", "shop.py")
    shop.write(
        """
        def answer(request):
            (tool,) = request.tools
            wanted = "tea" in request.messages[-1]["content"]
            return [{"name": tool["function"]["name"], "arguments": {"query": "tea"}}] if wanted else []
        """,
        "app.py",
    )
    run = pytester.runpytest("--rootdir", str(shop.root), str(shop.root / "cases"), "--fc-model=python:app:answer")
    run.assert_outcomes(passed=2)


def test_an_agent_that_is_not_locked_is_a_fault_that_names_the_command(shop: Shop, pytester: pytest.Pytester) -> None:
    run = pytester.runpytest("--rootdir", str(shop.root), str(shop.root / "cases"))
    run.stdout.fnmatch_lines(["*this source is not in the lock file `shop.tools.lock.json`*"])
    run.stdout.fnmatch_lines(["*fcall tools lock cases/shop.fc.yaml*"])


def test_what_changed_in_the_agent_is_told_with_its_cases(shop: Shop) -> None:
    shop.tools("lock")
    shop.write(AGENT.replace("query=", "text="), "shop.py")
    done = shop.tools("diff")
    assert done.returncode == 1
    assert "cases/shop.fc.yaml: agent: shop:agent\n  ~ search\n" in done.stdout
    assert "cases to review, because they expect a changed tool:\n  cases/shop.fc.yaml::tea\n" in done.stdout


def test_tools_of_an_agent_are_picked_and_renamed_as_others(shop: Shop) -> None:
    shop.tools("lock")
    shop.write(
        CASES.replace("shop:agent", "shop:agent\n    as: shop\n    only: [search]").replace("{search", "{shop__search")
    )
    assert "  shop__search(query: string)\n" in shop.tools("list").stdout


def test_what_the_provider_runs_is_left_out_and_told(shop: Shop) -> None:
    shop.write(AGENT.replace("[search]", "[search, WebSearchTool('web_search')]"), "shop.py")
    done = shop.tools("lock")
    assert done.returncode == 0
    assert "agent: shop:agent has 1 tool, without web_search (the provider runs it)\n" in done.stdout


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("shop", "`agent` names an object as module:name, not 'shop'"),
        ("shop:nothing", "shop:nothing: shop has no 'nothing'"),
        ("nowhere:agent", "nowhere:agent: no module 'nowhere'; searched in "),
        ("shop:schema", "shop:schema: this is a function, and no agent of pydantic-ai, openai-agents, LangChain"),
        ("agents.agent:Agent", "agents.agent:Agent: this is a type, and no agent of"),
    ],
)
def test_what_is_no_agent_is_named(shop: Shop, agent: str, message: str) -> None:
    shop.write(CASES.replace("shop:agent", agent))
    done = shop.tools("lock")
    assert done.returncode == 1
    assert message in done.stderr


def test_an_agent_whose_module_fails_is_told_with_the_line(shop: Shop) -> None:
    shop.write("\n1 / 0\n", "shop.py")
    done = shop.tools("lock")
    assert done.returncode == 1
    assert "shop:agent: importing shop fails at shop.py:2: ZeroDivisionError: division by zero" in done.stderr


def test_the_editors_schema_knows_agents(shop: Shop) -> None:
    schema = fcall(shop.root, "schema").stdout
    assert "tools.agent" in schema
