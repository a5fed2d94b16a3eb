"""Stands in for jsonschema-rs: the package jsonschema, which is pure Python, with the errors of the compiled library.

It has what `pytest_fcall.schema` uses: errors have the library's kinds and paths, and only those formats are checked
that `string_formats` lists.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import jsonschema
from jsonschema import validators
from jsonschema._utils import find_additional_properties
from jsonschema._utils import find_evaluated_item_indexes_by_schema as evaluated_items
from jsonschema._utils import find_evaluated_property_keys_by_schema as evaluated_properties
from referencing.exceptions import Unresolvable
from string_formats import FORMATS
from unavailable import refuse

_Path = list[str | int]


class ValidationErrorKind:
    """The kinds of errors; the name of each is its keyword."""

    def __init__(self, name: str, *values: Any) -> None:
        self.name = name
        for each, value in zip(self.__match_args__, values, strict=False):
            setattr(self, each, value)

    __match_args__: tuple[str, ...] = ()


def _add_kind(name: str, *fields: str) -> type[ValidationErrorKind]:
    kind = type(name, (ValidationErrorKind,), {"__match_args__": fields})
    setattr(ValidationErrorKind, name, kind)
    return kind


_KINDS = {
    "additionalProperties": _add_kind("AdditionalProperties", "unexpected"),
    "anyOf": _add_kind("AnyOf", "context"),
    "const": _add_kind("Constant"),
    "custom": _add_kind("Custom"),
    "enum": _add_kind("Enum"),
    "oneOf": _add_kind("OneOfNotValid", "context"),
    "propertyNames": _add_kind("PropertyNames", "error"),
    "required": _add_kind("Required", "property"),
    "type": _add_kind("Type"),
    "unevaluatedProperties": _add_kind("UnevaluatedProperties", "unexpected"),
}
_SAME_NAMES = {"minContains": "contains", "maxContains": "contains", "dependentRequired": "required"}


class ValidationError(ValueError):
    """One way in which a value does not match a schema."""

    def __init__(
        self,
        message: str,
        schema_path: _Path,
        instance_path: _Path,
        evaluation_path: _Path,
        kind: ValidationErrorKind,
        instance: object,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.schema_path = schema_path
        self.instance_path = instance_path
        self.evaluation_path = evaluation_path
        self.kind = kind
        self.instance = instance


class EmailOptions(SimpleNamespace):
    """How e-mail addresses are checked. Here, always without a name before them."""


class _Named(jsonschema.ValidationError):
    """An error that carries names, or the error about a name."""

    def __init__(self, subject: object, **fields: Any) -> None:
        super().__init__("", **fields)
        self.subject = subject


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    names = list(find_additional_properties(instance, schema))
    declares = bool(schema.get("properties") or schema.get("patternProperties")) or "properties" in schema
    if allowed is not False or not declares:
        for name in names:
            yield from validator.descend(instance[name], allowed, path=name)
    elif names:
        yield _Named(names)


def _unevaluated_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, dict):
        known = set(evaluated_properties(validator, instance, schema))
        names = [
            name
            for name in instance
            if name not in known and not validator.evolve(schema=allowed).is_valid(instance[name])
        ]
        if names:
            yield _Named(names)


def _unevaluated_items(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, list):
        known = set(evaluated_items(validator, instance, schema))
        left = [item for index, item in enumerate(instance) if index not in known]
        if any(not validator.evolve(schema=allowed).is_valid(item) for item in left):
            yield jsonschema.ValidationError("Unevaluated items are not allowed")


def _items(validator: Any, items: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, list):
        for index in range(len(schema.get("prefixItems", ())), len(instance)):
            yield from validator.descend(instance[index], items, path=index)


def _property_names(validator: Any, schema: Any, instance: Any, _whole: Any) -> Iterator[Any]:
    for name in instance if isinstance(instance, dict) else ():
        for error in validator.descend(name, schema):
            yield _Named(name, schema_path=error.relative_schema_path)


def _required(_validator: Any, names: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    for name in names if isinstance(instance, dict) else ():
        if name not in instance:
            yield _Named(name)


def _dependent_required(_validator: Any, names: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    for name, others in names.items() if isinstance(instance, dict) else ():
        for other in others if name in instance else ():
            if other not in instance:
                yield _Named(other)


def _multiple_of(_validator: Any, divisor: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    is_number = isinstance(instance, int | float) and not isinstance(instance, bool)
    if is_number and Fraction(str(instance)) % Fraction(str(divisor)):
        yield jsonschema.ValidationError(f"{instance!r} is not a multiple of {divisor}")


def _pattern(_validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not _expression(pattern).search(instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    for pattern, schema in patterns.items() if isinstance(instance, dict) else ():
        for name, value in instance.items():
            if _expression(pattern).search(name):
                yield from validator.descend(value, schema, path=name, schema_path=pattern)


def _reference() -> Any:
    """The keyword `$ref`. What leads back to itself for the same value says nothing about it."""
    active: set[tuple[int, str, int]] = set()

    def check(validator: Any, reference: Any, instance: Any, _schema: Any) -> Iterator[Any]:
        step = (id(validator.schema), reference, id(instance))
        if step in active:
            return
        active.add(step)
        try:
            for error in validator._validate_reference(ref=reference, instance=instance):
                error.schema_path.appendleft("$ref")
                yield error
        finally:
            active.discard(step)

    return check


def _format(_validator: Any, name: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and name in FORMATS and not FORMATS[name](instance):
        yield jsonschema.ValidationError(f"{instance!r} is not a {name!r}")


def _descending(descend: Any) -> Any:
    """The method that checks a part, with the place also of what no value may have."""

    def descended(
        self: Any, instance: Any, schema: Any, path: Any = None, schema_path: Any = None, resolver: Any = None
    ) -> Iterator[Any]:
        if schema is not False:
            yield from descend(self, instance, schema, path, schema_path, resolver)
            return
        error = jsonschema.ValidationError("nothing is allowed", validator=None, instance=instance, schema=schema)
        if path is not None:
            error.path.appendleft(path)
        if schema_path is not None:
            error.schema_path.appendleft(schema_path)
        yield error

    return descended


_TOKEN = re.compile(r"\\(?:u\{[0-9a-fA-F]+\}|c[A-Za-z]|.)|\[\^?\]?|\(\?<(?![=!])|.", re.DOTALL)
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_"}


@lru_cache(maxsize=512)
def _expression(written: str) -> re.Pattern[str]:
    """An expression of ECMAScript, in the words of `re`. Raises re.error, and Unavailable for what only others read."""
    out, inside = [], False
    for piece in _TOKEN.findall(written):
        out.append(_escape(piece, inside) if piece.startswith("\\") else _plain(piece, inside))
        inside = piece != "]" if inside else piece.startswith("[")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile("".join(out))


def _escape(piece: str, inside: bool) -> str:
    """A piece that begins with a backslash; `inside` brackets or not."""
    kind = piece[1:2]
    if kind in tuple("pPkXcR") or (inside and kind in ("D", "W")) or piece.startswith("\\u{"):
        refuse(f"`{piece}` in a pattern of a schema is read by the library jsonschema-rs")
    letters = _CLASSES.get(kind.lower())
    if letters is None:
        return piece
    if inside:
        return letters
    return f"[^{letters}]" if kind.isupper() else f"[{letters}]"


def _plain(piece: str, inside: bool) -> str:
    if inside:
        return r"\[" if piece == "[" else piece
    return {"$": r"\Z", "(?<": "(?P<"}.get(piece, piece)


def _custom(keyword: Any) -> Any:
    def check(_validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        try:
            keyword(schema, value, []).validate(instance)
        except ValueError as error:
            yield jsonschema.ValidationError(str(error))

    return check


_STRICT = {
    "additionalProperties": _additional_properties,
    "dependentRequired": _dependent_required,
    "format": _format,
    "items": _items,
    "multipleOf": _multiple_of,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "propertyNames": _property_names,
    "required": _required,
    "unevaluatedItems": _unevaluated_items,
    "unevaluatedProperties": _unevaluated_properties,
}


class Validator:
    """Checks values against a schema."""

    def __init__(self, validator: Any, root: Any, custom: frozenset[str]) -> None:
        self._validator = validator
        self._root = root
        self._custom = custom

    def is_valid(self, value: Any) -> bool:
        """Whether there is no error."""
        return bool(self._validator.is_valid(value))

    def iter_errors(self, value: Any) -> Iterator[ValidationError]:
        """The errors about a value."""
        return (self._translated(error) for error in self._validator.iter_errors(value))

    def part(self, path: Sequence[str | int]) -> Validator | None:
        """The validator of a part of the schema; None where there is none."""
        found = _looked_up(self._root, path)
        if not isinstance(found, Mapping | bool):
            return None
        return Validator(self._validator.evolve(schema=found), self._root, self._custom)

    def _translated(self, error: Any) -> ValidationError:
        keyword = "falseSchema" if error.validator is None else str(error.validator)
        taken = list(error.absolute_schema_path)
        if keyword in ("contains", "minContains"):
            taken[-1:] = ["minContains" if "minContains" in error.schema else "contains"]
        message = error.message
        name = _SAME_NAMES.get(keyword, keyword)
        kind = _KINDS.get("custom" if keyword in self._custom else name, ValidationErrorKind)
        values: list[Any] = []
        if keyword in ("anyOf", "oneOf"):
            branches = [[] for _ in error.validator_value]
            for inner in error.context:
                branches[inner.relative_schema_path[0]].append(self._translated(inner))
            values = [branches]
            if not error.context:
                kind = ValidationErrorKind  # more than one of the branches is valid
        elif keyword == "propertyNames":
            values = [SimpleNamespace(instance=error.subject)]
        elif isinstance(error, _Named):
            values = [error.subject]
        return ValidationError(
            message, self._canonical(taken), list(error.absolute_path), taken, kind(name, *values), error.instance
        )

    def _canonical(self, taken: Sequence[str | int]) -> _Path:
        """The path of a keyword from the root of the schema, or from where the check began, without references."""
        here, path = self._validator.schema, []
        for step in taken:
            if step == "$ref" and isinstance(here, Mapping) and isinstance(here.get("$ref"), str):
                path = _parts(here["$ref"])
                here = _looked_up(self._root, path)
                continue
            path.append(step)
            here = _looked_up(here, [step])
        return path


def _parts(reference: str) -> _Path:
    from urllib.parse import unquote

    steps = unquote(reference.removeprefix("#")).split("/")[1:]
    return [step.replace("~1", "/").replace("~0", "~") for step in steps]


def _looked_up(value: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (LookupError, TypeError, ValueError):
            return None
    return value


class ValidatorMap:
    """The validators of all subschemas, by JSON pointer."""

    def __init__(self, whole: Validator) -> None:
        self._whole = whole

    def get(self, pointer: str) -> Validator | None:
        """The validator of a subschema; None where there is none."""
        return self._whole.part(_parts(pointer))


def Draft202012Validator(  # noqa: N802  the library's name
    schema: Any, keywords: Mapping[str, Any] | None = None, **_settings: Any
) -> Validator:
    """The validator of a schema. Raises ValidationError for an invalid one."""
    own = {name: _custom(keyword) for name, keyword in (keywords or {}).items()}
    kind = validators.extend(jsonschema.Draft202012Validator, _STRICT | own | {"$ref": _reference()})
    kind.descend = _descending(kind.descend)
    found = jsonschema.exceptions.best_match(_meta_validator().iter_errors(schema))
    if found is not None:
        while found.parent is not None:
            found = found.parent
        place = list(found.absolute_path)
        raise ValidationError(found.message, [], place, [], ValidationErrorKind(str(found.validator)), found.instance)
    validator = kind(schema)
    _check(validator, schema, [])
    return Validator(validator, schema, frozenset(own))


def validator_map_for(schema: Any, **settings: Any) -> ValidatorMap:
    """The validators of all subschemas."""
    return ValidatorMap(Draft202012Validator(schema, **settings))


@lru_cache(maxsize=1)
def _meta_validator() -> Any:
    return jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA)


_NO_SCHEMAS = frozenset({"const", "default", "enum", "example", "examples"})


def _check(validator: Any, schema: Any, path: _Path) -> None:
    """Raise ValidationError for an expression that cannot be compiled, and for a reference that leads nowhere."""
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            _check(validator, item, [*path, index])
    if not isinstance(schema, dict):
        return
    if isinstance(reference := schema.get("$ref"), str):
        try:
            validator._resolver.lookup(reference)
        except (Unresolvable, LookupError) as error:
            raise ValidationError(str(error), [], [], [], ValidationErrorKind("$ref"), reference) from None
    patterns = schema.get("patternProperties")
    written = {("pattern",): schema.get("pattern")} | {
        ("patternProperties", each): each for each in (patterns if isinstance(patterns, dict) else ())
    }
    for place, pattern in written.items():
        if isinstance(pattern, str):
            _check_pattern(pattern, [*path, *place])
    for key, value in schema.items():
        if key not in _NO_SCHEMAS:
            _check(validator, value, [*path, key])


def _check_pattern(pattern: str, path: _Path) -> None:
    try:
        _expression(pattern)
    except (re.error, OverflowError):
        raise ValidationError(
            f'"{pattern}" is not a "regex"', [], path, [], ValidationErrorKind("format"), pattern
        ) from None
