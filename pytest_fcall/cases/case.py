"""One case with the defaults of its file applied, its category, and its first request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from yaml import Node

from pytest_fcall.cases import node_values
from pytest_fcall.cases.calls import call_patterns
from pytest_fcall.cases.expectations import answer, expectation, wire
from pytest_fcall.cases.faults import Faults, SourceFile
from pytest_fcall.cases.ids import tag
from pytest_fcall.cases.messages import Messages
from pytest_fcall.cases.node_values import Entries
from pytest_fcall.cases.option_values import conditions, retrieval, samples, settings
from pytest_fcall.cases.options import OPTION_KEYS, WORLD_READERS, Defaults, Options, category, decoder
from pytest_fcall.cases.patterns import pattern, patterns
from pytest_fcall.cases.placeholders import Placeholders, read_clock
from pytest_fcall.cases.rules import check_profile, language, match_rules, profile, strings
from pytest_fcall.cases.scope import Extensions, Scope, Toolbox
from pytest_fcall.cases.tool_entries import pick_tools
from pytest_fcall.core import (
    CallPattern,
    Case,
    Condition,
    Expectation,
    Json,
    MatchRule,
    Message,
    Request,
    Rules,
    Samples,
    Tool,
    Turn,
    World,
)


def mode_of(turns: Sequence[Turn], world: World | None) -> Literal["request", "conversation"]:
    """A conversation needs more than one request: turns, stages, canned results, something behind the tools.

    So does an answer that comes after calls, and calls that may come one after the other.
    """
    longer = len(turns) > 1 or world is not None or any(turn.state or turn.result is not None for turn in turns)
    if longer or any(turn.expect and _goes_on(turn.expect, answers=turn.answer is not None) for turn in turns):
        return "conversation"
    return "request"


def category_of(turns: Sequence[Turn], tools: Sequence[Tool], mode: str) -> str:
    """BFCL's word for a case: one call and one tool offered is `simple`, several calls are `parallel` …"""
    if mode == "conversation":
        return "conversation"
    expect = turns[0].expect if turns else None
    while expect is not None and expect.kind == "any_of":
        expect = next((one for one in expect.alternatives if one.kind != "no_call"), None)
    if expect is None or expect.kind == "no_call":
        return "irrelevance"
    if expect.kind == "any_call":
        return "relevance"
    calls = [call for stage in expect.stages for call in stage]
    if len({call.tool for call in calls}) > 1:
        return "parallel_multiple"
    if len(calls) > 1 or any(call.times[1] != 1 for call in calls):
        return "parallel"
    return "multiple" if len(tools) > 1 else "simple"


def _goes_on(expect: Expectation, *, answers: bool) -> bool:
    """Whether the model is to have results of its calls, or may want them."""
    if any(_goes_on(one, answers=answers) for one in expect.alternatives):
        return True
    calls = [call for stage in expect.stages for call in stage]
    if len(expect.stages) > 1 or any(call.canned or call.result is not None for call in calls):
        return True
    if expect.parallel == "free" and (len(calls) > 1 or any(call.times[1] != 1 for call in calls)):
        return True
    return answers and (bool(calls) or bool(expect.allow) or expect.extra == "allow" or expect.kind == "any_call")


_CHECKS = ("expect", "answer", "state", "result")
_SAID = ("prompt", "messages")
CASE_KEYS = frozenset(("id", "matrix", "turns", "tools", "match", "wire", *_SAID, *_CHECKS, *OPTION_KEYS))
_NO_ROW: Mapping[str, Node] = MappingProxyType({})
TURN_KEYS = frozenset(("user", *_CHECKS))


@dataclass(frozen=True, slots=True)
class FileContext:
    """What all cases of a file stand on."""

    source: SourceFile
    folder: Path
    toolbox: Toolbox
    defaults: Defaults
    match: tuple[MatchRule, ...]
    extensions: Extensions
    now: datetime
    """The time of the run, for cases without a clock."""

    def scope(self, faults: Faults, row: Mapping[str, Node] = _NO_ROW) -> Scope:
        """What reading a part of the file needs to know."""
        return Scope(
            faults,
            self.folder,
            Placeholders(self.now, row),
            self.extensions,
            self.toolbox,
            match=self.match,
        )


def read_case(
    name: str, place: Node, entries: Entries, *, row: Mapping[str, Node], ground: FileContext, faults: Faults
) -> Case:
    """Read a case, or one row of it. It is of use only where no faults were found."""
    scope = _scope(entries, row, ground, faults)
    entries = _filled(entries, row, ground, scope)
    options = Options(entries, ground.defaults, scope)
    tools = _tools(entries, scope)
    scope.profile = options.one("profile", profile) or "strict"
    scope.offered = frozenset(tool.name for tool in tools)
    if "match" in entries:
        scope.match = match_rules(entries["match"][1], scope) + ground.match
    turns = _turns(place, entries, options, scope)
    rules = _rules(options, scope)
    check_profile(entries["expect"][1] if "expect" in entries else place, turns, rules, faults)
    world = options.world()
    _check_state(entries["state"][0] if "state" in entries else place, turns, world, faults)
    mode = mode_of(turns, world)
    return Case(
        id=name,
        location=ground.source.location(place),
        turns=turns,
        tools=tools,
        rules=rules,
        category=options.one("category", category) or category_of(turns, tools, mode),
        tags=tuple(dict.fromkeys(options.joined("tags", _tags))),
        skip=options.joined("skip", _skip),
        xfail=options.joined("xfail", _xfail),
        samples=options.one("samples", _samples),
        settings=options.merged("settings", settings),
        decoder=options.one("decoder", decoder),
        retrieve=options.one("retrieve", retrieval),
        world=world,
        wire=wire(entries["wire"][1], scope) if "wire" in entries else None,
        mode=mode,
    )


def read_defaults(defaults: Defaults, scope: Scope) -> None:
    """Read all defaults whether or not a case uses them, to find what is wrong with them."""
    for key, read in _DEFAULT_READERS.items():
        defaults.all(key, read, scope)


def _scope(entries: Entries, row: Mapping[str, Node], ground: FileContext, faults: Faults) -> Scope:
    """The scope of a case; its clock comes first, since it is written into everything else."""
    scope = ground.scope(faults, row)
    now = Options(entries, ground.defaults, scope).one("now", _now)
    if now is not None:
        scope.filling = Placeholders(now, row)
    return scope


def _filled(entries: Entries, row: Mapping[str, Node], ground: FileContext, scope: Scope) -> Entries:
    if not row and not ground.source.names_clock:
        return entries
    return {name: (key, scope.filling.node(value, scope.faults)) for name, (key, value) in entries.items()}


def _tools(entries: Entries, scope: Scope) -> tuple[Tool, ...]:
    tools = scope.toolbox.catalogue
    if "tools" not in entries:
        return tools
    found = node_values.entries(entries["tools"][1], scope.faults, "`tools` of a case")
    node_values.known_only(found, ("only", "without"), scope.faults, "`tools` of a case")
    return tuple(pick_tools(tools, found, scope.faults))


def _rules(options: Options, scope: Scope) -> Rules:
    return Rules(
        profile=scope.profile,
        strings=options.one("strings", strings) or "exact",
        match=scope.match,
        never=options.joined("never", _never),
        now=scope.filling.now,
        language=options.one("language", language) or "python",
    )


def _turns(place: Node, entries: Entries, options: Options, scope: Scope) -> tuple[Turn, ...]:
    system = options.one("system", _system)
    if "turns" not in entries:
        return (_turn(place, _said(place, entries, system, scope), entries, scope, needs_check="wire" not in entries),)
    for name in (*_SAID, *_CHECKS):
        if name in entries:
            key = entries[name][0]
            scope.faults.add("contradiction", key, f"`turns` and `{name}` exclude each other", "put it into a turn")
    turns: list[Turn] = []
    for node in node_values.items(entries["turns"][1], scope.faults, "`turns`"):
        found = node_values.entries(node, scope.faults, "a turn")
        node_values.known_only(found, TURN_KEYS, scope.faults, "a turn")
        messages = _system_message(system) if not turns else ()
        if "user" in found:
            said = Messages(scope).said(found["user"][1], "`user`")
            messages += ({"role": "user", "content": said},)
        elif found:
            scope.faults.add("missing-key", node, "this turn has no `user`", "say what the user says")
        turns.append(_turn(node, messages, found, scope, needs_check=False))
    if not any(turn.expect or turn.answer is not None or turn.state or turn.result is not None for turn in turns):
        scope.faults.add("missing-key", place, "nothing is expected in any turn", "give a turn an `expect:`")
    return tuple(turns)


def _check_state(place: Node, turns: tuple[Turn, ...], world: World | None, faults: Faults) -> None:
    if any(turn.state is not None for turn in turns) and not (world and world.environment):
        message = "`state` is what became of an `environment`, and this case has none"
        faults.add("missing-key", place, message, "such as `environment: shop.fake:make`")


def _turn(place: Node, messages: tuple[Message, ...], found: Entries, scope: Scope, *, needs_check: bool) -> Turn:
    if needs_check and not any(name in found for name in _CHECKS):
        scope.faults.add("missing-key", place, "this case expects nothing", "give it an `expect:`")
    return Turn(
        messages=messages,
        expect=expectation(found["expect"][1], scope) if "expect" in found else None,
        answer=answer(found["answer"][1], scope) if "answer" in found else None,
        state=patterns(found["state"][1], scope, "`state`") if "state" in found else None,
        result=pattern(found["result"][1], scope) if "result" in found else None,
    )


def _said(place: Node, entries: Entries, system: str | None, scope: Scope) -> tuple[Message, ...]:
    reader = Messages(scope)
    messages: tuple[Message, ...] = ()
    if "messages" in entries:
        messages = reader.thread(entries["messages"][1])
    has_own = bool(messages) and messages[0].get("role") in {"system", "developer"}
    if has_own and "system" in entries:
        key = entries["system"][0]
        scope.faults.add("contradiction", key, "`messages` already begin with a system message", "leave one out")
    if not has_own:
        messages = _system_message(system) + messages
    if "prompt" in entries:
        messages += ({"role": "user", "content": reader.said(entries["prompt"][1], "`prompt`")},)
    elif "messages" not in entries:
        scope.faults.add("missing-key", place, "this case says nothing to the model", "give it a `prompt:`")
    return messages


def _system_message(system: str | None) -> tuple[Message, ...]:
    return ({"role": "system", "content": system},) if system else ()


def _system(node: Node, scope: Scope) -> str:
    return Messages(scope).text(node, "`system`")


def _now(node: Node, scope: Scope) -> datetime | None:
    return read_clock(scope.filling.node(node, scope.faults), scope.faults)


def _tags(node: Node, scope: Scope) -> tuple[str, ...]:
    return tuple(tag(item, scope.faults) for item in node_values.items(node, scope.faults, "`tags`"))


def _never(node: Node, scope: Scope) -> tuple[CallPattern, ...]:
    return call_patterns(node, scope, "`never`")


def _skip(node: Node, scope: Scope) -> tuple[Condition, ...]:
    return conditions(node, scope.faults, "`skip`")


def _xfail(node: Node, scope: Scope) -> tuple[Condition, ...]:
    return conditions(node, scope.faults, "`xfail`")


def _samples(node: Node, scope: Scope) -> Samples:
    return samples(node, scope.faults)


_DEFAULT_READERS: Mapping[str, Callable[[Node, Scope], object]] = MappingProxyType(
    {
        "system": _system,
        "now": _now,
        "tags": _tags,
        "category": category,
        "strings": strings,
        "profile": profile,
        "language": language,
        "skip": _skip,
        "xfail": _xfail,
        "samples": _samples,
        "settings": settings,
        "decoder": decoder,
        "retrieve": retrieval,
        "never": _never,
        **WORLD_READERS,
    }
)


_NONE: Mapping[str, Json] = MappingProxyType({})


def plan_request(case: Case, settings: Mapping[str, Json] = _NONE, sample: int = 0) -> Request:
    """The first request of a case. Its own settings come before those of the model."""
    first = case.turns[0]
    return Request(
        messages=first.messages,
        tools=() if case.tools_in_messages else first.tools if first.tools is not None else case.tools,
        settings={**settings, **case.settings},
        sample=sample,
        now=case.rules.now,
    )
