"""What MCP servers may answer: a sentence for each, and the next call is answered all the same."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from pytest_fcall.conversation.environments.mcp_session import McpSession
from pytest_fcall.conversation.execution.limits import CallLimits
from pytest_fcall.core import CallResult, canonical
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.mcp_server import list_mcp_tools

SERVER = Path(__file__).with_name("mcp_server.py")
FINE = '{"content": [{"type": "text", "text": "fine"}]}'
NO_RESULT = "the server answered with no result of MCP"
NO_MESSAGE = "the server wrote what is no message of MCP"

ANSWERED: Mapping[str, tuple[str, str]] = {
    "no content": ("{}", NO_RESULT),
    "content that is null": ('{"content": null}', NO_RESULT),
    "a part that is null": ('{"content": [null]}', NO_RESULT),
    "a text that is null": ('{"content": [{"type": "text", "text": null}]}', NO_RESULT),
    "a part of no kind": ('{"content": [{"type": "smell"}]}', NO_RESULT),
    "perhaps an error": ('{"content": [], "isError": "maybe"}', NO_RESULT),
    "structured as a list": ('{"content": [], "structuredContent": [1]}', NO_RESULT),
    "a number beyond all": ('{"content": [], "structuredContent": {"a": 1e999}}', "the result is not JSON"),
    "no number": ('{"content": [], "structuredContent": {"a": NaN}}', "the result is not JSON"),
    "a text without an end": (f'{{"content": [{{"type": "text", "text": "{"x" * 2**21}"}}]}}', "more than 1,048,576"),
}
UNREAD: Mapping[str, str] = {
    "null": "null",
    "a list": "[]",
    "a text": '"x"',
    "a number": "1",
    "half of a pair": '{"content": [{"type": "text", "text": "\\ud800"}]}',
    "half of a pair, structured": '{"content": [], "structuredContent": {"\\udfff": "\\udfff"}}',
    "an integer of 5,000 digits": f'{{"content": [], "structuredContent": {{"a": {"1" * 5_000}}}}}',
    "nested without an end": "".join(['{"content": [], "structuredContent": ', '{"a": ' * 5_000, "1", "}" * 5_001]),
    "no JSON": "nothing",
}
"""What the library drops, so that the call is not answered."""


def answered(folder: Path, results: Mapping[str, str], seconds: float) -> dict[str, CallResult]:
    """The result of a call of each tool, in one session."""
    (folder / "results.json").write_text(json.dumps(results))

    async def call_each() -> dict[str, CallResult]:
        spec = {"command": [sys.executable, str(SERVER), "results.json"]}
        session = await McpSession.start(spec, folder, CallLimits(seconds=seconds))
        try:
            return {name: await session.call(name, {}) for name in results}
        finally:
            await session.close()

    return asyncio.run(call_each())


def test_an_answer_that_is_no_result_is_an_error_of_its_call(tmp_path: Path) -> None:
    results = {name: result for name, (result, _) in ANSWERED.items()} | {"last": FINE}
    found = answered(tmp_path, results, 30)
    assert found.pop("last") == CallResult("fine")
    for name, result in found.items():
        assert ANSWERED[name][1] in str(result.error)
        assert result.value is None


@pytest.mark.nightly  # each call waits for its limit
def test_an_answer_that_cannot_be_read_is_shown_where_the_call_is_late(tmp_path: Path) -> None:
    found = answered(tmp_path, {**UNREAD, "last": FINE}, 0.3)
    assert found.pop("last") == CallResult("fine")
    for result in found.values():
        assert NO_MESSAGE in str(result.error)
        assert len(str(result.error)) < 500
        canonical(result.error).encode()


def test_an_answer_of_null_is_shown_where_the_call_is_late(tmp_path: Path) -> None:
    (result,) = answered(tmp_path, {"null": "null"}, 0.3).values()
    assert str(result.error).startswith(f"it took longer than 0.3 s, and {NO_MESSAGE}: ")


@pytest.mark.parametrize(
    "listed",
    ["{}", '{"tools": null}', '{"tools": [null]}', '{"tools": [{"name": null, "inputSchema": {}}]}'],
)
def test_what_is_no_list_of_tools_is_one_sentence(tmp_path: Path, listed: str) -> None:
    (tmp_path / "results.json").write_text(json.dumps({"": listed}))
    server = {"command": [sys.executable, str(SERVER), "results.json"]}
    with pytest.raises(SchemaError, match="did not answer with a list of tools"):
        list_mcp_tools(server, folder=tmp_path, environment={})
