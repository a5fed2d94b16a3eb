"""The account of a case as text."""

from __future__ import annotations

import json

import pytest

from pytest_fcall.core import Call, CallResult, Message, Outcome, Usage
from pytest_fcall.core.json_data import DamagedData
from pytest_fcall.reporting.account import Account, AccountAnswer, AskedStep, account_from_json, account_to_json
from pytest_fcall.reporting.account_text import account_lines, passed_text, verdict_text
from pytest_fcall.reporting.results import JudgeUsage, Result
from pytest_fcall.reporting.terminal import ASCII
from pytest_fcall.tracking.run_accounts import account_line

USER = {"role": "user", "content": "Weather?"}
STEP = AskedStep((USER,), (Call("get_weather", {"city": "Oslo"}),), (CallResult({"degrees": 7}),), "Cold.", "cut off")
ANSWER = AccountAnswer(valid=False, steps=(STEP,), reasons=(("wrong_value", "calls[0].args.city", "it is Oslo"),))
ACCOUNT = Account("a::one", (ANSWER,), tools=("get_weather",), settings={"temperature": 0})
RESULT = Result("a::one", "one", "m", "failed", file="a.fc.yaml", line=7)


def test_an_account_is_read_as_it_was_written() -> None:
    whole = Account(
        "a::one",
        (
            ANSWER,
            AccountAnswer(
                valid=True, steps=(AskedStep((USER,), results=(CallResult(error="closed"),)),), inside=(STEP,)
            ),
        ),
        shown=1,
        tools=("get_weather",),
        settings={"temperature": 0},
        error="no reply",
    )
    assert account_from_json(json.loads(account_line(account_to_json(whole)))) == whole


@pytest.mark.parametrize("damage", [{"nodeid": 1}, {"answers": None}, {"answers": [1]}, {"tools": [1]}])
def test_other_data_is_damaged(damage: dict[str, object]) -> None:
    with pytest.raises(DamagedData):
        account_from_json({**account_to_json(ACCOUNT), **damage})  # type: ignore[dict-item]  # so it is read from a file


def test_what_an_app_sent_in_a_form_of_its_provider_is_told() -> None:
    messages: tuple[Message, ...] = (
        {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
        {"role": "user", "content": [{"functionResponse": {"name": "get_weather"}}, {"text": "Well?"}]},
    )
    answer = AccountAnswer(valid=True, steps=(STEP,), inside=(AskedStep(messages, text="Sunny.", model="m"),))

    text = passed_text(Account("a::one", (answer,)), RESULT, ASCII)

    assert text.partition("inside the app:\n")[2].splitlines() == [
        "  request 1 to m:",
        '    function_call: {call_id: "c1", name: "get_weather", arguments: "{}"}',
        '    function_call_output: {call_id: "c1", output: "sunny"}',
        "    user: [functionResponse] Well?",
        "    text: Sunny.",
    ]


def test_the_text_has_question_answer_reasons_and_figures() -> None:
    judging = JudgeUsage("judge:m", 2, cost=0.01)
    result = Result(
        "a::one",
        "one",
        "m",
        "failed",
        file="a.fc.yaml",
        line=7,
        asked=1,
        cost=0.002,
        usage=Usage(10, 2),
        judging=judging,
    )

    assert account_lines(ACCOUNT, result, ASCII) == [
        "a.fc.yaml:7 one (m): wrong",
        "  asked:",
        "    user: Weather?",
        "  answered:",
        '    get_weather(city: "Oslo") → {degrees: 7}',
        "    text: Cold.",
        "    cut off",
        "  tools:",
        "    get_weather",
        "  settings:",
        "    temperature: 0",
        "  reasons:",
        "    wrong_value at calls[0].args.city: it is Oslo",
        "  figures:",
        "    asked, $0.0020, 12 tokens, judge:m judged 2 questions for $0.0100",
    ]


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (Result("a", "a", "m", "passed"), "right"),
        (Result("a", "a", "m", "passed", outcome=Outcome.OK), "right"),
        (Result("a", "a", "m", "passed", outcome=Outcome.FIXED), "right, fixed"),
        (Result("a", "a", "m", "xfailed", outcome=Outcome.KNOWN_FAILURE), "wrong, known failure"),
        (Result("a", "a", "m", "failed", samples=(1, 3)), "wrong, 1 of 3 answers right"),
        (Result("a", "a", "m", "error"), "error"),
    ],
)
def test_the_verdict_is_said_in_words(result: Result, text: str) -> None:
    assert verdict_text(result) == text


def test_a_reply_without_anything_is_said_to_be_nothing() -> None:
    silent = Account("a::one", (AccountAnswer(valid=True, steps=(AskedStep((USER,)),)),))
    assert account_lines(silent, RESULT, ASCII)[3:5] == ["  answered:", "    ... nothing"]


def test_where_there_is_no_reply_the_cause_stands_in_its_place() -> None:
    lost = Account("a::one", (AccountAnswer(valid=False, steps=(AskedStep((USER,)),)),), error="the shop\nis closed")
    assert account_lines(lost, RESULT, ASCII)[1:] == [
        "  asked:",
        "    user: Weather?",
        "  why:",
        "    the shop",
        "    is closed",
    ]
