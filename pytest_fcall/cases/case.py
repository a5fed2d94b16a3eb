"""One case: its turns, tools, rules and options, its category, and its first request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from yaml import Node

from pytest_fcall.cases import node_values
from pytest_fcall.cases.defaults import Defaults
from pytest_fcall.cases.expectations import APP_KEYS, CHECK_KEYS, answer, expectation, spans, wire
from pytest_fcall.cases.faults import Faults, SourceFile
from pytest_fcall.cases.files import Reach
from pytest_fcall.cases.messages import Messages
from pytest_fcall.cases.node_values import Entries
from pytest_fcall.cases.option_values import OPTION_KEYS
from pytest_fcall.cases.patterns import pattern, patterns
from pytest_fcall.cases.placeholders import Placeholders
from pytest_fcall.cases.rules import check_profile, match_rules
from pytest_fcall.cases.scope import Extensions, Scope, Toolbox
from pytest_fcall.cases.tool_entries import pick_tools
from pytest_fcall.core.case import Case, Turn
from pytest_fcall.core.expectation import Expectation, MatchRule
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.values import Json, Message

if TYPE_CHECKING:
    from pytest_fcall.cases.defaults import Options
    from pytest_fcall.core.conversation import ConversationSettings

_MESSAGE_KEYS = ("prompt", "messages")
CASE_KEYS = OPTION_KEYS | {"id", "matrix", "turns", "tools", "match", *APP_KEYS, *_MESSAGE_KEYS, *CHECK_KEYS}
TURN_KEYS = frozenset(("user", *CHECK_KEYS))
_CHECKS_BESIDE_CALLS = frozenset(CHECK_KEYS) - {"expect"}
_NO_ROW: Mapping[str, Node] = MappingProxyType({})
_NO_DAY = datetime(2000, 1, 1, tzinfo=UTC)
"""The time at which cases are compared whose clock nobody has set: otherwise they would be others each day."""
_NO_SETTINGS: Mapping[str, Json] = MappingProxyType({})


class FileContext(NamedTuple):
    """The part of a file that all its cases share."""

    source: SourceFile
    folder: Path
    reach: Reach
    toolbox: Toolbox
    defaults: Defaults
    match_rules: tuple[MatchRule, ...]
    extensions: Extensions
    now: datetime
    """The clock of cases that set none: the time of the run."""

    def scope(self, faults: Faults, row: Mapping[str, Node] = _NO_ROW, now: datetime | None = None) -> Scope:
        """The scope of a part of the file. `now` is the time for a case that has a clock of its own."""
        return Scope(
            faults,
            self.folder,
            self.reach,
            Placeholders(now or self.now, row),
            self.extensions,
            self.toolbox,
            match_rules=self.match_rules,
        )


def read_cases(
    name: str, place: Node, entries: Entries, *, row: Mapping[str, Node], context: FileContext, faults: Faults
) -> list[Case]:
    """Read a case, or one row of its matrix, and the same under each attack and with each faulty result.

    If faults were added, the cases must not be used.
    """
    now = context.defaults.clock(entries, partial(context.scope, faults, row))
    case, options = _read_at(now or context.now, name, place, entries, row=row, context=context, faults=faults)
    if now is None and (context.source.uses_clock or context.defaults.uses_clock) and not faults:
        undated, _ = _read_at(_NO_DAY, name, place, entries, row=row, context=context, faults=faults)
        case = replace(case, undated=undated)
    if not (options.attacks or options.result_faults) or faults:
        return [case]
    return [case, *_changed_results(case, options, entries, faults)]


def _changed_results(case: Case, options: Options, entries: Entries, faults: Faults) -> Iterator[Case]:
    """The case under each attack, and with each faulty result."""
    from pytest_fcall.cases.faulty_results import faulty_cases
    from pytest_fcall.cases.injections import attacked_cases

    attacked, faulty = (entries.key(name) if name in entries else None for name in ("inject", "faults"))
    yield from attacked_cases(case, options.attacks, attacked, faults)
    yield from faulty_cases(case, options.result_faults, faulty, faults)


def _read_at(
    now: datetime,
    name: str,
    place: Node,
    entries: Entries,
    *,
    row: Mapping[str, Node],
    context: FileContext,
    faults: Faults,
) -> tuple[Case, Options]:
    """Read a case whose clock shows this time, and its options."""
    scope = context.scope(faults, row, now)
    if row or context.source.uses_clock:
        fill = scope.placeholders.fill_node
        entries = Entries({key: (node, fill(value, faults)) for key, (node, value) in entries.items()})
    options = context.defaults.options(entries, scope)
    scope.profile = options.rules.profile
    tools, scope.offered_tools = _tools(entries, scope)
    rules = options.rules
    if "match" in entries:
        scope.match_rules = match_rules(entries["match"][1], scope) + context.match_rules
        rules = rules._replace(match=scope.match_rules)
    turns = _turns(place, entries, options.system_message, scope)
    wired, spanned = entries.read("wire", wire, scope), entries.read("spans", spans, scope)
    check_profile(entries.node("expect") or place, turns, rules, faults)
    for key, inside in (("wire", wired), ("spans", spanned)):
        if inside is not None and inside.calls is not None:
            check_profile(entries.key(key), [Turn((), inside.calls)], rules._replace(language="python"), faults)
    _check_state(place, entries, turns, options.conversation, faults)
    mode = mode_of(turns, options.conversation)
    case = Case(
        id=name,
        location=context.source.location(place),
        turns=turns,
        tools=tools,
        rules=rules,
        category=options.category or category_of(turns, tools, mode),
        tags=options.tags,
        skip=options.skip,
        xfail=options.xfail,
        samples=options.samples,
        variants=options.variants,
        settings=options.settings,
        decoder=options.decoder,
        retrieve=options.retrieve,
        conversation=options.conversation,
        wire=wired,
        spans=spanned,
        mode=mode,
    )
    return case, options


def _tools(entries: Entries, scope: Scope) -> tuple[tuple[Tool, ...], frozenset[str]]:
    """The tools that the case offers, and their names."""
    toolbox = scope.toolbox
    if "tools" not in entries:
        return toolbox.catalogue, toolbox.names
    found = node_values.entries(entries["tools"][1], scope.faults, "`tools` of a case", ("only", "without"))
    tools = tuple(pick_tools(toolbox.catalogue, found, scope.faults))
    return tools, frozenset(tool.name for tool in tools)


def _turns(place: Node, entries: Entries, system: tuple[Message, ...], scope: Scope) -> tuple[Turn, ...]:
    if "turns" not in entries:
        if entries.keys().isdisjoint((*APP_KEYS, *CHECK_KEYS)):
            message = "the case has no `expect`, `answer`, `state` or `result`"
            scope.faults.add("missing-key", place, message, "give it an `expect:`")
        return (_turn(_messages(place, entries, system, scope), entries, scope),)
    for name in (*_MESSAGE_KEYS, *CHECK_KEYS):
        if name in entries:
            message = f"`turns` and `{name}` exclude each other"
            scope.faults.add("contradiction", entries.key(name), message, "put it into a turn")
    turns: list[Turn] = []
    for node in node_values.items(entries["turns"][1], scope.faults, "`turns`", "begin each turn with `- user: `"):
        found = node_values.entries(node, scope.faults, "a turn", TURN_KEYS)
        messages = () if turns else system
        if "user" in found:
            messages += ({"role": "user", "content": Messages(scope).content(found["user"][1], "`user`")},)
        elif found:
            scope.faults.add("missing-key", node, "this turn has no `user`", "add the message: `user: …`")
        turns.append(_turn(messages, found, scope))
    if not any(turn.expect or turn.answer is not None or turn.state or turn.result is not None for turn in turns):
        scope.faults.add("missing-key", place, "no turn expects anything", "give a turn an `expect:`")
    return tuple(turns)


def _turn(messages: tuple[Message, ...], found: Entries, scope: Scope) -> Turn:
    expected = found.read("expect", expectation, scope)
    if found.keys().isdisjoint(_CHECKS_BESIDE_CALLS):
        return Turn(messages, expected)
    return Turn(
        messages=messages,
        expect=expected,
        answer=found.read("answer", answer, scope),
        state=found.read("state", patterns, scope, "`state`"),
        result=found.read("result", pattern, scope),
    )


def _messages(place: Node, entries: Entries, system: tuple[Message, ...], scope: Scope) -> tuple[Message, ...]:
    reader = Messages(scope)
    messages = entries.read("messages", reader.messages) or ()
    if not messages or messages[0].get("role") not in {"system", "developer"}:
        messages = system + messages
    elif "system" in entries:
        message = "`messages` already begin with a system message"
        scope.faults.add("contradiction", entries.key("system"), message, "leave one out")
    if "prompt" in entries:
        messages += ({"role": "user", "content": reader.content(entries["prompt"][1], "`prompt`")},)
    elif "messages" not in entries:
        scope.faults.add("missing-key", place, "the case has no `prompt` or `messages`", "give it a `prompt:`")
    return messages


def _check_state(
    place: Node, entries: Entries, turns: Sequence[Turn], settings: ConversationSettings | None, faults: Faults
) -> None:
    if settings and settings.environment:
        return
    if any(turn.state is not None for turn in turns):
        place = entries.key("state") if "state" in entries else place
        faults.add("missing-key", place, "`state` needs an `environment`", "such as `environment: shop.fake:make`")


def mode_of(turns: Sequence[Turn], settings: ConversationSettings | None) -> Literal["request", "conversation"]:
    """`conversation` if the case needs more than one request.

    It does with several turns or stages, stubbed results or something behind the tools, an answer after calls, or calls
    that may come one after the other.
    """
    if len(turns) > 1 or settings is not None:
        return "conversation"
    for turn in turns:
        if turn.state or turn.result is not None:
            return "conversation"
        if turn.expect and _goes_on(turn.expect, answers=turn.answer is not None):
            return "conversation"
    return "request"


def category_of(turns: Sequence[Turn], tools: Sequence[Tool], mode: str) -> str:
    """The BFCL category of a case: `simple` for one call and one tool, `parallel` for several calls …"""
    if mode == "conversation":
        return "conversation"
    expect = turns[0].expect if turns else None
    while expect is not None and expect.kind == "any_of":
        expect = next((each for each in expect.alternatives if each.kind != "no_call"), None)
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
    """Whether the model gets results of its calls, or may need them."""
    if any(_goes_on(each, answers=answers) for each in expect.alternatives):
        return True
    calls = [call for stage in expect.stages for call in stage]
    if len(expect.stages) > 1 or any(call.stub or call.result is not None for call in calls):
        return True
    if expect.parallel == "free" and (len(calls) > 1 or any(call.times[1] != 1 for call in calls)):
        return True
    return answers and (bool(calls) or bool(expect.allow) or expect.extra == "allow" or expect.kind == "any_call")


def plan_request(case: Case, settings: Mapping[str, Json] = _NO_SETTINGS, sample: int = 0) -> Request:
    """The first request of a case. Settings of the case replace those of the model, and both what a suite proposes."""
    first = case.turns[0]
    settings_of_case = {**settings, **case.settings}
    return Request(
        messages=first.messages,
        tools=() if case.tools_in_messages else first.tools if first.tools is not None else case.tools,
        settings={**case.proposed_settings, **settings_of_case},
        sample=sample,
        now=case.rules.now,
        proposed=frozenset(case.proposed_settings.keys() - settings_of_case.keys()),
        wording=case.wording,
    )
