"""Short digests of the parts of a question, which show what changed since a verdict was accepted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from pytest_fcall.core import Json, Request, Tool, digest
from pytest_fcall.core.digests import without_paths
from pytest_fcall.core.identity_key import IdentityKey
from pytest_fcall.schema.value_text import shown

_LENGTH = 8
"""Hexadecimal digits of a digest: enough to distinguish versions of one text."""
TOOL_PREFIX = "tool:"
"""Prefix of the names of tools."""
_NAMES: Mapping[str, str] = {
    "system": "the system prompt",
    "prompt": "the prompt",
    "settings": "the settings of the model",
}

PROMPT_CHANGED = f"{_NAMES['prompt']} changed"


def question_digests(request: Request) -> dict[str, str]:
    """Digests of the parts of a request: `system`, `prompt`, `settings`, and `tool:NAME` for each tool.

    A tool has the digest of its description, followed by that of its parameters.
    """
    system: list[Json] = []
    others: list[Json] = []
    for message in request.messages:
        (system if message.get("role") in ("system", "developer") else others).append(without_paths(message))
    parts: dict[str, Json] = {"system": system, "prompt": others, "settings": dict(request.settings)}
    digests = {name: _short_digest(value) for name, value in parts.items() if value}
    return digests | _tool_digests(IdentityKey(request.tools))


def question_changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """A line for each change between two questions; none where one of them has no digests."""
    if not old or not new:
        return []
    plain = [f"{name} changed" for part, name in _NAMES.items() if old.get(part) != new.get(part)]
    return [*plain, *chain.from_iterable(_tool_changes(name, old, new) for name in sorted({*old, *new}))]


def provenance_changes(old: Mapping[str, Json], new: Mapping[str, Json]) -> list[str]:
    """A line for each difference between values that both sides have: the model's version, the engine, its settings."""
    before, after = dict(_leaves("", old)), dict(_leaves("", new))
    return [
        f"{name}: {shown(before[name])} → {shown(after[name])}"
        for name in after
        if name in before and before[name] != after[name]
    ]


@lru_cache(maxsize=1024)
def _tool_digests(tools: IdentityKey[tuple[Tool, ...]]) -> dict[str, str]:
    return {
        f"{TOOL_PREFIX}{tool.name}": _short_digest(tool.description) + _short_digest(tool.parameters)
        for tool in tools.value
    }


def _short_digest(value: Json) -> str:
    return digest(value)[:_LENGTH]


def _tool_changes(name: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    before, after = old.get(name, ""), new.get(name, "")
    if not name.startswith(TOOL_PREFIX) or before == after:
        return
    tool = name.removeprefix(TOOL_PREFIX)
    if not before or not after:
        yield f"the tool {tool} is {'gone' if before else 'new'}"
        return
    if before[:_LENGTH] != after[:_LENGTH]:
        yield f"the description of {tool} changed"
    if before[_LENGTH:] != after[_LENGTH:]:
        yield f"the parameters of {tool} changed"


def _leaves(name: str, value: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(f"{name}.{key}" if name else str(key), item)
    elif not isinstance(value, Sequence) or isinstance(value, str):
        yield name, value
