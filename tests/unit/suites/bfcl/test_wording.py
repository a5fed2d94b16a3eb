"""Native requests in the words of the official handlers; `make conformance` compares them with the handlers' own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.backends.any import any_backend
from pytest_fcall.backends.local.process_data import request_from_data, request_to_data
from pytest_fcall.backends.openai.backend import prepare_request
from pytest_fcall.core import Interface, Json, Message, Model, Request, request_digest
from pytest_fcall.suites.bfcl.function_docs import native_tool
from pytest_fcall.suites.bfcl.wording import HANDLER_WORDING

RESPONSE: dict[str, Json] = {"type": "dict", "properties": {"ok": {"type": "boolean"}}}
DOCUMENT: dict[str, Json] = {
    "name": "doors.open",
    "description": "Open doors.",
    "parameters": {
        "type": "dict",
        "required": ["number"],
        "properties": {
            "number": {"type": "integer", "default": 1, "enum": [1, 2]},
            "wing": {"type": "string", "description": "Where.", "enum": ["a", "b"], "format": "letter"},
            "lock": {"type": "dict", "properties": {"code": {"type": "float", "description": "A code."}}},
        },
        "optional": ["wing"],
    },
    "response": RESPONSE,
}
TOOL = native_tool(DOCUMENT)
HI: Message = {"role": "user", "content": "Hi"}
TOLD = f"Open doors. The response field has the following schema: {json.dumps(RESPONSE)}"


def asked(*messages: Message, **settings: Json) -> Request:
    return Request(messages or (HI,), (TOOL,), settings, wording=HANDLER_WORDING)


def body(request: Request, **settings: Json) -> Any:
    return json.loads(prepare_request("m", settings, request, official=True).body)


@pytest.mark.parametrize(
    ("interface", "name", "description", "keys"),
    [
        ("openai", "doors_open", "Open doors.", ["response"]),
        ("mistral", "doors_open", "Open doors.", ["response"]),
        ("cohere", "doors_open", "Open doors.", []),
        ("anthropic", "doors_open", TOLD, []),
        ("amazon", "doors_open", TOLD, []),
        ("google", "doors_open", TOLD, []),
        ("novita", "doors_open", TOLD, []),
        ("fireworks", "doors.open", TOLD, []),
        ("writer", "doors.open", TOLD, []),
        ("local", "doors.open", "Open doors.", ["response"]),
    ],
)
def test_what_a_function_returns_stands_where_the_handler_puts_it(
    interface: Interface, name: str, description: str, keys: list[str]
) -> None:
    function = HANDLER_WORDING.function(TOOL, interface)
    assert list(function) == ["name", "description", "parameters", *keys]
    assert (function["name"], function["description"]) == (name, description)


def test_parameters_keep_the_order_of_the_document() -> None:
    function = body(asked())["tools"][0]["function"]
    assert list(function["parameters"]) == ["type", "required", "properties", "optional"]
    assert function["response"] == RESPONSE


def test_the_description_tells_what_google_has_no_keyword_for() -> None:
    parameters: Any = HANDLER_WORDING.function(TOOL, "google")["parameters"]
    assert "optional" not in parameters
    number, wing = parameters["properties"]["number"], parameters["properties"]["wing"]
    assert number == {"type": "integer", "description": " Default is: 1. Enum values: [1, 2]."}
    assert wing == {"type": "string", "description": "Where. Format: letter.", "enum": ["a", "b"]}
    assert parameters["properties"]["lock"]["properties"]["code"]["type"] == "number"


def test_palmyra_is_told_options_in_words_too() -> None:
    parameters: Any = HANDLER_WORDING.function(TOOL, "writer")["parameters"]
    assert parameters["properties"]["wing"]["description"] == "Where. Enum values: ['a', 'b']. Format: letter."


def test_a_model_on_this_machine_gets_the_document_itself() -> None:
    sent = request_from_data(json.loads(json.dumps(request_to_data(asked()))))
    assert sent.wording is not None
    assert sent.wording.function(sent.tools[0], "local") == DOCUMENT
    sent = request_from_data(request_to_data(asked(handler="openai")))
    assert sent.wording is not None
    assert sent.wording.function(sent.tools[0], "local")["name"] == "doors_open"


def test_responses_gets_instructions_of_the_developer_and_no_word_on_strictness() -> None:
    sent = body(asked({"role": "system", "content": "Be brief."}, HI), api="responses")
    assert [each["role"] for each in sent["input"]] == ["developer", "user"]
    assert list(sent["tools"][0]) == ["name", "description", "parameters", "response", "type"]


def test_anthropic_gets_one_message_for_several_of_the_user() -> None:
    model = Model("any", "anthropic/claude")
    prompt = any_backend(model, Path()).prompt(asked({"role": "system", "content": "S"}, HI, HI))
    assert [each["content"] for each in json.loads(prompt)["messages"]] == ["S", "Hi\n\nHi"]


def test_google_gets_objects_with_all_their_properties() -> None:
    sent = json.loads(any_backend(Model("any", "gemini/flash"), Path()).prompt(asked()))
    ((function,),) = [each["function_declarations"] for each in sent["tools"]]
    assert function["parameters"]["properties"]["lock"]["properties"]["code"]["type"] == "number"


def test_another_handler_can_be_meant() -> None:
    assert body(asked(), handler="anthropic")["tools"][0]["function"]["description"] == TOLD
    model = Model("any", "mistral/m", {"handler": "local"})
    sent = json.loads(any_backend(model, Path()).prompt(asked()))
    assert sent["tools"][0]["function"] == DOCUMENT


def test_earlier_calls_have_the_names_that_are_sent() -> None:
    earlier: Message = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "doors.open"}}]}
    for handler, name in (("openai", "doors_open"), ("fireworks", "doors.open")):
        sent = body(asked(HI, earlier), handler=handler)
        assert sent["messages"][1]["tool_calls"][0]["function"]["name"] == name


@pytest.mark.parametrize(
    ("interface", "result", "sent"),
    [
        ("openai", '{"id": 1}', '{"id": 1}'),
        ("google", '{"id": 1}', '{"result": "{\\"id\\": 1}"}'),
        ("google", "Zürich", '{"result": "Zürich"}'),
        ("cohere", '{"id": 1, "at": "Zürich"}', '{"at": "Z\\u00fcrich", "ID": 1}'),
        ("cohere", '{"id": true}', '{"id": true}'),
        ("cohere", "[" * 100_000, "[" * 100_000),
        ("cohere", "7", "7"),
    ],
)
def test_results_have_the_form_that_the_handler_gives_them(interface: Interface, result: str, sent: str) -> None:
    message: Message = {"role": "tool", "tool_call_id": "1", "content": result}
    user: Message = {"role": "user", "content": result}
    assert [*HANDLER_WORDING.messages([user, message], interface)] == [user, {**message, "content": sent}]


def test_a_strict_model_gets_strict_schemas() -> None:
    assert body(asked(), strict=True)["tools"][0]["function"].keys() >= {"strict"}


def test_what_functions_return_is_part_of_the_key() -> None:
    other = native_tool({**DOCUMENT, "response": {"type": "dict"}})
    assert request_digest("m", Request((HI,), (other,))) != request_digest("m", Request((HI,), (TOOL,)))
