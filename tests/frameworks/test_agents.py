"""Agents of real frameworks, named and not wrapped, whose model is a server on loopback.

Each test needs the package of its framework and is skipped without it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from inspect import isawaitable
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.backends.apps.agents.agent import AgentApp, agent_kind, read_agent_tools
from pytest_fcall.backends.apps.python import app_of
from pytest_fcall.core import CaseRefused
from pytest_fcall.core.request import AppRequest
from tests.servers import Answer, Asked, Server, chat, responses

OWN = "You tell the weather."
QUESTION: list[dict[str, Any]] = [{"role": "user", "content": "Weather in Oslo?"}]
WEATHER_CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}
CONVERSATION: list[dict[str, Any]] = [
    {"role": "system", "content": "Answer in Norwegian."},
    {"role": "user", "content": "And in Rome?"},
    {"role": "assistant", "tool_calls": [WEATHER_CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "It is sunny in Rome."},
    {"role": "assistant", "content": "Sol i Roma."},
    *QUESTION,
]
DOT = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)


@dataclass
class Trial:
    """An agent, its model, and what its tool was called with."""

    server: Server
    runner: asyncio.Runner
    """Its loop lasts, as that of a session does: clients keep their connections in it."""
    agent: Any = None
    called: list[str] = field(default_factory=list)

    def tool(self) -> Callable[..., str]:
        """The agent's tool, which runs."""

        def get_weather(city: str, days: int = 1) -> str:
            """Tell the weather.

            Args:
                city: The name of the city.
                days: How many days ahead.
            """
            self.called.append(city)
            return f"It rains in {city}."

        return get_weather

    def ask(self, messages: list[dict[str, Any]], tools: tuple[str, ...] = ("get_weather",)) -> Any:
        """The answer of the agent, called as the plugin calls it: outside a loop, and awaited in one."""
        app = app_of(self.agent)
        assert isinstance(app, AgentApp)
        self.app = app
        data = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in tools]
        answer = app(AppRequest(messages, data))
        if not isawaitable(answer):
            return answer

        async def awaited(answer: Awaitable[object]) -> object:
            return await answer

        return self.runner.run(awaited(answer))

    def told(self, request: int = 0) -> str:
        """All that the model was told in a request, as text."""
        return json.dumps(self.server.asked[request].json, ensure_ascii=False)


def pydantic_ai(trial: Trial) -> Any:
    package = pytest.importorskip("pydantic_ai")
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("exam-1", provider=OpenAIProvider(base_url=trial.server.url, api_key="none"))
    agent = package.Agent(model, system_prompt=OWN)
    agent.tool_plain(trial.tool())
    return agent


def openai_agents(trial: Trial) -> Any:
    agents = pytest.importorskip("agents")
    from openai import AsyncOpenAI

    agents.set_tracing_disabled(True)
    model = agents.OpenAIResponsesModel("exam-1", AsyncOpenAI(base_url=trial.server.url, api_key="none"))
    return agents.Agent(name="Weather", instructions=OWN, model=model, tools=[agents.function_tool(trial.tool())])


def langgraph(trial: Trial) -> Any:
    pytest.importorskip("langgraph")
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI
    from langgraph.checkpoint.memory import InMemorySaver

    model = ChatOpenAI(model="exam-1", base_url=trial.server.url, api_key="none")
    return create_agent(model, tools=[trial.tool()], system_prompt=OWN, checkpointer=InMemorySaver())


def smolagents(trial: Trial) -> Any:
    package = pytest.importorskip("smolagents")

    model = package.OpenAIServerModel("exam-1", api_base=trial.server.url, api_key="none")
    return package.ToolCallingAgent([package.tool(trial.tool())], model, instructions=OWN, verbosity_level=0)


def llama_index(trial: Trial) -> Any:
    pytest.importorskip("llama_index.core")
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.llms.openai import OpenAI

    model = OpenAI("gpt-4o", api_base=trial.server.url, api_key="none")
    return FunctionAgent(tools=[trial.tool()], llm=model, system_prompt=OWN, streaming=False)


def google_adk(trial: Trial) -> Any:
    agents = pytest.importorskip("google.adk.agents")
    from google.adk.models import Gemini

    base = trial.server.url.removesuffix("/v1")
    model = Gemini(model="gemini-2.5-flash", base_url=base, client_kwargs={"api_key": "none"})
    return agents.LlmAgent(name="weather", model=model, tools=[trial.tool()], instruction=OWN)


def autogen(trial: Trial) -> Any:
    agents = pytest.importorskip("autogen_agentchat.agents")
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    model = OpenAIChatCompletionClient(model="gpt-4o", base_url=trial.server.url, api_key="none")
    return agents.AssistantAgent("weather", model, tools=[trial.tool()], system_message=OWN, reflect_on_tool_use=True)


def ag2(trial: Trial) -> Any:
    package = pytest.importorskip("ag2")
    from ag2.config import OpenAIConfig

    model = OpenAIConfig(model="exam-1", base_url=trial.server.url, api_key="none")
    return package.Agent("weather", OWN, config=model, tools=[trial.tool()])


def ag2_classic(trial: Trial) -> Any:
    package = pytest.importorskip("autogen")
    if not hasattr(package, "ConversableAgent"):
        pytest.skip("this is another package of the name autogen")
    config = {"model": "exam-1", "api_key": "none", "base_url": trial.server.url, "price": [0, 0]}
    return package.ConversableAgent(
        "weather", system_message=OWN, llm_config=package.LLMConfig(config), functions=[trial.tool()]
    )


def crewai(trial: Trial) -> Any:
    package = pytest.importorskip("crewai")
    from crewai.tools import tool

    model = package.LLM("openai/gpt-4o", base_url=trial.server.url, api_key="none")
    weather = tool("get_weather")(trial.tool())
    return package.Agent(role="Weather", goal="Tell it.", backstory=OWN, llm=model, tools=[weather])


AGENTS = (pydantic_ai, openai_agents, langgraph, smolagents, llama_index, google_adk, autogen, ag2, ag2_classic, crewai)


def gemini(text: str | None = None, calls: Sequence[tuple[str, dict[str, Any]]] = ()) -> Answer:
    """An answer as Gemini gives it."""
    parts: list[Any] = [{"text": text}] if text else []
    parts += [{"functionCall": {"name": name, "args": arguments}} for name, arguments in calls]
    content = {"role": "model", "parts": parts}
    return Answer(json.dumps({"candidates": [{"content": content, "finishReason": "STOP"}]}).encode())


def answer(asked: Asked) -> Answer:
    """Call the tool for the last question, then say what it gave."""
    if asked.path.endswith("/responses"):
        make: Callable[..., Answer] = responses
    else:
        make = gemini if ":generateContent" in asked.path else chat
    told = asked.body.decode()
    if "It rains in Oslo." in told:
        if "final_answer" in told:
            return make(calls=[("final_answer", {"answer": "Rain in Oslo."})])
        return make("Rain in Oslo.")
    return make(calls=[("get_weather", {"city": "Oslo"})])


@pytest.fixture
def trial(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Trial]:
    monkeypatch.setenv("CREWAI_STORAGE_DIR", str(tmp_path))
    for name in ("CREWAI_DISABLE_TELEMETRY", "OTEL_SDK_DISABLED"):
        monkeypatch.setenv(name, "true")
    with Server(answer) as server, asyncio.Runner() as runner:
        yield Trial(server, runner)


@pytest.fixture(params=AGENTS, ids=[each.__name__ for each in AGENTS])
def weather(trial: Trial, request: pytest.FixtureRequest) -> Trial:
    trial.agent = request.param(trial)
    return trial


def test_an_agent_is_asked_and_its_tool_runs(weather: Trial) -> None:
    assert weather.ask(QUESTION) is not None
    assert weather.called == ["Oslo"]
    assert len(weather.server.asked) == 2
    assert "Weather in Oslo?" in weather.told()
    assert OWN in weather.told()
    assert weather.app.note() == ""


def test_the_whole_conversation_is_handed_on(weather: Trial) -> None:
    weather.ask(CONVERSATION)
    told = weather.told()
    for text in (OWN, "Answer in Norwegian.", "And in Rome?", "It is sunny in Rome.", "Sol i Roma.", "Weather in Oslo"):
        assert text in told
    assert "get_weather" in told.partition("And in Rome?")[2].partition("It is sunny")[0]
    assert weather.called == ["Oslo"]


def test_nothing_is_left_of_the_case_before(weather: Trial) -> None:
    weather.ask(CONVERSATION)
    before = len(weather.server.asked)
    weather.ask([{"role": "user", "content": "Rain in Bergen?"}])
    assert "Rome" not in weather.told(before)
    assert "Norwegian" not in weather.told(before)
    assert "Oslo" not in weather.told(before)


def test_tools_are_read_off_the_agent(weather: Trial) -> None:
    kind = agent_kind(weather.agent)
    assert kind is not None
    (tool,), unread = read_agent_tools(weather.agent, kind, "agent: shop:agent")
    assert unread == []
    assert (tool.name, tool.source) == ("get_weather", "agent: shop:agent")
    assert "Tell the weather." in tool.description
    properties: Any = tool.parameters["properties"]
    assert list(properties) == ["city", "days"]
    assert properties["city"]["type"] == "string"
    assert properties["days"]["type"] in ("integer", ["integer", "null"])
    assert "city" in list(tool.parameters["required"])  # type: ignore[arg-type]


def test_tools_of_cases_that_the_agent_lacks_are_told(weather: Trial) -> None:
    weather.ask(QUESTION, tools=("get_weather", "book"))
    assert weather.app.note() == "only the cases have the tools book"


def test_a_picture_is_handed_on_or_refused(weather: Trial) -> None:
    parts = [{"type": "text", "text": "Where is it?"}, {"type": "image_url", "image_url": {"url": DOT}}]
    messages = [{"role": "user", "content": parts}]
    if type(weather.agent).__module__.startswith("crewai"):
        with pytest.raises(CaseRefused, match="CrewAI cannot be handed a picture"):
            weather.ask(messages)
        return
    pictures = type(weather.agent).__module__.startswith(("smolagents", "autogen_agentchat"))
    if pictures:
        pytest.importorskip("PIL")
    weather.ask(messages)
    assert "iVBORw0KGgo" in weather.told()  # what every PNG begins with; some write pictures anew


def test_two_cases_of_a_chain_are_handed_their_text(trial: Trial) -> None:
    pytest.importorskip("langchain_openai")
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_openai import ChatOpenAI

    trial.server.default = lambda _: chat("Rain.")
    model = ChatOpenAI(model="exam-1", base_url=trial.server.url, api_key="none")
    trial.agent = ChatPromptTemplate.from_template("Say it briefly: {question}") | model
    assert trial.ask(QUESTION).content == "Rain."
    assert "Say it briefly: Weather in Oslo?" in trial.told()
    trial.agent = model
    trial.ask(CONVERSATION)
    assert "It is sunny in Rome." in trial.told(1)


def test_a_crew_is_handed_the_text(trial: Trial) -> None:
    package = pytest.importorskip("crewai")
    agent = crewai(trial)
    task = package.Task(description="Answer: {question}", expected_output="a sentence", agent=agent)
    trial.agent = package.Crew(agents=[agent], tasks=[task])
    trial.ask(QUESTION)
    trial.ask([{"role": "user", "content": "Rain in Bergen?"}])
    assert trial.called
    assert "Answer: Weather in Oslo?" in trial.told()
    last = trial.told(len(trial.server.asked) - 1)
    assert "Answer: Rain in Bergen?" in last
    assert "Weather in Oslo?" not in last
    kind = agent_kind(trial.agent)
    assert kind is not None
    assert [tool.name for tool in read_agent_tools(trial.agent, kind, "")[0]] == ["get_weather"]


def test_a_team_of_autogen_is_told_what_was_said(trial: Trial) -> None:
    pytest.importorskip("autogen_agentchat")
    from autogen_agentchat.conditions import MaxMessageTermination
    from autogen_agentchat.teams import RoundRobinGroupChat

    trial.agent = RoundRobinGroupChat([autogen(trial)], termination_condition=MaxMessageTermination(4))
    said = [{"role": "user", "content": "Hi!"}, {"role": "assistant", "content": "Hello!"}, *QUESTION]
    trial.ask(said)
    for text in ("Hi!", "Hello!", "Weather in Oslo?"):
        assert text in trial.told()
    before = len(trial.server.asked)
    trial.ask([{"role": "user", "content": "Rain in Bergen?"}])
    assert "Hello!" not in trial.told(before)
    with pytest.raises(CaseRefused, match="AutoGen cannot be handed a system message where"):
        trial.ask(CONVERSATION)


def test_tools_are_read_off_agents_that_others_hand_over_to(trial: Trial) -> None:
    agents = pytest.importorskip("agents")
    weather = openai_agents(trial)
    trial.agent = agents.Agent(name="Desk", handoffs=[weather, agents.handoff(weather, tool_name_override="weather")])
    kind = agent_kind(trial.agent)
    assert kind is not None
    tools, unread = read_agent_tools(trial.agent, kind, "")
    assert [tool.name for tool in tools] == ["transfer_to_weather", "get_weather", "weather"]
    assert unread == []


def test_tools_are_read_off_sub_agents(trial: Trial) -> None:
    agents = pytest.importorskip("google.adk.agents")
    weather = google_adk(trial)
    trial.agent = agents.LlmAgent(name="desk", model=weather.model, sub_agents=[weather])
    kind = agent_kind(trial.agent)
    assert kind is not None
    tools, unread = read_agent_tools(trial.agent, kind, "")
    assert [tool.name for tool in tools] == ["transfer_to_agent", "get_weather"]
    assert unread == []


def test_agents_of_llama_index_work_together(trial: Trial) -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.agent.workflow import AgentWorkflow

    trial.agent = AgentWorkflow([llama_index(trial)])
    trial.ask(CONVERSATION)
    assert trial.called == ["Oslo"]
    assert "It is sunny in Rome." in trial.told()
    kind = agent_kind(trial.agent)
    assert kind is not None
    assert [tool.name for tool in read_agent_tools(trial.agent, kind, "")[0]] == ["get_weather"]


def field_text(**fields: str) -> Answer:
    """An answer in the form in which DSPy asks for its fields."""
    return chat("\n\n".join(f"[[ ## {name} ## ]]\n{text}" for name, text in fields.items()))


def test_a_module_of_dspy_is_handed_the_text_and_earlier_turns(trial: Trial) -> None:
    dspy = pytest.importorskip("dspy")

    model = dspy.LM("openai/exam-1", api_base=trial.server.url, api_key="none", cache=False)
    step = {"next_thought": "I look.", "next_tool_name": "get_weather", "next_tool_args": '{"city": "Oslo"}'}
    end = {"next_thought": "Done.", "next_tool_name": "finish", "next_tool_args": "{}"}
    trial.server.script(field_text(**step), field_text(**end), field_text(reasoning="It rains.", answer="Rain."))
    trial.agent = dspy.ReAct("question -> answer", tools=[trial.tool()])
    with dspy.context(lm=model):
        assert trial.ask(QUESTION).answer == "Rain."
    assert trial.called == ["Oslo"]
    assert trial.app.note() == ""
    trial.server.script(field_text(answer="Sol."))
    trial.agent = dspy.Predict("question, history: dspy.History -> answer")
    said = [{"role": "user", "content": "And in Rome?"}, {"role": "assistant", "content": "Sol i Roma."}, *QUESTION]
    with dspy.context(lm=model):
        assert trial.ask(said, tools=()).answer == "Sol."
    assert "And in Rome?" in trial.told(3)
    assert "Sol i Roma." in trial.told(3)
    with pytest.raises(CaseRefused, match="DSPy cannot be handed a system message"):
        trial.ask(CONVERSATION, tools=())


def test_programs_of_an_agent_keep_nothing_from_the_case_before(trial: Trial) -> None:
    package = pytest.importorskip("smolagents")
    model = package.OpenAIServerModel("exam-1", api_base=trial.server.url, api_key="none")
    trial.agent = package.CodeAgent([package.tool(trial.tool())], model, verbosity_level=0, max_steps=1)
    trial.agent.state["shop"] = "tea"
    write, read = "city = 'Rome'\nfinal_answer(shop)", "final_answer(city)"
    for program, expected in ((write, "tea"), (read, None)):
        trial.server.script(chat(f"Thought: so.\n<code>\n{program}\n</code>"), chat("I do not know."))
        output = trial.ask(QUESTION).output
        assert output == expected or (expected is None and "Rome" not in str(output))
    assert trial.agent.state == {"shop": "tea"}


def test_an_app_of_google_adk_is_run_as_it_is(trial: Trial) -> None:
    pytest.importorskip("google.adk.apps")
    from google.adk.apps import App

    trial.agent = App(name="shop", root_agent=google_adk(trial))
    trial.ask(CONVERSATION)
    assert trial.called == ["Oslo"]
    assert "Answer in Norwegian." in trial.told()
    assert trial.agent.plugins == []
    assert trial.app.note() == ""


def test_tools_of_toolsets_are_read_by_their_last_names(trial: Trial) -> None:
    package = pytest.importorskip("pydantic_ai")
    from pydantic_ai.toolsets import FunctionToolset

    class Remote(FunctionToolset):  # type: ignore[misc, unused-ignore]  # the package need not be installed
        async def get_tools(self, ctx: Any) -> Any:
            await asyncio.sleep(0)  # as one that asks a server does
            return await super().get_tools(ctx)

    server = Remote()
    shop = FunctionToolset([trial.tool()]).prefixed("shop")
    agent = package.Agent("test", toolsets=[shop, server])
    kind = agent_kind(agent)
    assert kind is not None
    tools, unread = read_agent_tools(agent, kind, "")
    assert [tool.name for tool in tools] == ["shop_get_weather"]
    assert [each.why for each in unread] == ["its tools are known to a server only, which `mcp:` can name"]
