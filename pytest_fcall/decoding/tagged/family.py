"""A family of models that writes calls alike: its data, the linear scanner, and the decoder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NoReturn, Protocol, TypeAlias

from pytest_fcall.core.reply import Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.decoding.call_collector import CallCollector, ReadCall
from pytest_fcall.decoding.call_marks import find_mark
from pytest_fcall.decoding.positional_arguments import tools_by_name
from pytest_fcall.decoding.text_parts import END_TOKENS
from pytest_fcall.decoding.unreadable import Unreadable, shortened

_JSON_TOKEN = re.compile(
    r'(?:[\s,:]++|true|false|null|-?\d[\d.eE+\-]*+)*+(?:(?P<string>"(?:[^"\\]|\\.)*+")|(?P<open>[{\[])|(?P<close>[}\]]))',
    re.DOTALL,
)


def json_end(text: str, at: int) -> int | None:
    """Give the end of the object, list or string at `at`, None where its brackets or quotes are not closed.

    Stops at the first character that cannot stand in JSON. No sign by which calls begin or end can stand there outside
    of a string, which keeps a scanner linear that asks this at each of many such signs: of scans that began at
    different signs, at most two ever run on over the same text.
    """
    depth = 0
    while token := _JSON_TOKEN.match(text, at):
        at = token.end()
        depth += {"open": 1, "close": -1}.get(str(token.lastgroup), 0)
        if depth <= 0:
            return at
    return None


Attempt: TypeAlias = Callable[[], ReadCall]
"""Reads one call that was tried, or raises Unreadable."""


def failed_attempt(sentence: str) -> Attempt:
    """An attempt of which it is known already why it fails."""

    def refuse() -> NoReturn:
        raise Unreadable(sentence)

    return refuse


class Body(Protocol):
    """How to read what stands between the opening and the closing of calls."""

    @property
    def quotes(self) -> bool:
        """Whether the body is JSON, in whose strings a closing is no closing."""
        ...

    def name(self, text: str) -> str | None:
        """Guess whose call it is, if only its beginning is there."""
        ...

    def read(self, text: str, tools: Mapping[str, Tool]) -> Iterator[Attempt]:
        """Give the calls that were tried; `tools` are those offered, by name. Takes linear time."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """One way to write calls.

    With an empty `opening` the whole text is a call, if it begins as `then` says.
    """

    opening: str
    closing: str
    body: Body
    then: str = ""
    """A pattern of what must follow the opening."""
    open_ended: bool = False
    """Whether the end of the text may stand for the closing."""

    @property
    def ends_itself(self) -> bool:
        """Whether a body without a closing is complete."""
        return self.open_ended or not self.closing


Kind: TypeAlias = Literal["said", "thought", "call", "beyond"]
"""What a piece of text is: `beyond` follows the end of the model's turn."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text; a call has the form in which it is written."""

    kind: Kind
    text: str
    form: Form | None = None
    closed: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Models that write calls alike. A family is a decoder: called with a text and tools, it gives Calls."""

    name: str
    models: str
    """Which they are, for people."""
    forms: tuple[Form, ...]
    """Forms with the same opening are told apart by `then`; the first that fits counts."""
    marks: tuple[str, ...] = ()
    """Strings by which text shows itself as a call of this family, the more telling ones first."""
    sections: tuple[str, ...] = ()
    """Tokens around all calls together, which say nothing."""
    thinking: tuple[str, str] = ("<think>", "</think>")
    cut: Callable[[str], Iterator[Piece]] | None = None
    """Takes a text apart where the common scanner cannot."""

    def __call__(self, text: str, tools: Sequence[Tool] = ()) -> Calls:
        """Read the calls in `text`. Never raises."""

        return decode_family(self, text, tools)


# Behind JSON that nothing closes. Not so what may be the rest of broken JSON, or more of it.
_PROSE_AFTER_JSON = re.compile(r"\s++[^\s{}\[\],:;\"]")
_OPENING_BRACKET = r'[\[{](?=\s*+["{}\[\]])'


def scan(family: Family, text: str) -> Iterator[Piece]:
    """Take `text` apart from left to right, in linear time. Blank text is left out."""
    at = _after_leading_thinking(family, text)
    yield from _said(text[:at], "thought")
    if form := _bare_form(family, text, at):
        piece, at = _call(form, text, at)
        yield piece
    while token := _token_pattern(family).search(text, at):
        yield from _said(text[at : token.start()])
        start = at = token.end()
        match str(token.lastgroup):
            case "silent":
                pass
            case "thinking":
                at = _place_behind(family.thinking[1], text, start)
                yield Piece("thought", text[start:at])
            case "end":
                rest = re.compile(rf"(?:\s|{_alternation(END_TOKENS)})*+").match(text, at)
                yield from _said(text[rest.end() :] if rest else "", "beyond")
                return
            case form_number:
                piece, at = _call(family.forms[int(form_number.removeprefix("form"))], text, at)
                yield piece
    yield from _said(text[at:])


def _said(text: str, kind: Kind = "said") -> Iterator[Piece]:
    if text.strip():
        yield Piece(kind, text)


def _after_leading_thinking(family: Family, text: str) -> int:
    """Many prompts end with the opening of the thinking, so that the text begins inside."""
    opening, closing = family.thinking
    end = text.find(closing)
    start = text.find(opening, 0, max(end, 0))
    return 0 if end < 0 or (start >= 0 and text[:start].strip()) else end + len(closing)


def _bare_form(family: Family, text: str, at: int) -> Form | None:
    forms = (form for form in family.forms if not form.opening)
    return next((form for form in forms if re.compile(r"\s*+" + form.then).match(text, at)), None)


def _call(form: Form, text: str, at: int) -> tuple[Piece, int]:
    """Give the call whose opening ended at `at`, and where the text goes on."""
    inside = _body_reach(form, text, at)
    if not form.closing and inside > at and _PROSE_AFTER_JSON.match(text, inside):
        return Piece("call", text[at:inside], form), inside
    end = _limit_pattern(form).search(text, inside)
    if end is None:
        return Piece("call", text[at:], form, closed=form.ends_itself), len(text)
    body = text[at : end.start()]
    if end[0] == form.closing:
        return Piece("call", body, form), end.end()
    return Piece("call", body, form, closed=form.ends_itself), end.start()


def _body_reach(form: Form, text: str, at: int) -> int:
    """Give a place up to which all is body, whatever its strings hold."""
    if form.body.quotes:
        start = _bracket_or_limit_pattern(form).search(text, at)
        if start and start.lastgroup == "bracket" and (end := json_end(text, start.start())):
            return end
    return at


def _place_behind(closing: str, text: str, at: int) -> int:
    found = text.find(closing, at)
    return len(text) if found < 0 else found + len(closing)


@lru_cache
def _token_pattern(family: Family) -> re.Pattern[str]:
    forms = [
        f"(?P<form{number}>{re.escape(form.opening)}{f'(?={form.then})' if form.then else ''})"
        for number, form in enumerate(family.forms)
        if form.opening
    ]
    silent = {*family.sections, family.thinking[1], *(form.closing for form in family.forms if form.closing)}
    thinking = f"(?P<thinking>{re.escape(family.thinking[0])})"
    return re.compile(
        "|".join(
            [*forms, thinking, f"(?P<end>{_alternation(END_TOKENS)})", f"(?P<silent>{_alternation(sorted(silent))})"]
        )
    )


@lru_cache
def _limit_pattern(form: Form) -> re.Pattern[str]:
    return re.compile(_alternation(_limit_tokens(form)))


@lru_cache
def _bracket_or_limit_pattern(form: Form) -> re.Pattern[str]:
    return re.compile(f"{_alternation(_limit_tokens(form))}|(?P<bracket>{_OPENING_BRACKET})")


def _limit_tokens(form: Form) -> Sequence[str]:
    """Longest first, since a closing may begin an opening."""
    return sorted({sign for sign in (form.opening, form.closing, *END_TOKENS) if sign}, key=len, reverse=True)


def _alternation(signs: Sequence[str]) -> str:
    return "|".join(map(re.escape, signs))


def decode_family(family: Family, text: str, tools: Sequence[Tool] = ()) -> Calls:
    """Read the calls. Total, and linear in the length of the text.

    What is thought is never searched for calls, and what stands behind the end of the model's turn is not its answer.
    """
    offered = tools_by_name(tools)
    found = CallCollector()
    for piece in family.cut(text) if family.cut else scan(family, text):
        match piece.kind:
            case "call":
                for attempt in _attempts(piece, offered):
                    found.call(attempt)
            case "said":
                found.prose(piece.text)
            case "thought":
                if mark := find_mark(piece.text):
                    found.note(f"A tool call ({mark}) within the thinking was not read.")
            case "beyond":
                found.note(f"Text behind the end of the answer was dropped: {shortened(piece.text.strip())}.")
    return found.result()


def _attempts(piece: Piece, tools: Mapping[str, Tool]) -> Iterator[Attempt]:
    if piece.form and piece.closed:
        yield from piece.form.body.read(piece.text, tools)
    elif piece.form:
        name = piece.form.body.name(piece.text)
        whose = f"the call of {shortened(name)}" if name else "it"
        yield failed_attempt(f"{whose} is cut off before {shortened(piece.form.closing)}")
