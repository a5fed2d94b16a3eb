"""What frameworks and SDKs really return: each test runs where its package is installed, and needs no network."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.backends.apps.answers.answer import reply_of
from pytest_fcall.backends.apps.answers.errors import AnswerError
from pytest_fcall.conversation.messages import steps_of_trail
from pytest_fcall.core import CallResult, Message, Reply, Request
from pytest_fcall.core.conversation import Step
from pytest_fcall.decoding.decoders import decode

ASKED: list[Message] = [{"role": "user", "content": "Weather?"}]
CALLS = [("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Rome"})]
TWO = [("c1", "Oslo"), ("c2", "Rome")]
NODE = Path(os.environ.get("FRAMEWORKS", ".venv-frameworks")) / "node"
"""The folder whose `node_modules` has the AI SDK."""


def get_weather(city: str) -> str:
    """Tell the weather.

    Args:
        city: the city
    """
    return f"cold in {city}"


def read(answer: object) -> Reply:
    reply = reply_of(answer, ASKED)
    json.dumps([*reply.trail])
    return reply


def calls_of(reply: Reply) -> list[tuple[str, Any]]:
    calls = decode(reply)
    assert calls.malformed is None
    return [(call.name, call.arguments) for call in calls.calls]


def check_run(answer: object, text: str = "Cold.", *, results: bool = True) -> Reply:
    """The answer tells two calls with their results, and the text after them."""
    reply = read(answer)
    assert calls_of(reply) == CALLS
    assert reply.text == text
    if results:
        step = Step(Request(tuple(ASKED), ()), reply, decode(reply))
        told = [result for each in steps_of_trail(step) for result in each.results]
        assert told == [CallResult("cold in Oslo"), CallResult("cold in Rome")]
    return reply


def check_one(answer: object, text: str = "Look.") -> None:
    """The answer is one of a model that asks for two calls."""
    reply = read(answer)
    assert calls_of(reply) == CALLS
    assert reply.text == text
    assert not reply.trail


def test_openai_chat() -> None:
    chat = pytest.importorskip("openai.types.chat")
    function = [
        {"id": i, "type": "function", "function": {"name": "get_weather", "arguments": json.dumps({"city": c})}}
        for i, c in TWO
    ]
    message = {"role": "assistant", "content": "Look.", "tool_calls": function}
    whole = chat.ChatCompletion.model_validate(
        {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
        }
    )
    check_one(whole)
    check_one(whole.model_dump())
    check_one(whole.choices[0].message)
    check_one(whole.choices[0].message.tool_calls, "")
    assert read(whole).usage is not None
    told = [{"role": "tool", "tool_call_id": i, "content": f"cold in {c}"} for i, c in TWO]
    check_run([*ASKED, whole.choices[0].message, *told, {"role": "assistant", "content": "Cold."}])


def test_openai_responses() -> None:
    responses = pytest.importorskip("openai.types.responses")
    calls = [
        {
            "type": "function_call",
            "id": f"f{i}",
            "call_id": i,
            "name": "get_weather",
            "arguments": json.dumps({"city": c}),
        }
        for i, c in TWO
    ]
    said = {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Look.", "annotations": []}],
    }
    whole = responses.Response.model_validate(
        {
            "id": "r",
            "object": "response",
            "created_at": 1,
            "model": "gpt",
            "status": "completed",
            "output": [{"type": "reasoning", "id": "rs", "summary": []}, said, *calls],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [{"type": "function", "name": "get_weather", "parameters": {}, "strict": False}],
        }
    )
    check_one(whole)
    check_one(whole.model_dump())
    told = [{"type": "function_call_output", "call_id": i, "output": f"cold in {c}"} for i, c in TWO]
    last = {"role": "assistant", "content": "Cold."}
    check_run([*ASKED, *whole.output, *told, last])
    searched = responses.Response.model_validate(
        {
            **whole.model_dump(),
            "output": [
                {
                    "type": "web_search_call",
                    "id": "w",
                    "status": "completed",
                    "action": {"type": "search", "query": "x"},
                }
            ],
        }
    )
    assert [name for name, _ in calls_of(read(searched))] == ["web_search"]


def test_anthropic() -> None:
    types = pytest.importorskip("anthropic.types")
    used = [{"type": "tool_use", "id": i, "name": "get_weather", "input": {"city": c}} for i, c in TWO]
    message = types.Message.model_validate(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "Look."},
                *used,
            ],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 3, "output_tokens": 2},
        }
    )
    check_one(message)
    check_one(message.model_dump())
    check_one(message.content)
    check_one({"role": "assistant", "content": message.content})
    told = [{"type": "tool_result", "tool_use_id": i, "content": f"cold in {c}"} for i, c in TWO]
    last = {"role": "assistant", "content": [types.TextBlock(type="text", text="Cold.")]}
    trail = [*ASKED, {"role": "assistant", "content": message.content}, {"role": "user", "content": told}, last]
    check_run(trail)
    block = types.ServerToolUseBlock(type="server_tool_use", id="s", name="web_search", input={"query": "x"})
    assert calls_of(read([block])) == [("web_search", {"query": "x"})]


def test_gemini() -> None:
    types = pytest.importorskip("google.genai.types")
    asked = types.Content(
        role="model",
        parts=[
            types.Part(text="hm", thought=True),
            types.Part(text="Look."),
            *(
                types.Part(
                    function_call=types.FunctionCall(id=i, name="get_weather", args={"city": c}), thought_signature=b"s"
                )
                for i, c in TWO
            ),
        ],
    )
    whole = types.GenerateContentResponse(
        candidates=[types.Candidate(content=asked, finish_reason="STOP")],
        usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=3, candidates_token_count=2),
        model_version="gemini",
    )
    check_one(whole)
    check_one(whole.model_dump())
    check_one(json.loads(whole.model_dump_json(by_alias=True, exclude_none=True)))
    check_one(asked)
    told = types.Content(
        role="user",
        parts=[
            types.Part(
                function_response=types.FunctionResponse(id=i, name="get_weather", response={"result": f"cold in {c}"})
            )
            for i, c in TWO
        ],
    )
    user = types.Content(role="user", parts=[types.Part(text="Weather?")])
    last = types.Content(role="model", parts=[types.Part(text="Cold.")])
    check_run([user, asked, told, last], results=False)
    check_run(
        [json.loads(each.model_dump_json(by_alias=True, exclude_none=True)) for each in (user, asked, told, last)],
        results=False,
    )
    automatic = types.GenerateContentResponse(
        candidates=[types.Candidate(content=last, finish_reason="STOP")],
        automatic_function_calling_history=[user, asked, told],
    )
    check_run(automatic, results=False)
    ran = types.Content(
        role="model", parts=[types.Part(executable_code=types.ExecutableCode(code="1", language="PYTHON"))]
    )
    assert calls_of(read(ran)) == [("code_execution", {"code": "1", "language": "PYTHON", "id": None})]


def test_langchain_and_langgraph() -> None:
    messages = pytest.importorskip("langchain_core.messages")
    load = pytest.importorskip("langchain_core.load")
    called = [{"name": "get_weather", "args": {"city": c}, "id": i} for i, c in TWO]
    asked = messages.AIMessage(
        content="Look.", tool_calls=called, usage_metadata={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    )
    check_one(asked)
    check_one(asked.model_dump())
    told = [messages.ToolMessage(content=f"cold in {c}", tool_call_id=i) for i, c in TWO]
    trail = [messages.HumanMessage("Weather?"), asked, *told, messages.AIMessage("Cold.")]
    check_run(trail)
    check_run({"messages": trail, "remaining_steps": 3})
    check_run(messages.messages_to_dict(trail))
    check_run([load.dumpd(each) for each in trail])
    check_run({"messages": [each.model_dump() for each in trail]})
    openai = messages.convert_to_openai_messages(trail)
    check_run(openai)
    parts = messages.AIMessage(
        content=[
            {"type": "text", "text": "Look."},
            *({"type": "tool_use", "id": i, "name": "get_weather", "input": {"city": c}} for i, c in TWO),
        ],
        tool_calls=called,
    )
    check_one(parts)
    check_one(
        {"role": "assistant", "content": parts.content_blocks[:1] + [{**each, "type": "tool_call"} for each in called]}
    )
    broken = messages.AIMessage(
        "", invalid_tool_calls=[{"name": "x", "args": "{bad", "id": "c", "error": "e", "type": "invalid_tool_call"}]
    )
    assert decode(read(broken)).malformed
    raw = messages.AIMessage(
        "", additional_kwargs={"function_call": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    )
    assert calls_of(read(raw)) == CALLS[:1]


def test_langchain_agents() -> None:
    agents = pytest.importorskip("langchain.agents")
    fakes = pytest.importorskip("langchain_core.language_models.fake_chat_models")
    messages = pytest.importorskip("langchain_core.messages")
    structured = pytest.importorskip("langchain.agents.structured_output")
    pydantic = pytest.importorskip("pydantic")

    class Model(fakes.GenericFakeChatModel):  # type: ignore[misc, name-defined]
        def bind_tools(self, *_: object, **__: object) -> Model:
            return self

    called = [{"name": "get_weather", "args": {"city": c}, "id": i} for i, c in TWO]

    def agent(last: object, **more: Any) -> Any:
        model = Model(messages=iter([messages.AIMessage("", tool_calls=called), last]))
        return agents.create_agent(model, [get_weather], **more)

    state = agent(messages.AIMessage("Cold.")).invoke({"messages": ASKED})
    check_run(state)
    check_run(state["messages"])
    weather = pydantic.create_model("Weather", temperature=(int, ...))
    last = messages.AIMessage("", tool_calls=[{"name": "Weather", "args": {"temperature": -3}, "id": "c3"}])
    shaped = agent(last, response_format=structured.ToolStrategy(weather)).invoke({"messages": ASKED})
    assert shaped["structured_response"].temperature == -3
    check_run(shaped, "")


def test_pydantic_ai() -> None:
    ai = pytest.importorskip("pydantic_ai")
    parts = pytest.importorskip("pydantic_ai.messages")
    function = pytest.importorskip("pydantic_ai.models.function")
    pydantic = pytest.importorskip("pydantic")
    weather = pydantic.create_model("Weather", temperature=(int, ...))

    def model(messages: list[Any], info: Any) -> Any:
        if any(part.part_kind == "tool-return" for part in messages[-1].parts):
            if info.output_tools:
                return parts.ModelResponse(
                    [parts.ToolCallPart(info.output_tools[0].name, {"temperature": -3}, tool_call_id="o")]
                )
            return parts.ModelResponse([parts.TextPart("Cold.")])
        called = [parts.ToolCallPart("get_weather", json.dumps({"city": c}), tool_call_id=i) for i, c in TWO]
        return parts.ModelResponse([parts.ThinkingPart("hm"), parts.TextPart("Look."), *called])

    def run(output: Any) -> Any:
        agent = ai.Agent(
            function.FunctionModel(model), system_prompt="Be brief.", output_type=output, tools=[get_weather]
        )
        return agent.run_sync("Weather?")

    plain, shaped = run(str), run(weather)
    check_run(plain)
    check_run(plain.all_messages())
    check_run(plain.new_messages())
    check_run(json.loads(plain.all_messages_json()))
    check_one(plain.all_messages()[1])
    check_run(shaped, '{"temperature": -3}')
    check_run(shaped.all_messages(), '{"temperature": -3}')
    named = run(ai.ToolOutput(weather, name="report"))
    check_run(named, '{"temperature": -3}')
    assert [name for name, _ in calls_of(read(named.all_messages()))] == ["get_weather", "get_weather", "report"]


def test_openai_agents() -> None:
    agents = pytest.importorskip("agents")
    responses = pytest.importorskip("openai.types.responses")
    agents.set_tracing_disabled(True)
    message = responses.ResponseOutputMessage.model_validate(
        {
            "id": "m",
            "role": "assistant",
            "status": "completed",
            "type": "message",
            "content": [{"type": "output_text", "text": "Cold.", "annotations": []}],
        }
    )
    called = [
        responses.ResponseFunctionToolCall(
            type="function_call", call_id=i, name="get_weather", arguments=json.dumps({"city": c})
        )
        for i, c in TWO
    ]
    transfer = responses.ResponseFunctionToolCall(
        type="function_call", call_id="c3", name="transfer_to_billing", arguments="{}"
    )

    class Model(agents.Model):  # type: ignore[misc, name-defined]
        def __init__(self, *outputs: list[Any]) -> None:
            self.outputs = iter(outputs)

        async def get_response(self, *_: object, **__: object) -> Any:
            return agents.ModelResponse(output=next(self.outputs), usage=agents.Usage(), response_id=None)

        def stream_response(self, *_: object, **__: object) -> Any:
            raise NotImplementedError

    def agent(*outputs: list[Any], **more: Any) -> Any:
        return agents.Agent("shop", model=Model(*outputs), tools=[agents.function_tool(get_weather)], **more)

    result = agents.Runner.run_sync(agent(called, [message]), "Weather?")
    check_run(result)
    check_run(result.to_input_list())
    check_run(result.new_items)
    check_one(result.raw_responses[0], "")
    billing = agents.Agent("billing", model=Model([message]))
    handed = agents.Runner.run_sync(agent([transfer], handoffs=[billing]), "Weather?")
    assert calls_of(read(handed)) == [("transfer_to_billing", {})]
    assert read(agents.Runner.run_sync(agent([message]), "Weather?")).tool_calls == ()


def test_smolagents() -> None:
    smol = pytest.importorskip("smolagents")
    models = pytest.importorskip("smolagents.models")
    monitoring = pytest.importorskip("smolagents.monitoring")

    def call(name: str, arguments: Any, number: str) -> Any:
        function = models.ChatMessageToolCallFunction(name=name, arguments=arguments)
        return models.ChatMessageToolCall(id=number, type="function", function=function)

    class Model(smol.Model):  # type: ignore[misc, name-defined]
        def __init__(self, *answers: dict[str, Any]) -> None:
            super().__init__()
            self.answers = iter(answers)

        def generate(self, *_: object, **__: object) -> Any:
            usage = monitoring.TokenUsage(3, 2)
            return models.ChatMessage(role=models.MessageRole.ASSISTANT, token_usage=usage, **next(self.answers))

    made = {"content": "Look.", "tool_calls": [call("get_weather", {"city": c}, i) for i, c in TWO]}
    final = {"content": "", "tool_calls": [call("final_answer", {"answer": "Cold."}, "c3")]}
    options: dict[str, Any] = {"tools": [smol.tool(get_weather)], "verbosity_level": monitoring.LogLevel.OFF}
    agent = smol.ToolCallingAgent(model=Model(made, final), **options)
    check_run(agent.run("Weather?", return_full_result=True), results=False)
    check_run(agent.memory.steps, results=False)
    check_run(agent.memory.get_full_steps(), results=False)
    code = smol.CodeAgent(
        model=Model(
            {"content": "<code>\nprint(get_weather('Oslo'))\n</code>"},
            {"content": '<code>\nfinal_answer("Cold.")\n</code>'},
        ),
        **options,
    )
    reply = read(code.run("Weather?", return_full_result=True))
    assert calls_of(reply) == [("python_interpreter", {"code": "print(get_weather('Oslo'))"})]
    assert reply.text == "Cold."


def test_llama_index() -> None:
    workflow = pytest.importorskip("llama_index.core.agent.workflow")
    llms = pytest.importorskip("llama_index.core.llms")
    calling = pytest.importorskip("llama_index.core.llms.function_calling")
    llm = pytest.importorskip("llama_index.core.llms.llm")
    types = pytest.importorskip("llama_index.core.base.llms.types")

    class Model(llms.MockLLM, calling.FunctionCallingLLM):  # type: ignore[misc, name-defined]
        asked: bool = False

        @property
        def metadata(self) -> Any:
            return llms.LLMMetadata(is_function_calling_model=True)

        def _prepare_chat_with_tools(self, *_: object, **__: object) -> Any:
            return {"messages": []}

        def get_tool_calls_from_response(self, response: Any, *_: object, **__: object) -> Any:
            blocks = [block for block in response.message.blocks if block.block_type == "tool_call"]
            return [
                llm.ToolSelection(tool_id=block.tool_call_id, tool_name=block.tool_name, tool_kwargs=block.tool_kwargs)
                for block in blocks
            ]

        async def achat_with_tools(self, *_: object, **__: object) -> Any:
            return self.answer()

        async def astream_chat_with_tools(self, *_: object, **__: object) -> Any:
            async def stream() -> Any:
                yield self.answer()

            return stream()

        def answer(self) -> Any:
            if self.asked:
                return llms.ChatResponse(message=llms.ChatMessage(role="assistant", content="Cold."))
            self.asked = True
            blocks = [
                types.ToolCallBlock(tool_call_id=i, tool_name="get_weather", tool_kwargs={"city": c}) for i, c in TWO
            ]
            text = types.TextBlock(text="Look.")
            return llms.ChatResponse(
                message=llms.ChatMessage(role="assistant", blocks=[text, *blocks]), raw={"tool_calls": 1}
            )

    async def run() -> Any:
        handler = workflow.FunctionAgent(tools=[get_weather], llm=Model()).run("Weather?")
        output = await handler
        memory = await handler.ctx.store.get("memory")
        return output, await memory.aget()

    output, memory = asyncio.run(run())
    check_run(output)
    check_run(memory)
    check_one(Model().answer())
    check_one(Model().answer().message)


def test_autogen() -> None:
    agents = pytest.importorskip("autogen_agentchat.agents")
    replay = pytest.importorskip("autogen_ext.models.replay")
    core = pytest.importorskip("autogen_core")
    models = pytest.importorskip("autogen_core.models")
    info = {
        "function_calling": True,
        "vision": False,
        "json_output": False,
        "family": "x",
        "structured_output": False,
        "multiple_system_messages": True,
    }
    made = models.CreateResult(
        finish_reason="function_calls",
        content=[core.FunctionCall(id=i, name="get_weather", arguments=json.dumps({"city": c})) for i, c in TWO],
        usage=models.RequestUsage(3, 2),
        cached=False,
        thought="hm",
    )

    def run(*, reflects: bool) -> Any:
        client = replay.ReplayChatCompletionClient([made, "Cold."], model_info=info)
        agent = agents.AssistantAgent("shop", client, tools=[get_weather], reflect_on_tool_use=reflects)
        return asyncio.run(agent.run(task="Weather?"))

    check_run(run(reflects=True))
    check_run(run(reflects=True).messages)
    summary = run(reflects=False)
    check_run(summary, "cold in Oslo\ncold in Rome")
    assert calls_of(read(summary.messages[-1])) == CALLS
    check_one(made, "")


def test_ag2() -> None:
    ag2 = pytest.importorskip("ag2")
    testing = pytest.importorskip("ag2.testing")
    events = pytest.importorskip("ag2.events")
    made = [events.ToolCallEvent("get_weather", id=i, arguments=json.dumps({"city": c})) for i, c in TWO]

    async def run() -> Any:
        agent = ag2.Agent("shop", config=testing.TestConfig(made, "Cold."), tools=[ag2.tool(get_weather)])
        reply = await agent.ask("Weather?")
        return reply, [*await reply.history.get_events()]

    reply, history = asyncio.run(run())
    check_run(reply)
    check_run(history)
    assert calls_of(read(made)) == CALLS


def test_adk() -> None:
    adk = pytest.importorskip("google.adk.agents")
    runners = pytest.importorskip("google.adk.runners")
    models = pytest.importorskip("google.adk.models")
    types = pytest.importorskip("google.genai.types")

    class Model(models.BaseLlm):  # type: ignore[misc, name-defined]
        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            last = request.contents[-1].parts
            if any(part.function_response for part in last):
                parts = [types.Part(text="Cold.")]
            else:
                called = [types.FunctionCall(id=i, name="get_weather", args={"city": c}) for i, c in TWO]
                parts = [types.Part(text="Look."), *(types.Part(function_call=each) for each in called)]
            yield models.LlmResponse(content=types.Content(role="model", parts=parts))

    async def run() -> list[Any]:
        runner = runners.InMemoryRunner(
            adk.Agent(name="shop", model=Model(model="x"), tools=[get_weather]), app_name="app"
        )
        session = await runner.session_service.create_session(app_name="app", user_id="u")
        content = types.Content(role="user", parts=[types.Part(text="Weather?")])
        return [each async for each in runner.run_async(user_id="u", session_id=session.id, new_message=content)]

    events = asyncio.run(run())
    check_run(events, results=False)
    check_run([json.loads(each.model_dump_json(by_alias=True, exclude_none=True)) for each in events], results=False)


def test_dspy() -> None:
    dspy = pytest.importorskip("dspy")
    utils = pytest.importorskip("dspy.utils")
    steps: list[dict[str, Any]] = [
        {"next_thought": "hm", "next_tool_name": "get_weather", "next_tool_args": {"city": "Oslo"}},
        {"next_thought": "hm", "next_tool_name": "get_weather", "next_tool_args": {"city": "Rome"}},
        {"next_thought": "hm", "next_tool_name": "finish", "next_tool_args": {}},
        {"reasoning": "hm", "answer": "Cold."},
    ]
    with dspy.context(lm=utils.DummyLM([{name: str(value) for name, value in each.items()} for each in steps])):
        prediction = dspy.ReAct("question -> answer", tools=[get_weather])(question="Weather?")
    check_run(prediction)
    cut = dspy.Prediction(answer="Cold.", trajectory={"tool_name_1": "x", "tool_args_1": {}, "observation_1": ""})
    with pytest.raises(AnswerError, match="begins at step 1"):
        read(cut)
    made = dspy.ToolCalls.from_dict_list([{"name": name, "args": arguments} for name, arguments in CALLS])
    assert calls_of(read(dspy.Prediction(outputs=made))) == CALLS
    assert read(dspy.Prediction(answer="Cold.", reasoning="hm")).text == "Cold."


def test_litellm() -> None:
    litellm = pytest.importorskip("litellm")
    function = [
        {"id": i, "type": "function", "function": {"name": "get_weather", "arguments": json.dumps({"city": c})}}
        for i, c in TWO
    ]
    message = {"role": "assistant", "content": "Look.", "tool_calls": function}
    whole = litellm.ModelResponse(choices=[{"message": message, "finish_reason": "tool_calls"}])
    check_one(whole)
    check_one(whole.choices[0].message)


SCRIPT = """
import { generateText, tool, stepCountIs } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
let asked = false;
const usage = {inputTokens: {total: 3}, outputTokens: {total: 2}};
const call = (toolCallId, city) =>
  ({type: 'tool-call', toolCallId, toolName: 'get_weather', input: JSON.stringify({city})});
const model = new MockLanguageModelV4({doGenerate: async () => {
  const content = asked ? [{type: 'text', text: 'Cold.'}]
    : [{type: 'reasoning', text: 'hm'}, {type: 'text', text: 'Look.'}, call('c1', 'Oslo'), call('c2', 'Rome')];
  const finishReason = {unified: asked ? 'stop' : 'tool-calls', raw: 'x'};
  asked = true;
  return {finishReason, usage, warnings: [], content};
}});
const inputSchema = z.object({city: z.string()});
const runs = {get_weather: tool({inputSchema, execute: async ({city}) => `cold in ${city}`})};
const whole = await generateText({model, tools: runs, stopWhen: stepCountIs(5), prompt: 'Weather?'});
asked = false;
const one = await generateText({model, tools: {get_weather: tool({inputSchema})}, prompt: 'Weather?'});
const messages = whole.responseMessages;
const {text, toolCalls, finishReason} = one;
const fields = {text, toolCalls, finishReason};
const told = {fields: {responseMessages: messages}, response: {response: {messages}}};
console.log(JSON.stringify({whole, messages, ...told, one, parts: fields, calls: toolCalls}));
"""


def test_ai_sdk() -> None:
    node = shutil.which("node")
    if node is None or not (NODE / "node_modules" / "ai").is_dir():
        pytest.skip("the AI SDK is not installed")
    command = [node, "--input-type=module", "-e", SCRIPT]
    found = subprocess.run(command, cwd=NODE, capture_output=True, text=True, check=True)
    answers = json.loads(found.stdout)
    check_run(answers["whole"])
    check_run(answers["messages"])
    check_run(answers["fields"])
    check_run(answers["response"])
    reply = read(answers["one"])
    assert (calls_of(reply), reply.text) == (CALLS, "Look.")
    check_one(answers["parts"])
    check_one(answers["calls"], "")


def test_crewai() -> None:
    crewai = pytest.importorskip("crewai")
    tools = pytest.importorskip("crewai.tools")
    function = [
        {"id": i, "type": "function", "function": {"name": "get_weather", "arguments": json.dumps({"city": c})}}
        for i, c in TWO
    ]

    class Model(crewai.BaseLLM):  # type: ignore[misc, name-defined]
        answers: list[Any]
        native: bool

        def call(self, *_: object, **__: object) -> Any:
            return self.answers.pop(0)

        def supports_function_calling(self) -> bool:
            return self.native

        def get_context_window_size(self) -> int:
            return 8000

    def agent(*answers: Any, native: bool) -> Any:
        model = Model(model="x", answers=[*answers], native=native)
        return crewai.Agent(
            role="r", goal="g", backstory="b", llm=model, tools=[tools.tool("get_weather")(get_weather)]
        )

    def run(agent: Any) -> Any:
        task = crewai.Task(description="Weather?", expected_output="text", agent=agent)
        return crewai.Crew(agents=[agent], tasks=[task]).kickoff()

    written = [f'Thought: hm\nAction: get_weather\nAction Input: {{"city": "{city}"}}' for _, city in TWO]
    final = "Thought: I now know\nFinal Answer: Cold."
    check_run(run(agent(function, "Cold.", native=True)))
    check_run(agent(function, "Cold.", native=True).kickoff("Weather?"))
    check_run(run(agent(*written, final, native=False)))
    assert read(run(agent("Cold.", native=True))).tool_calls == ()
    with pytest.raises(AnswerError, match="`wire:`"):
        read(
            crewai.CrewOutput(raw="Cold.", tasks_output=[], token_usage={}).model_copy(
                update={"tasks_output": [crewai.TaskOutput(description="x", raw="Cold.", agent="r")]}
            )
        )
