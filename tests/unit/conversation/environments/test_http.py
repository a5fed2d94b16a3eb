from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from pytest_fcall.conversation.environments.context import EnvironmentContext, Hosts, ResultNotRecorded, ResultStore
from pytest_fcall.conversation.environments.environment import open_environment
from pytest_fcall.conversation.execution.limits import DEFAULT_LIMITS, CallLimits, EnvironmentFailed
from pytest_fcall.core import CallResult, ConversationSettings, Json, Tool, Unanswered
from pytest_fcall.schema.sources.openapi import tools_from_openapi
from tests.unit.conversation.environments.result_store import MemoryStore
from tests.unit.conversation.environments.web_shop import Shop, open_shop

Given = tuple[str, dict[str, Json]]


@pytest.fixture
def shop() -> Iterator[Shop]:
    with open_shop() as server:
        yield server


def called(
    tools: Sequence[Tool],
    *calls: Given,
    hosts: Hosts,
    setup: Mapping[str, Json] | None = None,
    limits: CallLimits = DEFAULT_LIMITS,
    store: ResultStore | None = None,
) -> list[CallResult]:
    async def run() -> list[CallResult]:
        context = EnvironmentContext(Path(), Path(), limits, hosts, store)
        environment = await open_environment(ConversationSettings("http", setup or {}), tools, context)
        try:
            return [await environment.call(*call) for call in calls]
        finally:
            await environment.close()

    return asyncio.run(run())


def asked(shop: Shop, *routes: str, **more: CallLimits | ResultStore) -> list[CallResult]:
    """Ask for these, such as `GET /count`."""
    tools = [Tool(route) for route in routes]
    calls: list[Given] = [(route, {}) for route in routes]
    return called(tools, *calls, hosts=Hosts((shop.host,)), setup={"server": shop.url}, **more)  # type: ignore[arg-type]  # by name


def said(result: CallResult) -> Mapping[str, Json]:
    assert result.error is None
    assert isinstance(result.value, dict)
    return result.value


def test_an_operation_is_called_as_its_document_says(shop: Shop) -> None:
    document: Json = {
        "openapi": "3.1.0",
        "servers": [{"url": f"{shop.url}/v1/"}],
        "paths": {
            "/pets/{id}": {
                "put": {
                    "operationId": "change",
                    "parameters": [
                        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                        {"name": "tags", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
                        {"name": "X-Trace", "in": "header", "schema": {"type": "boolean"}},
                    ],
                    "requestBody": {
                        "required": True,
                        "content": {
                            "application/json": {
                                "schema": {"type": "object", "properties": {"age": {"type": "integer"}}}
                            }
                        },
                    },
                }
            }
        },
    }
    arguments: dict[str, Json] = {"id": "a/b ü", "tags": ["x", "y&z"], "X-Trace": True, "age": 3}
    (result,) = called(tools_from_openapi(document), ("change", arguments), hosts=Hosts((shop.host,)))
    assert said(result) == {
        "method": "PUT",
        "path": "/v1/pets/a%2Fb%20%C3%BC",
        "query": [["tags", "x"], ["tags", "y&z"]],
        "headers": {"content-type": "application/json", "x-trace": "true"},
        "body": '{"age": 3}',
    }


def test_a_command_of_curl_that_was_read_is_carried_out(shop: Shop) -> None:
    tools = [Tool("GET /pets/{id}"), Tool("POST /pets")]
    calls: list[Given] = [("GET /pets/{id}", {"id": 7, "full": True}), ("POST /pets", {"name": "Rex"})]
    got, posted = called(tools, *calls, hosts=Hosts((shop.host,)), setup={"server": shop.url})
    assert (said(got)["path"], said(got)["query"]) == ("/pets/7", [["full", "true"]])
    assert (said(posted)["method"], said(posted)["body"]) == ("POST", '{"name": "Rex"}')


def test_a_function_of_requests_is_carried_out(shop: Shop) -> None:
    given: dict[str, Json] = {
        "url": f"{shop.url}/search?a=1",
        "params": {"q": "rain", "nothing": None},
        "headers": {"X-Key": "k"},
        "timeout": 50,
    }
    (result,) = called([Tool("requests.get")], ("requests.get", given), hosts=Hosts((shop.host,)))
    assert said(result)["query"] == [["a", "1"], ["q", "rain"]]
    assert said(result)["headers"] == {"x-key": "k"}


@pytest.mark.parametrize(
    ("route", "result"),
    [
        ("GET /gone", CallResult(error="HTTP 404 Not Found: no such pet")),
        ("DELETE /nothing", CallResult(None)),
        ("GET /strange", CallResult("café �")),
        ("GET /uncountable", CallResult("[NaN]")),
        (
            "GET /squeezed",
            CallResult(error="the server sent a compressed answer, which is not supported"),
        ),
        ("GET /huge", CallResult(error="the answer has more than 1,000 bytes")),
        ("GET /slow", CallResult(error="it took longer than 0.3 s")),
        ("GET /round", CallResult(error="more than 10 redirects")),
        ("HEAD /count", CallResult(None)),
    ],
)
def test_whatever_a_server_says_is_a_result(shop: Shop, route: str, result: CallResult) -> None:
    assert asked(shop, route, limits=CallLimits(seconds=0.3 if "slow" in route else 10, result=1000)) == [result]


def test_a_server_that_cannot_be_reached_is_no_result_that_a_model_is_judged_by() -> None:
    with pytest.raises(Unanswered, match=r"GET http://127.0.0.1:9/pets failed: "):
        called(
            [Tool("GET /pets")],
            ("GET /pets", {"key": "s3cret"}),
            hosts=Hosts(("127.0.0.1:9",)),
            setup={"server": "http://127.0.0.1:9"},
        )


def test_no_host_may_be_asked_that_is_not_named(shop: Shop) -> None:
    named = f"the host {shop.host} is not allowed; to allow it: --fc-allow-host={shop.host}"
    with pytest.raises(EnvironmentFailed) as refused:
        called([Tool("GET /pets")], hosts=Hosts(), setup={"server": shop.url})
    assert str(refused.value) == named
    assert called([Tool("requests.get")], ("requests.get", {"url": shop.url}), hosts=Hosts()) == [
        CallResult(error=named)
    ]
    assert shop.asked == []


@pytest.mark.parametrize("route", ["/on", "/on_as_it_is"])
def test_redirects_are_followed_only_to_hosts_that_are_named(shop: Shop, route: str) -> None:
    with open_shop() as other:
        shop.elsewhere = f"{other.url}/count"
        (refused,) = asked(shop, f"GET {route}")
        assert refused.error is not None
        assert f"the host {other.host} is not allowed" in refused.error
        assert other.asked == []
        tools, hosts = [Tool(f"GET {route}")], Hosts((shop.host, other.host))
        assert called(tools, (f"GET {route}", {}), hosts=hosts, setup={"server": shop.url}) == [CallResult(1)]


def test_what_is_sent_on_is_asked_for_and_not_sent_again_unless_the_server_says_so(shop: Shop) -> None:
    shop.elsewhere = "/there"
    results = asked(shop, "POST /on", "POST /on_as_it_is")
    assert [said(result)["method"] for result in results] == ["GET", "POST"]


def test_a_redirect_to_a_file_is_refused(shop: Shop) -> None:
    shop.elsewhere = "file:///etc/passwd"
    (refused,) = asked(shop, "GET /on")
    assert refused == CallResult(error="'file:///etc/passwd' is not the address of a web server")


def test_headers_are_sent_to_the_host_that_they_are_set_for_and_to_no_other(shop: Shop) -> None:
    with open_shop() as other:
        shop.elsewhere = f"{other.url}/there"
        hosts = Hosts(
            (shop.host, other.host), {shop.host: {"Authorization": "Bearer ${SHOP_TOKEN}"}}, {"SHOP_TOKEN": "s3cret"}
        )
        tools = [Tool("GET /here"), Tool("GET /on")]
        calls: list[Given] = [("GET /here", {}), ("GET /on", {})]
        here, there = called(tools, *calls, hosts=hosts, setup={"server": shop.url})
    assert said(here)["headers"] == {"authorization": "[hidden]"}
    assert said(there)["headers"] == {}


def test_a_variable_that_is_not_set_is_told_of_before_a_request(shop: Shop) -> None:
    hosts = Hosts((shop.host,), {shop.host: {"X-Key": "${SHOP_KEY}"}})
    with pytest.raises(EnvironmentFailed, match="the environment variable SHOP_KEY is not set"):
        called([Tool("GET /x")], hosts=hosts, setup={"server": shop.url})


def test_cookies_are_not_kept(shop: Shop) -> None:
    _, after = asked(shop, "GET /cookie", "GET /here")
    assert said(after)["headers"] == {}


@pytest.mark.parametrize(
    ("setup", "tool", "told"),
    [
        ({}, Tool("GET /pets"), "no server for `GET /pets`; name it"),
        (
            {"server": "http://a.example"},
            Tool("search"),
            "the tool `search` is not one: take it from an `openapi:` source",
        ),
        ({"server": 7}, Tool("GET /pets"), "must be `server: ADDRESS` and nothing else"),
        ({"sever": "x"}, Tool("GET /pets"), "must be `server: ADDRESS` and nothing else"),
        ({"server": "http://user:pw@a.example"}, Tool("GET /pets"), "must not contain a user"),
        ({"server": "ftp://a.example"}, Tool("GET /pets"), "not the address of a web server"),
        ({"server": "http://[bad"}, Tool("GET /pets"), r"'http://\[bad' is not the address of a web server"),
    ],
)
def test_what_cannot_be_asked_is_told_of_before_a_request(setup: dict[str, Json], tool: Tool, told: str) -> None:
    with pytest.raises(EnvironmentFailed, match=told):
        called([tool], hosts=Hosts(("a.example",)), setup=setup)


def test_the_same_request_is_answered_by_what_is_kept(shop: Shop) -> None:
    recorded = MemoryStore()
    assert asked(shop, "GET /count", store=recorded) == [CallResult(1)]
    assert asked(shop, "GET /count", store=MemoryStore("another", results=recorded.results)) == [CallResult(1)]
    assert len(shop.asked) == 1


def test_a_request_is_another_one_the_second_time_and_after_a_change(shop: Shop) -> None:
    recorded, routes = MemoryStore(), ("GET /count", "GET /count", "POST /count", "GET /count")
    lived = asked(shop, *routes, store=recorded)
    assert [result.value for result in lived] == [1, 2, 3, 4]
    assert asked(shop, *routes, store=MemoryStore(offline=True, results=recorded.results)) == lived
    assert len(shop.asked) == 4


def test_offline_a_request_that_is_not_kept_is_told_of(shop: Shop) -> None:
    with pytest.raises(ResultNotRecorded, match="no recorded result for this call of `GET /count`"):
        asked(shop, "GET /count", store=MemoryStore(offline=True))
    assert shop.asked == []


def test_no_credential_is_kept(shop: Shop) -> None:
    recorded, hosts = MemoryStore(), Hosts((shop.host,), {shop.host: {"X-Key": "s3cret"}})
    called([Tool("GET /x")], ("GET /x", {}), hosts=hosts, setup={"server": shop.url}, store=recorded)
    assert recorded.calls
    assert "s3cret" not in json.dumps([*recorded.calls, *map(str, recorded.results.values())])


def test_a_server_shows_no_state(shop: Shop) -> None:
    async def state() -> CallResult:
        context = EnvironmentContext(Path(), Path(), hosts=Hosts((shop.host,)))
        environment = await open_environment(
            ConversationSettings("http", {"server": shop.url}), [Tool("GET /x")], context
        )
        try:
            return await environment.state(["stock"])
        finally:
            await environment.close()

    assert asyncio.run(state()).error == "no stock can be read of a web server: expect what tools say"
