"""A value that an expectation accepts, for every operator of which one can be known or found."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Final, NamedTuple, TypeAlias, cast

from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.place import ValuePath, is_list, is_number
from pytest_fcall.matching.values import compare_outside_calls
from pytest_fcall.schema.tool_schema import ToolSchema
from pytest_fcall.strength.samples import declared_schema, expression_samples, fitting_sample

_MOST_TRIED: Final = 200
_MOST_OF_A_PART: Final = 12
_DAYS: Final = 8


class NoExample(Exception):
    """No value is known that an expectation accepts. The text is a clause: `nothing is known that `$regex` accepts`."""


class ExampleSources(NamedTuple):
    """The words and values that examples may be made of, beside the expectation itself."""

    words: Sequence[str] = ()
    """Words of the question."""
    numbers: Sequence[int | float] = ()
    """Numbers in the question."""
    accepted: Mapping[tuple[str, ValuePath], Sequence[Json]] = {}
    """Values in accepted answers, by tool and path."""


class Spot(NamedTuple):
    """The argument that an example is for."""

    context: MatchContext
    known: ExampleSources
    tool: str = ""
    schema: ToolSchema | None = None
    path: ValuePath = ()

    def child(self, key: str | int) -> Spot:
        """The spot of a key or an item."""
        return self._replace(path=(*self.path, key))

    @property
    def declared(self) -> Mapping[str, Json]:
        """The schema that the tool declares for the argument."""
        return declared_schema(self.schema, self.path)


class OmittedArgument:
    """Stands for an argument that a right answer leaves out."""


OMITTED: Final = OmittedArgument()


def example(pattern: Pattern, spot: Spot) -> Json:
    """A value that the pattern accepts. Raises NoExample."""
    if isinstance(pattern, Operator):
        return _of_operator(pattern, spot)
    if isinstance(pattern, Mapping):
        made = {key: argument_example(inner, spot.child(key)) for key, inner in pattern.items()}
        return {key: value for key, value in made.items() if not isinstance(value, OmittedArgument)}
    if is_list(pattern):
        return [example(item, spot.child(index)) for index, item in enumerate(pattern)]
    return cast("Json", pattern)


def argument_example(pattern: Pattern, spot: Spot) -> Json | OmittedArgument:
    """A value for an argument, or OMITTED where leaving it out is all that is known to be right."""
    try:
        return example(pattern, spot)
    except NoExample:
        if isinstance(pattern, Operator) and pattern.name in ("optional", "ignore") and not _is_required(spot):
            return OMITTED
        raise


def _is_required(spot: Spot) -> bool:
    *above, name = spot.path
    return spot.schema is not None and name in spot.schema.properties_at(tuple(above)).required


def _of_operator(operator: Operator, spot: Spot) -> Json:
    maker = _MAKERS.get(operator.name)
    own: Iterable[Json] = maker(operator, spot) if maker else ()
    if operator.name in _CERTAIN:
        return next(iter(own))
    others = (_from_schema, _from_question) if operator.name in UNSPECIFIC else (_from_question, _from_schema)
    candidates = (*_accepted(spot), *_guarded(own), *(value for made in others for value in made(spot)))
    for value in candidates[:_MOST_TRIED]:
        if _fits(operator, value, spot):
            return value
    raise NoExample(f"no value is known that `${operator.name}` accepts")


def _guarded(values: Iterable[Json]) -> Iterator[Json]:
    try:
        yield from islice(values, _MOST_TRIED)
    except (NoExample, OverflowError, ValueError):
        return


def _accepted(spot: Spot) -> Iterator[Json]:
    yield from spot.known.accepted.get((spot.tool, spot.path), ())


def _from_question(spot: Spot) -> Iterator[Json]:
    kind = spot.declared.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if "string" in kinds or kind is None:
        yield from spot.known.words
    if "integer" in kinds or "number" in kinds or kind is None:
        yield from spot.known.numbers


def _from_schema(spot: Spot) -> Iterator[Json]:
    if spot.schema is not None:
        yield from fitting_sample(spot.schema, spot.path, spot.declared)


def _fits(operator: Operator, value: Json, spot: Spot) -> bool:
    if spot.schema is not None and spot.schema.check_at(spot.path, value):
        return False
    return compare_outside_calls(operator, value, spot.path, spot.context) == []


_Maker: TypeAlias = Callable[[Operator, Spot], Iterable[Json]]


def _first_alternative(operator: Operator, spot: Spot) -> Iterator[Json]:
    why = NoExample("")
    for alternative in operator.operand if is_list(operator.operand) else ():
        try:
            yield example(alternative, spot)
        except NoExample as none:
            why = none
    raise why if why.args[0] else NoExample("no alternative of `$any` is known")


def _operand(operator: Operator, spot: Spot) -> Iterator[Json]:
    yield example(operator.operand, spot)


def _plain_operand(operator: Operator, _spot: Spot) -> Iterator[Json]:
    yield operator.operand  # type: ignore[misc]  # `$literal` holds a plain value


def _items(operator: Operator, spot: Spot) -> Iterator[Json]:
    operand = operator.operand
    if isinstance(operand, Mapping):
        yield example(operand, spot)
    else:
        yield [example(item, spot.child(0)) for item in operand if is_list(operand)]  # type: ignore[union-attr]


def _each(operator: Operator, spot: Spot) -> Iterator[Json]:
    yield [example(operator.operand, spot.child(0))]


def _contained(operator: Operator, spot: Spot) -> Iterator[Json]:
    if isinstance(operator.operand, str) and "array" not in str(spot.declared.get("type")):
        yield operator.operand
    yield [example(operator.operand, spot.child(0))]


def _all(operator: Operator, spot: Spot) -> Iterator[Json]:
    """The examples of each part, and values made of the examples of all parts together."""
    made: list[Json] = []
    for part in operator.operand if is_list(operator.operand) else ():
        made.extend(_guarded(_some(part, spot)))
    texts = [value for value in made if isinstance(value, str)]
    lists = [value for value in made if isinstance(value, list)]
    yield from made
    yield " ".join(dict.fromkeys(texts))
    together: list[Json] = []
    for item in (item for value in lists for item in value):
        if item not in together:
            together.append(item)
    yield together
    merged: dict[str, Json] = {}
    for value in made:
        merged |= value if isinstance(value, dict) else {}
    yield merged
    numbers = [value for value in made if is_number(value)]
    yield from ((low + high) / 2 for low in numbers for high in numbers if low < high)


def _some(pattern: Pattern, spot: Spot) -> Iterator[Json]:
    """A few values that a part accepts: an operator may take texts and lists."""
    maker = _MAKERS.get(pattern.name) if isinstance(pattern, Operator) else None
    if maker is None or not isinstance(pattern, Operator) or pattern.name in _CERTAIN:
        yield example(pattern, spot)
        return
    yield from (
        value for value in islice(_guarded(maker(pattern, spot)), _MOST_OF_A_PART) if _fits(pattern, value, spot)
    )


def _near_number(operator: Operator, _spot: Spot) -> Iterator[Json]:
    if is_number(operator.operand):
        steps = (0, 1, -1, 0.5, -0.5)
        yield from (operator.operand + step for step in steps)


def _in_between(operator: Operator, _spot: Spot) -> Iterator[Json]:
    match operator.operand:
        case [int() | float() as low, int() | float() as high]:
            middle = (low + high) / 2
            yield from (int(middle),) if middle == int(middle) else ()
            yield from (middle, round(middle), low, high)


def _text_of_number(operator: Operator, _spot: Spot) -> Iterator[Json]:
    yield f"{operator.operand}"


def _of_expression(operator: Operator, spot: Spot) -> Iterator[Json]:
    yield from _from_question(spot)
    yield from expression_samples(str(operator.operand))


def _json_text(operator: Operator, spot: Spot) -> Iterator[Json]:
    yield json.dumps(example(operator.operand, spot._replace(schema=None)))


def _days(operator: Operator, spot: Spot) -> Iterator[Json]:
    yield from _written_days(str(operator.operand), spot)


def _written_days(written: str, spot: Spot) -> Iterator[str]:
    yield written
    now = spot.context.rules.now
    if now is None:
        return
    number = written[1:-1]
    if written[:1] in ("+", "-") and number.isdecimal():
        shift = int(number) * (7 if written.endswith("w") else 1) * (-1 if written[0] == "-" else 1)
        yield (now.date() + timedelta(days=shift)).isoformat()
    yield from ((now.date() + timedelta(days=shift)).isoformat() for shift in range(-_DAYS, _DAYS + 1))


def _moments(operator: Operator, spot: Spot) -> Iterator[Json]:
    operand = operator.operand
    if not isinstance(operand, Mapping):
        yield str(operand)
        return
    first, last = str(operand.get("from", "09:00")), str(operand.get("to", "23:59"))
    hours = [int(first[:2]), int(last[:2])]
    middle = f"{sum(hours) // 2:02}:{'30' if hours[0] == hours[1] else '00'}:00"
    now = spot.context.rules.now
    zone = now.strftime("%z") if now else ""
    offset = f"{zone[:3]}:{zone[3:5]}" if zone else ""
    for day in _written_days(str(operand.get("day")), spot):
        for clock in (middle, f"{first[:5]}:00", f"{last[:5]}:00"):
            yield f"{day}T{clock}"
            yield f"{day}T{clock}{offset or 'Z'}"


def _of_types(operator: Operator, spot: Spot) -> Iterator[Json]:
    yield from spot.known.numbers
    values: Mapping[str, Json] = {"string": "something", "integer": 7, "number": 7.5, "boolean": True, "array": []}
    names = operator.operand if is_list(operator.operand) else [operator.operand]
    yield from (values[str(name)] for name in names if str(name) in values)
    yield from ({} for name in names if name == "object")
    yield from (None for name in names if name == "null")


_MAKERS: Final[Mapping[str, _Maker]] = {
    "any": _first_alternative,
    "all": _all,
    "optional": _operand,
    "literal": _plain_operand,
    "regex": _of_expression,
    "contains": _contained,
    "text": _plain_operand,
    "number": _text_of_number,
    "normalised": _plain_operand,
    "rouge": _plain_operand,
    "approx": _near_number,
    "gt": _near_number,
    "ge": _near_number,
    "lt": _near_number,
    "le": _near_number,
    "between": _in_between,
    "date": _days,
    "datetime": _moments,
    "type": _of_types,
    "structure": _operand,
    "subset": _items,
    "unordered": _items,
    "ordered": _items,
    "each": _each,
    "json": _json_text,
}
"""By operator, what makes values that it is likely to accept; each is tried."""

_CERTAIN: Final = frozenset({"any", "optional", "literal", "unordered", "ordered"})
"""Operators whose examples need no trial: they are made of examples that were tried."""

UNSPECIFIC: Final = frozenset({"ignore", "not", "type", "structure"})
"""Operators that accept nearly anything, so that a word of the question is no better than any other."""
