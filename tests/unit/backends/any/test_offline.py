"""Requests as other providers would get them, without sending them, and replies in answers that came another way."""

from __future__ import annotations

import asyncio
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.backends.any import any_backend
from pytest_fcall.backends.any.backend import AnyBackend
from pytest_fcall.core import CaseRefused, Model, ModelUnavailable, RawCall, Reply, Request, Tool, Unanswered
from tests.servers import Answer, Server
from tests.servers.batch_apis import AnthropicBatchApi, BatchApi, GeminiBatchApi

SECRET = "sk-secret-12345678"  # noqa: S105  nobody's
ADD = Tool("math.add", "adds", {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]})
REQUEST = Request(({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Add 1"}), (ADD,))
APIS: dict[str, BatchApi] = {"anthropic": AnthropicBatchApi(), "gemini": GeminiBatchApi()}


@pytest.fixture(params=["anthropic", "gemini"])
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "gemini" and not (find_spec("google") and find_spec("google.genai")):
        pytest.skip("the library of this provider is not installed")
    monkeypatch.setenv(f"{request.param.upper()}_API_KEY", SECRET)
    return str(request.param)


def backend(provider: str, url: str = "", **options: str) -> AnyBackend:
    given = {"base_url": url, **options} if url else options
    return any_backend(Model("any", f"{provider}/exam", given), Path("/nowhere"))


def said(provider: str) -> Any:
    call = {"name": "math_add", "arguments": {"a": 1}}
    if provider == "anthropic":
        return APIS[provider].echo({"model": "exam", "messages": [{"content": json.dumps([call])}]})[1]
    return APIS[provider].echo({"contents": [{"parts": [{"text": json.dumps([call])}]}]})[1]


async def asked_live(asking: AnyBackend) -> Reply:
    try:
        return await asking.complete(REQUEST)
    finally:
        await asking.close()


def test_the_body_is_that_of_the_live_road(provider: str, server: Server) -> None:
    server.default = lambda _: Answer(json.dumps(said(provider)).encode())
    url = f"http://{server.host}"
    live = asyncio.run(asked_live(backend(provider, url, max_tokens="77")))
    offline = asyncio.run(backend(provider, url, max_tokens="77").offline_body(REQUEST))
    (asked,) = server.asked
    assert (offline.path, offline.body) == (asked.path, asked.json)
    reply = asyncio.run(backend(provider, url).offline_reply(REQUEST, 200, json.dumps(said(provider)).encode()))
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("math.add", '{"a": 1}')]
    assert (reply.finish, reply.usage, reply.engine) == (live.finish, live.usage, live.engine)
    assert reply.seconds is None
    assert isinstance(reply.tool_calls[0], RawCall)


def test_its_server_has_the_key_of_the_live_road(provider: str) -> None:
    server = asyncio.run(backend(provider).batch_server(REQUEST))
    name, url = {
        "anthropic": ("x-api-key", "https://api.anthropic.com"),
        "gemini": ("x-goog-api-key", "https://generativelanguage.googleapis.com/v1"),
    }[provider]
    assert server.interface == provider
    assert server.url.startswith(url)
    assert server.headers[name] == SECRET
    assert SECRET in server.secrets
    assert SECRET not in repr(server)
    assert not {"content-length", "host", "user-agent"} & server.headers.keys()


def test_failures_are_those_of_the_live_road(provider: str) -> None:
    refusal = APIS[provider].refusal(400, f"Not with {SECRET}")
    with pytest.raises(CaseRefused, match="the provider rejects this request: HTTP 400") as refused:
        asyncio.run(backend(provider).offline_reply(REQUEST, 400, refusal.body))
    assert SECRET not in str(refused.value)
    busy = APIS[provider].refusal(429, "Slow down")
    with pytest.raises(Unanswered):
        asyncio.run(backend(provider).offline_reply(REQUEST, 429, busy.body))
    with pytest.raises(Unanswered):
        asyncio.run(backend(provider).offline_reply(REQUEST, 200, b"{"))


def test_many_requests_at_a_time_are_not_mixed_up(provider: str) -> None:
    asking = backend(provider)
    requests = [Request(({"role": "user", "content": f"Number {number}"},)) for number in range(20)]

    async def bodies() -> list[str]:
        return [json.dumps((each).body) for each in await asyncio.gather(*map(asking.offline_body, requests))]

    assert all(f"Number {number}" in body for number, body in enumerate(asyncio.run(bodies())))


def test_a_request_that_the_library_does_not_send_is_refused(provider: str) -> None:
    request = Request(REQUEST.messages, settings={"temperature": "hot"})
    with pytest.raises(CaseRefused):
        asyncio.run(backend(provider).offline_body(request))


def test_a_missing_key_is_told(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(f"{provider.upper()}_API_KEY")
    with pytest.raises(ModelUnavailable, match="is not set; export"):
        asyncio.run(backend(provider).batch_server(REQUEST))


def test_of_other_providers_it_says_which_have_batches() -> None:
    with pytest.raises(ModelUnavailable, match="batches are known for any:anthropic/… and any:gemini/…; for a server"):
        asyncio.run(backend("openai").offline_body(REQUEST))
