"""What is done for each framework before its package is needed, with small classes of the same shape."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_fcall.backends.apps.agents import ag2, ag2_classic, crewai, dspy, langchain, openai_agents, pydantic_ai
from pytest_fcall.backends.apps.agents.agent import UnreadTool, result_without_waiting
from pytest_fcall.backends.apps.agents.messages import read_history
from pytest_fcall.core import CaseRefused
from pytest_fcall.schema.errors import SchemaError
from tests.unit.backends.apps.agents.shapes import asked, shaped

HELLO = [{"role": "user", "content": "hello"}]
SCHEMA = {"type": "object", "title": "search", "properties": {"query": {"type": "string"}}}


class Graph:
    """A compiled graph."""

    checkpointer: object = None

    def __init__(self, *inputs: str) -> None:
        self.builder = SimpleNamespace(schemas={"State": dict.fromkeys(inputs)}, input_schema="State")
        self.invoked: list[tuple[str, object, Any]] = []

    async def ainvoke(self, given: object, config: object) -> None:
        self.invoked.append(("ainvoke", given, config))

    def invoke(self, given: object, config: object) -> None:
        self.invoked.append(("invoke", given, config))


def called(call: Callable[[Any, Any], Any], agent: Any, *messages: dict[str, Any]) -> Any:
    """What an agent answers, awaited where it has to be."""
    answer = call(agent, asked(*messages))
    return asyncio.run(answer) if asyncio.iscoroutine(answer) else answer


def test_a_graph_is_handed_the_messages() -> None:
    graph = Graph("messages", "notes")
    called(langchain.call, graph)
    assert graph.invoked == [("ainvoke", {"messages": HELLO}, None)]


def test_each_case_of_a_graph_with_a_memory_is_a_thread_of_its_own() -> None:
    graph = Graph("messages")
    graph.checkpointer = shaped("langgraph.checkpoint.memory", "InMemorySaver")
    called(langchain.call, graph)
    called(langchain.call, graph)
    first, second = (config["configurable"]["thread_id"] for _, _, config in graph.invoked)
    assert first != second


def test_a_graph_whose_memory_is_synchronous_is_not_awaited() -> None:
    graph = Graph("messages")
    graph.checkpointer = shaped("langgraph.checkpoint.sqlite", "SqliteSaver")
    called(langchain.call, graph)
    assert [way for way, _, _ in graph.invoked] == ["invoke"]


def test_a_graph_of_one_other_input_is_handed_the_text() -> None:
    graph = Graph("question")
    called(langchain.call, graph)
    assert graph.invoked == [("ainvoke", {"question": "hello"}, None)]


def test_a_graph_of_several_other_inputs_is_refused_with_their_names() -> None:
    with pytest.raises(
        CaseRefused,
        match="LangChain cannot be asked as it is: its input is not `messages` but 'question', 'customer'; name",
    ):
        called(langchain.call, Graph("question", "customer"))


def test_a_chat_model_is_handed_the_list_of_messages() -> None:
    graph = Graph()
    del graph.builder
    model = shaped("langchain_core.language_models.base", "BaseLanguageModel", ainvoke=graph.ainvoke)
    called(langchain.call, SimpleNamespace(bound=model, ainvoke=graph.ainvoke))
    assert graph.invoked == [("ainvoke", HELLO, None)]


def test_tools_are_read_off_the_nodes_of_a_graph_and_of_those_in_it() -> None:
    search = SimpleNamespace(name="search", description="Find.", tool_call_schema=SCHEMA)
    buy = {"type": "function", "function": {"name": "buy"}}
    node = SimpleNamespace(bound=SimpleNamespace(tools_by_name={"search": search}))
    inner = SimpleNamespace(steps=[SimpleNamespace(kwargs={"tools": [buy]}), node])
    graph = SimpleNamespace(nodes={"tools": node, "inner": SimpleNamespace(subgraphs=[inner])})
    parameters = {"type": "object", "properties": {"query": {"type": "string"}}}
    assert langchain.tools(graph) == [{"name": "search", "description": "Find.", "parameters": parameters}, buy]


def test_a_bound_tool_without_a_name_is_refused() -> None:
    with pytest.raises(SchemaError, match="a tool that is bound to a model is a dict without a name"):
        langchain.tools(SimpleNamespace(kwargs={"tools": [{"type": "web_search"}]}))


def test_tools_of_openai_agents_are_functions_and_not_what_others_run() -> None:
    def tool(name: str, **more: Any) -> Any:
        return SimpleNamespace(name=name, description="", **more)

    agent = SimpleNamespace(
        tools=[
            tool("search", params_json_schema=SCHEMA),
            tool("off", params_json_schema={}, is_enabled=False),
            tool("web"),
        ],
        mcp_servers=[SimpleNamespace(name="files")],
        handoffs=[],
    )
    server = UnreadTool("files", "its tools are known to a server only, which `mcp:` can name")
    assert openai_agents.tools(agent) == [
        {"name": "search", "description": "", "parameters": SCHEMA},
        UnreadTool("web", "the provider runs it"),
        server,
    ]


def test_an_agent_of_pydantic_ai_that_needs_what_only_code_can_give_is_refused() -> None:
    with pytest.raises(
        CaseRefused, match="an agent of pydantic-ai cannot be asked as it is: it needs `deps` of the type int; name"
    ):
        called(pydantic_ai.call, SimpleNamespace(deps_type=int))


class Crew:
    """A crew of one task."""

    memory = False

    def __init__(self, *inputs: str) -> None:
        self.tasks = [SimpleNamespace(tools=[])]
        self.agents = [SimpleNamespace(memory=None)]
        self._inputs = set(inputs)

    def fetch_inputs(self) -> set[str]:
        return self._inputs

    def copy(self) -> Crew:
        return Crew(*self._inputs)

    def kickoff(self, inputs: dict[str, str]) -> object:
        return inputs


def test_a_crew_is_handed_the_text_as_its_only_input() -> None:
    assert called(crewai.call, Crew("topic")) == {"topic": "hello"}


@pytest.mark.parametrize(("inputs", "named"), [((), "none"), (("topic", "day"), "{day}, {topic}")])
def test_a_crew_of_none_or_several_inputs_is_refused_with_their_names(inputs: tuple[str, ...], named: str) -> None:
    with pytest.raises(CaseRefused, match=f"the placeholders of its tasks are not one but {named}; name"):
        called(crewai.call, Crew(*inputs))


def test_a_crew_with_a_memory_is_refused() -> None:
    crew = Crew("topic")
    crew.agents[0].memory = object()
    with pytest.raises(CaseRefused, match="CrewAI cannot be asked as it is: its memory is on"):
        called(crewai.call, crew)


def test_what_an_agent_of_crewai_did_before_the_question_is_no_part_of_its_answer() -> None:
    history = read_history(asked({"role": "user", "content": "hi"}, *HELLO), "CrewAI")
    earlier: list[dict[str, Any]] = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "tool_calls": ["earlier"]},
    ]
    since = [{"role": "user", "content": "Current Task: hello"}, {"role": "assistant", "content": "Hello!"}]
    assert crewai.since_question(history, [*earlier, *since]) == since
    with pytest.raises(CaseRefused, match="its output does not show where the last one is"):
        crewai.since_question(history, [{"role": "user", "content": "a summary"}])


class Program:
    """A module that a team has written."""

    def __init__(self, *tools: Any) -> None:
        self.tools = tools

    def named_sub_modules(self) -> list[tuple[str, object]]:
        return [("", self)]

    def forward(self, question: str, style: str = "brief") -> str:
        return f"{question}, {style}"

    def __call__(self, **given: str) -> str:
        return self.forward(**given)

    async def acall(self, **given: str) -> str:
        return f"awaited {self.forward(**given)}"


def test_a_module_of_dspy_is_called_with_the_text_as_its_input() -> None:
    assert called(dspy.call, Program()) == "hello, brief"


def test_a_module_with_an_async_tool_is_awaited() -> None:
    async def search() -> None:
        return None

    assert called(dspy.call, Program(search)) == "awaited hello, brief"


def test_a_module_with_a_signature_of_several_inputs_is_refused_with_their_names() -> None:
    class Predict:
        """A module of DSPy's own, whose inputs have no names in the code."""

        signature = SimpleNamespace(
            input_fields={"a": SimpleNamespace(annotation=str), "b": SimpleNamespace(annotation=str)}
        )

        def named_sub_modules(self) -> list[tuple[str, object]]:
            return [("", self)]

        def forward(self, **given: str) -> str:
            return str(given)

    with pytest.raises(CaseRefused, match="its inputs are not one text but 'a', 'b'; name"):
        called(dspy.call, Predict())


def test_an_agent_of_ag2_whose_prompt_is_made_anew_takes_no_other() -> None:
    agent = SimpleNamespace(dynamic_prompt=[print], system_prompt=())
    with pytest.raises(CaseRefused, match="AG2 cannot be handed a system message beside a prompt"):
        ag2.prompt_of(agent, "Be brief.")


def test_tools_of_ag2_classic_are_those_of_its_models_configuration() -> None:
    tool = {"type": "function", "function": {"name": "search"}}
    assert ag2_classic.tools(SimpleNamespace(llm_config={"tools": [tool]})) == [tool]
    assert ag2_classic.tools(SimpleNamespace(llm_config=SimpleNamespace(tools=[tool]))) == [tool]
    assert ag2_classic.tools(SimpleNamespace(llm_config=False)) == []


def test_only_what_waits_for_nothing_is_run_without_a_loop() -> None:
    async def at_once() -> int:
        return 3

    async def later() -> None:
        await asyncio.sleep(0)

    async def in_a_loop() -> None:
        asyncio.get_running_loop()

    assert result_without_waiting(at_once()) == 3
    assert result_without_waiting(later()) is None
    assert result_without_waiting(in_a_loop()) is None
