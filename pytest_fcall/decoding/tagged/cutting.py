"""Takes a text apart: what was said, what was thought, and the calls in the forms of a family."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from pytest_fcall.decoding.answer import ENDS
from pytest_fcall.decoding.tagged.family import Family, Form, Kind, Piece
from pytest_fcall.decoding.tagged.json_span import json_end

# Behind JSON that nothing closes. Not so what may be the rest of broken JSON, or more of it.
_PROSE = re.compile(r"\s++[^\s{}\[\],:;\"]")
_BRACKET = r'[\[{](?=\s*+["{}\[\]])'


def pieces(family: Family, text: str) -> Iterator[Piece]:
    """Take `text` apart from left to right, in linear time. Blank text is left out."""
    at = _after_leading_thinking(family, text)
    yield from _said(text[:at], "thought")
    if form := _bare(family, text, at):
        piece, at = _call(form, text, at)
        yield piece
    while token := _tokens(family).search(text, at):
        yield from _said(text[at : token.start()])
        start = at = token.end()
        match str(token.lastgroup):
            case "silent":
                pass
            case "thinking":
                at = _end_of(family.thinking[1], text, start)
                yield Piece("thought", text[start:at])
            case "end":
                rest = re.compile(rf"(?:\s|{_any(ENDS)})*+").match(text, at)
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


def _bare(family: Family, text: str, at: int) -> Form | None:
    forms = (form for form in family.forms if not form.opening)
    return next((form for form in forms if re.compile(r"\s*+" + form.then).match(text, at)), None)


def _call(form: Form, text: str, at: int) -> tuple[Piece, int]:
    """Give the call whose opening ended at `at`, and where the text goes on."""
    inside = _inside(form, text, at)
    if not form.closing and inside > at and _PROSE.match(text, inside):
        return Piece("call", text[at:inside], form), inside
    end = _limits(form).search(text, inside)
    if end is None:
        return Piece("call", text[at:], form, closed=form.ends_itself), len(text)
    body = text[at : end.start()]
    if end[0] == form.closing:
        return Piece("call", body, form), end.end()
    return Piece("call", body, form, closed=form.ends_itself), end.start()


def _inside(form: Form, text: str, at: int) -> int:
    """Give a place up to which all is body, whatever its strings hold."""
    if form.body.quotes:
        start = _bracket_or_limit(form).search(text, at)
        if start and start.lastgroup == "bracket" and (end := json_end(text, start.start())):
            return end
    return at


def _end_of(closing: str, text: str, at: int) -> int:
    found = text.find(closing, at)
    return len(text) if found < 0 else found + len(closing)


@lru_cache
def _tokens(family: Family) -> re.Pattern[str]:
    forms = [
        f"(?P<form{number}>{re.escape(form.opening)}{f'(?={form.then})' if form.then else ''})"
        for number, form in enumerate(family.forms)
        if form.opening
    ]
    silent = {*family.sections, family.thinking[1], *(form.closing for form in family.forms if form.closing)}
    thinking = f"(?P<thinking>{re.escape(family.thinking[0])})"
    return re.compile("|".join([*forms, thinking, f"(?P<end>{_any(ENDS)})", f"(?P<silent>{_any(sorted(silent))})"]))


@lru_cache
def _limits(form: Form) -> re.Pattern[str]:
    return re.compile(_any(_signs(form)))


@lru_cache
def _bracket_or_limit(form: Form) -> re.Pattern[str]:
    return re.compile(f"{_any(_signs(form))}|(?P<bracket>{_BRACKET})")


def _signs(form: Form) -> Sequence[str]:
    """Longest first, since a closing may begin an opening."""
    return sorted({sign for sign in (form.opening, form.closing, *ENDS) if sign}, key=len, reverse=True)


def _any(signs: Sequence[str]) -> str:
    return "|".join(map(re.escape, signs))
