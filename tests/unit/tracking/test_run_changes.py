from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_fcall.core import Request, Tool
from pytest_fcall.tracking.question_digests import EXPECTATION, question_digests
from pytest_fcall.tracking.run_changes import RunChanges
from pytest_fcall.tracking.stanza import Stanza, StanzaRequest, stanza_to_json

TOOL = Tool("get_weather", "Current weather.", {"type": "object", "properties": {"city": {"type": "string"}}})
ASKED = Request(({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Oslo?"}), (TOOL,), {"t": 0})
OTHER_SYSTEM = replace(ASKED, messages=({"role": "system", "content": "Be wordy."}, ASKED.messages[1]))
NAME = ("cases/a.fc.yaml", "openai:m", "oslo")


def stanza(asked: Request = ASKED, expectation: str = "1", **fields: object) -> Stanza:
    return Stanza("oslo", True, digests={**question_digests(asked), EXPECTATION: expectation}, **fields)  # type: ignore[arg-type]


def text(of: Stanza) -> str:
    return json.dumps(stanza_to_json(of), default=list)


def inside(asked: Request, model: str = "openai:x") -> tuple[StanzaRequest, ...]:
    return (StanzaRequest(model, (), question_digests(asked)),)


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (stanza(), stanza(), []),
        (stanza(), stanza(OTHER_SYSTEM), [("prompt", "the system prompt changed")]),
        (
            stanza(),
            stanza(replace(ASKED, messages=(ASKED.messages[0], {"role": "user", "content": "Bergen?"}))),
            [("cases", "the prompt changed")],
        ),
        (stanza(), stanza(expectation="2"), [("cases", "what is expected changed")]),
        (stanza(), stanza(replace(ASKED, settings={"t": 1})), [("model", "the settings of the model changed")]),
        (stanza(), stanza(replace(ASKED, tools=())), [("tools", "the tool get_weather is gone")]),
        (
            stanza(provenance={"engine": {"model": "m-01", "vllm": "1"}, "date": "2026-01-01"}),
            stanza(provenance={"engine": {"model": "m-02", "vllm": "2"}, "date": "2026-01-02"}),
            [("model", "'m-01' → 'm-02'"), ("engine", "vllm: '1' → '2'")],
        ),
        (
            stanza(wire=inside(ASKED)),
            stanza(wire=inside(OTHER_SYSTEM, "openai:y")),
            [("prompt", "inside the app: the system prompt changed"), ("model", "inside the app: openai:x → openai:y")],
        ),
        (stanza(wire=inside(ASKED)), stanza(wire=()), []),
        (stanza(wire=()), stanza(wire=inside(ASKED)), []),
        (stanza(), stanza(wire=inside(ASKED)), []),
        (
            stanza(wire=inside(ASKED)),
            stanza(wire=inside(replace(ASKED, messages=({"role": "user", "content": "Bergen?"},), settings={"t": 1}))),
            [("prompt", "inside the app: the system prompt changed")],
        ),
        (
            stanza(wire=inside(ASKED)),
            stanza(wire=(*inside(ASKED), *inside(replace(ASKED, messages=(*ASKED.messages, *ASKED.messages))))),
            [("prompt", "inside the app: the system prompt changed")],
        ),
        (stanza()._replace(digests={}), stanza(), []),
    ],
)
def test_what_changed_is_told_with_its_side(before: Stanza, now: Stanza, told: list[tuple[str, str]]) -> None:
    changes = RunChanges()
    assert changes.add([(NAME, text(before))]) == []
    assert [(each.side, each.text) for each in changes.add([(NAME, text(now))])] == told


def test_a_case_is_compared_with_the_last_run_that_had_an_answer_of_it() -> None:
    other = ("cases/a.fc.yaml", "openai:m", "rome")
    changes = RunChanges()
    changes.add([(NAME, text(stanza())), (other, text(stanza()))])
    assert changes.add([(other, text(stanza()))]) == []
    assert changes.add([(NAME, None)]) == []
    assert [each.text for each in changes.add([(NAME, text(stanza(OTHER_SYSTEM)))])] == ["the system prompt changed"]


def test_cases_with_the_same_change_are_counted() -> None:
    names = [("f", "m", str(number)) for number in range(3)]
    changes = RunChanges()
    changes.add([(name, text(stanza())) for name in names])
    assert changes.add([(name, text(stanza(OTHER_SYSTEM))) for name in names]) == [
        ("prompt", "the system prompt changed", 3)
    ]


def test_new_cases_and_new_models_are_told_once_there_is_a_run_before() -> None:
    changes = RunChanges()
    assert changes.add([(("f", "m", "a"), None)]) == []
    assert changes.add([(("f", "m", "a"), None), (("f", "m", "b"), None), (("f", "n", "a"), None)]) == [
        ("cases", "the case is new", 1),
        ("model", "n is new", 1),
    ]


@pytest.mark.parametrize("damaged", ["{", '{"case": 1}', "[" * 10_000, '{"case": "a", "valid": true, "digests": 3}'])
def test_a_stanza_that_cannot_be_read_shows_no_change(damaged: str) -> None:
    changes = RunChanges()
    changes.add([(NAME, text(stanza()))])
    assert changes.add([(NAME, damaged)]) == []
