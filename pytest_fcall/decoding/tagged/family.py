"""A family of models that write calls alike: its data, the scanner of its text, and its decoder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NoReturn, Protocol, TypeAlias

from pytest_fcall.core.reply import Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.decoding.argument_values import tools_by_name
from pytest_fcall.decoding.call_marks import find_mark
from pytest_fcall.decoding.model_text import END_TOKENS, CallCollector, ReadCall
from pytest_fcall.decoding.unreadable_text import Unreadable, quote_short

_OPENING_BRACKET = r'[\[{](?=\s*+["{}\[\]])'
# Text after complete JSON. It must not be the rest of broken JSON, or more of it.
_PROSE_AFTER_JSON = re.compile(r"\s++[^\s{}\[\],:;\"]")
_JSON_TOKEN = re.compile(
    r"(?>(?:[\s,:]++|true|false|null|-?\d[\d.eE+\-]*+)*)"
    r'(?:(?P<string>"(?>(?:[^"\\]+|\\.)*)")|(?P<open>[{\[])|(?P<close>[}\]]))',
    re.DOTALL,
)

Attempt: TypeAlias = Callable[[], ReadCall]
"""Reads one call that the model attempted, or raises Unreadable."""


class BodyReader(Protocol):
    """Reads the text between the opening and the closing of calls."""

    @property
    def is_json(self) -> bool:
        """Whether the body is JSON, whose strings may contain the closing."""
        ...

    def called_name(self, text: str) -> str | None:
        """Give the name of the called tool, also where only the beginning of the call is there."""
        ...

    def read(self, text: str, tools: Mapping[str, Tool], /) -> Iterator[Attempt]:
        """Give the attempted calls; `tools` are those offered, by name. Takes linear time."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """One way to write calls. With an empty `opening` the whole text is a call if it begins with `lookahead`."""

    opening: str
    closing: str
    body: BodyReader
    lookahead: str = ""
    """A pattern of the text after the opening."""
    closing_optional: bool = False
    """Whether a call may end with the text instead of the closing."""

    @property
    def may_stay_open(self) -> bool:
        """Whether a body without a closing is complete."""
        return self.closing_optional or not self.closing


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A run of text outside of calls."""

    kind: Literal["answer", "thinking", "after_end"]
    """`after_end` is text after the end of the model's turn."""
    text: str


@dataclass(frozen=True, slots=True)
class CallPiece:
    """The body of calls, and the form in which they are written."""

    text: str
    form: Form
    closed: bool = True


Piece: TypeAlias = TextPiece | CallPiece


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Models that write calls alike. `FAMILY_MARKS` has the marks of their calls."""

    name: str
    models: str
    """The models as the documentation lists them."""
    forms: tuple[Form, ...]
    """Of several forms with the same opening, the first whose `lookahead` matches counts."""
    sections: tuple[str, ...] = ()
    """Tokens around all calls together, which are skipped."""
    thinking: tuple[str, str] = ("<think>", "</think>")
    scanner: Callable[[str], Iterator[Piece]] | None = None
    """Splits a text where the common scanner cannot."""


def decode_family(family: Family, text: str, tools: Sequence[Tool] = ()) -> Calls:
    """Read the calls in a text. Never raises, and takes linear time.

    Calls are not looked for in thinking, nor after the end of the model's turn.
    """
    offered = tools_by_name(tools)
    collector = CallCollector()
    for piece in family.scanner(text) if family.scanner else _scan(family, text):
        match piece:
            case CallPiece(body, form, closed=True):
                for attempt in form.body.read(body, offered):
                    collector.add_call(attempt)
            case CallPiece(body, form):
                name = form.body.called_name(body)
                cut_off = f"the call of {quote_short(name)}" if name else "it"
                collector.add_call(failed_attempt(f"{cut_off} is cut off before {quote_short(form.closing)}"))
            case TextPiece("answer", said):
                collector.skip_prose(said)
            case TextPiece("thinking", thinking):
                if mark := find_mark(thinking):
                    collector.add_note(f"A tool call ({mark}) inside the thinking was not read.")
            case TextPiece(text=rest):
                collector.add_note(f"Text after the end of the answer was dropped: {quote_short(rest.strip())}.")
    return collector.result()


def failed_attempt(sentence: str) -> Attempt:
    """Give an attempt that is already known to fail."""

    def refuse() -> NoReturn:
        raise Unreadable(sentence)

    return refuse


def _scan(family: Family, text: str) -> Iterator[Piece]:
    """Split a text from left to right, in linear time. Blank text is left out."""
    at = _end_of_leading_thinking(family, text)
    if text[:at].strip():
        yield TextPiece("thinking", text[:at])
    if form := _bare_form(family, text, at):
        piece, at = _call(form, text, at)
        yield piece
    while token := _token_pattern(family).search(text, at):
        yield from _answer(text[at : token.start()])
        start = at = token.end()
        match str(token.lastgroup):
            case "section":
                pass
            case "thinking":
                closing = family.thinking[1]
                end = text.find(closing, start)
                at = len(text) if end < 0 else end + len(closing)
                yield TextPiece("thinking", text[start:at])
            case "end":
                rest = re.compile(rf"(?>(?:\s|{_alternation(END_TOKENS)})*)").match(text, at)
                if rest and text[rest.end() :].strip():
                    yield TextPiece("after_end", text[rest.end() :])
                return
            case form_number:
                piece, at = _call(family.forms[int(form_number.removeprefix("form"))], text, at)
                yield piece
    yield from _answer(text[at:])


def _answer(text: str) -> Iterator[Piece]:
    if text.strip():
        yield TextPiece("answer", text)


def _end_of_leading_thinking(family: Family, text: str) -> int:
    """Give the end of thinking whose opening is missing, because the prompt ended with it; else 0."""
    opening, closing = family.thinking
    end = text.find(closing)
    start = text.find(opening, 0, max(end, 0))
    return 0 if end < 0 or (start >= 0 and text[:start].strip()) else end + len(closing)


def _bare_form(family: Family, text: str, at: int) -> Form | None:
    forms = (form for form in family.forms if not form.opening)
    return next((form for form in forms if re.compile(r"\s*+" + form.lookahead).match(text, at)), None)


def _call(form: Form, text: str, at: int) -> tuple[Piece, int]:
    """Give the call whose opening ended at `at`, and the place where the text goes on."""
    inside = _place_in_body(form, text, at)
    if not form.closing and inside > at and _PROSE_AFTER_JSON.match(text, inside):
        return CallPiece(text[at:inside], form), inside
    end = _limit_pattern(form).search(text, inside)
    if end is None:
        return CallPiece(text[at:], form, closed=form.may_stay_open), len(text)
    body = text[at : end.start()]
    if end[0] == form.closing:
        return CallPiece(body, form), end.end()
    return CallPiece(body, form, closed=form.may_stay_open), end.start()


def _place_in_body(form: Form, text: str, at: int) -> int:
    """Give a place up to which the text is body, even if strings in it contain the closing."""
    if form.body.is_json:
        start = _bracket_or_limit_pattern(form).search(text, at)
        if start and start.lastgroup == "bracket" and (end := json_end(text, start.start())):
            return end
    return at


def json_end(text: str, at: int) -> int | None:
    """Give the end of the object, list or string at `at`, None where its brackets or quotes are not closed.

    Stops at the first character that JSON cannot contain there. No token by which calls begin or end can be in JSON
    outside of a string. Therefore a scanner that calls this at each of many tokens stays linear: of the scans that
    begin at different tokens, at most two ever go over the same text.
    """
    depth = 0
    while token := _JSON_TOKEN.match(text, at):
        at = token.end()
        depth += {"open": 1, "close": -1}.get(str(token.lastgroup), 0)
        if depth <= 0:
            return at
    return None


@lru_cache
def _token_pattern(family: Family) -> re.Pattern[str]:
    forms = [
        f"(?P<form{number}>{re.escape(form.opening)}{f'(?={form.lookahead})' if form.lookahead else ''})"
        for number, form in enumerate(family.forms)
        if form.opening
    ]
    thinking = f"(?P<thinking>{re.escape(family.thinking[0])})"
    end = f"(?P<end>{_alternation(END_TOKENS)})"
    skipped = {*family.sections, family.thinking[1], *(form.closing for form in family.forms if form.closing)}
    return re.compile("|".join([*forms, thinking, end, f"(?P<section>{_alternation(sorted(skipped))})"]))


@lru_cache
def _limit_pattern(form: Form) -> re.Pattern[str]:
    return re.compile(_alternation(_limit_tokens(form)))


@lru_cache
def _bracket_or_limit_pattern(form: Form) -> re.Pattern[str]:
    return re.compile(f"{_alternation(_limit_tokens(form))}|(?P<bracket>{_OPENING_BRACKET})")


def _limit_tokens(form: Form) -> Sequence[str]:
    """Longest first, since an opening may begin with a closing."""
    return sorted({token for token in (form.opening, form.closing, *END_TOKENS) if token}, key=len, reverse=True)


def _alternation(tokens: Sequence[str]) -> str:
    return "|".join(map(re.escape, tokens))
