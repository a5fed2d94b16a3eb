"""The texts of users in other words or another language, by a model: kept beside the case file, to be reviewed.

A line of JSON for each variant names the case, the relation, the model and the digest of the texts it replaces. A text
of an earlier prompt is never used, and none is made anew unless a person asks for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.core.case import Case
from pytest_fcall.core.digests import digest
from pytest_fcall.core.files import MOST_KEPT_BYTES, read_regular, replace_file
from pytest_fcall.core.values import Json
from pytest_fcall.core.variants import Unfit, WantedRelation
from pytest_fcall.variants.case_parts import expected_values, hidden_expectation, user_texts, with_user_texts
from pytest_fcall.variants.texts import fixed_parts

SUFFIX: Final = ".texts.jsonl"
_LENGTH: Final = 12
_MOST_LONGER: Final = 4
"""A text may be so many times as long as that for which it stands, and a little more."""
_SPARE_LETTERS: Final = 200
_CONTROL: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
    r"|[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"  # nobody who reviews a text would see these
)


class TextKey(NamedTuple):
    """Names a variant whose text a model writes."""

    case: str
    relation: str
    to: str
    """The language; empty for a paraphrase."""
    number: int


@dataclass(frozen=True, slots=True)
class KeptText:
    """The texts of one variant, one for each text of the user."""

    key: TextKey
    by: str
    """The model that wrote them."""
    of: str
    """The digest of the texts for which they stand."""
    texts: tuple[str, ...]


def texts_path(case_file: Path) -> Path:
    """The path of the kept texts for a case file."""
    return case_file.parent / "__fcall__" / f"{case_file.name}{SUFFIX}"


def read_texts(path: Path) -> dict[TextKey, KeptText]:
    """Read a file; lines that cannot be read are passed over, as if they were not there. Raises OSError."""
    try:
        content = read_regular(path, MOST_KEPT_BYTES).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    found = (parse_text(line) for line in content.split("\n"))
    return {each.key: each for each in found if each is not None}


def parse_text(line: str) -> KeptText | None:
    """Read a line; None where it is no such line."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match data:
        case {
            "case": str(case),
            "relation": str(relation),
            "number": int(number),
            "by": str(by),
            "of": str(of),
            "texts": [*texts],
            **rest,
        } if all(isinstance(each, str) for each in texts):
            return KeptText(TextKey(case, relation, str(rest.get("to", "")), number), by, of, tuple(map(str, texts)))
    return None


def text_line(text: KeptText) -> str:
    """The line of a text."""
    fields: dict[str, Json] = {**text.key._asdict(), "texts": text.texts, "by": text.by, "of": text.of}
    return json.dumps({name: value for name, value in fields.items() if value != ""}, ensure_ascii=False)


def write_texts(path: Path, added: Iterable[KeptText]) -> None:
    """Add texts to a file, each in place of an older one for the same variant. Raises OSError."""
    _write(path, {**read_texts(path), **{each.key: each for each in added}}.values())


def _write(path: Path, texts: Iterable[KeptText]) -> None:
    lines = [f"{text_line(each)}\n".encode() for each in sorted(texts, key=lambda each: each.key)]
    if lines:
        replace_file(path, lines)
    else:
        path.unlink(missing_ok=True)


def move_texts(path: Path, case: str, target: Path, new: str) -> int:
    """Have the texts of a case follow it to another id, or another file; returns their number. Raises OSError."""
    kept = read_texts(path)
    moved = [replace(each, key=each.key._replace(case=new)) for each in kept.values() if each.key.case == case]
    if moved:
        _write(path, (each for each in kept.values() if each.key.case != case))
        write_texts(target, moved)
    return len(moved)


def texts_of(case: Case) -> list[str]:
    """All that the user says in a case, text by text."""
    return [*user_texts(case)]


def digest_of(case: Case) -> str:
    """The digest of all that the user says in a case."""
    return digest(texts_of(case))[:_LENGTH]


def key_of(case: Case, wanted: WantedRelation, number: int) -> TextKey:
    """The key of a variant."""
    return TextKey(case.id, wanted.name, str(wanted.options.get("to", "")), number)


def kept_words(case: Case, text: str) -> list[str]:
    """The parts of what a user says that must stay in other words, too: expected values, numbers, quotations, ids."""
    folded = text.casefold()
    plain = (value for value in expected_values(case) if value is not True and value is not False)
    values = (str(value) for value in plain if isinstance(value, str | int | float))
    said = [value for value in values if value.strip() and value.casefold() in folded]
    fixed = [text[start:end].rstrip(".,;:!?") for start, end in fixed_parts(text)]
    return list(dict.fromkeys(part for part in (*said, *fixed) if part))


def fault_of(case: Case, before: str, after: str) -> str:
    """The reason why a text that a model wrote cannot stand for another one; empty where it can."""
    if not after.strip():
        return "is empty"
    if len(after) > _MOST_LONGER * len(before) + _SPARE_LETTERS:
        return "is much longer than the prompt"
    if _CONTROL.search(after):
        return "has control characters"
    missing = [part for part in kept_words(case, before) if part.casefold() not in after.casefold()]
    return f"lacks {missing[0]!r}" if missing else ""


def writer_of(wanted: WantedRelation) -> str:
    """The model that is to write the texts, without its options, which may hold a key."""
    return str(wanted.options.get("by", "")).partition("?")[0]


def unwritable_reason(case: Case, wanted: WantedRelation) -> Unfit | None:
    """The reason why no model can put the case differently; None where one can."""
    if not writer_of(wanted):
        return Unfit(f"its file does not name the model that writes: `variants: [{wanted.name}: {{by: …}}]`")
    if unfit := hidden_expectation(case):
        return unfit
    return None if any(text.strip() for text in texts_of(case)) else Unfit("the user says nothing")


def variants_with_texts(case: Case, wanted: WantedRelation, kept: Mapping[TextKey, KeptText]) -> list[Case | Unfit]:
    """The variants whose texts are kept, and for each of the others why there is none."""
    if unfit := unwritable_reason(case, wanted):
        return [unfit]
    return [_worded(case, wanted, kept.get(key_of(case, wanted, number))) for number in range(1, wanted.count + 1)]


def is_wanted(case: Case, wanted: WantedRelation, kept: KeptText | None, *, anew: bool) -> bool:
    """Whether a text is to be made: where there is none, or with `anew` where it cannot be used."""
    return kept is None or (anew and isinstance(_worded(case, wanted, kept), Unfit))


def _worded(case: Case, wanted: WantedRelation, kept: KeptText | None) -> Case | Unfit:
    before = texts_of(case)
    if kept is None:
        return Unfit("no text is kept; a run that asks its model makes one")
    if kept.by != writer_of(wanted):
        return Unfit("its text is by another model; --fc-new-texts makes a new one")
    if kept.of != digest_of(case) or len(kept.texts) != len(before):
        return Unfit("its text is of an earlier prompt; --fc-new-texts makes a new one")
    for old, new in zip(before, kept.texts, strict=True):
        if fault := fault_of(case, old, new):
            return Unfit(f"its text {fault}; --fc-new-texts makes a new one")
    texts = iter(kept.texts)
    return with_user_texts(case, lambda _: next(texts))
