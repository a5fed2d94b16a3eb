"""Constraints in questions, on accuracies and on numbers of parameters, and whether documents meet them.

A constraint is met if both it and the document can be read. Of all else nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import ge, gt, le, lt
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from pytest_fcall.suites.apibench.documented_figures import (
    NUMBER,
    UNIT,
    DocumentFigures,
    as_percent,
    figure_text,
    metric_of,
    same_data,
    scaled_number,
)

Fulfilment: TypeAlias = Literal["met", "unmet", "not judged"]
Tag: TypeAlias = Literal["parameter_count", "accuracy_bound"]
BoundRelation: TypeAlias = Literal["at least", "more than", "at most", "less than"]

PARAMETERS: Final = "parameters"
_LONGEST: Final = 20_000
_NEAR: Final = 200
"""The characters before and behind a number in which its meaning is looked for."""
_COMPARE: Final[Mapping[BoundRelation, Callable[[Decimal, Decimal], bool]]] = MappingProxyType(
    {"at least": ge, "more than": gt, "at most": le, "less than": lt}
)
_BEFORE: Final[Mapping[BoundRelation, str]] = MappingProxyType(
    {
        "at least": "at least|no less than|not less than|no lower than|a minimum of|>=|≥|reach|reaches|reaching|achieve"
        "|achieves|achieving|attain|attains|attaining",
        "more than": "more than|greater than|higher than|better than|over|above|beyond|exceed|exceeds|exceeding|>",
        "at most": "at most|no more than|not more than|no larger than|up to|a maximum of|within|limited to|<=|≤",
        "less than": "less than|fewer than|lower than|smaller than|under|below|<",
    }
)
_AFTER: Final[Mapping[BoundRelation, str]] = MappingProxyType(
    {
        "at least": r"\s*\+|\s+(?:or|and) (?:more|higher|better|above|greater)\b",
        "at most": r"\s+(?:or|and) (?:less|fewer|lower|below|smaller)\b",
    }
)
_RELATIONS: Final = MappingProxyType({word: name for name, words in _BEFORE.items() for word in words.split("|")})
_RELATION: Final = rf"(?<!\w)(?P<relation>{'|'.join(sorted(map(re.escape, _RELATIONS), key=len, reverse=True))})"
_BOUND: Final = re.compile(
    rf"(?:{_RELATION}\s*(?:an? )?)?(?<![\w.,-])(?P<number>{NUMBER})(?:\s?(?P<unit>(?:{UNIT})\b|%|percent\b))?",
    re.IGNORECASE,
)
_EARLIER_RELATION: Final = re.compile(rf"{_RELATION}\s+(?:an? )?$", re.IGNORECASE)
_LINK: Final = r"(?:\s+(?:that|which|is|are|of|with|an?|score|should|must|be|count|rate))*\s*"
_DATA: Final = r"(?!Top[ _-]?[15])[A-Z][\w-]*(?: (?!Top[ _-]?[15])[A-Z\d][\w-]*)*"
_METRIC: Final = r"(?:(?i:top[ _-]?[15](?: accuracy)?|accuracy|f1(?:[ -]score)?|bleu(?:[ -]score)?|m?iou)|mAP)(?!\w)"
_NO_DATA: Final = re.compile(r"(?:(?:An?|The|Its?|Their|Overall|Model|Mean|Average|Validation|Test|Minimum)(?: |$))+")
"""Words with a capital letter, as at the beginning of a sentence, that name no data set."""
_ON_DATA: Final = rf"\s+(?:on|in|over|for)\s+(?:the )?(?P<on>{_DATA})"
_METRIC_AFTER: Final = re.compile(rf"\s*(?:of )?(?:(?P<data>{_DATA}) )?(?P<metric>{_METRIC})")
_METRIC_BEFORE: Final = re.compile(
    rf"(?:(?P<data>\b{_DATA}) )?(?<!\w)(?P<metric>{_METRIC})(?:{_ON_DATA}(?: data ?set)?)?(?i:{_LINK})$"
)
_ANY_METRIC: Final = re.compile(_METRIC)
_DATA_AFTER: Final = re.compile(_ON_DATA)
_DIFFERENCE: Final = re.compile(r"\s+(?:improvement|increase|gain|boost|drop|loss|decrease|difference|points?)\b")
_FEWEST: Final = 1000
"""The fewest parameters of a model; functions have fewer."""
_COUNT_AFTER: Final = re.compile(r"\s*(?:(?:model|trainable|learnable|total) )?param(?:eter)?s\b", re.IGNORECASE)
_COUNT_BEFORE: Final = re.compile(rf"\bparam(?:eter)?s?{_LINK}$", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"[.;?!](?=\s|$)|\n")
_NUMBER_WORD: Final = "one|two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|hundred"
_NAMED: Final[Mapping[Tag, re.Pattern[str]]] = MappingProxyType(
    {
        "parameter_count": re.compile(
            rf"(?<![\w.,])(?:\d[\d.,]{{3,30}}|(?:\d[\d.,]{{0,30}}|{_NUMBER_WORD})\s?(?:{UNIT}))\s"
            r"(?:(?:model|trainable|total) )?param(?:eter)?s\b"
            rf"|\bparam(?:eter)?s\b[^.?!]{{0,30}}(?<![\w.-])(?:\d[\d.]{{0,30}}|{_NUMBER_WORD})\s?(?:{UNIT})\b",
            re.IGNORECASE,
        ),
        "accuracy_bound": re.compile(
            rf"{_METRIC}[^.?!]{{0,40}}?(?<![\w-])(?:\d+(?:\.\d+)?\s?(?:%|percent\b)|0?\.\d)"
            rf"|\b\d+(?:\.\d+)?\s?(?:%|percent\b)[^.?!]{{0,40}}?(?:(?<!\w){_METRIC}|\baccurate\b)",
        ),
    }
)
"""The form of a question with a number for a figure, be it in words that can be read or not."""
_COMPARED: Final = re.compile(
    r"\b(?:fewer|less|more|least|most|under|below|within|limited)\b[^.?!]{0,40}\bparameters\b", re.IGNORECASE
)
"""A question for a figure without a number, such as for fewer parameters than another model has."""


_UNREAD: Final[Mapping[Tag, str]] = MappingProxyType(
    {
        "parameter_count": "a number of parameters",
        "accuracy_bound": "an accuracy",
    }
)
_REMEDY: Final = '`"constraints": [TEXT, …]` beside its answer says it in others'
_COMPARISON: Final = "the question compares numbers of parameters, and names none"


@dataclass(frozen=True, slots=True)
class FigureBound:
    """A bound on a figure of a model."""

    figure: str
    """`parameters`, or a metric."""
    relation: BoundRelation
    bound: Decimal
    data: str = ""
    """The data set; empty for any."""

    @property
    def tag(self) -> Tag:
        """The tag of questions with such a constraint."""
        return "parameter_count" if self.figure == PARAMETERS else "accuracy_bound"

    def __str__(self) -> str:
        return f"{self.relation} {figure_text(self.figure, self.bound, self.data)}"


@dataclass(frozen=True, slots=True)
class Constraints:
    """The demands of a question on a model."""

    known: tuple[FigureBound, ...] = ()
    unread: tuple[Tag, ...] = ()
    """The tags of the numbers that it names in words that cannot be read."""
    compares: bool = False
    """Whether it compares numbers of parameters without naming one. Documents do not say which model is meant."""

    @property
    def tags(self) -> tuple[Tag, ...]:
        """The tags of the question."""
        found = {*self.unread, *(each.tag for each in self.known), *(("parameter_count",) if self.compares else ())}
        return tuple(tag for tag in _NAMED if tag in found)

    def __bool__(self) -> bool:
        return bool(self.known or self.unread or self.compares)


NO_CONSTRAINTS: Final = Constraints()


@dataclass(frozen=True, slots=True)
class ConstraintResult:
    """Whether constraints are met. The text says why they are not, or what cannot be read."""

    fulfilment: Fulfilment
    text: str = ""
    binds: bool = True
    """Whether an answer is wrong for it: a comparison without a number asks for nothing that documents decide."""

    @property
    def lets_pass(self) -> bool:
        """Whether an answer may be right."""
        return self.fulfilment == "met" or not self.binds


def read_constraints(question: str) -> Constraints:
    """Read the constraints of a question."""
    question = question[:_LONGEST]
    read = dict(_bounds(question))
    unread = tuple(
        tag
        for tag, pattern in _NAMED.items()
        if any(not any(place in range(*found.span()) for place in read) for found in pattern.finditer(question))
    )
    known = tuple(dict.fromkeys(read.values()))
    counts = "parameter_count" in (*unread, *(each.tag for each in known))
    return Constraints(known, unread, compares=not counts and bool(_COMPARED.search(question)))


def named_constraints(texts: Sequence[str]) -> Constraints:
    """Read constraints that a person has written down, one in each text. Raises ValueError for one that is unclear."""
    known: list[FigureBound] = []
    for text in texts:
        found = read_constraints(text).known
        if len(found) != 1:
            raise ValueError(f"`{text:.80}` is no constraint; write `at least 80 % accuracy` or `under 5M parameters`")
        known += found
    return Constraints(tuple(known))


def fulfilment(constraints: Constraints, documents: Iterable[DocumentFigures]) -> ConstraintResult:
    """Judge a model by its documents. One constraint that is not met is enough."""
    figures = list(documents)
    findings = [_judged(each, figures) for each in constraints.known]
    findings += [
        ConstraintResult("not judged", f"the question asks for {_UNREAD[tag]} in words that cannot be read; {_REMEDY}")
        for tag in constraints.unread
    ]
    findings += [ConstraintResult("not judged", _COMPARISON, binds=False)] if constraints.compares else []
    kinds: tuple[Fulfilment, ...] = ("unmet", "not judged")
    return next((each for kind in kinds for each in findings if each.fulfilment == kind), ConstraintResult("met"))


def _judged(constraint: FigureBound, documents: Sequence[DocumentFigures]) -> ConstraintResult:
    """Figures that disagree say nothing: it is not known which is meant."""
    values = list(dict.fromkeys(value for each in documents for value in _values(constraint, each)))
    holds = {_COMPARE[constraint.relation](value, constraint.bound) for value in values}
    named = ", ".join(figure_text(constraint.figure, value, constraint.data) for value in values[:3])
    if holds == {True}:
        return ConstraintResult("met")
    if holds == {False}:
        return ConstraintResult("unmet", f"{named}; asked for {constraint}")
    why = f"the document has several figures, {named}" if values else "the document has no such figure"
    return ConstraintResult("not judged", f"{why}; asked for {constraint}")


def _values(constraint: FigureBound, figures: DocumentFigures) -> Iterator[Decimal]:
    if constraint.figure == PARAMETERS:
        yield from map(Decimal, figures.parameters)
        return
    wanted = {"accuracy", "top-1"} if constraint.figure in ("accuracy", "top-1") else {constraint.figure}
    for each in figures.accuracies:
        if each.metric in wanted and (not constraint.data or same_data(constraint.data, each.data)):
            yield each.value


def _bounds(question: str) -> Iterator[tuple[int, FigureBound]]:
    """The constraints, and where the number of each stands."""
    for found in _BOUND.finditer(question):
        # What belongs to a number stands in its sentence.
        before = _SENTENCE_END.split(question[max(found.start() - _NEAR, 0) : found.start()])[-1]
        after = _SENTENCE_END.split(question[found.end() : found.end() + _NEAR], maxsplit=1)[0]
        if constraint := _count(found, before, after) or _share(found, before, after):
            yield found.start("number"), constraint


def _count(found: re.Match[str], before: str, after: str) -> FigureBound | None:
    relation, rest = _relation(found, after)
    stated = _COUNT_AFTER.match(rest)
    number = scaled_number(found["number"], found["unit"])
    if "%" in found[0] or number < _FEWEST or not (stated or _COUNT_BEFORE.search(before)):
        return None
    relation = relation or (_relation_after(rest[stated.end() :])[0] if stated else None)
    return FigureBound(PARAMETERS, relation, number) if relation else None


def _share(found: re.Match[str], before: str, after: str) -> FigureBound | None:
    """A lower bound. An upper one is about a difference, as in `less than 2% accuracy drop`."""
    relation, rest = _relation(found, after)
    stated = _METRIC_AFTER.match(rest)
    metric = stated or (_METRIC_BEFORE.search(before) if _ANY_METRIC.search(before) else None)
    if metric is None or (found["unit"] or "%").lower() not in ("%", "percent"):
        return None
    if stated:
        rest = rest[stated.end() :]
        relation = relation or _relation_after(rest)[0]
    elif relation is None and (earlier := _EARLIER_RELATION.search(before[: metric.start()])):
        relation = _RELATIONS[earlier["relation"].lower()]
    name = metric_of(metric["metric"])
    data_after = _DATA_AFTER.match(rest)
    data = _data_before(metric) or metric.groupdict().get("on") or (data_after["on"] if data_after else "")
    number = Decimal(found["number"].replace(",", ""))
    if relation not in ("at least", "more than") or name is None or (stated and _DIFFERENCE.match(rest)):
        return None
    return FigureBound(name, relation, number if found["unit"] else as_percent(name, number), data)


def _data_before(metric: re.Match[str]) -> str:
    """The data set before a metric. A word that is no known name is one, for no document has it then."""
    return _NO_DATA.sub("", metric["data"] or "", count=1)


def _relation(found: re.Match[str], after: str) -> tuple[BoundRelation | None, str]:
    """The kind of a bound, and the text behind."""
    own = found["relation"]
    return (_RELATIONS[own.lower()], after) if own else _relation_after(after)


def _relation_after(text: str) -> tuple[BoundRelation | None, str]:
    for relation, pattern in _AFTER.items():
        if found := re.match(pattern, text, re.IGNORECASE):
            return relation, text[found.end() :]
    return None, text
