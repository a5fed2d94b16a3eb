"""Requests of an app to its models against what a case expects of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_fcall.core.app_exchange import NO_EXCHANGE, AppExchange, WireExpectation
from pytest_fcall.core.expectation import Rules
from pytest_fcall.core.reply import Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, ReasonKind
from pytest_fcall.matching.reply import judge
from pytest_fcall.matching.values import compare_outside_calls
from pytest_fcall.schema.value_text import path_text

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator


def judge_app_exchanges(
    expected: WireExpectation,
    inner: Sequence[AppExchange],
    calls: Calls,
    costs: Sequence[float | None],
    tools: Sequence[Tool],
    rules: Rules,
    comparators: Mapping[str, Comparator],
) -> tuple[Reason, ...]:
    """Judge what was asked: `calls` are those of all replies, `costs` those of each request, None where nobody knows.

    Every path begins with `wire`.
    """
    asked = [each for each in inner if each.model]
    known: Mapping[str, tuple[ReasonKind, Json]] = {
        "count": ("wrong_count", len(asked)),
        "tools": ("wrong_value", _distinct(tool.name for each in asked for tool in each.request.tools)),
        "models": ("wrong_value", _distinct(each.model for each in asked)),
        "tokens": ("wrong_value", _token_count(asked)),
        "cost": ("wrong_value", None if None in costs else sum(filter(None, costs))),
    }
    reasons = list(_wrong_calls(expected, asked, calls, tools, rules, comparators))
    for name, (kind, value) in known.items():
        pattern = getattr(expected, name)
        if pattern is None:
            continue
        if value is None:
            message = f"wire.{name} is not known: {_why_unknown(inner, costs)}"
            reasons.append(Reason(kind, f"wire.{name}", message, pattern))
            continue
        reasons += [
            Reason(kind, path_text(each.keys), each.tell(), each.expected, each.got)
            for each in compare_outside_calls(pattern, value, ("wire", name), rules, comparators)
        ]
    return tuple(reasons)


def _why_unknown(inner: Sequence[AppExchange], costs: Sequence[float | None]) -> str:
    if _token_count([each for each in inner if each.model]) is None:
        return "a reply does not say what it took."
    names = list(dict.fromkeys(each.priced_as for each, cost in zip(inner, costs, strict=True) if cost is None))
    return f'nobody knows the price of {", ".join(names)}; [tool.fcall.prices."{names[0]}"] in pyproject.toml says it'


def _wrong_calls(
    expected: WireExpectation,
    asked: Sequence[AppExchange],
    calls: Calls,
    tools: Sequence[Tool],
    rules: Rules,
    comparators: Mapping[str, Comparator],
) -> Iterable[Reason]:
    if expected.calls is None:
        return
    offered = {tool.name: tool for tool in (*tools, *(tool for each in asked for tool in each.request.tools))}
    reply = asked[-1].reply if asked else NO_EXCHANGE
    verdict = judge(
        reply, calls, expected.calls, [*offered.values()], replace(rules, profile="strict", never=()), comparators
    )
    why = "" if asked else f"; {NO_EXCHANGE.text}"
    for reason in verdict.reasons:
        yield replace(reason, path=f"wire.{reason.path}", message=f"inside the app: {reason.message}{why}")


def _token_count(asked: Sequence[AppExchange]) -> int | None:
    """Input and output of all; None where one does not say."""
    total = 0
    for each in asked:
        usage = each.reply.usage
        if usage is None or usage.input_tokens is None or usage.output_tokens is None:
            return None
        total += usage.input_tokens + usage.output_tokens
    return total


def _distinct(names: Iterable[str]) -> list[Json]:
    return list(dict.fromkeys(names))
