"""Requests of an app to its models, judged by what a case expects of them (`wire:`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pytest_fcall.core.app import NO_EXCHANGE, AppExchange, WireExpectation
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.reply import Calls
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge
from pytest_fcall.matching.values import judge_value


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
    judged = _judge_calls(expected, asked, calls, context)
    reasons = list(judged.reasons)
    for name, (kind, value) in figures.items():
        pattern = getattr(expected, name)
        if pattern is None:
            continue
        if value is None:
            message = f"wire.{name} is unknown: {_why_unknown(exchanges, costs)}"
            reasons.append(Reason(kind, f"wire.{name}", message, pattern))
        else:
            reasons += judge_value(pattern, value, kind, ("wire", name), context)
    return Verdict(not reasons, tuple(reasons), notes=judged.notes)


def _why_unknown(exchanges: Sequence[AppExchange], costs: Sequence[float | None]) -> str:
    if _token_count([each for each in exchanges if each.model]) is None:
        return "a reply has no token counts."
    names = list(dict.fromkeys(each.priced_as for each, cost in zip(exchanges, costs, strict=True) if cost is None))
    return f'no price for {", ".join(names)}; set [tool.fcall.prices."{names[0]}"] in pyproject.toml'


def _judge_calls(
    expected: WireExpectation, asked: Sequence[AppExchange], calls: Calls, context: MatchContext
) -> Verdict:
    """Judge the calls in all replies as those of one. Where none are expected, some may be forbidden nevertheless."""
    if expected.calls is None and not context.rules.never:
        return Verdict(valid=True)
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
    return Verdict(not reasons, reasons, notes=tuple(f"inside the app: {note}" for note in verdict.notes))


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
