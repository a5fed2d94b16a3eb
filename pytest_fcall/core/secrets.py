"""The secrets of a run: which values are secrets, and texts without them.

What is written or shown passes through `Secrets.redacted`: stores, files of runs, reports, the terminal. A secret is
found as it is, in the escapes of JSON, HTML and addresses, in base64, and cut off by one of our own messages.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple
from urllib.parse import quote, quote_plus

from pytest_fcall.core.values import Json

LEFT_OUT: Final = "[secret left out]"
"""Stands where a secret stood."""

_LEAST: Final = 8
_LEAST_UNNAMED: Final = 16
_LEAST_WORDS: Final = 20
"""Letters alone, in words or not, are a secret only where they are this long: an ordinary answer has such words."""
_LONGEST: Final = 10_000
_LEAST_KINDS: Final = 5
"""A secret has at least so many different characters."""
_FRAGMENT: Final = 12
"""The most characters by which the beginning or the end of a secret is known where it is cut."""
_OWN_BEGINNING: Final = 6
"""Characters after the beginning that a secret has in common with others, such as `sk-proj-`."""
_CUTS: Final = ("…", "...", "[", "\\u2026", "'…", '"…', "'...", '"...')
_STANDING_FOR_KEYS: Final = re.compile(
    r"""(?x)
    anything|api|bar|bearer|change|changeme|default|demo|dummy|empty|example|fake|false|foo|here|insert|keys?|lm|local
    |localhost|mock|my|needed|no|nokey|none|not|notneeded|null|ollama|pass|passwd|password|placeholder|proj|redacted
    |replace|replayed|required|sample|secret|sk|studio|test|testing|the|this|todo|token|true|undefined|unused|value
    |vllm|with|your|(.)\1*|[0-9]{1,4}"""
)
"""The words of what stands for a key: servers that need none are sent such a placeholder."""
_MODEL: Final = re.compile(
    r"(?:[\w.-]+[/:])*(?:gpt|chatgpt|claude|gemini|gemma|llama|mi[sx]tral|ministral|codestral|qwen|deepseek|phi|command"
    r"|grok|nova|titan|text-embedding|o[1-9])[-.\d][\w.:@-]*",
    re.IGNORECASE,
)
_NUMBERS: Final = re.compile(r"[\d.,:+/ -]+|\d{4}-\d{2}-\d{2}(?:[T -][\w:.+-]*)?")
_COMMON_BEGINNING: Final = re.compile(r"(?:[A-Za-z]{1,6}\d{0,2}[-_]){0,3}")
_BASE64_MARK: Final = "Kioq"
"""`***` in base64: what was valid base64 stays so, with as many bytes."""


def looks_secret(value: str, *, named: bool = True) -> bool:
    """Whether a value is a secret, by its looks; `named` where its name says so, else it must look like nothing else.

    Short values, placeholders such as `none` and `sk-test`, numbers, dates, names of models, paths that exist and
    single words are none: they occur in ordinary answers, which would be damaged.
    """
    if not (_LEAST if named else _LEAST_UNNAMED) <= len(value) <= _LONGEST or len(set(value)) < _LEAST_KINDS:
        return False
    words = [word for word in re.split(r"[-_.:/\s]+", value.lower()) if word]
    if all(map(_STANDING_FOR_KEYS.fullmatch, words)):
        return False
    if _NUMBERS.fullmatch(value) or _MODEL.fullmatch(value) or _is_path(value):
        return False
    if all(word.isalpha() for word in words) and re.fullmatch(r"[\w.:/\s-]+", value):
        return named and len(value) >= _LEAST_WORDS
    return named or (not re.search(r"\s|://", value) and any(map(str.isdigit, value)) and any(map(str.isalpha, value)))


def _is_path(value: str) -> bool:
    """Whether it leads to something that exists, or to a name in such a folder. A key may begin with a slash, too."""
    if value.startswith(("~/", "./", "../")) or value[1:3] in (":\\", ":/"):
        return True
    path = Path(value)
    return value.startswith("/") and (path.exists() or (path.parent != path.parent.parent and path.parent.exists()))


class _Form(NamedTuple):
    """One way in which a secret is written."""

    text: str
    head: str
    """The text by which the form is searched."""
    tail: str
    """The text by which its end is searched, where its beginning was cut off; empty for a short one."""
    mark: str


class Secrets:
    """The secrets that are known so far. More may be added at any time, by any thread."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: frozenset[str] = frozenset()
        self._forms: tuple[_Form, ...] = ()
        self._needles: tuple[str, ...] = ()
        self._lock = Lock()
        self.add(values)

    def __bool__(self) -> bool:
        return bool(self._needles)

    @property
    def values(self) -> frozenset[str]:
        """The secrets as they are."""
        return self._values

    def add(self, values: Iterable[str]) -> None:
        """Take further values for secrets, whatever they look like."""
        if new := frozenset(filter(None, values)) - self._values:
            with self._lock:
                self._values |= new
                forms = {form.text: form for value in self._values for form in _forms_of(value)}
                self._forms = tuple(sorted(forms.values(), key=lambda form: (-len(form.text), form.text)))
                self._needles = tuple(
                    dict.fromkeys(needle for form in self._forms for needle in (form.head, form.tail) if needle)
                )

    def may_be_in(self, text: str) -> bool:
        """Whether a text may hold a secret: a quick check, which is true for all that do."""
        for needle in self._needles:  # noqa: SIM110 - every text passes here, and a generator takes twice as long
            if needle in text:
                return True
        return False

    def redacted(self, text: str) -> str:
        """The text with a mark in the place of each secret. JSON stays JSON, and valid base64 stays valid."""
        if not self.may_be_in(text):
            return text
        for form in self._forms:
            if form.head in text:
                text = _without(text, form)
            if form.tail and form.tail in text:
                text = _without_end(text, form)
        return text

    def redacted_value(self, value: Json) -> Json:
        """The JSON value with marks, in texts at any depth."""
        if isinstance(value, str):
            return self.redacted(value)
        if isinstance(value, Mapping):
            return self.redacted_fields(value)
        if isinstance(value, list | tuple):
            return [self.redacted_value(inner) for inner in value]
        return value

    def redacted_fields(self, fields: Mapping[str, Json]) -> dict[str, Json]:
        """The fields of a JSON object with marks, in names and in values."""
        return {self.redacted(name): self.redacted_value(inner) for name, inner in fields.items()}


def _forms_of(secret: str) -> Iterator[_Form]:
    encoded = json.dumps(secret)[1:-1]
    written = (secret, repr(secret)[1:-1], escape(secret), escape(secret, quote=False))
    in_json = [encoded, json.dumps(encoded)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]]
    if "/" in secret:  # some languages escape it, in JSON within JSON once more
        once = encoded.replace("/", "\\/")
        twice = json.dumps(once)[1:-1]
        in_json += [once, twice, twice.replace("/", "\\/")]
    in_addresses = [coded(secret, safe="") for coded in (quote, quote_plus)] + [quote(secret)]
    lower = [re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), each) for each in in_addresses]
    for text in dict.fromkeys((*written, *in_json, *in_addresses, *lower)):
        size = min(_FRAGMENT, max(_LEAST, len(text) // 3))
        common = _COMMON_BEGINNING.match(text)
        begin = max(size, (common.end() if common else 0) + _OWN_BEGINNING)
        is_long = len(text) >= 2 * size and len(text) > begin
        yield _Form(text, text[:begin] if is_long else text, text[-size:] if is_long else "", LEFT_OUT)
    data = secret.encode("utf-8", "surrogatepass")
    for skipped in range(3):  # base64 takes three bytes at a time, and a secret may begin with any of them
        whole = data[skipped : len(data) - (len(data) - skipped) % 3]
        for text in {b64encode(whole).decode(), urlsafe_b64encode(whole).decode()}:
            if len(text) >= _LEAST:
                yield _Form(text, text[: max(_FRAGMENT, len(text) // 3)], "", _BASE64_MARK * (len(text) // 4))


def _without(text: str, form: _Form) -> str:
    """The text without a form, and without its beginning where the rest was cut off."""
    parts, start = [], 0
    while (at := text.find(form.head, start)) >= 0:
        end = at + _equal_length(text[at : at + len(form.text)], form.text)
        is_cut = end - at < len(form.text)
        if is_cut and not (end == len(text) or text[end] in "\n\r" or text.startswith(_CUTS, end)):
            parts.append(text[start:end])
        else:
            parts += [text[start:at], form.mark[: end - at] if form.mark.startswith(_BASE64_MARK) else form.mark]
        start = end
    return "".join([*parts, text[start:]])


def _without_end(text: str, form: _Form) -> str:
    """The text without the end of a form whose beginning was cut off."""
    backwards, start = form.text[::-1], 0
    parts: list[str] = []
    while (found := text.find(form.tail, start)) >= 0:
        end = found + len(form.tail)
        at = end - _equal_length(text[max(start, end - len(backwards)) : end][::-1], backwards)
        is_cut = at == 0 or text[at - 1] in "\n\r]" or text.endswith(_CUTS, 0, at)
        parts += [text[start:at], form.mark] if is_cut else [text[start:end]]
        start = end
    return "".join([*parts, text[start:]])


def _equal_length(text: str, other: str) -> int:
    """The number of characters with which both begin."""
    return next((place for place, pair in enumerate(zip(text, other, strict=False)) if pair[0] != pair[1]), len(text))
