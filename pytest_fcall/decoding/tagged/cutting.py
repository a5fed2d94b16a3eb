"""Takes a text apart: what was said, what was thought, and the calls in the forms of a family."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from pytest_fcall.decoding.tagged.family import Family, Form, Piece
from pytest_fcall.decoding.tagged.json_span import json_end

ENDS = (
    "<|im_end|>",
    "</s>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|user|>",
    "<|observation|>",
    "<｜end▁of▁sentence｜>",
    "<end_of_turn>",
    "<start_function_response>",
    "<turn|>",
    "<|tool_response>",
    "<eos>",
)
"""Tokens that end a model's turn. Most servers strip them; what stands behind one is not the model's answer."""

_BRACKET = r'[\[{](?=\s*+["{}\[\]])'


def pieces(family: Family, text: str) -> Iterator[Piece]:
    """Take `text` apart from left to right, in linear time. Blank text is left out."""
    at = _after_prefilled_thinking(family, text)
    if at:
        yield Piece("thought", text[:at])
    untouched = True
    while True:
        if untouched and (form := _bare(family, text, at)):
            piece, at = _call(form, text, at)
            yield piece
        token = _tokens(family).search(text, at)
        said = text[at : token.start() if token else len(text)]
        if said.strip():
            untouched = False
            yield Piece("said", said)
        if token is None:
            return
        at = token.end()
        match token.lastgroup:
            case "end":
                yield from _beyond(text, at)
                return
            case "thinking":
                start, at = at, _end_of(family.thinking[1], text, at)
                yield Piece("thought", text[start:at])
            case "section":
                pass
            case group:
                untouched = False
                piece, at = _call(family.forms[int(str(group).removeprefix("form"))], text, at)
                yield piece


def _after_prefilled_thinking(family: Family, text: str) -> int:
    """Many prompts end with the opening of the thinking, so that the text begins inside."""
    opening, closing = family.thinking
    end = text.find(closing)
    return 0 if end < 0 or text.find(opening, 0, end) >= 0 else end + len(closing)


def _bare(family: Family, text: str, at: int) -> Form | None:
    forms = (form for form in family.forms if not form.opening)
    return next((form for form in forms if re.compile(r"\s*+" + form.then).match(text, at)), None)


def _call(form: Form, text: str, at: int) -> tuple[Piece, int]:
    """Give the call whose opening ended at `at`, and where the text goes on."""
    limits = _limits(form)
    end = limits.search(text, _inside(form, text, at))
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


def _beyond(text: str, at: int) -> Iterator[Piece]:
    rest = re.compile(rf"(?:\s|{_any(ENDS)})*+").match(text, at)
    if rest and rest.end() < len(text):
        yield Piece("beyond", text[rest.end() :])


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
    return re.compile("|".join([*forms, thinking, f"(?P<end>{_any(ENDS)})", f"(?P<section>{_any(sorted(silent))})"]))


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
