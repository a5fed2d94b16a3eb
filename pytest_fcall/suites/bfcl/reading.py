"""An answer as the `strict` profile reads it: generous in reading, since it is exact in judging."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_fcall.core.call import Call, Calls
from pytest_fcall.core.case import Case
from pytest_fcall.core.reply import RawCall, Reply
from pytest_fcall.core.tool import Tool
from pytest_fcall.decoding import decode
from pytest_fcall.decoding.bfcl import Undecodable, decode_prompt
from pytest_fcall.decoding.bfcl.normal_form import calls_of
from pytest_fcall.suites.bfcl.answers import Answer
from pytest_fcall.suites.bfcl.prompt_format import USUAL

_UNKNOWN = "…"
"""What was said beside calls, or instead of them, where the row has only the list of them."""


def strict_reading(answer: Answer, case: Case) -> tuple[Reply, Calls]:
    """Give the reply that the answer is, and the calls in it: by the names offered, with plain typed arguments."""
    reply = _reply(answer)
    calls = calls_of(answer.said) if answer.form == "decoded" else _read(reply, case)
    if answer.underscored:
        calls = replace(calls, calls=tuple(_as_offered(calls.calls, case.tools)))
    return reply, _typed(calls, case)


def typed_calls(reply: Reply, calls: Calls, case: Case) -> Calls:
    """Give the calls of a reply with plain typed arguments, where their values are source text.

    All are asked for calls in Python's form, with values in that of the case's language. Models that put the values
    in quotes write Python; where they do not, the official decoder knows the language.
    """
    return _typed(_in_its_language(reply, calls, case), case)


def _typed(calls: Calls, case: Case) -> Calls:
    if case.rules.language == "python":
        return calls
    from pytest_fcall.decoding.source import typed

    return typed(calls, case.tools, case.rules.language)


def _read(reply: Reply, case: Case) -> Calls:
    return _in_its_language(reply, decode(reply, case.tools), case)


def _in_its_language(reply: Reply, calls: Calls, case: Case) -> Calls:
    if reply.decoder is not None and case.rules.language != "python" and not calls.calls:
        try:
            return calls_of(decode_prompt(reply.text, case.rules.language))
        except Undecodable:
            pass
    return calls


def _reply(answer: Answer) -> Reply:
    said = answer.said
    if isinstance(said, str):
        asked = "python" if answer.asked == USUAL else answer.asked.decoder
        return Reply(said, decoder=asked if answer.form == "prompt" else None)
    if answer.form == "decoded":
        return Reply(_UNKNOWN)
    if isinstance(said, list):
        return _native(said)
    return Reply(malformed="The answer is neither text nor a list of calls.")


def _native(said: Sequence[object]) -> Reply:
    """Calls as a server gave them, and text that stood before or between them."""
    texts = [item for item in said if isinstance(item, str)]
    calls = [_raw_call(item) for item in said if not isinstance(item, str)]
    return Reply("\n".join(texts) if texts else _UNKNOWN, tuple(calls))


def _raw_call(item: object) -> RawCall:
    """One `{name: arguments}`. Anything else has no name, which decoding finds wrong."""
    if isinstance(item, Mapping) and len(item) == 1:
        (name, arguments), *_ = item.items()
        return RawCall(name, arguments)
    return RawCall(None, None)


def _as_offered(calls: Sequence[Call], tools: Sequence[Tool]) -> list[Call]:
    """Undo what a wire without dots did to the names, where only one tool can be meant."""
    offered = {tool.name for tool in tools}
    meant: dict[str, list[str]] = {}
    for name in offered:
        meant.setdefault(name.replace(".", "_"), []).append(name)
    return [
        replace(call, name=meant[call.name][0])
        if call.name not in offered and len(meant.get(call.name, ())) == 1
        else call
        for call in calls
    ]
