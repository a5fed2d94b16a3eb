"""`--fc-model=python:shop:agent`: an agent is named, and called as its framework wants it.

The framework is a small package of the shape of openai-agents; tests/frameworks has the real ones.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest

from tests.by_night import by_night
from tests.integration.conftest import Shop

PACKAGE = """
class FunctionTool:
    def __init__(self, name, params_json_schema):
        self.name, self.description, self.params_json_schema = name, "", params_json_schema

class Agent:
    def __init__(self, tools):
        self.tools, self.handoffs = tools, []
"""
RUNNER = '''
from agents.agent import Agent, FunctionTool

class Runner:
    @staticmethod
    async def run(agent, items):
        """Call the agent's first tool with all that it was told, unless it was only greeted."""
        if items[-1]["content"] == "hello":
            return "hello"
        if items[-1]["content"] == "how many":
            return ", ".join(f"{item['role']}: {item['content']}" for item in items)
        told = " ".join(item["content"] for item in items)
        return [{"name": agent.tools[0].name, "arguments": {"city": told}}]
'''
AGENT = """
from agents import Agent, FunctionTool

agent = Agent([FunctionTool("get_weather", {"type": "object"})])
other = Agent([FunctionTool("book", {"type": "object"})])
number = 3
"""
CASES = """
cases:
  - id: oslo
    system: In
    prompt: Oslo
    expect: [{get_weather: {city: In Oslo}}]
"""


@pytest.fixture
def agents(shop: Shop) -> Iterator[Shop]:
    shop.file("agents/agent.py", PACKAGE)
    shop.file("agents/__init__.py", RUNNER)
    shop.file("shop.py", AGENT)
    shop.cases(CASES)
    yield shop
    for name in ("agents", "agents.agent", "shop"):
        sys.modules.pop(name, None)


def test_an_agent_is_named_and_called_as_its_framework_wants_it(agents: Shop) -> None:
    result = agents.run("--fc-model=python:shop:agent")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*only the*")


def test_an_agent_is_told_the_whole_conversation_in_each_turn(agents: Shop) -> None:
    agents.cases(
        """
        cases:
          - id: turns
            turns:
              - {user: hello, answer: hello}
              - {user: how many, answer: "user: hello, assistant: hello, user: how many"}
        """
    )
    agents.run("--fc-model=python:shop:agent").assert_outcomes(passed=1)


def test_a_fixture_may_give_an_agent(agents: Shop) -> None:
    agents.file("conftest.py", "import pytest, shop\n\n@pytest.fixture\ndef fc_model():\n    return shop.agent\n")
    agents.run().assert_outcomes(passed=1)


@pytest.mark.parametrize("options", [(), by_night(("-n2",))], ids=["alone", "with workers"])
def test_tools_that_only_the_cases_or_only_the_agent_has_are_told_in_one_line(
    agents: Shop, options: tuple[str, ...]
) -> None:
    agents.cases(CASES, "more.fc.yaml")
    result = agents.run("--fc-model=python:shop:other", *options)
    result.assert_outcomes(failed=2)
    line = "python:shop:other: only the cases have the tools get_weather; only the agent has the tools book"
    assert [each for each in result.stdout.lines if "only the cases" in each] == [line]


def test_settings_of_a_case_are_told_to_be_left_out(agents: Shop) -> None:
    agents.cases(CASES + "    settings: {temperature: 0}\n")
    result = agents.run("--fc-model=python:shop:agent")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["python:shop:agent: an agent is given no settings, so these of the cases were left out: temperature"]
    )


def test_what_an_agent_cannot_be_told_is_an_error_of_that_case_alone(agents: Shop) -> None:
    named = json.dumps([{"role": "user", "name": "Eve", "content": "Oslo"}])
    agents.cases(f"{CASES}  - {{id: eve, messages: {named}, expect: no_call}}\n")
    result = agents.run("--fc-model=python:shop:agent", "--tb=long")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*python:shop:agent: openai-agents cannot be handed the name of one who speaks; leave it out of the case, "
            "or name a function that hands it on*"
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_what_is_neither_a_function_nor_an_agent_is_told_with_what_is_known(agents: Shop) -> None:
    result = agents.run("--fc-model=python:shop:number")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*python:shop:number: number is of type int, which cannot be called; name a function, or an agent of "
            "pydantic-ai, openai-agents, LangChain, smolagents, AutoGen, AG2, AG2 Classic, Google ADK, CrewAI, "
            "LlamaIndex, DSPy*"
        ]
    )


KIND = """
class Echo:
    def recognizes(self, thing):
        return thing == 3

    def call(self, agent, request):
        return [{"name": "get_weather", "arguments": {"city": "In " + request.messages[-1]["content"]}}]

    def tools(self, agent):
        return [{"name": "get_weather"}]


def pytest_fcall_agents(config):
    return {"NAME": Echo()}
"""


def test_a_hook_adds_a_kind_of_agents(agents: Shop) -> None:
    agents.file("conftest.py", KIND)
    agents.run("--fc-model=python:shop:number").assert_outcomes(passed=1)
    agents.run("--fc-model=python:shop:AGENT").stdout.fnmatch_lines(["*shop has no 'AGENT'*"])


def test_a_framework_that_is_known_already_is_a_usage_error(agents: Shop) -> None:
    agents.file("conftest.py", KIND.replace("NAME", "CrewAI"))
    result = agents.run("--fc-model=python:shop:agent")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*adds the kind of agents 'CrewAI', which is there already*"])
