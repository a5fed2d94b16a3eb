from __future__ import annotations

import pytest

from pytest_fcall.backends.spans.inbox import SpanInbox
from pytest_fcall.backends.spans.otlp import ReceivedSpan
from pytest_fcall.backends.spans.variables import span_of_case, traceparent

OSLO, ROME = "0a" * 16, "0b" * 16
LONG = 1000.0


def span(name: str, trace: str = OSLO, parent: str = "") -> ReceivedSpan:
    return ReceivedSpan(trace, name, parent, "shop", 0, 0, {})


@pytest.fixture
def inbox() -> SpanInbox:
    inbox = SpanInbox()
    inbox.open(OSLO, "oslo", wanted=True)
    inbox.open(ROME, "rome", wanted=False)
    return inbox


def names(inbox: SpanInbox) -> list[str]:
    return [each.id for each in inbox.close(OSLO).spans]


def test_the_header_names_the_trace_and_the_span_that_nobody_exports() -> None:
    assert traceparent(OSLO) == f"00-{OSLO}-{span_of_case(OSLO)}-01"


def test_spans_belong_to_the_case_of_their_trace_whatever_address_they_were_sent_to(inbox: SpanInbox) -> None:
    inbox.receive([span("a"), span("b", ROME)], ROME)
    assert names(inbox) == ["a"]
    assert not inbox.strays


def test_spans_of_other_traces_belong_to_the_case_whose_own_address_they_were_sent_to(inbox: SpanInbox) -> None:
    inbox.receive([span("a", "ff" * 16)], OSLO)
    inbox.receive([span("b", "ff" * 16)], "group")
    inbox.receive([span("c", "ff" * 16)], "group", may_be_others=True)
    assert names(inbox) == ["a"]
    assert inbox.strays == {("", "shop"): 1}


def test_a_span_that_comes_twice_is_one(inbox: SpanInbox) -> None:
    inbox.receive([span("a")])
    inbox.receive([span("a")])
    assert names(inbox) == ["a"]


def test_what_comes_after_the_case_was_closed_is_late_once_for_each_span(inbox: SpanInbox) -> None:
    inbox.close(OSLO)
    inbox.receive([span("a"), span("b", ROME)])
    assert inbox.strays == {("oslo", ""): 1}


def test_a_trace_is_whole_when_its_first_span_is_there_and_every_parent(inbox: SpanInbox) -> None:
    inbox.seconds_left(OSLO, LONG)
    assert inbox.seconds_left(OSLO, LONG) > LONG / 2
    inbox.receive([span("tool", parent="agent")])
    assert inbox.seconds_left(OSLO, LONG) > LONG / 2
    inbox.receive([span("agent", parent="server")])
    inbox.receive([span("root", parent=span_of_case(OSLO))])
    assert inbox.seconds_left(OSLO, LONG) > LONG / 2
    inbox.receive([span("server", parent="root")])
    assert inbox.seconds_left(OSLO, LONG) < 1


def test_a_trace_that_is_never_whole_is_faulty(inbox: SpanInbox) -> None:
    inbox.receive([span("tool", parent="agent")])
    assert "parents" in inbox.close(OSLO).fault


def test_after_a_case_without_any_span_others_wait_less_for_their_first_one(inbox: SpanInbox) -> None:
    inbox.close(OSLO)
    inbox.open("0c" * 16, "third", wanted=True)
    assert inbox.seconds_left("0c" * 16, LONG) < 2
    inbox.receive([span("tool", "0c" * 16, parent="agent")])
    assert inbox.seconds_left("0c" * 16, LONG) > LONG / 2


def test_a_message_that_cannot_be_read_may_have_been_of_any_case_at_work(inbox: SpanInbox) -> None:
    inbox.note_unreadable("it is garbage")
    inbox.receive([span("a")])
    assert "it is garbage" in inbox.close(OSLO).fault
    assert inbox.strays == {("", ""): 1}


def test_an_app_that_goes_round_in_circles_does_not_fill_the_memory(inbox: SpanInbox) -> None:
    inbox.receive(span(str(number)) for number in range(20_001))
    collected = inbox.close(OSLO)
    assert len(collected.spans) == 20_000
    assert "more than 20,000" in collected.fault


def test_programs_of_many_names_are_told_together(inbox: SpanInbox) -> None:
    inbox.receive(span("a", "ff" * 16)._replace(service=f"{number:03}" + "x" * 200) for number in range(500))
    assert len(inbox.strays) <= 101
    assert inbox.strays.total() == 500
