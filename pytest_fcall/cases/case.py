"""One case, complete: what it says, over what its file says for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from yaml import Node

from pytest_fcall.cases import fields
from pytest_fcall.cases.answer import answer
from pytest_fcall.cases.calls import call_patterns
from pytest_fcall.cases.category import category_of, mode_of
from pytest_fcall.cases.clock import clock
from pytest_fcall.cases.conditions import conditions, samples
from pytest_fcall.cases.expectations import expectation
from pytest_fcall.cases.extensions import Extensions
from pytest_fcall.cases.faults import Faults, Source
from pytest_fcall.cases.fields import Entries
from pytest_fcall.cases.filling import Filling
from pytest_fcall.cases.ids import tag
from pytest_fcall.cases.messages import Messages
from pytest_fcall.cases.options import OPTION_KEYS, WORLD_READERS, Defaults, Options, category, decoder
from pytest_fcall.cases.patterns import pattern, patterns
from pytest_fcall.cases.profiles import check_profile
from pytest_fcall.cases.retrieval import retrieval
from pytest_fcall.cases.rules import language, match_rules, profile, strings
from pytest_fcall.cases.scope import Scope
from pytest_fcall.cases.settings import settings
from pytest_fcall.cases.tool_entries import pick
from pytest_fcall.cases.toolbox import Toolbox
from pytest_fcall.cases.wire import wire
from pytest_fcall.core import CallPattern, Case, Condition, MatchRule, Message, Rules, Samples, Tool, Turn, World

_CHECKS = ("expect", "answer", "state", "result")
_SAID = ("prompt", "messages")
CASE_KEYS = frozenset(("id", "matrix", "turns", "tools", "match", "wire", *_SAID, *_CHECKS, *OPTION_KEYS))
_NO_ROW: Mapping[str, Node] = MappingProxyType({})
TURN_KEYS = frozenset(("user", *_CHECKS))


@dataclass(frozen=True, slots=True)
class Ground:
    """What all cases of a file stand on."""

    source: Source
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
            Filling(self.now, row),
            self.extensions,
            self.toolbox,
            match=self.match,
        )


def read_case(
    name: str, place: Node, entries: Entries, *, row: Mapping[str, Node], ground: Ground, faults: Faults
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


def _scope(entries: Entries, row: Mapping[str, Node], ground: Ground, faults: Faults) -> Scope:
    """The scope of a case; its clock comes first, since it is written into everything else."""
    scope = ground.scope(faults, row)
    now = Options(entries, ground.defaults, scope).one("now", _now)
    if now is not None:
        scope.filling = Filling(now, row)
    return scope


def _filled(entries: Entries, row: Mapping[str, Node], ground: Ground, scope: Scope) -> Entries:
    if not row and not ground.source.names_clock:
        return entries
    return {name: (key, scope.filling.node(value, scope.faults)) for name, (key, value) in entries.items()}


def _tools(entries: Entries, scope: Scope) -> tuple[Tool, ...]:
    tools = scope.toolbox.catalogue
    if "tools" not in entries:
        return tools
    found = fields.entries(entries["tools"][1], scope.faults, "`tools` of a case")
    fields.known_only(found, ("only", "without"), scope.faults, "`tools` of a case")
    return tuple(pick(tools, found, scope.faults))


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
    for node in fields.items(entries["turns"][1], scope.faults, "`turns`"):
        found = fields.entries(node, scope.faults, "a turn")
        fields.known_only(found, TURN_KEYS, scope.faults, "a turn")
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
    return clock(scope.filling.node(node, scope.faults), scope.faults)


def _tags(node: Node, scope: Scope) -> tuple[str, ...]:
    return tuple(tag(item, scope.faults) for item in fields.items(node, scope.faults, "`tags`"))


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
