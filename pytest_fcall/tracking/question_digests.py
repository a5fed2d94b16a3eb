"""Short digests of the parts of a question, which show what changed since a verdict was accepted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any, Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.digests import canonical_messages, digest, kept_by_identity
from pytest_fcall.core.json_data import JsonEncoder
from pytest_fcall.core.message_text import shown
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.values import Json, Message

_LENGTH = 8
"""Hexadecimal digits of a digest: enough to distinguish versions of one text."""
TOOL_PREFIX = "tool:"
"""Prefix of the names of tools."""
SYSTEM = "system"
PROMPT = "prompt"
SETTINGS = "settings"
TOOLS = "tools"
"""Name of the digest of the names of the tools, in their order."""
EXPECTATION = "expectation"
"""Name of the digest of what is expected, which is no part of the question."""
_NAMES: Mapping[str, str] = {
    SYSTEM: "the system prompt",
    PROMPT: "the prompt",
    SETTINGS: "the settings of the model",
}

PROMPT_CHANGED = f"{_NAMES[PROMPT]} changed"
SYSTEM_CHANGED = f"{_NAMES[SYSTEM]} changed"
_SYSTEM_ROLES = ("system", "developer")


def question_digests(request: Request) -> dict[str, str]:
    """Digests of the parts of a request: `system`, `prompt`, `settings`, `tools`, and `tool:NAME` for each tool.

    `tools` is that of their order. A tool has the digest of its description, followed by that of its parameters.
    """
    messages, digests = request.messages, dict[str, str]()
    if system := [each for each in messages if each.get("role") in _SYSTEM_ROLES]:
        digests[SYSTEM] = _digest_of_messages(system)
        messages = tuple(each for each in messages if each.get("role") not in _SYSTEM_ROLES)
    if messages:
        digests[PROMPT] = _digest_of_messages(messages)
    if request.settings:
        digests[SETTINGS] = _short_digest(request.settings)
    return digests | _tool_digests(request.tools)


def _digest_of_messages(messages: Sequence[Message]) -> str:
    return sha256(canonical_messages(messages).encode("ascii")).hexdigest()[:_LENGTH]


def system_prompt(request: Request) -> str:
    """The text of the system prompt; empty where there is none."""
    return "\n".join(str(each.get("content")) for each in request.messages if each.get("role") in _SYSTEM_ROLES)


def prompt_text(request: Request) -> str:
    """The text of the other messages; empty where they hold more than text."""
    contents = [each.get("content") for each in request.messages if each.get("role") not in _SYSTEM_ROLES]
    return "\n".join(str(each) for each in contents) if all(isinstance(each, str) for each in contents) else ""


def expectation_digest(case: Case) -> str:
    """A digest of everything that the verdict on a case depends on, beside the reply and the tools."""
    rules = case.rules
    profile = "bfcl" if rules.profile == "original" else rules.profile  # the name in baselines of before
    expected: Any = [
        [[turn.expect, turn.answer, turn.state, turn.result] for turn in case.turns],
        [profile, rules.strings, rules.match, rules.never, rules.language],
        case.wire,
        *([case.spans] if case.spans else ()),
        *([case.injection] if case.injection else ()),
        *([case.result_fault] if case.result_fault else ()),
    ]
    try:
        text = _EXPECTED.encode(expected)
    except (TypeError, ValueError, RecursionError, AttributeError):  # such as keys that are no strings, or dates
        text = repr(expected)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]


def _fields_of(value: Any) -> Json:
    """The fields of a dataclass. `dataclasses.fields` takes longer than the whole digest."""
    return [type(value).__name__, *[getattr(value, name) for name in value.__match_args__]]


_EXPECTED: Final = JsonEncoder(sort_keys=True, default=_fields_of)


def question_changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """A line for each change between two questions; none where one of them has no digests."""
    return [line for _, line in changed_parts(old, new)]


def changed_parts(old: Mapping[str, str], new: Mapping[str, str]) -> list[tuple[str, str]]:
    """The same, each line behind the part that it is about: `system`, `prompt`, `settings` or `tools`."""
    if not old or not new:
        return []
    plain = [(part, f"{name} changed") for part, name in _NAMES.items() if old.get(part) != new.get(part)]
    return [*plain, *((TOOLS, line) for line in _catalogue_changes(old, new))]


def _catalogue_changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    renamed = renamed_tools(old, new)
    named = {TOOL_PREFIX + tool for pair in renamed.items() for tool in pair}
    tools = [*chain.from_iterable(_tool_changes(name, old, new) for name in sorted({*old, *new} - named))]
    names = [f"the tool {before} is {after} now" for before, after in renamed.items()]
    both_orders = TOOLS in old and TOOLS in new
    order = ["the order of the tools changed"] if both_orders and old[TOOLS] != new[TOOLS] else []
    return [*names, *tools, *(order if not (tools or names) else [])]


def renamed_tools(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """The tools that have another name now, and are the same but for it, by their old names."""
    gone = [name for name in old if name.startswith(TOOL_PREFIX) and name not in new]
    come = {value: name for name, value in new.items() if name.startswith(TOOL_PREFIX) and name not in old}
    return {
        name.removeprefix(TOOL_PREFIX): come.pop(old[name]).removeprefix(TOOL_PREFIX)
        for name in gone
        if old[name] in come
    }


def had_parameters(digests: Mapping[str, str], tool: str, parameters: Mapping[str, Json]) -> bool:
    """Whether the question had a tool with this name and these parameters."""
    return digests.get(TOOL_PREFIX + tool, "")[_LENGTH:] == _short_digest(parameters)


def provenance_changes(old: Mapping[str, Json], new: Mapping[str, Json]) -> list[str]:
    """A line for each difference between values that both sides have: the model's version, the engine, its settings."""
    before, after = dict(_leaves("", old)), dict(_leaves("", new))
    return [
        f"{name}: {shown(before[name])} → {shown(after[name])}"
        for name in after
        if name in before and before[name] != after[name]
    ]


def tools_of(digests: Mapping[str, str]) -> Mapping[str, str]:
    """The digests of the tools among those of a question, by name."""
    return {name.removeprefix(TOOL_PREFIX): value for name, value in digests.items() if name.startswith(TOOL_PREFIX)}


def tool_digests(tools: tuple[Tool, ...]) -> Sequence[tuple[str, str]]:
    """Each tool by its name and its digest, in their order."""
    digests = _tool_digests(tools)
    return [(tool.name, digests[TOOL_PREFIX + tool.name]) for tool in tools]


@kept_by_identity(most=1024)
def _tool_digests(tools: tuple[Tool, ...]) -> dict[str, str]:
    names: list[Json] = [tool.name for tool in tools]
    return ({TOOLS: _short_digest(names)} if len(names) > 1 else {}) | {
        f"{TOOL_PREFIX}{tool.name}": _short_digest(tool.description) + _short_digest(tool.parameters) for tool in tools
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
