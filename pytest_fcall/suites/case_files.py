"""Writes the cases of a suite as case files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from pytest_fcall.cases.yaml.values import write_flow, write_flow_key
from pytest_fcall.core.case import Case
from pytest_fcall.core.expectation import Expectation, ExpectedCall
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json


def split_by_tools(cases: Sequence[Case]) -> list[list[Case]]:
    """Split cases into files. In a file each name is one tool, so cases that differ in a tool are separated."""
    files: list[tuple[dict[str, Tool], list[Case]]] = []
    for case in cases:
        own = {tool.name: tool for tool in case.tools}
        index = next((n for n, (tools, _) in enumerate(files) if _tools_agree(own, tools)), len(files))
        if index == len(files):
            files.append(({}, []))
        files[index][0].update(own)
        files[index][1].append(case)
    return [members for _, members in files]


def _tools_agree(some: Mapping[str, Tool], others: Mapping[str, Tool]) -> bool:
    return all(
        (tool, tool.declared) == (others[name], others[name].declared) for name, tool in some.items() if name in others
    )


def case_file_text(cases: Sequence[Case], title: str) -> str:
    """Return the text of a case file. The cases must agree about their tools and have the same rules."""
    rules = cases[0].rules
    tools = {tool.name: tool for case in cases for tool in case.tools}
    defaults = {"profile": rules.profile, "strings": rules.strings, "language": rules.language}
    usual = {"profile": "strict", "strings": "exact", "language": "python"}
    unusual = {name: value for name, value in defaults.items() if value != usual[name]}
    lines = [f"# {title}", *_tools(tools.values())]
    lines += [f"defaults: {write_flow({**unusual, **_shared(cases[0]), 'category': cases[0].category})}", "cases:"]
    for case in cases:
        lines += _case(case, [*tools])
    return "\n".join(lines) + "\n"


def _shared(case: Case) -> dict[str, Json]:
    """Defaults that a suite sets alike in all cases of a category."""
    shared: dict[str, Json] = {}
    if sent := {**case.proposed_settings, **case.settings}:
        shared["settings"] = sent
    if case.decoder:
        shared["decoder"] = case.decoder
    if case.conversation and case.conversation.environment:
        settings = case.conversation
        shared |= {"environment": settings.environment, "setup": settings.setup, "max_steps": settings.max_steps}
    return shared


def _tools(tools: Collection[Tool]) -> Iterator[str]:
    yield "tools:" if tools else "tools: []"
    for tool in tools:
        yield f"  - name: {write_flow(tool.name)}"
        if tool.description:
            yield f"    description: {write_flow(tool.description)}"
        yield f"    parameters: {write_flow(tool.parameters if tool.declared is None else tool.declared)}"


def _case(case: Case, offered: Sequence[str]) -> Iterator[str]:
    (turn,) = case.turns
    yield f"  - id: {write_flow(case.id)}"
    own = [tool.name for tool in case.tools]
    if own != offered:
        yield f"    tools: {write_flow({'only': own})}"
    match turn.messages:
        case ({"role": "user", "content": str() as text, **rest},) if not rest:
            yield f"    prompt: {write_flow(text)}"
        case messages:
            yield "    messages:"
            yield from (f"      - {write_flow(message)}" for message in messages)
    if case.tags:
        yield f"    tags: {write_flow(case.tags)}"
    if turn.answer is not None:
        yield f"    answer: {write_flow(_pattern(turn.answer))}"
    if turn.expect is not None or turn.answer is None:
        yield from _expectation(turn.expect)


def _expectation(expect: Expectation | None) -> Iterator[str]:
    if expect is None or expect.kind in ("no_call", "any_call"):
        yield f"    expect: {expect.kind if expect else 'no_call'}"
    elif expect.kind == "any_of":
        yield f"    expect: {write_flow({'any_of': [_alternative(each) for each in expect.alternatives]})}"
    elif (expect.order, expect.parallel) != ("any", "as_given"):
        yield f"    expect: {write_flow(_alternative(expect))}"
    else:
        yield "    expect:"
        for stage in expect.stages:
            yield from (f"      - {_call_item(_call(call))}" for call in stage)


def _alternative(expect: Expectation) -> Json:
    if expect.kind != "calls":
        return expect.kind
    calls = [_call(call) for stage in expect.stages for call in stage]
    return {"calls": calls, "order": expect.order, "parallel": expect.parallel}


def _call(call: ExpectedCall) -> dict[str, Json]:
    arguments: Json = {"$ignore": True} if call.arguments is None else _patterns(call.arguments)
    return {call.tool: arguments, **({"args": "open"} if call.open else {})}


def _call_item(call: Mapping[str, Json]) -> str:
    """A call as an item of a list. Braces are needed if it has options."""
    if len(call) > 1:
        return write_flow(call)
    return "".join(f"{write_flow_key(tool)}: {write_flow(arguments)}" for tool, arguments in call.items())


def _patterns(patterns: Mapping[str, Pattern]) -> dict[str, Json]:
    return {name: _pattern(pattern) for name, pattern in patterns.items()}


def _pattern(pattern: Pattern) -> Json:
    """A pattern as a case file has it. A mapping that looks like an operator is written as a literal."""
    match pattern:
        case Operator("literal", operand):
            return {"$literal": _plain_value(operand)}
        case Operator("any", []):  # only leaving the argument out is right, which the empty string means, too
            return ""
        case Operator():
            return {f"${pattern.name}": _pattern(pattern.operand), **_patterns(pattern.options)}
        case Mapping():
            inner = _patterns(pattern)
            return {"$literal": inner} if any(key.startswith("$") for key in inner) else inner
        case str():
            return pattern
        case Sequence():
            return [_pattern(item) for item in pattern]
    return pattern


def _plain_value(pattern: Pattern) -> Json:
    if isinstance(pattern, Operator):
        raise TypeError(f"a literal cannot hold the operator ${pattern.name}")
    if isinstance(pattern, str):
        return pattern
    if isinstance(pattern, Mapping):
        return {key: _plain_value(value) for key, value in pattern.items()}
    if isinstance(pattern, Sequence):
        return [_plain_value(item) for item in pattern]
    return pattern
