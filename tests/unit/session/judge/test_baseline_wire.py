"""What a baseline keeps of an app's own requests, and judges again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcall.core import (
    AppExchange,
    Call,
    Case,
    Expectation,
    ExpectedCall,
    Json,
    Location,
    Message,
    RawCall,
    Reply,
    Request,
    Tool,
    Turn,
    WireExpectation,
)
from pytest_fcall.core.operators import Operator
from pytest_fcall.session.judge.baseline_wire import wire_of, wire_reasons
from pytest_fcall.tracking.stanza import Stanza, StanzaRequest

SEARCH = Tool("search", parameters={"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]})
SYSTEM: Message = {"role": "system", "content": "You book trips."}
USER: Message = {"role": "user", "content": "To Oslo?"}


def asked(*messages: Message, reply: Reply | None = None, **settings: Json) -> AppExchange:
    said = reply or Reply(tool_calls=(RawCall("search", '{"to": "Oslo"}', "call_7"),), finish="tool_calls")
    return AppExchange("gpt", Request((SYSTEM, USER, *messages), (SEARCH,), {"model": "gpt", **settings}), said)


def one(inner: AppExchange) -> StanzaRequest:
    (kept,) = wire_of([inner], {}) or ()
    return kept


def test_kept_are_the_calls_and_what_was_asked_but_no_names_of_the_wire() -> None:
    kept = one(asked())

    assert (kept.model, kept.calls) == ("gpt", (Call("search", {"to": "Oslo"}),))
    assert set(kept.digests) == {"system", "prompt", "tool:search"}


def test_what_is_no_question_to_a_model_is_not_kept() -> None:
    assert wire_of([replace(asked(), model="")], {}) == ()
    assert wire_of(None, {}) is None


@pytest.mark.parametrize(
    "reply",
    [
        Reply(tool_calls=(RawCall("search", "{"),)),
        Reply("I was going to", finish="length"),
        Reply(refusal="no", finish="refusal"),
    ],
)
def test_of_a_reply_that_does_not_come_to_an_end_no_calls_are_kept(reply: Reply) -> None:
    assert one(asked(reply=reply)).calls is None


CALLED: Json = [{"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}]


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ({"role": "assistant", "tool_calls": CALLED}, {"role": "assistant", "content": "Well."}),
        (
            {"role": "tool", "tool_call_id": "call_1", "content": "7"},
            {"role": "tool", "tool_call_id": "call_2", "content": "7"},
        ),
        (
            {"type": "function_call_output", "call_id": "a", "output": "7"},
            {"type": "function_call_output", "call_id": "b", "output": "7"},
        ),
        ({"type": "function_call", "call_id": "a"}, {"type": "function_call", "call_id": "b"}),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "7"}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "7"}]},
        ),
    ],
)  # fmt: skip
def test_what_models_said_and_how_providers_call_things_is_no_change_of_the_app(then: Message, now: Message) -> None:
    assert one(asked(then)) == one(asked(now))


@pytest.mark.parametrize(
    "now",
    [
        asked({"role": "tool", "tool_call_id": "call_1", "content": "8"}),
        asked({"role": "user", "content": "Well?"}),
        asked(temperature=1),
    ],
)
def test_other_results_questions_and_settings_are_a_change(now: AppExchange) -> None:
    assert one(now) != one(asked({"role": "tool", "tool_call_id": "call_1", "content": "7"}))


def judged(wire: WireExpectation, *kept: StanzaRequest, reasons: tuple[tuple[str, str], ...] = ()) -> list[str]:
    case = Case("oslo", Location("a.fc.yaml"), (Turn((USER,)),), wire=wire)
    stanza = Stanza("oslo", not reasons, reasons, (), wire=kept)
    return [reason.path for reason in wire_reasons(case, stanza, [asked()], {})]


RIGHT = WireExpectation(Expectation(stages=((ExpectedCall("search", {"to": "Oslo"}),),)), 1, ["search"], ["gpt"])
KEPT = one(asked())
MEASURED = (("wrong_value", "wire.tokens"), ("wrong_count", "wire.count"), ("wrong_value", "calls[0].args.to"))


def test_kept_requests_are_judged_by_the_case_as_it_is_today() -> None:
    assert judged(RIGHT, KEPT) == []
    assert judged(replace(RIGHT, count=2), KEPT) == ["wire.count"]
    assert judged(RIGHT, KEPT, KEPT) == ["wire.calls[1]", "wire.count"]
    assert judged(RIGHT, KEPT._replace(calls=(Call("search", {"to": "Rome"}),))) == ["wire.calls[0].args.to"]


def test_tokens_are_not_kept_so_that_what_was_found_of_them_counts_as_long_as_the_case_asks_for_them() -> None:
    few = Operator("lt", 10)
    assert judged(replace(RIGHT, tokens=few), KEPT, reasons=MEASURED) == ["wire.tokens"]
    assert judged(replace(RIGHT, tokens=few), KEPT) == []
    assert judged(RIGHT, KEPT, reasons=MEASURED) == []


def test_what_could_not_be_read_counts_as_it_was_accepted() -> None:
    assert judged(RIGHT, KEPT._replace(calls=None), reasons=MEASURED) == ["wire.tokens", "wire.count"]


def test_tools_that_nobody_knows_any_more_take_any_arguments() -> None:
    gone = StanzaRequest("gpt", (Call("find", {"where": 1}),), {"tool:find": "1"})
    expected = Expectation(stages=((ExpectedCall("find", {"where": 1}),),))
    assert judged(WireExpectation(expected), gone) == []
