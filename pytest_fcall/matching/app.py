"""The requests of an app to its models and its spans, judged by what a case expects of them (`wire:`, `spans:`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from pytest_fcall.core.app import NO_EXCHANGE, AppExchange, AppSpans, RanTool, SpansExpectation, WireExpectation
from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.expectation import CallPattern, Expectation, ExpectedCall, Rules
from pytest_fcall.core.message_text import others_text
from pytest_fcall.core.reply import Call, Calls, Reply
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge
from pytest_fcall.matching.values import judge_value
from pytest_fcall.matching.wording import call_text

_ANY: Final[Mapping[str, Json]] = {"additionalProperties": True}
_MOST_NAMED: Final = 5
_MISSING: Final = frozenset({"no_call", "wrong_count"})
"""Reasons that name what did not run."""
_Findings: TypeAlias = tuple[tuple[Reason, ...], tuple[str, ...]]
"""Reasons and notes."""
_NO_TOOL: Final = Reply("no span tells of a tool that ran")


def judge_app_exchanges(
    expected: WireExpectation,
    exchanges: Sequence[AppExchange],
    calls: Calls,
    costs: Sequence[float | None],
    context: MatchContext,
) -> Verdict:
    """Judge the requests of an app, by the rules of the case.

    `calls` are those of all replies, `costs` those of each exchange, None where a price is missing. Every path begins
    with `wire`.
    """
    asked = [each for each in exchanges if each.model]
    figures: Mapping[str, tuple[ReasonKind, Json]] = {
        "count": ("wrong_count", len(asked)),
        "tools": ("wrong_value", _distinct(tool.name for each in asked for tool in each.request.tools)),
        "models": ("wrong_value", _distinct(each.model for each in asked)),
        "tokens": ("wrong_value", _token_count(asked)),
        "cost": ("wrong_value", None if None in costs else sum(filter(None, costs))),
    }
    inside, notes = _judge_calls_inside(expected, asked, calls, context)
    reasons = list(inside)
    for name, (kind, value) in figures.items():
        pattern = getattr(expected, name)
        if pattern is None:
            continue
        if value is None:
            message = f"wire.{name} is unknown: {_why_unknown(exchanges, costs)}"
            reasons.append(Reason(kind, f"wire.{name}", message, pattern))
        else:
            reasons += judge_value(pattern, value, kind, ("wire", name), context)
    return Verdict(not reasons, tuple(reasons), notes=notes)


def judge_app_spans(expected: SpansExpectation, spans: AppSpans, context: MatchContext) -> Verdict:
    """Judge the tools that ran and the models that were asked, by the rules of the case.

    Every path begins with `spans`. What needs arguments that no span tells is to be kept out: see `unreported_tool`.
    """
    reasons, notes = _judge_ran_tools(expected, spans, context)
    if expected.models is not None:
        reasons += judge_value(expected.models, list(spans.models), "wrong_value", ("spans", "models"), context)
    return Verdict(not reasons, reasons, notes=notes)


def unreported_tool(expected: SpansExpectation, rules: Rules, spans: AppSpans) -> str:
    """The name of a tool that ran whose arguments are to be judged, and told by no span; empty where there is none."""
    globs = [each.tool for each in (*rules.never, *_calls_of(expected.calls)) if each.arguments is not None]
    return next(
        (name for name in sorted(_untold(expected, spans)) if any(glob_matches(glob, name) for glob in globs)), ""
    )


def _why_unknown(exchanges: Sequence[AppExchange], costs: Sequence[float | None]) -> str:
    if _token_count([each for each in exchanges if each.model]) is None:
        return "a reply has no token counts."
    names = list(dict.fromkeys(each.priced_as for each, cost in zip(exchanges, costs, strict=True) if cost is None))
    return f'no price for {", ".join(names)}; set [tool.fcall.prices."{names[0]}"] in pyproject.toml'


def _judge_calls_inside(
    expected: WireExpectation, asked: Sequence[AppExchange], calls: Calls, context: MatchContext
) -> _Findings:
    """Judge the calls in all replies as those of one. Where none are expected, some may be forbidden nevertheless."""
    if expected.calls is None and not context.rules.never:
        return (), ()
    offered = (tool for each in asked for tool in each.request.tools)
    # As the file describes a tool, it is to be judged, wherever the app takes its description from.
    tools = {tool.name: tool for tool in (*offered, *expected.known_tools, *context.tools)}
    inside = MatchContext([*tools.values()], context.rules, context.comparators)
    reply = asked[-1].reply if asked else NO_EXCHANGE
    verdict = judge(reply, calls, expected.calls or Expectation(extra="allow"), inside)
    no_request = "" if asked else f"; {NO_EXCHANGE.text}"
    reasons = tuple(
        replace(reason, path=f"wire.{reason.path}", message=f"inside the app: {reason.message}{no_request}")
        for reason in verdict.reasons
        if expected.calls is not None or reason.kind == "forbidden_call"
    )
    return reasons, tuple(f"inside the app: {note}" for note in verdict.notes)


def _token_count(asked: Sequence[AppExchange]) -> int | None:
    """Input and output tokens of all replies; None where one has no counts."""
    total = 0
    for each in asked:
        usage = each.reply.usage
        if usage is None or usage.input_tokens is None or usage.output_tokens is None:
            return None
        total += usage.input_tokens + usage.output_tokens
    return total


def _distinct(names: Iterable[str]) -> list[Json]:
    return list(dict.fromkeys(names))


def _untold(expected: SpansExpectation, spans: AppSpans) -> set[str]:
    """The names of tools whose arguments no span tells. A tool without parameters has none to tell."""
    without = {tool.name for tool in expected.known_tools if not tool.parameters.get("properties")}
    return {tool.name for tool in spans.tools if tool.arguments is None and tool.name not in without}


def _calls_of(expectation: Expectation | None) -> Iterator[ExpectedCall | CallPattern]:
    if expectation is None:
        return
    yield from expectation.calls
    yield from (*expectation.allow, *expectation.never)
    for alternative in expectation.alternatives:
        yield from _calls_of(alternative)


def _judge_ran_tools(expected: SpansExpectation, spans: AppSpans, context: MatchContext) -> _Findings:
    """Judge the tools that ran as the calls of one reply. Where none are expected, some may be forbidden."""
    if expected.calls is None and not context.rules.never:
        return (), ()
    calls = Calls(tuple(Call(tool.name, tool.arguments or {}) for tool in spans.tools))
    untold = _untold(expected, spans)
    inside = MatchContext(_tools(expected, spans, untold, context), context.rules, context.comparators)
    verdict = judge(_NO_TOOL, calls, expected.calls or Expectation(extra="allow"), inside)
    ran = _what_ran(spans.tools)
    reasons = tuple(
        replace(reason, path=f"spans.{reason.path}", message=f"in the spans: {_with_what_ran(reason, ran)}")
        for reason in verdict.reasons
        if expected.calls is not None or reason.kind == "forbidden_call"
    )
    return reasons, tuple(f"in the spans: {note}" for note in verdict.notes)


def _with_what_ran(reason: Reason, ran: str) -> str:
    """The message, with what ran instead: the report of a failure shows only what the app returned."""
    return f"{reason.message}; {ran}" if reason.kind in _MISSING else reason.message


def _what_ran(tools: Sequence[RanTool]) -> str:
    named = [
        f"`{tool.name}(…)`" if tool.arguments is None else call_text(Call(tool.name, tool.arguments))
        for tool in tools[:_MOST_NAMED]
    ]
    more = others_text(tools, _MOST_NAMED)
    return " ".join(filter(None, ("what ran:", ", ".join(named), more))) if named else "no tool ran"


def _tools(expected: SpansExpectation, spans: AppSpans, untold: Collection[str], context: MatchContext) -> list[Tool]:
    """The tools as the file describes them; of others, and where arguments are not told, any arguments will do."""
    known = {tool.name: tool for tool in (*expected.known_tools, *context.tools) if tool.name not in untold}
    free = {tool.name: Tool(tool.name, parameters=_ANY) for tool in spans.tools if tool.name not in known}
    return [*known.values(), *free.values()]
