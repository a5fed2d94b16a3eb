"""Requests are those of the official handlers, each as its provider's library gets it, in both modes.

What any-llm makes of a request is compared for Anthropic, whose library is installed here; for the other providers it
is compared what any-llm is handed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_fcall.backends.any.backend import OPTIONS as ANY_OPTIONS
from pytest_fcall.backends.any.backend import AnyBackend
from pytest_fcall.backends.local.process_data import written_request
from pytest_fcall.backends.openai.backend import prepare_request
from pytest_fcall.backends.settings import read_entry
from pytest_fcall.cases.case import plan_request
from pytest_fcall.core import INTERFACES, Case, Model, Request
from pytest_fcall.suites.bfcl.suite import BfclSuite
from tests.by_night import is_night
from tests.conformance.conftest import Held
from tests.conformance.official.client import PYTHON, ROOT
from tests.conformance.official.conversations import CATEGORIES as CONVERSATIONS
from tests.conformance.official.conversations import DATA, PACKAGES
from tests.conformance.official.suite import CATEGORIES

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="`make conformance` makes the official environment")

MEMORIES = ("memory_kv", "memory_vector", "memory_rec_sum")
SEARCHES = ("web_search_base", "web_search_no_snippet")
EVERY = (*CATEGORIES, *CONVERSATIONS, *MEMORIES, *SEARCHES)
TURNS, FIRST_TURNS = 8_611, 5_217
"""All turns of all conversations, and the first ones."""
FEW = ("live_parallel", "web_search_base")

Parts: TypeAlias = Mapping[str, Any]
"""The messages, tools and temperature of a request, in the form of Chat Completions, and all else under `others`."""

OTHERS: Mapping[str, frozenset[str]] = {
    "openai": frozenset({"store"}),
    "responses": frozenset({"store"}),
    "anthropic": frozenset({"max_tokens", "timeout", "thinking", "cache_control"}),
    "google": frozenset({"automatic_function_calling", "thinking_config"}),
    "cohere": frozenset({"citation_options"}),
    "writer": frozenset({"tool_choice"}),
}
"""What one side sends beside it, by interface: nothing that the model is shown."""


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(PACKAGES)])


PROMPTED = ("openai", "responses", "anthropic", "google", "mistral")
"""Interfaces whose handlers ask models without native calls, too."""


@pytest.mark.parametrize(
    ("mode", "interface"),
    [*(("native", interface) for interface in INTERFACES), *(("prompt", interface) for interface in PROMPTED)],
)
def test_requests_are_those_of_the_official_handler(
    mode: str, interface: str, pytestconfig: pytest.Config, held: Held
) -> None:
    categories = EVERY if is_night(pytestconfig) else FEW
    cases = {id_: case for category in categories for id_, case in cases_of(mode, category).items()}
    found: Counter[str] = Counter()
    asked = 0
    for id_, requests in official_requests(mode, interface, categories):
        ours = [*our_requests(interface, cases.pop(id_))]
        asked += len(requests)
        for theirs, own in zip(requests, ours, strict=True):
            found.update(differences(interface, theirs, own))
    assert not cases
    assert (asked > 0, dict(found)) == (True, {})
    how = "native calls" if mode == "native" else "calls in text"
    held(
        "BFCL",
        f"requests for {how}, as {len(INTERFACES if mode == 'native' else PROMPTED)} providers get them",
        "the official handlers",
        asked,
    )
    if is_night(pytestconfig):
        assert asked == (FIRST_TURNS if interface == "local" else TURNS)


def cases_of(mode: str, category: str) -> dict[str, Case]:
    """The cases by their ids, with those that are held before them."""
    found: dict[str, Case] = {}
    suite = BfclSuite()
    for case in (suite.cases if mode == "native" else suite.prompted)(category, DATA):
        assert isinstance(case, Case)
        found |= {each.id: each for each in (*(case.earlier.cases if case.earlier else ()), case)}
    return found


def official_requests(mode: str, interface: str, categories: Sequence[str]) -> Iterator[tuple[str, Sequence[Parts]]]:
    command = [str(PYTHON), "-m", "tests.conformance.official.requests", mode, interface, *categories]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        for line in process.stdout:
            made = json.loads(line)
            whole = [OFFICIAL.get(interface, chat_parts)(each) for each in made["requests"]]
            before = (0, *(len(each["messages"]) for each in whole))
            turns = zip(whole, before, strict=False)
            yield made["id"], [{**each, "messages": each["messages"][number:]} for each, number in turns]
    assert process.returncode == 0


def our_requests(interface: str, case: Case) -> Iterator[Parts]:
    """What goes out for each turn, without the messages before."""
    request = plan_request(case)
    for turn in case.turns[:1] if interface == "local" else case.turns:
        tools = request.tools if turn.tools is None or case.tools_in_messages else turn.tools
        request = replace(request, messages=turn.messages, tools=tools)
        yield our_parts(interface, request)


PROVIDERS = {
    "anthropic": "anthropic/claude-sonnet-4-5-20250929",
    "google": "gemini/model",
    "mistral": "mistral/model",
    "cohere": "cohere/model",
    "amazon": "bedrock/model",
    "fireworks": "fireworks/model",
}


def our_parts(interface: str, request: Request) -> Parts:
    if interface == "local":
        written = written_request(request)
        assert written.wording is not None
        functions = [written.wording.function(tool, "local") for tool in written.tools]
        return {"messages": [*written.messages], "tools": functions, "temperature": 0.001, "others": {}}
    if interface in PROVIDERS:
        model = Model("any", PROVIDERS[interface])
        body = json.loads(AnyBackend(model, read_entry(model, Path(), ANY_OPTIONS)).prompt(request))
        if interface == "anthropic":
            return anthropic_parts(body_for_anthropic(body))
        return google_parts_of_chat(body) if interface == "google" else chat_parts(body)
    settings = {"api": "responses"} if interface == "responses" else {"handler": interface}
    body = json.loads(prepare_request("model", settings, request, official=True).body)
    return responses_parts(body) if interface == "responses" else chat_parts(body)


def body_for_anthropic(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """What any-llm makes of a request. It is imported here: that takes longer than most tests."""
    from any_llm.providers.anthropic.utils import _convert_params
    from any_llm.types.completion import CompletionParams

    params = {key: value for key, value in body.items() if key not in ("model", "extra_body")}
    converted = _convert_params(CompletionParams(model_id=body["model"], **params), provider_name="anthropic")
    return {**converted, **body.get("extra_body", {})}  # as Anthropic's library merges them


def chat_parts(body: Mapping[str, Any]) -> Parts:
    others = {name: value for name, value in body.items() if name not in ("messages", "tools", "temperature", "model")}
    return {
        "messages": body["messages"],
        "tools": body.get("tools", []),
        "temperature": body.get("temperature"),
        "others": others,
    }


def responses_parts(body: Mapping[str, Any]) -> Parts:
    parts = chat_parts({**body, "messages": body["input"]})
    return {**parts, "others": {key: value for key, value in parts["others"].items() if key not in ("input", "stream")}}


def anthropic_parts(body: Mapping[str, Any]) -> Parts:
    """A text is the same as a list with that text. Marks for the cache are something else that is sent."""
    caches = False

    def plain(content: Any) -> Any:
        nonlocal caches
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        caches |= any("cache_control" in block for block in blocks)
        return [{key: value for key, value in block.items() if key != "cache_control"} for block in blocks]

    system = [{"role": "system", "content": plain(body["system"])}] if "system" in body else []
    messages = [*system, *({**each, "content": plain(each["content"])} for each in body["messages"])]
    tools = plain(body.get("tools", []))
    parts = chat_parts({**body, "messages": messages, "tools": tools})
    others = {key: value for key, value in parts["others"].items() if key != "system"}
    return {**parts, "others": others | ({"cache_control": True} if caches else {})}


def google_parts(body: Mapping[str, Any]) -> Parts:
    config = body["config"]
    system = config.get("system_instruction")
    roles = {"model": "assistant"}
    said = [
        {"role": roles.get(each["role"], each["role"]), "content": part["text"]}
        for each in body["contents"]
        for part in each["parts"]
    ]
    messages = [*([{"role": "system", "content": system}] if system else []), *said]
    rest = {key: value for key, value in config.items() if key != "system_instruction"}
    return chat_parts({**rest, "messages": messages})


def google_parts_of_chat(body: Mapping[str, Any]) -> Parts:
    """Google has one system instruction, which stands before all else."""
    first = [each for each in body["messages"] if each["role"] == "system"]
    return chat_parts({**body, "messages": [*first, *(each for each in body["messages"] if each not in first)]})


def amazon_parts(body: Mapping[str, Any]) -> Parts:
    system = [{"role": "system", "content": each["text"]} for each in body["system"]]
    said = [{"role": each["role"], "content": each["content"][0]["text"]} for each in body["messages"]]
    specs = [each["toolSpec"] for each in body.get("toolConfig", {}).get("tools", [])]
    tools = [
        {
            "type": "function",
            "function": {key: value for key, value in spec.items() if key != "inputSchema"}
            | {"parameters": spec["inputSchema"]["json"]},
        }
        for spec in specs
    ]
    temperature = body["inferenceConfig"]["temperature"]
    return chat_parts({"messages": [*system, *said], "tools": tools, "temperature": temperature})


def local_parts(body: Mapping[str, Any]) -> Parts:
    return {"messages": body["message"], "tools": body["function"], "temperature": 0.001, "others": {}}


OFFICIAL = {
    "responses": responses_parts,
    "anthropic": anthropic_parts,
    "google": google_parts,
    "amazon": amazon_parts,
    "local": local_parts,
}


def differences(interface: str, theirs: Parts, ours: Parts) -> Iterator[str]:
    """What differs; in tools, which models are shown as they are, down to the order of keys."""
    keys = theirs["others"].keys() | ours["others"].keys()
    others = {key for key in keys if theirs["others"].get(key) != ours["others"].get(key)}
    yield from (f"others: {key}" for key in others - OTHERS.get(interface, frozenset()))
    yield from (part for part in ("messages", "tools", "temperature") if theirs[part] != ours[part])
    if theirs["tools"] == ours["tools"] and json.dumps(theirs["tools"]) != json.dumps(ours["tools"]):
        yield "order of tools' keys"
