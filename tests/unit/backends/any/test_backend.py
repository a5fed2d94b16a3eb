from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from any_llm import AnyLLM
from any_llm.exceptions import ProviderError

from pytest_fcall.backends.any import any_backend
from pytest_fcall.backends.settings import SettingsError
from pytest_fcall.core import (
    CaseRefused,
    Interface,
    Json,
    Message,
    Model,
    ModelUnavailable,
    RawCall,
    Reply,
    Request,
    Tool,
    Unanswered,
    Usage,
    Wording,
)
from pytest_fcall.schema.sources.tool_data import tool_from_data
from tests.servers import (
    Answer,
    Server,
    broken,
    chat,
    cut_off,
    invalid_utf8,
    not_openai,
    provider_error,
    refused_connection,
    reset,
    reset_mid_body,
    silent,
    throttled,
    truncated_json,
    web_page,
)

SECRET = "sk-secret-12345678"  # noqa: S105  nobody's
ADD = tool_from_data(
    {
        "name": "math.add",
        "parameters": {
            "type": "dict",
            "properties": {"a": {"type": "float"}, "b": {"type": "float"}},
            "required": ["a"],
        },
    }
)
HI: Message = {"role": "user", "content": "Hi"}


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, SECRET)
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def answered(
    name: str,
    url: str,
    *messages: Message,
    tools: Sequence[Tool] = (),
    settings: Mapping[str, Json] = {},
    wording: Wording | None = None,
    **options: str,
) -> Reply:
    """What one request to a fresh back end comes to."""

    async def ask() -> Reply:
        backend = any_backend(Model("any", name, {"base_url": url, **options}), Path("/nowhere"))
        try:
            return await backend.complete(Request(messages or (HI,), tuple(tools), settings, wording=wording))
        finally:
            await backend.close()

    return asyncio.run(ask())


def claude(*content: Mapping[str, Any], **changes: Any) -> Answer:
    """An answer as Anthropic gives it."""
    whole = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-exam-1",
        "content": content,
        "stop_reason": "tool_use" if any(part["type"] == "tool_use" for part in content) else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 5,
            "output_tokens": 7,
            "cache_read_input_tokens": 2,
            "cache_creation_input_tokens": 0,
        },
    }
    return Answer(json.dumps(whole | changes).encode())


def test_openai_is_asked_with_nothing_that_nobody_asked_for(server: Server) -> None:
    reply = answered("openai/exam", server.url)
    assert server.asked[0].json == {"model": "exam", "messages": [HI]}
    assert (reply.text, reply.finish, reply.usage) == ("You said: Hi", "stop", Usage(20, 10))
    assert reply.engine == {"provider": "openai", "model": "exam-1", "system_fingerprint": "fp_1"}
    assert reply.seconds is not None


def test_settings_and_tools_reach_the_provider(server: Server) -> None:
    server.script(chat(calls=[("math_add", {"a": 1})]))
    reply = answered(
        "openai/exam", server.url, tools=[ADD], settings={"temperature": 0.5, "tool_choice": "math.add"}, seed="7"
    )
    sent = server.asked[0].json
    assert (sent["temperature"], sent["seed"]) == (0.5, 7)
    assert sent["tool_choice"] == {"type": "function", "function": {"name": "math_add"}}
    assert sent["tools"][0]["function"]["name"] == "math_add"
    assert reply.tool_calls == (RawCall("math.add", '{"a": 1}', "call_0"),)


def test_anthropic_is_asked_in_its_own_way(server: Server) -> None:
    server.script(
        claude(
            {"type": "text", "text": "Sure."}, {"type": "tool_use", "id": "t1", "name": "math_add", "input": {"a": 1}}
        )
    )
    reply = answered("anthropic/claude-exam", server.url, {"role": "system", "content": "Be terse."}, HI, tools=[ADD])
    asked = server.asked[0]
    assert asked.path.endswith("/messages")
    assert asked.json["system"] == "Be terse."
    assert asked.json["tools"][0]["name"] == "math_add"
    assert asked.json["tools"][0]["input_schema"]["properties"]["a"] == {"type": "number"}
    assert (reply.text, reply.finish) == ("Sure.", "tool_calls")
    assert reply.tool_calls == (RawCall("math.add", '{"a": 1}', "t1"),)
    assert reply.usage == Usage(7, 7, cached_tokens=2)
    assert reply.engine == {"provider": "anthropic", "model": "claude-exam-1"}


class Shuffled:
    """Writes functions with keys in an order of its own."""

    def messages(self, messages: Sequence[Message], _interface: Interface) -> Sequence[Message]:
        return messages

    def function(self, tool: Tool, interface: Interface) -> Mapping[str, Json]:
        parameters: Mapping[str, Json] = {"required": ["a"], "properties": {"a": {}}, "type": "object"}
        return {"name": "add", "description": interface, "parameters": parameters}


def test_the_words_of_a_benchmark_reach_anthropic_with_their_keys_in_order(server: Server) -> None:
    server.script(claude({"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}}))
    top = '{"top_k": 1}'
    reply = answered("anthropic/claude", server.url, tools=[ADD], wording=Shuffled(), extra_body=top)
    (tool,) = server.asked[0].json["tools"]
    assert (tool["name"], tool["description"]) == ("add", "anthropic")
    assert list(tool["input_schema"]) == ["required", "properties", "type"]
    assert server.asked[0].json["top_k"] == 1
    assert reply.tool_calls == (RawCall("math.add", '{"a": 1}', "t1"),)


def test_results_of_earlier_calls_reach_anthropic(server: Server) -> None:
    server.script(claude({"type": "text", "text": "3"}))
    function = {"name": "math.add", "arguments": '{"a": 1, "b": 2}'}
    call: dict[str, Json] = {"id": "t1", "type": "function", "function": function}
    answered(
        "anthropic/claude-exam",
        server.url,
        HI,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "t1", "content": "3"},
        tools=[ADD],
    )
    _, said, result = server.asked[0].json["messages"]
    assert said["content"][0]["name"] == "math_add"
    assert said["content"][0]["input"] == {"a": 1, "b": 2}
    assert result["content"][0]["tool_use_id"] == "t1"


def test_a_model_without_tools_is_told_of_them_in_the_prompt(server: Server) -> None:
    server.script(chat('<tool_call>\n{"name": "math.add", "arguments": {"a": 1}}\n</tool_call>'))
    reply = answered("openai/exam", server.url, tools=[ADD], mode="prompt")
    sent = server.asked[0].json
    assert "tools" not in sent
    assert "math.add" in sent["messages"][0]["content"]
    assert reply.decoder == "hermes"


def test_strict_mode_tells_of_its_nulls(server: Server) -> None:
    server.script(chat(calls=[("math_add", {"a": 1, "b": None})]))
    reply = answered("openai/exam", server.url, tools=[ADD], strict="true")
    assert server.asked[0].json["tools"][0]["function"]["strict"] is True
    assert reply.engine["wire"] == ["nulls"]


def test_headers_go_out_with_the_request(server: Server) -> None:
    answered("openai/exam", server.url, headers='{"x-team": "exam"}')
    assert server.asked[0].headers["x-team"] == "exam"


def test_each_event_loop_has_connections_of_its_own(server: Server) -> None:
    server.default = lambda _: replace(chat("Hello."), headers={"connection": "close"})  # none outlives its loop
    backend = any_backend(Model("any", "openai/exam", {"base_url": server.url}), Path("/nowhere"))

    async def ask() -> str:
        return (await backend.complete(Request((HI,)))).text

    assert [asyncio.run(ask()), asyncio.run(ask())] == ["Hello."] * 2
    asyncio.run(backend.close())


KEYS = pytest.mark.parametrize("provider", ["openai", "anthropic"])


@KEYS
@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (provider_error(401, f"Incorrect API key: {SECRET}"), ModelUnavailable, "the API key was not accepted"),
        (provider_error(403, "Not for you."), ModelUnavailable, "this key or account is not allowed"),
        (provider_error(404, "The model `exam` does not exist", code="model_not_found"), ModelUnavailable, "no model"),
        (provider_error(429, "Quota exceeded", code="insufficient_quota"), ModelUnavailable, "no quota or credit"),
        (provider_error(400, "too long", code="context_length_exceeded"), CaseRefused, "longer than the model takes"),
        (provider_error(400, "Schema is wrong"), CaseRefused, "rejects this request: HTTP 400: Schema is wrong"),
        (broken(500), Unanswered, "HTTP 500"),
        (broken(503), Unanswered, "HTTP 503"),
        (reset(), Unanswered, "Connection error"),
        (reset_mid_body(), Unanswered, "Connection error"),
        (cut_off(), Unanswered, "any:"),
        (truncated_json(), Unanswered, "the server's answer is JSON that is cut off"),
        (web_page(), Unanswered, "the server answered with a web page"),
        (invalid_utf8(), Unanswered, "the server's answer is not UTF-8"),
        (not_openai([1]), Unanswered, "the provider's library cannot read the answer"),
    ],
)
def test_failures_are_told_apart(
    server: Server, provider: str, answer: Answer, kind: type[Exception], said: str
) -> None:
    server.script(answer)
    with pytest.raises((ModelUnavailable, CaseRefused, Unanswered)) as error:
        answered(f"{provider}/exam", server.url)
    assert type(error.value) is kind
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert SECRET not in str(error.value)
    assert len(server.asked) == 1


def test_what_a_provider_says_back_is_shown_without_secrets(server: Server) -> None:
    sent = ["planted-in-a-header", "planted-in-the-body", "planted-in-a-case"]
    server.script(provider_error(400, f"I got {' and '.join(sent)}, and will have none of it"))
    with pytest.raises(CaseRefused, match="I got … and … and …, and will") as error:
        answered(
            "openai/exam",
            server.url,
            settings={"metadata": {"token": sent[2]}},
            headers=json.dumps({"X-Shop": f"Shop {sent[0]}"}),
            extra_body=json.dumps({"provider": {"credentials": [sent[1]]}}),
        )
    assert not any(secret in str(error.value) for secret in sent)


@KEYS
@pytest.mark.parametrize(
    ("answer", "after"), [(throttled(7), 7), (throttled(milliseconds=1500), 1.5), (throttled(), None)]
)
def test_too_many_requests_say_when_to_come_again(
    server: Server, provider: str, answer: Answer, after: float | None
) -> None:
    server.script(answer)
    with pytest.raises(Unanswered) as error:
        answered(f"{provider}/exam", server.url)
    assert (error.value.throttled, error.value.retry_after) == (True, after)


def test_a_call_that_the_provider_could_not_read_is_the_model_s_answer(server: Server) -> None:
    server.script(provider_error(400, "Failed to call a function", code="tool_use_failed", failed_generation="<f>"))
    reply = answered("openai/exam", server.url)
    assert reply.malformed
    assert reply.text == "<f>"


def test_an_answer_that_does_not_come_in_time_may_come_later(server: Server) -> None:
    server.script(silent())
    with pytest.raises(Unanswered, match=r"no answer came within 0\.2 s"):
        answered("openai/exam", server.url, timeout="0.2")


def test_nobody_at_the_address_may_be_there_later() -> None:
    with pytest.raises(Unanswered, match="any:openai/exam"):
        answered("openai/exam", refused_connection())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"seed": 1}, "`seed` cannot be set for this provider"),
        ({"reasoning_effort": "banana"}, "`reasoning_effort`: Input should be 'none', "),
        ({"tool_choice": {"x": 1}}, "Unsupported tool_choice format"),
        ({"n": 3}, "'n' is not supported for anthropic"),
    ],
)
def test_what_the_provider_cannot_be_asked_is_the_case_s_fault(
    server: Server, settings: Mapping[str, Json], said: str
) -> None:
    with pytest.raises(CaseRefused, match="any:anthropic/exam: the provider's library rejects this") as error:
        answered("anthropic/exam", server.url, tools=[ADD], settings=settings)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert not server.asked


@pytest.mark.parametrize("name", ["exam", "/exam", "openai/"])
def test_a_name_without_its_provider_is_refused_at_once(name: str) -> None:
    with pytest.raises(SettingsError, match="write any:provider/model, such as"):
        any_backend(Model("any", name), Path("/nowhere"))


@pytest.mark.parametrize(
    ("name", "hint"), [("antropic", "did you mean `anthropic`?"), ("xyzzy", "available: anthropic, ")]
)
def test_an_unknown_provider_is_refused_with_a_hint(server: Server, name: str, hint: str) -> None:
    with pytest.raises(ModelUnavailable, match=f"any:{name}/x: no any-llm provider '{name}'; ") as error:
        answered(f"{name}/x", server.url)
    assert hint in str(error.value)


def test_a_provider_whose_library_is_missing_is_told_with_the_command(server: Server) -> None:
    with pytest.raises(ModelUnavailable, match=r'pip install "any-llm-sdk\[mistral\]"'):
        answered("mistral/x", server.url)


def test_a_missing_key_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")

    async def ask() -> Reply:
        return await any_backend(Model("any", "anthropic/claude-exam"), Path("/nowhere")).complete(Request((HI,)))

    with pytest.raises(ModelUnavailable, match="the variable ANTHROPIC_API_KEY is not set; export ANTHROPIC_API_KEY=…"):
        asyncio.run(ask())


def test_a_variable_that_the_settings_name_must_be_set(server: Server) -> None:
    with pytest.raises(ModelUnavailable, match="the variable EXAM_KEY, which `api_key_env` names, is not set"):
        answered("openai/exam", server.url, api_key_env="EXAM_KEY")


def test_a_refused_key_names_its_variable(server: Server) -> None:
    server.script(provider_error(401, "No."))
    with pytest.raises(ModelUnavailable, match="the API key was not accepted; check the variable ANTHROPIC_API_KEY"):
        answered("anthropic/exam", server.url)


def test_the_key_is_taken_from_the_variable_that_the_settings_name(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXAM_KEY", "sk-other")
    answered("openai/exam", server.url, api_key_env="EXAM_KEY")
    assert server.asked[0].headers["authorization"] == "Bearer sk-other"


def test_a_server_of_one_s_own_needs_no_key(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert answered("openai/exam", server.url).text == "You said: Hi"


def test_two_tools_that_would_have_one_name_are_the_case_s_fault(server: Server) -> None:
    tools = [tool_from_data({"name": name, "parameters": None}) for name in ("a.b", "a_b")]
    with pytest.raises(CaseRefused, match="rename one of them"):
        answered("openai/exam", server.url, tools=tools)


@pytest.mark.parametrize("option", [{"api": "responses"}, {"temprature": "1"}])
def test_an_option_that_is_not_known_is_refused_at_once(option: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="is not a setting; available: base_url, "):
        any_backend(Model("any", "openai/exam", option), Path("/nowhere"))


def test_what_is_sent_otherwise_is_told() -> None:
    backend = any_backend(Model("any", "openai/exam"), Path("/nowhere"))
    assert backend.changes(Request((HI,), (ADD,))) == (
        "`math.add` is sent as `math_add`",
        "`math.add`: the types `dict`, `float` are sent as those of JSON Schema",
    )


def test_what_shapes_the_answer_is_told() -> None:
    backend = any_backend(
        Model("any", "openai/exam", {"temperature": "0", "base_url": "http://x/v1"}), Path("/nowhere")
    )
    assert backend.settings == {"temperature": 0}
    assert (backend.reusable, backend.ahead) == (True, True)


def test_a_library_that_takes_no_client_of_ours_makes_its_own(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """any-llm wraps what the constructor of a provider's client raises."""
    create, tried = AnyLLM.create, []

    def picky(*arguments: Any, http_client: object = None, **options: Any) -> AnyLLM:
        tried.append(http_client)
        if http_client is not None:
            raise ProviderError("no such argument", TypeError("unexpected keyword argument 'http_client'"))
        return create(*arguments, **options)

    monkeypatch.setattr(AnyLLM, "create", picky)
    server.script(chat("Hello."))
    assert answered("openai/exam", server.url).text == "Hello."
    assert tried[1:] == [None]
