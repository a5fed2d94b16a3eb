"""A case in a contract: a line of text for each fact that a person reviews, and back.

The first word of a line is the case, and what follows names the fact once: `1` is the first call, `2.1.1` the first
call of the first reply in the second turn. So two answers to one case never read as one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from typing import Final, TypeAlias

from pytest_fcall.core.json_data import as_mapping, readable_json
from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json
from pytest_fcall.tracking.stanza import Stanza, StanzaFields, StanzaRequest

Facts: TypeAlias = tuple[str, ...]
"""The facts of a case, without the case. The first is the verdict."""

_LENGTH: Final = 8
_FACT: Final = re.compile(
    r"(?:right|wrong) #[0-9a-f]{8}\Z|[0-9]+(?:\.[0-9]+){0,2} .|no calls\Z|reply unreadable\Z"
    r"|reason [0-9]+ .|result [0-9]+(?:\.[0-9]+)* .|wire none\Z|wire [0-9]+(?:\.[0-9]+)? .|(?:answer|because) \""
)
_VERDICT: Final = re.compile(r"(right|wrong) #[0-9a-f]{8}\Z")
_DECODER: Final = json.JSONDecoder()
_NO_WORD: Final = ('"', "#", "<", "=", ">", "|")
"""Signs that no plain word begins with: JSON, a comment, and the marks of a merge conflict."""
_NUMBERED: Final = ("reason", "result", "wire")
_NO_CALL: Final = "no call"
_NO_REPLY: Final = "no reply"


def is_fact(text: str) -> bool:
    """Whether the text looks like a fact. Whether it is whole, only the digest of its case says."""
    return _FACT.match(text) is not None


def is_verdict(fact: str) -> bool:
    """Whether the fact is the verdict on its case."""
    return fact.startswith(("right ", "wrong "))


def digest_of(verdict: str) -> str:
    """The digest of all facts of a case, which its verdict ends with."""
    return verdict[-_LENGTH:]


def is_whole(facts: Sequence[str]) -> bool:
    """Whether the facts are all those that were written together. Their order does not count."""
    verdict, *others = facts
    return digest_of(verdict) == _digest(verdict[: -_LENGTH - 2], others)


def key_of(fact: str) -> str:
    """Headings that a case has only once: `1`, `reason 2`, `answer`."""
    word, _, rest = fact.partition(" ")
    return f"{word} {rest.partition(' ')[0]}" if word in _NUMBERED else word


def word_text(word: str) -> str:
    """A word as it is, or as a JSON string where that would not be read as one word."""
    text = readable_json(word)
    is_plain = len(text) == len(word) + 2 and word and not word.startswith(_NO_WORD)
    return word if is_plain and not any(map(str.isspace, word)) else text


def first_word(text: str) -> tuple[str, str]:
    """The first word, and what follows. Raises ValueError where there is none."""
    if text.startswith('"'):
        word, end = _DECODER.raw_decode(text)
        if text[end : end + 1] not in ("", " "):
            raise ValueError("a word is followed by no space")
        return str(word), text[end + 1 :]
    word, _, rest = text.partition(" ")
    if not word:
        raise ValueError("a word is missing")
    return word, rest


def facts_of(stanza: Stanza) -> Facts:
    """The part of a case that a person reviews. Raises ValueError, TypeError or RecursionError for what is not JSON."""
    others = list(_facts(stanza))
    verdict = "right" if stanza.valid else "wrong"
    return (f"{verdict} #{_digest(verdict, others)}", *others)


def _digest(verdict: str, others: Iterable[str]) -> str:
    return sha256("\n".join((verdict, *sorted(others))).encode()).hexdigest()[:_LENGTH]


def _facts(stanza: Stanza) -> Iterator[str]:
    for number, (kind, path) in enumerate(stanza.reasons, start=1):
        yield f"reason {number} {word_text(kind)} {word_text(path)}"
    calls = stanza.calls
    if calls is None:
        yield "reply unreadable"
    elif stanza.steps:
        yield from _conversation_facts(calls, stanza.steps)
    else:
        yield from (f"{number} {_call_text(call)}" for number, call in enumerate(calls, start=1))
    if calls == () and not stanza.steps:
        yield "no calls"
    for place, result in zip(_places(stanza), stanza.results or (), strict=False):
        yield f"result {place} {readable_json(result)}"
    if stanza.answer is not None:
        yield f"answer {readable_json(stanza.answer)}"
    yield from _wire_facts(stanza.wire)
    if stanza.because is not None:
        yield f"because {readable_json(stanza.because)}"


def _places(stanza: Stanza) -> Iterator[str]:
    """The places of the calls, in order."""
    if not stanza.steps:
        return map(str, range(1, len(stanza.calls or ()) + 1))
    return (
        f"{turn}.{step}.{number}"
        for turn, steps in enumerate(stanza.steps, start=1)
        for step, count in enumerate(steps, start=1)
        for number in range(1, count + 1)
    )


def _conversation_facts(calls: Sequence[Call], turns: Sequence[Sequence[int]]) -> Iterator[str]:
    rest = iter(calls)
    for turn, steps in enumerate(turns, start=1):
        if not steps:
            yield f"{turn} {_NO_REPLY}"
        for step, count in enumerate(steps, start=1):
            if not count:
                yield f"{turn}.{step} {_NO_CALL}"
            for number, call in enumerate(islice(rest, count), start=1):
                yield f"{turn}.{step}.{number} {_call_text(call)}"


def _wire_facts(wire: Sequence[StanzaRequest] | None) -> Iterator[str]:
    if wire == ():
        yield "wire none"
    for number, request in enumerate(wire or (), start=1):
        yield f"wire {number} {word_text(request.model)}{'' if request.calls is not None else ' unreadable'}"
        for place, call in enumerate(request.calls or (), start=1):
            yield f"wire {number}.{place} {_call_text(call)}"


def _call_text(call: Call) -> str:
    return f"{word_text(call.name)} {readable_json(call.arguments)}"


def stanza_of_facts(case: str, facts: Sequence[str], unreviewed: StanzaFields) -> Stanza:
    """Read the facts of a case, and join them with the rest of its stanza. Raises ValueError."""
    verdict, *others = facts
    found = _VERDICT.match(verdict)
    if found is None:
        raise ValueError("the verdict cannot be read")
    valid = found[1] == "right"
    if len(others) == 1 and others[0].startswith("1 ") and others[0].endswith("}"):  # most cases have one call
        return Stanza(case, valid, calls=(_call(others[0][2:]),), **unreviewed)
    parts: dict[str, list[tuple[tuple[int, ...], str]]] = {}
    for fact in others:
        word, _, rest = fact.partition(" ")
        name, number = word, ""
        if word in _NUMBERED and fact != "wire none":
            number, _, rest = rest.partition(" ")
        elif word[0].isdecimal():
            name, number = "call", word
        parts.setdefault(name, []).append((tuple(map(int, number.split("."))) if number else (), rest))
    for each in parts.values():
        each.sort()
    return Stanza(
        case=case,
        valid=valid,
        reasons=tuple(_reason(rest) for _, rest in parts.get("reason", ())),
        calls=None if "reply" in parts else tuple(_call(rest) for _, rest in parts.get("call", ()) if _is_call(rest)),
        steps=_steps(parts.get("call", ())),
        results=tuple(_json(rest) for _, rest in parts["result"]) if "result" in parts else None,
        answer=_text(parts, "answer"),
        wire=_wire(parts["wire"]) if "wire" in parts else None,
        because=_text(parts, "because"),
        **unreviewed,
    )


def _is_call(text: str) -> bool:
    return text not in (_NO_CALL, _NO_REPLY)


def _call(text: str) -> Call:
    name, arguments = first_word(text)
    return Call(name, as_mapping(_json(arguments), "the arguments of a call"))


def _json(text: str) -> Json:
    value: Json
    try:
        value, end = _DECODER.raw_decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if end != len(text):
        raise ValueError("a value is followed by something else")
    return value


def _reason(text: str) -> tuple[str, str]:
    kind, rest = first_word(text)
    return kind, first_word(rest)[0]


def _text(parts: Mapping[str, Sequence[tuple[tuple[int, ...], str]]], name: str) -> str | None:
    return str(_json(parts[name][0][1])) if name in parts else None


def _steps(calls: Sequence[tuple[tuple[int, ...], str]]) -> tuple[tuple[int, ...], ...] | None:
    """The number of calls in each reply, turn by turn; None where the case is no conversation."""
    turns: dict[int, dict[int, int]] = {}
    for place, text in calls:
        if _is_call(text) and len(place) == 1:
            return None
        steps = turns.setdefault(place[0], {})
        if len(place) > 1:
            steps[place[1]] = steps.get(place[1], 0) + int(_is_call(text))
    return tuple(tuple(steps.values()) for steps in turns.values()) or None


def _wire(found: Sequence[tuple[tuple[int, ...], str]]) -> tuple[StanzaRequest, ...]:
    requests: list[StanzaRequest] = []
    for place, text in found:
        if len(place) == 1:
            model, rest = first_word(text)
            requests.append(StanzaRequest(model, None if rest == "unreadable" else ()))
        elif place:
            last = requests.pop()
            requests.append(StanzaRequest(last.model, (*(last.calls or ()), _call(text))))
    return tuple(requests)
