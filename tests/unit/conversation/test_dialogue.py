from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fcall.core import Json, RawCall, Reply
from tests.unit.conversation.conversations import MemoryStore, Model, Say, case_of, held

SEARCH: Say = [("search", {"to": "Oslo"})]
BOOK: Say = [("book", {"flight": "F7"})]
CANCEL: Say = [("cancel", {"booking": "B1"})]

TWO_TURNS = """
turns:
  - user: Book the cheapest flight to Oslo.
    expect:
      - search: {to: Oslo}
        returns: [{id: F7, price: 90}]
        as: found
      - then:
          - book: {flight: {$from: "found.result[0].id"}}
            returns: {booking: B1}
  - user: Cancel it.
    expect: [{cancel: {booking: B1}}]
    answer: {$contains: cancelled}
"""


def test_a_model_that_does_as_expected_passes_every_turn(tmp_path: Path) -> None:
    model = Model([SEARCH, BOOK, "Booked.", CANCEL, "It is cancelled."])
    transcript, verdict = held(case_of(tmp_path, TWO_TURNS), model)
    assert verdict.valid
    assert [len(turn.steps) for turn in transcript.turns] == [3, 2]
    assert [turn.end for turn in transcript.turns] == ["answered", "answered"]


def test_results_are_told_to_the_model_under_the_names_of_its_calls(tmp_path: Path) -> None:
    model = Model([SEARCH, BOOK, "Booked."])
    held(case_of(tmp_path, TWO_TURNS), model)
    called, told = model.asked[1].messages[-2:]
    assert called["tool_calls"] == [
        {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": '{"to": "Oslo"}'}}
    ]
    assert told == {"role": "tool", "tool_call_id": "call_1", "content": '[{"id": "F7", "price": 90}]'}
    assert [message["role"] for message in model.told] == ["user", *["assistant", "tool"] * 2, "assistant", "user"]


@pytest.mark.parametrize(
    ("choice", "later"), [("required", None), ("search", None), ("auto", "auto"), ("none", "none")]
)
def test_an_order_to_call_holds_until_it_is_obeyed(tmp_path: Path, choice: str, later: str | None) -> None:
    model = Model([SEARCH, BOOK, "Booked.", CANCEL, "It is cancelled."])
    held(case_of(tmp_path, f"{TWO_TURNS}settings: {{tool_choice: {choice}, seed: 1}}"), model)
    said = [asked.settings.get("tool_choice") for asked in model.asked]
    assert said == [said[0], later, later, said[0], later]
    assert choice in str(said[0])
    assert all(asked.settings["seed"] == 1 for asked in model.asked)


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        (["a", "a"], ["a", "call_2"]),
        (["", None], ["call_1", "call_2"]),
        (["call_2", None, "call_2"], ["call_2", "call_3", "call_4"]),
        ([None, "call_1"], ["call_2", "call_1"]),
    ],
)
def test_calls_of_one_reply_never_have_the_same_name(tmp_path: Path, ids: list[str | None], names: list[str]) -> None:
    calls = tuple(RawCall("search", {"to": "Oslo"}, name) for name in ids)
    model = Model([Reply(tool_calls=calls, finish="tool_calls")])
    times = f"times: {len(ids)}"
    held(case_of(tmp_path, f"prompt: x\nexpect: [{{search: {{to: Oslo}}, {times}, returns: []}}]"), model)
    assert [message["tool_call_id"] for message in model.told if message["role"] == "tool"] == names


def test_what_the_wire_wants_to_see_again_goes_back_with_the_call(tmp_path: Path) -> None:
    signed: Mapping[str, Json] = {"extra_content": {"google": {"thought_signature": "s1"}}}
    call = RawCall("search", {"to": "Oslo"}, "id1", signed)
    said = Reply(tool_calls=(call,), finish="tool_calls", extra={"reasoning_details": [{"data": "d"}]})
    model = Model([said])
    held(case_of(tmp_path, TWO_TURNS), model)
    called = model.asked[1].messages[-2]
    assert called["reasoning_details"] == [{"data": "d"}]
    assert called["tool_calls"] == [
        {**signed, "id": "id1", "type": "function", "function": {"name": "search", "arguments": '{"to": "Oslo"}'}}
    ]


def test_calls_made_at_once_are_answered_at_once(tmp_path: Path) -> None:
    case = case_of(tmp_path, "prompt: x\nstubs: {search: [A]}\nexpect: [search: {to: Oslo}, search: {to: Rome}]")
    model = Model([[("search", {"to": "Rome"}), ("search", {"to": "Oslo"})]])
    _, verdict = held(case, model)
    assert verdict.valid
    assert [message.get("tool_call_id") for message in model.told] == [None, None, "call_1", "call_2"]


def test_the_second_turn_is_not_begun_when_something_is_missing_in_the_first(tmp_path: Path) -> None:
    model = Model([SEARCH, "I found one."])
    transcript, verdict = held(case_of(tmp_path, TWO_TURNS), model)
    assert len(transcript.turns) == 1
    assert [(reason.kind, reason.path) for reason in verdict.reasons] == [("wrong_count", "turns[0].expected[1]")]


def test_a_fault_in_a_later_turn_says_so_in_its_path(tmp_path: Path) -> None:
    model = Model([SEARCH, BOOK, "Booked.", [("cancel", {"booking": "B2"})]])
    _, verdict = held(case_of(tmp_path, TWO_TURNS), model)
    assert [(reason.kind, reason.path) for reason in verdict.reasons] == [
        ("wrong_value", "turns[1].calls[0].args.booking")
    ]


def test_a_call_that_nothing_answers_ends_the_conversation(tmp_path: Path) -> None:
    model = Model([[("search", {"to": "Bergen"})]])
    transcript, verdict = held(case_of(tmp_path, TWO_TURNS), model)
    assert transcript.turns[0].end == "stopped"
    assert len(model.asked) == 1
    assert [reason.kind for reason in verdict.reasons] == ["wrong_value", "wrong_count"]


@pytest.mark.parametrize(
    ("unmatched", "told"),
    [
        ("error", '{"error": "nothing is known about this call"}'),
        ("{found: nothing}", '{"found": "nothing"}'),
        ("sorry", "sorry"),
    ],
)
def test_what_a_call_gets_that_nothing_answers_can_be_chosen(tmp_path: Path, unmatched: str, told: str) -> None:
    case = case_of(tmp_path, f"prompt: x\nunmatched: {unmatched}\nexpect: [search: {{to: Oslo}}]")
    model = Model([[("search", {"to": "Bergen"})], SEARCH])
    _, verdict = held(case, model)
    assert model.asked[1].messages[-1]["content"] == told
    assert [reason.kind for reason in verdict.reasons] == ["unexpected_call"]


def test_an_expected_call_without_a_result_has_been_done(tmp_path: Path) -> None:
    case = case_of(tmp_path, "prompt: x\nexpect: [search: {to: Oslo}]\nanswer: {$contains: found}")
    model = Model([SEARCH, "I found some."])
    _, verdict = held(case, model)
    assert verdict.valid
    assert model.told[-1]["content"] == '{"ok": true}'


def test_results_of_repeated_calls_come_one_after_the_other_and_the_last_stays(tmp_path: Path) -> None:
    case = case_of(
        tmp_path, "prompt: x\nexpect:\n  - search: {to: Oslo}\n    returns_each: [[], [F7]]\n    times: [1, 3]"
    )
    model = Model([SEARCH, SEARCH, SEARCH])
    _, verdict = held(case, model)
    assert verdict.valid
    assert [m["content"] for m in model.told if m["role"] == "tool"] == ["[]", '["F7"]', '["F7"]']


def test_a_call_that_raises_gives_an_error_and_may_be_tried_again(tmp_path: Path) -> None:
    case = case_of(
        tmp_path,
        """
        prompt: Book it.
        expect:
          - book: {flight: F7}
            as: first
            raises: 503 try again
          - then:
              - book: {flight: {$from: first.args.flight}}
                returns: {booking: B1}
        """,
    )
    model = Model([BOOK, BOOK])
    _, verdict = held(case, model)
    assert verdict.valid
    assert [m["content"] for m in model.told if m["role"] == "tool"] == [
        '{"error": "503 try again"}',
        '{"booking": "B1"}',
    ]


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (["Oslo", "Rome"], []),
        (["Rome", "Oslo"], [("wrong_order", "calls[0]")]),
        (["Oslo", "Bern"], [("wrong_value", "calls[1].args.to")]),
    ],
)
def test_calls_that_changed_places_are_told_from_a_call_that_is_wrong(
    tmp_path: Path, made: list[str], found: list[tuple[str, str]]
) -> None:
    text = """
        prompt: x
        stubs: {search: []}
        expect: [search: {to: {$any: [Oslo, Bern]}}, {then: [search: {to: Rome}]}]
    """
    _, verdict = held(case_of(tmp_path, text), Model([[("search", {"to": city})] for city in made]))
    assert [(reason.kind, reason.path) for reason in verdict.reasons] == found


def test_a_result_goes_to_the_call_that_it_was_written_for(tmp_path: Path) -> None:
    case = case_of(
        tmp_path,
        """
        prompt: x
        expect:
          - search: {to: {$any: [Oslo, Rome]}}
            returns: general
          - search: {to: Oslo}
            returns: special
        """,
    )
    model = Model([[("search", {"to": "Oslo"}), ("search", {"to": "Rome"})]])
    _, verdict = held(case, model)
    assert verdict.valid
    assert [m["content"] for m in model.told if m["role"] == "tool"] == ["special", "general"]


def test_the_model_may_call_only_so_often(tmp_path: Path) -> None:
    case = case_of(tmp_path, "prompt: x\nmax_steps: 3\nstubs: {search: []}\nexpect: any_call\nanswer: done")
    transcript, verdict = held(case, Model([SEARCH] * 5))
    assert transcript.turns[0].end == "step_limit"
    assert [reason.kind for reason in verdict.reasons] == ["step_limit"]


def test_a_forbidden_call_is_never_carried_out(tmp_path: Path) -> None:
    case = case_of(tmp_path, "prompt: x\nenvironment: a:b\nexpect: {calls: [], never: [cancel], extra: allow}")
    shelf = MemoryStore()
    _, verdict = held(case, Model([SEARCH, CANCEL]), shelf)
    assert shelf.calls == ["search"]
    assert [reason.kind for reason in verdict.reasons] == ["forbidden_call"]


def test_an_environment_answers_what_nothing_else_does_and_is_closed(tmp_path: Path) -> None:
    case = case_of(
        tmp_path,
        """
        prompt: x
        environment: a:b
        stubs: {book: stubbed}
        expect: {calls: [search: {to: Oslo}, book: {flight: F7}, cancel: {booking: B1}], parallel: free}
        """,
    )
    shelf, model = MemoryStore(), Model([SEARCH, BOOK, CANCEL])
    _, verdict = held(case, model, shelf)
    assert verdict.valid
    assert shelf.calls == ["search", "cancel"]
    assert shelf.closed
    assert [m["content"] for m in model.told if m["role"] == "tool"] == [
        '{"number": 1}',
        "stubbed",
        '{"error": "it cannot be cancelled"}',
    ]


def test_the_state_is_read_when_a_turn_is_over(tmp_path: Path) -> None:
    case = case_of(
        tmp_path,
        """
        environment: a:b
        turns:
          - {user: one, expect: [search: {to: Oslo}], state: {calls: [search]}}
          - {user: two, expect: [book: {flight: F7}], state: {calls: [search, cancel]}}
        """,
    )
    _, verdict = held(case, Model([SEARCH, "ok", BOOK, "ok"]), MemoryStore())
    assert [(reason.kind, reason.path) for reason in verdict.reasons] == [("wrong_state", "turns[1].state.calls[1]")]


def test_what_a_call_gave_can_be_expected(tmp_path: Path) -> None:
    case = case_of(tmp_path, "prompt: x\nenvironment: a:b\nexpect: [search: {to: Oslo}]\nresult: {number: 2}")
    _, verdict = held(case, Model([SEARCH]), MemoryStore())
    assert [(reason.kind, reason.path) for reason in verdict.reasons] == [("wrong_result", "calls[0].result.number")]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply("half of", finish="length"), "truncated"),
        (Reply(refusal="I would rather not"), "refused"),
        (Reply('<tool_call>{"name": "search", "argu', decoder="hermes"), "malformed"),
    ],
)
def test_a_reply_that_is_not_whole_ends_the_conversation(tmp_path: Path, reply: Reply, kind: str) -> None:
    model = Model([SEARCH, reply])
    transcript, verdict = held(case_of(tmp_path, TWO_TURNS), model)
    assert transcript.turns[0].end == "stopped"
    assert len(model.asked) == 2
    assert [reason.kind for reason in verdict.reasons] == [kind]


def test_an_app_may_carry_out_its_calls_itself(tmp_path: Path) -> None:
    def asks(name: str, arguments: str, number: str) -> dict[str, object]:
        call = {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    trail = (
        {"role": "user", "content": "Book the cheapest flight to Oslo."},
        asks("search", '{"to": "Oslo"}', "a"),
        {"role": "tool", "tool_call_id": "a", "content": json.dumps([{"id": "F7"}])},
        asks("book", '{"flight": "F7"}', "b"),
        {"role": "tool", "tool_call_id": "b", "content": "ok"},
        {"role": "assistant", "content": "Booked."},
    )
    from pytest_fcall.backends.apps.answers.answer import reply_of

    case = case_of(tmp_path, TWO_TURNS)
    model = Model([reply_of(list(trail), trail[:1]), CANCEL, "It is cancelled."])
    transcript, verdict = held(case, model)
    assert verdict.valid
    assert [len(turn.steps) for turn in transcript.turns] == [2, 2]
    assert [*model.asked[1].messages] == [*trail, {"role": "user", "content": "Cancel it."}]


@pytest.mark.parametrize(
    ("parallel", "says", "valid"),
    [
        ("as_given", [[("search", {"to": "Oslo"}), ("search", {"to": "Rome"})]], True),
        ("as_given", [[("search", {"to": "Oslo"})], [("search", {"to": "Rome"})]], False),
        ("free", [[("search", {"to": "Oslo"})], [("search", {"to": "Rome"})]], True),
        ("free", [[("search", {"to": "Rome"}), ("search", {"to": "Oslo"})]], True),
    ],
)
def test_calls_of_one_group_come_at_once_unless_that_is_free(
    tmp_path: Path, parallel: str, says: list[Say], valid: bool
) -> None:
    calls = "[search: {to: Oslo}, search: {to: Rome}]"
    text = f"prompt: x\nstubs: {{search: []}}\nexpect: {{parallel: {parallel}, calls: {calls}}}"
    _, verdict = held(case_of(tmp_path, text), Model(says))
    assert verdict.valid is valid
    assert [reason.kind for reason in verdict.reasons] == ([] if valid else ["wrong_order"])


@pytest.mark.parametrize(("parallel", "valid"), [("as_given", False), ("free", True)])
def test_calls_of_a_later_group_wait_for_the_results_of_the_earlier_unless_that_is_free(
    tmp_path: Path, parallel: str, valid: bool
) -> None:
    text = f"""
        prompt: x
        stubs: {{search: [], book: {{}}}}
        expect: {{parallel: {parallel}, calls: [search: {{to: Oslo}}, {{then: [book: {{flight: F7}}]}}]}}
    """
    _, verdict = held(case_of(tmp_path, text), Model([[("search", {"to": "Oslo"}), ("book", {"flight": "F7"})]]))
    assert verdict.valid is valid
    assert [reason.kind for reason in verdict.reasons] == ([] if valid else ["wrong_order"])


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("found.result[3].id", "`found.result` is a list without [3]"),
        ("found.result[0].name", "`found.result[0]` is an object without name"),
    ],
)
def test_a_reference_that_leads_nowhere_says_where_it_ends(tmp_path: Path, reference: str, message: str) -> None:
    text = TWO_TURNS.replace("found.result[0].id", reference)
    _, verdict = held(case_of(tmp_path, text), Model([SEARCH, BOOK]))
    assert not verdict.valid
    assert any(message in reason.message for reason in verdict.reasons)


def test_each_alternative_has_results_of_its_own(tmp_path: Path) -> None:
    case = case_of(
        tmp_path,
        """
        prompt: x
        expect:
          any_of:
            - calls:
                - {search: {to: Oslo}, returns: one}
                - then: [{book: {flight: F7}, returns: booked}]
            - calls:
                - {cancel: {booking: B1}, returns: two}
                - then: [{search: {to: Oslo}, returns: three}]
        """,
    )
    model = Model([CANCEL, SEARCH])
    _, verdict = held(case, model)
    assert verdict.valid
    assert [m["content"] for m in model.told if m["role"] == "tool"] == ["two", "three"]
