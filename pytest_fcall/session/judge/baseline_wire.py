"""The requests of an app that a baseline keeps, in an order that stays, and the verdict of `wire` on them today."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from pytest_fcall.backends.interfaces.interface import BOOKKEEPING_FIELDS
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.core.app import AppExchange
from pytest_fcall.core.case import Case
from pytest_fcall.core.message_text import json_text
from pytest_fcall.core.reply import Call, Calls, Reply
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.core.verdict import Reason
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.matching.app import judge_app_exchanges
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.tracking.question_digests import question_digests
from pytest_fcall.tracking.stanza import StanzaRequest, wire_to_json

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator, Decoder
    from pytest_fcall.core.verdict import ReasonKind
    from pytest_fcall.tracking.stanza import Stanza


_PROVIDER_IDS: Final = frozenset({"id", "call_id", "tool_call_id", "tool_use_id"})
"""Names that a provider gives anew each time."""
_UNSTABLE_SETTINGS: Final = frozenset({"model", "previous_response_id"})
"""Settings that are compared by themselves, or are such names."""
_UNSTABLE_FIGURES: Final = ("tokens", "cost")
"""Fields that differ each time, so that they are not kept."""
_BROKEN: Final = ("length", "content_filter", "refusal")
_ANY: Final[Mapping[str, Json]] = {"type": "object", "additionalProperties": True}


def wire_of(
    inside: Sequence[AppExchange] | None, decoders: Mapping[str, Decoder], decoder: str | None = None
) -> tuple[StanzaRequest, ...] | None:
    """The part that is kept of the requests that a model answered; None where the requests are unknown."""
    if inside is None:
        return None
    return tuple(_kept_request(each, decoders) for each in answered_requests(inside, decoders, decoder))


def answered_requests(
    inside: Sequence[AppExchange], decoders: Mapping[str, Decoder], decoder: str | None = None
) -> list[AppExchange]:
    """The requests that a model answered, in an order that is the same in each run.

    `decoder`, the case's own, is for models that are not asked in native tool mode, inside an app, too.
    """
    asked = [each for each in inside if each.model]
    if decoder and not any(each.request.tools for each in asked):
        asked = [replace(each, reply=replace(each.reply, decoder=decoder)) for each in asked]
    return _canonical_order(
        asked,
        lambda exchange: json_text(wire_to_json([_kept_request(exchange, decoders)])) or "",
    )


def wire_reasons(
    case: Case, stanza: Stanza, inside: Sequence[AppExchange] | None, comparators: Mapping[str, Comparator]
) -> tuple[Reason, ...]:
    """The verdict of the case's `wire` today on the requests that a stanza keeps.

    Tokens and cost are not kept, and neither are replies that could not be read: of them counts what was found when
    they were accepted. `inside` is what the app asked now, for the schemas of its tools.
    """
    if case.wire is None:
        return ()
    # Kinds in the file that this version does not have are compared as text, and equal none.
    found = [Reason(cast("ReasonKind", kind), path, "") for kind, path in stanza.reasons if path.startswith("wire.")]
    if stanza.wire is None or any(each.calls is None for each in stanza.wire):
        return tuple(found)
    known = {tool.name: tool for tool in (*_offered(inside), *case.tools)}
    asked = [AppExchange(each.model, _request(each, known), Reply("(not kept)")) for each in stanza.wire]
    calls = Calls(tuple(call for each in stanza.wire for call in each.calls or ()))
    expected = replace(case.wire, tokens=None, cost=None)
    measured = [f"wire.{name}" for name in _UNSTABLE_FIGURES if getattr(case.wire, name) is not None]
    context = MatchContext(case.tools, case.rules, comparators)
    return (
        *judge_app_exchanges(expected, asked, calls, (), context).reasons,
        *(reason for reason in found if reason.path.startswith(tuple(measured))),
    )


def _kept_request(inner: AppExchange, decoders: Mapping[str, Decoder]) -> StanzaRequest:
    return StanzaRequest(inner.model, _calls(inner, decoders), question_digests(_stable_request(inner.request)))


def _calls(inner: AppExchange, decoders: Mapping[str, Decoder]) -> tuple[Call, ...] | None:
    read = decode(inner.reply, inner.request.tools, decoders)
    whole = read.malformed is None and inner.reply.finish not in _BROKEN and not inner.reply.refusal
    return tuple(replace(call, id=None) for call in read.calls) if whole else None


def _stable_request(request: Request) -> Request:
    """The request without what models said, and without names of theirs: neither says that the app has changed."""
    # Without the ids, a message is still one.
    messages = tuple(cast("Message", _without_ids(message)) for message in request.messages if _is_own(message))
    unstable = _UNSTABLE_SETTINGS | BOOKKEEPING_FIELDS
    settings = {name: value for name, value in request.settings.items() if name not in unstable}
    return Request(messages, request.tools, without_secrets(settings))


def _is_own(message: Message) -> bool:
    return message.get("role") != "assistant" and message.get("type") not in ("function_call", "reasoning")


def _without_ids(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _without_ids(item) for key, item in value.items() if key not in _PROVIDER_IDS}
    return [_without_ids(item) for item in value] if isinstance(value, list | tuple) else value


def _offered(inside: Sequence[AppExchange] | None) -> Iterator[Tool]:
    return (tool for each in inside or () for tool in each.request.tools)


def _request(kept: StanzaRequest, known: Mapping[str, Tool]) -> Request:
    return Request((), tuple(known.get(name) or Tool(name, parameters=_ANY) for name in kept.tools))


_CLOCK_STEP = 0.001
"""In seconds. Times of recordings are written to the millisecond."""


def _canonical_order(exchanges: Sequence[AppExchange], text_of: Callable[[AppExchange], str]) -> list[AppExchange]:
    """Sort exchanges, which come in the order of their answers, so that parallel ones do not depend on that order.

    Each belongs to the step after those that it follows; those of one step are sorted by their text.
    """
    if not _any_overlap(exchanges):
        return list(exchanges)
    overlaps = [[_overlap(earlier, later) for earlier in exchanges[:place]] for place, later in enumerate(exchanges)]
    groups = _parallel_groups(exchanges, overlaps)
    steps: list[int] = []
    for place, later in enumerate(exchanges):
        before = (
            steps[at]
            for at, earlier in enumerate(exchanges[:place])
            if not overlaps[place][at] and (groups[at] != groups[place] or _continues(later, earlier))
        )
        steps.append(max(before, default=0) + 1)
    pairs, counts = zip(steps, exchanges, strict=True), Counter(steps)
    keys = [(step, text_of(exchange) if counts[step] > 1 else "") for step, exchange in pairs]
    return [exchanges[place] for place in sorted(range(len(keys)), key=keys.__getitem__)]


def _any_overlap(exchanges: Sequence[AppExchange]) -> bool:
    """Whether any two overlap. Most apps send one request after the other, and some of them thousands."""
    known = sorted((_begun(each), each.ended) for each in exchanges if each.ended)
    latest = 0.0
    for begun, ended in known:
        if min(latest, ended) - begun > _CLOCK_STEP:
            return True
        latest = max(latest, ended)
    return False


def _begun(exchange: AppExchange) -> float:
    return exchange.ended - (exchange.reply.seconds or 0.0)


def _overlap(one: AppExchange, other: AppExchange) -> bool:
    """Whether one was sent before the other was answered, when a provider answered them."""
    if not one.ended or not other.ended:
        return False
    return min(one.ended, other.ended) - max(_begun(one), _begun(other)) > _CLOCK_STEP


def _parallel_groups(exchanges: Sequence[AppExchange], overlaps: Sequence[Sequence[bool]]) -> list[int]:
    """Numbers that are equal for the exchanges of conversations that were held at the same time.

    Of these, only messages show which follows which: what ended first was merely faster.
    """
    groups = list(range(len(exchanges)))

    def join(one: int, other: int) -> None:
        old, new = groups[one], groups[other]
        groups[:] = [new if group == old else group for group in groups]

    latest = set[int]()
    for place, later in enumerate(exchanges):
        for at, overlap in enumerate(overlaps[place]):
            if overlap:
                join(at, place)
        known = [at for at in latest if not overlaps[place][at] and _repeats(later, exchanges[at])]
        if known:
            nearest = max(known, key=lambda at: len(exchanges[at].request.messages))
            join(nearest, place)
            latest.remove(nearest)
        latest.add(place)
    return groups


def _continues(later: AppExchange, earlier: AppExchange) -> bool:
    """Whether a request goes on where the other one ended, as far as it shows."""
    return _repeats(later, earlier) or "previous_response_id" in later.request.settings


def _repeats(later: AppExchange, earlier: AppExchange) -> bool:
    before = earlier.request.messages
    return len(later.request.messages) > len(before) and later.request.messages[: len(before)] == before
