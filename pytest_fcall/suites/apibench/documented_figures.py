"""Figures in the documents of models: accuracies on data sets, and numbers of parameters.

A figure is left out where its meaning is not certain: a document says nothing rather than something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from pytest_fcall.core.values import Json

_DEEPEST: Final = 12
_LONGEST: Final = 20_000
NUMBER: Final = r"\d{1,3}(?:,\d{3})+(?!\d)|\d{1,15}(?:\.\d{1,15})?"
UNIT: Final = r"thousand|million|billion|[kmb]"
_UNITS: Final = {"k": 10**3, "thousand": 10**3, "m": 10**6, "million": 10**6, "b": 10**9, "billion": 10**9}
_METRICS: Final = (
    ("top-1", re.compile(r"\btop[ _-]?1\b")),
    ("top-5", re.compile(r"\btop[ _-]?5\b")),
    ("mAP", re.compile(r"^(?:map|ap)(?:val|test|\d|@|$|\b)")),
    ("F1", re.compile(r"^f1\b")),
    ("BLEU", re.compile(r"^bleu\b")),
    ("IoU", re.compile(r"^(?:mean |drivable )?m?iou\b")),
    ("accuracy", re.compile(r"^acc(?:uracy|\.)?$")),
)
_PERCENT: Final = frozenset({"accuracy", "top-1", "top-5", "mAP", "F1", "IoU"})
"""The metrics that are shares: `0.78` is 78 %."""
_ERROR: Final = re.compile(r"\berr(?:or)?s?\b")
_ACCURACY: Final = re.compile(r"\bacc(?:uracy)?\b")
_BRACKETS: Final = re.compile(r"\s*[(\[](?P<inside>[^()\[\]]*)[)\]]\s*")
_PARAMETERS: Final = re.compile(r"^(?:number of |num |total |trainable )?param(?:eter)?s?(?: count)?$")
_VALUE: Final = re.compile(rf"[~≈]?\s*(?P<number>{NUMBER})\s*%?")
_NAMED: Final = re.compile(rf"(?P<name>[A-Za-z][\w@. -]{{0,40}}?)\s*(?:[:=]|\bof\b)\s*(?P<number>{NUMBER})\s*%?")
_NAMED_AFTER: Final = re.compile(
    rf"(?P<number>{NUMBER})\s*%?\s+(?P<name>[A-Za-z][\w@.-]*(?: accuracy)?)(?:\s+on\s+(?P<data>[A-Z][\w -]{{0,40}}))?"
)
_ON_DATA: Final = re.compile(
    rf"(?P<number>{NUMBER})\s*%\s*(?:on\s+(?P<data>\w[\w -]{{0,40}})|\((?P<inside>[\w -]{{0,40}})\))"
)
_COUNT: Final = re.compile(rf"(?P<number>{NUMBER})\s*(?P<unit>{UNIT})?\b\s*(?:params?|parameters?)?", re.IGNORECASE)
_COUNT_IN_TEXT: Final = re.compile(
    rf"(?P<before>(?:\b(?:to|and|or|from|between)|[-–])\s*)?(?<![\w.,])(?P<number>{NUMBER})\s?(?P<unit>{UNIT})?\s+"
    r"(?P<kind>(?:[a-z]+ ){0,2})param(?:eter)?s\b",
    re.IGNORECASE,
)
_WHOLE: Final = frozenset({"", "model", "trainable", "total", "total trainable", "trainable model"})
"""The words before `parameters` for those of the whole model."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """One accuracy of a model."""

    metric: str
    value: Decimal
    """In percent, but for metrics that are no shares."""
    data: str = ""
    """The data set; empty if the document does not say."""
    model: str = ""
    """The model, if the document describes several."""


@dataclass(frozen=True, slots=True)
class DocumentFigures:
    """The figures of a document."""

    accuracies: tuple[Accuracy, ...] = ()
    parameters: tuple[int, ...] = ()


def read_figures(document: Mapping[str, Json], names: Iterable[str] = ()) -> DocumentFigures:
    """Read the figures of a document. Of several models in it, only that counts which has one of these names."""
    leaves = list(_leaves(document.get("performance"), _Place()))
    wanted = frozenset(map(_letters, names))
    accuracies = [figure for leaf in leaves for figure in _accuracies(leaf, wanted)]
    own = [each for each in accuracies if each.model and _letters(each.model) in wanted]
    counts = [count for leaf in leaves if (count := _count(leaf)) is not None]
    found = [] if counts else [*dict.fromkeys(_counts_in_text(document.get("description")))]
    if len(found) == 1 and found[0] is not None:
        counts = [found[0]]
    return DocumentFigures(tuple(own or accuracies), tuple(dict.fromkeys(counts)))


def metric_of(label: str) -> str | None:
    """Return the metric that a label names, of those that are known."""
    plain = _BRACKETS.sub(" ", label.lower()).replace("_", " ").strip()
    return next((metric for metric, pattern in _METRICS if pattern.search(plain)), None)


def as_percent(metric: str, number: Decimal) -> Decimal:
    """Return a value of a metric in percent: `0.78` is 78 %, for metrics that are shares."""
    return number * 100 if metric in _PERCENT and number <= 1 else number


def figure_text(metric: str, value: Decimal, data: str) -> str:
    """Return a figure for people: `78 % accuracy on ImageNet`."""
    unit = " %" if metric in _PERCENT else ""
    return f"{value.normalize():,f}{unit} {metric}{f' on {data}' if data else ''}"


def scaled_number(number: str, unit: str | None) -> Decimal:
    """Return a number with its unit: `1.5` `M` is 1500000."""
    return Decimal(number.replace(",", "")) * _UNITS.get((unit or "").lower(), 1)


def same_data(wanted: str, data: str) -> bool:
    """Whether a data set is the wanted one: it has the same name, but for words on splits, sizes and years."""
    left = _words(data)
    for word in _words(wanted):
        if word not in left:
            return False
        left.remove(word)
    return all(
        re.fullmatch(r"(?:val|valid|validation|test|dev|set|dataset|benchmark)?(?:20\d\d)?|1k", word) for word in left
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a value in a document."""

    data: str = ""
    labels: tuple[str, ...] = ()
    model: str = ""
    names_data: bool = False
    """Whether the keys of a mapping are names of data sets."""
    is_error: bool | None = None
    """Whether `top-1` means an error; None if that is open."""

    @property
    def label(self) -> str:
        return self.labels[-1] if self.labels else ""


def _leaves(value: Json, place: _Place) -> Iterator[tuple[_Place, Json]]:
    if len(place.labels) > _DEEPEST:
        return
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each, place)
    elif isinstance(value, Mapping):
        yield from _leaves_of_mapping(value, place)
    else:
        yield place, value


def _leaves_of_mapping(values: Mapping[str, Json], place: _Place) -> Iterator[tuple[_Place, Json]]:
    data, name = values.get("dataset"), values.get("name")
    model = next(
        (each for key in ("model", "model_structure") if isinstance(each := values.get(key), str)), place.model
    )
    if isinstance(data, str):
        place = replace(place, data=data)
    elif place.names_data and isinstance(name, str):
        place = replace(place, data=name, names_data=False)
    is_keyed_by_data = place.names_data and not any(metric_of(key) or key == "accuracy" for key in values)
    place = replace(place, model=model, names_data=False, is_error=_are_errors(values))
    for key, value in values.items():
        if key == "dataset" and not isinstance(data, str):
            yield from _leaves(value, replace(place, names_data=True))
        elif is_keyed_by_data:
            yield from _leaves(value, replace(place, data=key))
        elif key not in ("dataset", "name", "model", "model_structure"):
            inner = replace(place, labels=(*place.labels, key))
            nested = isinstance(value, Mapping) and not (metric_of(key) or key.lower() == "accuracy")
            yield from _leaves(value, replace(inner, model=key) if nested and not place.model else inner)


def _are_errors(values: Mapping[str, Json]) -> bool | None:
    """Whether plain `top-1` and `top-5` are errors: the answer is among five at least as often as it is the first."""
    plain = {metric_of(key): _number(value) for key, value in values.items() if metric_of(key) in ("top-1", "top-5")}
    one, five = plain.get("top-1"), plain.get("top-5")
    return None if one is None or five is None else one > five


def _accuracies(leaf: tuple[_Place, Json], names: AbstractSet[str]) -> Iterator[Accuracy]:
    place, value = leaf
    if (number := _number(value)) is not None:
        if _letters(place.label) in names and _letters("".join(place.labels[-2:-1])) == "accuracy":
            place = replace(place, labels=place.labels[:-1], model=place.label)
        if (figure := _accuracy(place, place.label, number)) is not None:
            yield figure
        return
    if not isinstance(value, str) or _letters(place.label) != "accuracy" or len(value) > _LONGEST:
        return
    pieces = [_piece(place, text.strip()) for text in re.split(r",(?!\d{3}\b)|;", value)]
    if all(pieces):
        yield from (piece for piece in pieces if piece is not None)


def _piece(place: _Place, text: str) -> Accuracy | None:
    """One figure of several in a text; None where the text says anything else."""
    found = _NAMED.fullmatch(text) or _NAMED_AFTER.fullmatch(text) or _ON_DATA.fullmatch(text)
    if found is None:
        return None
    parts = found.groupdict()
    data = parts.get("data") or parts.get("inside")
    number = Decimal(found["number"].replace(",", ""))
    if "%" in text and number <= 1:
        return None
    return _accuracy(replace(place, data=data) if data else place, parts.get("name") or "accuracy", number)


def _accuracy(place: _Place, label: str, number: Decimal) -> Accuracy | None:
    """The accuracy that a number is under its label; None if it is none, or may be another one."""
    plain = label.lower().replace("_", " ")
    metric = metric_of(label)
    is_error = bool(_ERROR.search(plain))
    if metric is None:
        return None
    if metric in ("top-1", "top-5") and not is_error and not _ACCURACY.search(plain):
        is_error = bool(place.is_error)
    if metric in _PERCENT:
        if is_error and number <= 1:  # a share, or a percentage
            return None
        number = number if is_error else as_percent(metric, number)
        if number > 100:
            return None
    return Accuracy(metric, 100 - number if is_error else number, place.data, place.model)


def _number(value: Json) -> Decimal | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return Decimal(str(value)) if 0 <= value < 10**12 else None
    found = _VALUE.fullmatch(value.strip()) if isinstance(value, str) and len(value) < 100 else None
    number = Decimal(found["number"].replace(",", "")) if found else None
    return None if number is None or (number <= 1 and "%" in str(value)) else number


def _count(leaf: tuple[_Place, Json]) -> int | None:
    """A number of parameters. Without a unit it must be one: `34.57` may be millions, or billions."""
    place, value = leaf
    inside = _BRACKETS.search(place.label)
    plain = _BRACKETS.sub("", place.label).lower().replace("_", " ").strip()
    if not _PARAMETERS.match(plain) or isinstance(value, bool):
        return None
    found = _COUNT.fullmatch(str(value).strip()[:100])
    if found is None:
        return None
    unit = found["unit"] or (inside["inside"] if inside and re.fullmatch(f"(?i:{UNIT})", inside["inside"]) else None)
    number = scaled_number(found["number"], unit)
    return int(number) if unit or (number == int(number) and number >= 1000) else None


def _counts_in_text(text: Json) -> Iterator[int | None]:
    """All numbers of parameters in a description; None for one that may be that of something else."""
    text = text[:_LONGEST] if isinstance(text, str) else ""
    for found in _COUNT_IN_TEXT.finditer(text):
        before = text[: found.start()]
        is_own = (
            found["kind"].strip().lower() in _WHOLE and not found["before"] and before.count("(") <= before.count(")")
        )
        number = scaled_number(found["number"], found["unit"])
        yield int(number) if is_own and (found["unit"] or number >= 1000) else None


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+(?=20\d\d\b)|[a-z]*\d*[a-z]+|\d+[a-z]*", text.lower())
