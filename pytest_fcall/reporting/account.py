"""The account of a case: what was asked, what came, and what the verdict says of it; and its JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_fcall.core.expectation import expectation_from_json, expectation_to_json, pattern_from_json
from pytest_fcall.core.json_data import (
    DamagedData,
    as_mapping,
    optional_field,
    optional_list_of_strings,
    required_field,
)
from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json, Message

if TYPE_CHECKING:
    from pytest_fcall.core.conversation import CallResult
    from pytest_fcall.core.expectation import Expectation
    from pytest_fcall.core.operators import Pattern


class AskedStep(NamedTuple):
    """One request, by the messages that it adds to those before, and its reply."""

    messages: tuple[Message, ...]
    calls: tuple[Call, ...] = ()
    results: tuple[CallResult, ...] = ()
    """The results of the first calls, as far as there are any."""
    text: str = ""
    remark: str = ""
    """A remark on an unusual reply: a refusal, a length limit, a call that cannot be read."""
    model: str = ""
    """The model that an app asked; empty for a request to the model under test."""


class AnsweredTurn(NamedTuple):
    """A turn of an answer: which of its calls the verdict paired with which expected call."""

    calls: int
    """The number of its calls."""
    pairs: tuple[tuple[int, int], ...] = ()
    """Indices of an expected call, and of the call that was made for it."""
    alternative: int | None = None
    """The number of the alternative that the verdict chose."""


class AccountAnswer(NamedTuple):
    """One answer to a case, step by step, and the verdict on it."""

    valid: bool
    steps: tuple[AskedStep, ...]
    reasons: tuple[tuple[str, str, str], ...] = ()
    """Kind, path and message of each reason."""
    notes: tuple[str, ...] = ()
    inside: tuple[AskedStep, ...] = ()
    """The requests that an app sent to its models meanwhile."""
    turns: tuple[AnsweredTurn, ...] = ()


class ExpectedTurn(NamedTuple):
    """The expectation of a turn of a case."""

    calls: Expectation | None = None
    answer: Pattern = None
    """The expected text; None for any."""


class AcceptedAccount(NamedTuple):
    """The answer that was accepted, and what was different in the question then."""

    valid: bool
    calls: tuple[Call, ...] = ()
    turns: tuple[int, ...] = ()
    """The number of calls of each turn; empty for a single reply."""
    date: str = ""
    system: str | None = None
    """The system prompt, where it was another one."""
    prompt: str | None = None
    """The other messages, where they were others, as far as they are kept."""
    tools: Mapping[str, Json] = MappingProxyType({})
    """By name, description and parameters of tools that were different."""


class Account(NamedTuple):
    """Everything that a run knows of a case under one model."""

    nodeid: str
    answers: tuple[AccountAnswer, ...] = ()
    shown: int = 0
    """The index of the answer that stands for all."""
    tools: tuple[str, ...] = ()
    settings: Mapping[str, Json] = MappingProxyType({})
    error: str = ""
    """The reason why there is no verdict."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Patterns of what is no part of the keys of requests, each with a text that it matched."""
    expected: tuple[ExpectedTurn, ...] = ()
    """Turn by turn."""
    accepted: AcceptedAccount | None = None
    offered: str = ""
    """The name of the set of tools; `offered_tools` has their descriptions and parameters."""


def account_to_json(account: Account) -> dict[str, Json]:
    """The account as JSON."""
    return {
        "nodeid": account.nodeid,
        "error": account.error,
        "tools": account.tools,
        "settings": dict(account.settings),
        "left_out": account.left_out,
        "shown": account.shown,
        "answers": [*map(_answer_to_json, account.answers)],
        "expected": [*map(_expected_to_json, account.expected)],
        "accepted": _accepted_to_json(account.accepted) if account.accepted else None,
        "offered": account.offered,
    }


def _expected_to_json(turn: ExpectedTurn) -> dict[str, Any]:
    data = expectation_to_json(turn.calls) if turn.calls else {}
    return data if turn.answer is None else data | {"answer": turn.answer}


def _accepted_to_json(accepted: AcceptedAccount) -> dict[str, Json]:
    found: dict[str, Json] = {**accepted._asdict(), "calls": _calls_to_json(accepted.calls)}
    return {name: value for name, value in found.items() if value or name == "valid"}


def _calls_to_json(calls: Sequence[Call]) -> list[Json]:
    return [{"name": call.name, "arguments": call.arguments} for call in calls]


def _answer_to_json(answer: AccountAnswer) -> dict[str, Json]:
    return {
        "valid": answer.valid,
        "reasons": [*map(_reason_to_json, answer.reasons)],
        "notes": answer.notes,
        "steps": [*map(_step_to_json, answer.steps)],
        "inside": [*map(_step_to_json, answer.inside)],
        "turns": [*map(_turn_to_json, answer.turns)],
    }


def _reason_to_json(reason: tuple[str, str, str]) -> dict[str, Json]:
    return dict(zip(_REASON, reason, strict=True))


def _turn_to_json(turn: AnsweredTurn) -> dict[str, Json]:
    data: dict[str, Json] = {"calls": turn.calls, "pairs": turn.pairs}
    return data if turn.alternative is None else data | {"alternative": turn.alternative}


def _step_to_json(step: AskedStep) -> dict[str, Json]:
    found: dict[str, Json] = {"model": step.model} if step.model else {}
    if step.messages:
        found["messages"] = step.messages
    if step.calls:
        found["calls"] = _calls_to_json(step.calls)
    if step.results:
        found["results"] = [_result_to_json(each) for each in step.results]
    if step.text:
        found["text"] = step.text
    if step.remark:
        found["remark"] = step.remark
    return found


def _result_to_json(result: CallResult) -> dict[str, Json]:
    given: dict[str, Json] = {"value": result.value} if result.error is None else {"error": result.error}
    return given | ({"fault": result.fault} if result.fault else {})


_REASON = ("kind", "path", "message")


def account_from_json(data: Mapping[str, Json]) -> Account:
    """Read what `account_to_json` wrote. Raises DamagedData for other data."""
    try:
        return _account(data)
    except RecursionError:
        raise DamagedData("it is nested too deeply") from None


def _account(data: Mapping[str, Json]) -> Account:
    return Account(
        nodeid=required_field(data, "nodeid", str),
        answers=tuple(_answer(as_mapping(each, "an answer")) for each in required_field(data, "answers", list)),
        shown=optional_field(data, "shown", int) or 0,
        tools=tuple(optional_list_of_strings(data, "tools")),
        settings=optional_field(data, "settings", dict) or {},
        error=optional_field(data, "error", str) or "",
        left_out=tuple(_pair(each) for each in _list(data, "left_out")),
        expected=tuple(_expected(as_mapping(each, "what is expected")) for each in _list(data, "expected")),
        accepted=_accepted(accepted) if (accepted := optional_field(data, "accepted", dict)) is not None else None,
        offered=optional_field(data, "offered", str) or "",
    )


def _list(data: Mapping[str, Json], name: str) -> Sequence[Json]:
    return optional_field(data, name, list) or ()


def _expected(data: Mapping[str, Json]) -> ExpectedTurn:
    calls = expectation_from_json(data) if {"kind", "stages"} & data.keys() else None
    return ExpectedTurn(calls, pattern_from_json(data.get("answer")))


def _accepted(data: Mapping[str, Json]) -> AcceptedAccount:
    return AcceptedAccount(
        valid=required_field(data, "valid", bool),
        calls=_calls(data),
        turns=_numbers(_list(data, "turns")),
        date=optional_field(data, "date", str) or "",
        system=optional_field(data, "system", str),
        prompt=optional_field(data, "prompt", str),
        tools=optional_field(data, "tools", dict) or {},
    )


def _numbers(values: Sequence[Json]) -> tuple[int, ...]:
    found = tuple(each for each in values if isinstance(each, int))
    if len(found) != len(values):
        raise DamagedData("numbers are needed")
    return found


def _turn(data: Mapping[str, Json]) -> AnsweredTurn:
    pairs = (_numbers(pair) for pair in _list(data, "pairs") if isinstance(pair, list))
    return AnsweredTurn(
        required_field(data, "calls", int),
        tuple((pair[0], pair[1]) for pair in pairs if len(pair) == 2 and min(pair) >= 0),
        optional_field(data, "alternative", int),
    )


def _pair(value: Json) -> tuple[str, str]:
    match value:
        case [str(pattern), str(text)]:
            return pattern, text
    raise DamagedData("`left_out` must be pairs of texts")


def _answer(data: Mapping[str, Json]) -> AccountAnswer:
    return AccountAnswer(
        valid=required_field(data, "valid", bool),
        steps=_steps(data, "steps"),
        reasons=tuple(_reason(as_mapping(each, "a reason")) for each in required_field(data, "reasons", list)),
        notes=tuple(optional_list_of_strings(data, "notes")),
        inside=_steps(data, "inside"),
        turns=tuple(_turn(as_mapping(each, "a turn")) for each in _list(data, "turns")),
    )


def _reason(data: Mapping[str, Json]) -> tuple[str, str, str]:
    kind, path, message = (required_field(data, name, str) for name in _REASON)
    return kind, path, message


def _steps(data: Mapping[str, Json], name: str) -> tuple[AskedStep, ...]:
    return tuple(_step(as_mapping(each, "a step")) for each in _list(data, name))


def _calls(data: Mapping[str, Json]) -> tuple[Call, ...]:
    calls = (as_mapping(each, "a call") for each in _list(data, "calls"))
    return tuple(Call(required_field(call, "name", str), required_field(call, "arguments", dict)) for call in calls)


def _result(data: Mapping[str, Json]) -> CallResult:
    from pytest_fcall.core.conversation import CallResult

    return CallResult(
        data.get("value"), optional_field(data, "error", str), fault=optional_field(data, "fault", str) or None
    )


def _step(data: Mapping[str, Json]) -> AskedStep:
    results = (as_mapping(each, "a result") for each in _list(data, "results"))
    return AskedStep(
        messages=tuple(as_mapping(each, "a message") for each in _list(data, "messages")),
        calls=_calls(data),
        results=tuple(_result(each) for each in results),
        text=optional_field(data, "text", str) or "",
        remark=optional_field(data, "remark", str) or "",
        model=optional_field(data, "model", str) or "",
    )
