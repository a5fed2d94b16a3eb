"""What `fcall import` makes of inputs that are nearly valid: no error, and what is written lints clean."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.core import Json
from pytest_fcall.traces.case_files import WrittenFile, write_case_files
from pytest_fcall.traces.extraction import Extraction
from pytest_fcall.traces.masking import Masker
from tests.attacks.mutants import mutant, mutant_text
from tests.unit.traces.formats import test_datasets as datasets
from tests.unit.traces.formats.test_promptfoo_assertions import TOOLS
from tests.unit.traces.formats.test_recordings import ENTRY, written
from tests.unit.traces.support import CHAT_TOOL, FLAT_TOOL, calling, chat_log, giving, saying, user
from tests.unit.traces.test_hostile import LOGS

_PROMPTFOO: Final[dict[str, Json]] = {
    "prompts": [
        "Weather in {{city}}?",
        '[{"role": "system", "content": "s"}, {"role": "user", "content": "{{city}}"}]',
    ],
    "providers": [{"id": "openai:chat:gpt-5.2", "config": {"tools": TOOLS, "temperature": 0}}],
    "defaultTest": {"assert": [{"type": "is-valid-openai-tools-call"}]},
    "tests": [
        {"vars": {"city": "Oslo"}, "assert": [{"type": "contains", "value": "cold"}, {"type": "regex", "value": "a+"}]},
        {
            "description": "a call",
            "vars": {"city": ["Rome", "Oslo"]},
            "assert": [
                {"type": "javascript", "value": "output[0].function.name === 'get_weather'"},
                {"type": "tool-call-f1", "value": ["get_weather"], "threshold": 1},
                {"type": "assert-set", "threshold": 0.5, "assert": [{"type": "icontains-any", "value": ["a", "b"]}]},
                {"type": "not-equals", "value": {"a": 1}},
                {"type": "is-json", "value": {"type": "object"}},
            ],
        },
    ],
}
_RESPONSES: Final[Json] = {
    "request": {"model": "gpt-5.2", "input": "Oslo?", "tools": [FLAT_TOOL], "instructions": "s"},
    "response": {
        "output": [
            {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city": "Oslo"}'},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Cold."}]},
        ],
        "status": "completed",
    },
}
_MESSAGES: Final[Json] = {
    "request": {
        "model": "claude",
        "system": "s",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Oslo?"}]}],
        "tools": [{"name": "get_weather", "input_schema": {"type": "object"}}],
    },
    "response": {
        "role": "assistant",
        "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Oslo"}}],
    },
}
_INSPECT: Final[Json] = {
    "eval": {"model": "openai/gpt-5.2"},
    "samples": [
        {
            "id": 1,
            "events": [
                {
                    "event": "model",
                    "input": [user("Oslo?")],
                    "tools": [FLAT_TOOL],
                    "config": {"temperature": 0},
                    "output": {"choices": [{"message": calling(), "stop_reason": "tool_calls"}]},
                }
            ],
        },
        {"id": "b", "messages": [user("Oslo?"), calling(), giving("3"), saying("Cold.")]},
    ],
}


def _of(prefix: str) -> list[Json]:
    """The data sets of one tool that the tests of its reader have."""
    tables: tuple[Mapping[str, tuple[Json, Json]], ...] = (datasets.WRITTEN, datasets.NAMED, datasets.LEFT_OUT)
    return [data for table in tables for name, (data, _) in table.items() if name.startswith(prefix)]


SEEDS: Final[Mapping[str, list[Any]]] = {
    "Chat Completions": [LOGS[0], chat_log([user("Oslo?")], calling(), tools=[CHAT_TOOL])],
    "Responses": [_RESPONSES],
    "Messages": [_MESSAGES],
    "OpenTelemetry": LOGS[3:],
    "Langfuse": [LOGS[1]],
    "LangSmith runs": [LOGS[2]],
    "inspect_ai": [_INSPECT],
    "promptfoo": [_PROMPTFOO],
    **{name: _of(name) for name in ("ADK", "deepeval", "Braintrust", "LangSmith")},
    "Toolscore": [
        {"calls": [{"tool": "roll", "args": {"sides": 6}, "description": "Roll."}], "fcall:asked": [[user("Roll.")]]}
    ],
}
"""Values that are written as JSON."""
TEXTS: Final[Mapping[str, str]] = {name: text for name, (text, _) in datasets.YAML.items()}


NOTHING_EXPECTED: Final = ("the case has no `expect`", "no turn expects anything")
"""What an import leaves to a person, and says."""


def fault_of(path: Path) -> str:
    """Import a file as the command does. What is wrong with what was written; nothing else may go wrong."""
    out = path.parent / "out"
    found = Extraction([path], Masker())
    for each in write_case_files(found.cases(), out, "made"):
        if isinstance(each, WrittenFile):
            faults = read_case_file(each.path, root=out).faults
            left = [fault for fault in faults if not any(said in fault.message for said in NOTHING_EXPECTED)]
            if left:
                return f"{left[0].message}\n{each.path.read_text(encoding='utf-8')[:2000]}"
    return ""


def inputs(name: str, seed: int) -> Iterator[tuple[str, bytes]]:
    """A changed input of a format, with the name of its file."""
    random = Random(seed)  # noqa: S311  a failure must come again
    if name in TEXTS:
        yield "data.yaml", mutant_text(TEXTS[name], random).encode("utf-8", "replace")
    elif name == "recordings":
        with TemporaryDirectory() as folder:
            path = written(Path(folder), ENTRY)
            lines = [mutant(json.loads(line), random) for line in path.read_text(encoding="utf-8").splitlines()]
        yield path.name, "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    else:
        value = mutant(random.choice(SEEDS[name]), random)
        text = json.dumps(value, ensure_ascii=random.random() < 0.5)
        if random.random() < 0.1:
            text = mutant_text(text, random)
        yield "data.json", text.encode("utf-8", "replace")


FORMATS: Final = (*SEEDS, *TEXTS, "recordings")


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_imported_as_it_is_lints_clean(tmp_path: Path, name: str) -> None:
    for number, value in enumerate(SEEDS.get(name, ())):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "data.json").write_text(json.dumps(value))
        assert fault_of(folder / "data.json") == ""


@pytest.mark.parametrize("name", FORMATS)
@given(seed=st.integers(0, 2**63))
def test_what_is_imported_of_a_changed_input_lints_clean(name: str, seed: int) -> None:
    for file, content in inputs(name, seed):
        with TemporaryDirectory() as folder:
            path = Path(folder, file)
            path.write_bytes(content)
            assert fault_of(path) == "", content[:2000]
