from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import pytest

from pytest_fcall.backends.apps.agents.agent import FRAMEWORKS, agent_kind, known_agents
from pytest_fcall.core.request import AppRequest
from tests.unit.backends.apps.agents.shapes import shaped


@pytest.mark.parametrize(
    ("title", "module", "name", "members"),
    [
        ("pydantic-ai", "pydantic_ai.agent.abstract", "AbstractAgent", {}),
        ("openai-agents", "agents.agent", "Agent", {"handoffs": []}),
        ("LangChain", "langchain_core.runnables.base", "Runnable", {}),
        ("smolagents", "smolagents.agents", "MultiStepAgent", {}),
        ("AutoGen", "autogen_agentchat.agents._base_chat_agent", "BaseChatAgent", {}),
        ("AutoGen", "autogen_agentchat.teams._group_chat._base_group_chat", "BaseGroupChat", {}),
        ("AG2", "ag2.agent", "Agent", {"ask": None}),
        ("AG2 Classic", "autogen.agentchat.conversable_agent", "ConversableAgent", {}),
        ("Google ADK", "google.adk.agents.base_agent", "BaseAgent", {}),
        ("CrewAI", "crewai.crew", "Crew", {}),
        ("LlamaIndex", "llama_index.core.agent.workflow.base_agent", "BaseWorkflowAgent", {}),
        ("DSPy", "dspy.primitives.module", "Module", {}),
    ],
)
def test_an_agent_is_known_by_the_class_that_its_own_derives_from(
    title: str, module: str, name: str, members: dict[str, Any]
) -> None:
    base = type(shaped(module, name, **members))
    assert agent_kind(base()) is FRAMEWORKS[title]
    assert agent_kind(type("ShopAgent", (base,), {})()) is FRAMEWORKS[title]


@pytest.mark.parametrize(
    "thing",
    [
        lambda _: "hello",
        shaped("shop.agents", "Agent", handoffs=[]),
        shaped("agents.agent", "Agent"),
        shaped("agents.agents", "Agent", handoffs=[]),
        shaped("dspyder", "Module"),
        type(shaped("crewai.crew", "Crew")),
    ],
    ids=["function", "of another package", "other shape", "other module", "longer name", "class"],
)
def test_what_only_resembles_an_agent_is_none(thing: object) -> None:
    assert agent_kind(thing) is None


def test_no_framework_is_imported_to_know_its_agents() -> None:
    before = set(sys.modules)
    for framework in FRAMEWORKS.values():
        framework.recognizes(object())
    assert set(sys.modules) == before


class Mine:
    def recognizes(self, thing: object) -> bool:
        return thing == "mine"

    def call(self, agent: Any, request: AppRequest) -> object:
        return agent

    def tools(self, agent: Any) -> Sequence[object]:
        return [agent]


def test_kinds_of_others_are_asked_and_named_too() -> None:
    mine = Mine()
    assert agent_kind("mine", {"Mine": mine}) is mine
    assert agent_kind("yours", {"Mine": mine}) is None
    assert known_agents({"Mine": mine}).endswith("LlamaIndex, DSPy, Mine")
