"""The way in which the harness's handler of a model writes answers, found out from the answers themselves.

A handler offers the names of functions with their dots, or with underscores in their place, and it stores native calls,
or text in the format of the prompt or of the model's family. The checker knows it by a table of models; rows do not
say it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from pytest_fcall.core.reply import Calls
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.bfcl.decoders import decode_prompt
from pytest_fcall.decoding.bfcl.official_form import Undecodable
from pytest_fcall.decoding.call_marks import FAMILY_MARKS
from pytest_fcall.decoding.decoders import FORMAT_DECODERS
from pytest_fcall.suites.bfcl.answers import FORM_BY_DECODER, Handler, answer_text, is_conversation_result

OfferedNames: TypeAlias = Callable[[Mapping[str, Json]], Collection[str]]
"""Returns the names of the functions that the case of a row offers; none for an unknown case."""
NameForm: TypeAlias = Literal["dots", "underscores"]

_UNMARKED: Final = ("json", "llama")
"""The decoders of JSON without a mark around it."""


def is_open(row: Mapping[str, Json]) -> bool:
    """Return whether a row leaves open how to read its answer, or how the names of functions were offered."""
    if row.get("decoder") is not None or "decoded" in row or not ("raw" in row or "result" in row):
        return False
    return row.get("style") is None or (row["style"] == "FC" and "underscore_to_dot" not in row)


def find_handler(rows: Iterable[Mapping[str, Json]], offered: OfferedNames, asked: Handler) -> Handler:
    """Return what `asked` says, and for the rest what most of these rows say, which leave it open."""
    open_rows = [*rows]
    answers = [row.get("raw", row.get("result")) for row in open_rows]
    native = any(_is_native(each) for each in answers)
    decoder = asked.decoder
    if decoder is None and not native:
        decoder = _found_decoder([each for each in answers if isinstance(each, str)])
    underscored = asked.underscored
    if underscored is None:
        forms = Counter(form for row in open_rows for form in name_forms(row, decoder, offered(row)))
        underscored = forms["underscores"] >= forms["dots"] if forms else None
    return Handler(native, underscored, decoder)


def name_forms(row: Mapping[str, Json], decoder: str | None, offered: Collection[str]) -> Iterator[NameForm]:
    """Yield how each call of a row writes the name of a function with a dot."""
    dotted = [name for name in offered if "." in name]
    underscored = {name.replace(".", "_") for name in dotted}
    for name in _called_names(row, decoder) if dotted else ():
        if name in dotted:
            yield "dots"
        elif name in underscored:
            yield "underscores"


def has_family_mark(text: str) -> bool:
    """Return whether a text has a token around calls of some family of models."""
    return any(mark in text for marks in FAMILY_MARKS.values() for mark in marks)


def _called_names(row: Mapping[str, Json], decoder: str | None) -> Sequence[str]:
    answer = row.get("raw", row.get("result"))
    if isinstance(answer, list):
        return [name for call in answer if isinstance(call, Mapping) for name in call]
    if isinstance(answer, str) and decoder is not None and decoder not in FORM_BY_DECODER:
        return [call.name for call in answer_text(answer, decoder).calls]
    return []


def _is_native(answer: Json) -> bool:
    return isinstance(answer, list) and not is_conversation_result(answer)


def _found_decoder(texts: Sequence[str]) -> str | None:
    """The decoder of a family that reads all texts in which calls are marked, unless prompts explain some texts."""
    if any(map(_is_prompted, texts)):
        return None
    marked = [*filter(has_family_mark, texts)]
    families = [name for name, marks in FAMILY_MARKS.items() if any(mark in text for mark in marks for text in marked)]
    if marked:
        return _reader_of(marked, families)
    return _reader_of([text for text in texts if text.lstrip()[:1] in ("{", "[")], _UNMARKED)


def _reader_of(texts: Sequence[str], names: Sequence[str]) -> str | None:
    """The decoder that reads most of the texts, if that is more than half; the first of equals."""
    read = {name: sum(_is_read(FORMAT_DECODERS[name](text, ())) for text in texts) for name in names}
    best = max(read, key=lambda name: read[name], default=None)
    return best if best is not None and read[best] * 2 > len(texts) else None


def _is_read(calls: Calls) -> bool:
    return bool(calls.calls) and calls.malformed is None


def _is_prompted(text: str) -> bool:
    """Whether a text is a list of calls in Python, as the leaderboard's prompt asks for."""
    try:
        return bool(decode_prompt(text))
    except Undecodable:
        return False
