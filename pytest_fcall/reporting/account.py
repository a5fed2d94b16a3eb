"""The account of a case: what was asked, what came, and what the verdict says of it; and its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from pytest_fcall.core import Call, Json, Message
from pytest_fcall.core.json_fields import (
    DamagedData,
    as_mapping,
    optional_field,
    optional_list_of_strings,
    required_field,
)

if TYPE_CHECKING:
    from pytest_fcall.core import CallResult


class AskedStep(NamedTuple):
    """One request, by the messages that it adds to those before, and its reply."""

    messages: tuple[Message, ...]
    calls: tuple[Call, ...] = ()
    results: tuple[CallResult, ...] = ()
    """The results of the first calls, as far as there are any."""
    text: str = ""
    remark: str = ""
    """What is unusual about the reply: a refusal, a length limit, a call that cannot be read."""
    model: str = ""
    """The model that an app asked; empty for a request to the model under test."""


class AccountAnswer(NamedTuple):
    """One answer to a case, step by step, and the verdict on it."""

    valid: bool
    steps: tuple[AskedStep, ...]
    reasons: tuple[tuple[str, str, str], ...] = ()
    """Kind, path and message of each reason."""
    notes: tuple[str, ...] = ()
    inside: tuple[AskedStep, ...] = ()
    """The requests that an app sent to its models meanwhile."""


class Account(NamedTuple):
    """Everything that a run knows of a case under one model."""

    nodeid: str
    answers: tuple[AccountAnswer, ...] = ()
    shown: int = 0
    """The index of the answer that stands for all."""
    tools: tuple[str, ...] = ()
    settings: Mapping[str, Json] = MappingProxyType({})
    error: str = ""
    """Why there is no verdict."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Patterns of what is no part of the keys of requests, each with a text that it matched."""


def account_to_json(account: Account) -> dict[str, Json]:
    """The account as JSON."""
    return {
        "nodeid": account.nodeid,
        "error": account.error,
        "tools": account.tools,
        "settings": dict(account.settings),
        "left_out": account.left_out,
        "shown": account.shown,
        "answers": [_answer_to_json(each) for each in account.answers],
    }


def _answer_to_json(answer: AccountAnswer) -> dict[str, Json]:
    return {
        "valid": answer.valid,
        "reasons": [dict(zip(_REASON, reason, strict=True)) for reason in answer.reasons],
        "notes": answer.notes,
        "steps": [_step_to_json(each) for each in answer.steps],
        "inside": [_step_to_json(each) for each in answer.inside],
    }


def _step_to_json(step: AskedStep) -> dict[str, Json]:
    found: dict[str, Json] = {
        "model": step.model,
        "messages": step.messages,
        "calls": [{"name": call.name, "arguments": call.arguments} for call in step.calls],
        "results": [_result_to_json(each) for each in step.results],
        "text": step.text,
        "remark": step.remark,
    }
    return {name: value for name, value in found.items() if value}


def _result_to_json(result: CallResult) -> dict[str, Json]:
    return {"value": result.value} if result.error is None else {"error": result.error}


_REASON = ("kind", "path", "message")


def account_from_json(data: Mapping[str, Json]) -> Account:
    """Read what `account_to_json` wrote. Raises DamagedData for other data."""
    return Account(
        nodeid=required_field(data, "nodeid", str),
        answers=tuple(_answer(as_mapping(each, "an answer")) for each in required_field(data, "answers", list)),
        shown=optional_field(data, "shown", int) or 0,
        tools=tuple(optional_list_of_strings(data, "tools")),
        settings=optional_field(data, "settings", dict) or {},
        error=optional_field(data, "error", str) or "",
        left_out=tuple(_pair(each) for each in optional_field(data, "left_out", list) or ()),
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
    )


def _reason(data: Mapping[str, Json]) -> tuple[str, str, str]:
    kind, path, message = (required_field(data, name, str) for name in _REASON)
    return kind, path, message


def _steps(data: Mapping[str, Json], name: str) -> tuple[AskedStep, ...]:
    return tuple(_step(as_mapping(each, "a step")) for each in optional_field(data, name, list) or ())


def _step(data: Mapping[str, Json]) -> AskedStep:
    from pytest_fcall.core import CallResult

    calls = (as_mapping(each, "a call") for each in optional_field(data, "calls", list) or ())
    results = (as_mapping(each, "a result") for each in optional_field(data, "results", list) or ())
    return AskedStep(
        messages=tuple(as_mapping(each, "a message") for each in optional_field(data, "messages", list) or ()),
        calls=tuple(Call(required_field(call, "name", str), required_field(call, "arguments", dict)) for call in calls),
        results=tuple(CallResult(each.get("value"), optional_field(each, "error", str)) for each in results),
        text=optional_field(data, "text", str) or "",
        remark=optional_field(data, "remark", str) or "",
        model=optional_field(data, "model", str) or "",
    )
