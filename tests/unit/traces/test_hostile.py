"""Whatever stands in a log: nothing breaks, and what is written lints clean."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.core import Json
from pytest_fcall.traces.case_files import WrittenFile, write_case_files
from pytest_fcall.traces.extraction import Extraction
from pytest_fcall.traces.masking import Masker
from tests.unit.traces.support import CHAT_TOOL, calling, chat_log, giving, saying, user, write_lines

LOGS: list[Any] = [
    chat_log(
        [{"role": "system", "content": "s"}, user("Oslo?"), calling(), giving("3")], saying("Cold."), temperature=0
    ),
    {
        "type": "GENERATION",
        "traceId": "t",
        "input": {"messages": [user("O")], "tools": [CHAT_TOOL]},
        "output": calling(),
    },
    {"run_type": "llm", "inputs": {"messages": [user("O")]}, "outputs": {"choices": [{"message": calling()}]}},
    {
        "resourceSpans": [
            {"scopeSpans": [{"spans": [{"attributes": {"gen_ai.prompt": "O", "gen_ai.completion": "C"}}]}]}
        ]
    },
    {
        "resourceSpans": [
            {
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "traceId": "t",
                                "status": {"code": 2},
                                "attributes": {"openinference.span.kind": "TOOL", "input.value": '{"city": "Oslo"}'},
                            },
                            {
                                "traceId": "t",
                                "attributes": {
                                    "llm.input_messages.0.message.role": "user",
                                    "llm.input_messages.0.message.contents.0.message_content.text": "Oslo?",
                                    "llm.output_messages.0.message.role": "assistant",
                                    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f",
                                    "llm.tools.0.tool.json_schema": {"name": "f", "parameters": {"type": "object"}},
                                },
                            },
                            {
                                "traceId": "t",
                                "attributes": {
                                    "langfuse.observation.type": "generation",
                                    "langfuse.observation.input": [user("O"), calling(), giving("3")],
                                    "langfuse.observation.output": [{"type": "text", "text": "C"}],
                                    "langfuse.observation.model.parameters": {"temperature": 0},
                                },
                            },
                        ]
                    }
                ]
            }
        ]
    },
]
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.sampled_from(["{now}", "::"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.just("$any"), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to everything in a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(way for key, inner in inside for way in places(inner, (*at, key)))]


def changed(value: Any, way: tuple[Any, ...], new: Json) -> Any:
    if not way:
        return new
    copy = value.copy()
    copy[way[0]] = changed(value[way[0]], way[1:], new)
    return copy


@given(st.data())
def test_whatever_stands_in_a_log_what_is_written_lints_clean(data: st.DataObject) -> None:
    log = data.draw(st.sampled_from(LOGS))
    for _ in range(data.draw(st.integers(1, 3))):
        log = changed(log, data.draw(st.sampled_from(places(log))), data.draw(ANYTHING))
    with TemporaryDirectory() as name:
        folder = Path(name)
        found = Extraction([write_lines(folder / "log.jsonl", json.loads(json.dumps(log)))], Masker())
        for written in write_case_files(found.cases(), folder, "log"):
            if isinstance(written, WrittenFile):
                assert read_case_file(written.path, root=folder).faults == ()


@pytest.mark.parametrize("depth", [500, 900, 5_000])
def test_arguments_that_are_nested_without_end_are_told(tmp_path: Path, depth: int) -> None:
    deep = '{"a": ' * depth + "1" + "}" * depth
    call: Json = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": deep}}
    failed: Json = {
        "name": "s",
        "traceId": "t",
        "status": {"code": 2},
        "attributes": {"openinference.span.kind": "TOOL", "tool.name": "get_weather", "input.value": deep},
    }
    asked: Json = [user("Oslo?"), calling(call), giving("3")]
    told: Json = {"gen_ai.input.messages": asked, "gen_ai.output.messages": [saying("Cold.")]}
    path = write_lines(tmp_path / "log.jsonl", failed, {"name": "s", "traceId": "t", "attributes": told})
    found = Extraction([path], Masker())
    assert not [*found.cases()]
    assert len(found.skipped) == 1
