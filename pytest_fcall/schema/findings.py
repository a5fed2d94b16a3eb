"""Findings: what is wrong with arguments, as sentences for people.

A value that fits no branch of a union is explained branch by branch. Where branches contain the union again, the
explanations multiply with every level, so the depth of values that are explained is limited.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from jsonschema_rs import ValidationError, ValidationErrorKind

from pytest_fcall.core import Json
from pytest_fcall.schema.traversal import (
    Path,
    applied_schemas,
    follow_reference,
    look_up,
    path_exists,
    resolve_references,
    schemas_in,
)
from pytest_fcall.schema.validator import FORMAT_DESCRIPTIONS
from pytest_fcall.schema.value_text import alternatives, nearest, options, quoted_path, shown, types_in_words, with_type

FindingKind: TypeAlias = Literal["missing_argument", "unexpected_argument", "wrong_type", "schema"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which arguments break their schema. `message` is a sentence for people."""

    kind: FindingKind
    path: tuple[str | int, ...]
    message: str
    expected: Json = None
    """What the schema asks for: type names, the allowed values, a bound. None where it is a name that is missing."""
    got: Json = None


_DEEPEST = 50
_MOST_BITS = 4096


def fit_for_json(value: object, path: tuple[str | int, ...], unfit: list[Finding]) -> Json:
    """A copy of `value` in dicts and lists. What no JSON can say becomes null and is told in `unfit`."""
    if type(value) is str and value.isascii():
        return value  # as nearly everything in arguments
    match value:
        case None | bool():
            return value
        case str() if value.isascii() or _is_text(value):
            return str.__str__(value)
        case int() if value.bit_length() <= _MOST_BITS:
            return int(value)
        case float() if math.isfinite(value):
            return float(value)
        case dict() | Mapping() if len(path) < _DEEPEST:
            return {
                str.__str__(key): fit_for_json(item, (*path, key), unfit)
                for key, item in value.items()
                if _is_key(key, path, unfit)
            }
        case list() | Sequence() if len(path) < _DEEPEST and not isinstance(value, str | bytes | bytearray):
            return [fit_for_json(item, (*path, index), unfit) for index, item in enumerate(value)]
    unfit.append(_finding(value, path))
    return None


def _is_key(key: object, path: tuple[str | int, ...], unfit: list[Finding]) -> bool:
    if isinstance(key, str) and (key.isascii() or _is_text(key)):
        return True
    unfit.append(
        Finding("wrong_type", path, f"{quoted_path(path)} has the key {shown(key)}, which is no string of JSON")
    )
    return False


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _finding(value: object, path: tuple[str | int, ...]) -> Finding:
    where = quoted_path(path)
    match value:
        case str():
            return Finding("schema", path, f"{where} holds half a character (a lone surrogate)", got=value)
        case int():
            return Finding("schema", path, f"{where} is a number of more than a thousand digits")
        case float():
            return Finding("wrong_type", path, f"{where} is {shown(value)}, which JSON has no number for")
        case Mapping() | list() | tuple():
            return Finding("schema", path, f"{where} is nested more than {_DEEPEST} levels deep")
        case _:
            return Finding("wrong_type", path, f"{where} is {shown(value)}, which JSON cannot say")


Depths: TypeAlias = Mapping[type, int]
"""How many objects (dict) in one another, and how many lists, can be explained; no word of a kind is no limit."""

_MOST_COMPLAINTS: Final = 1000
_KINDS: Final[Mapping[type, str]] = {dict: "object", list: "array"}


def explicable_depths(root: Mapping[str, Json]) -> Depths:
    """The depths to which values under the schema `root` can be explained."""
    schemas = list(schemas_in(root))
    if not _is_recursive(root, schemas):
        return {}
    forms = {kind: max(_forms(root, schema, name) for _, schema in schemas) for kind, name in _KINDS.items()}
    return {kind: int(math.log(_MOST_COMPLAINTS, count)) for kind, count in forms.items() if count > 1}


def is_deeper(value: Json, depths: Depths) -> bool:
    """Whether a value in dicts and lists is too deep to be explained."""
    return any(_levels(value, kind) > most for kind, most in depths.items())


def _levels(value: Json, kind: type) -> int:
    if isinstance(value, dict):
        inside: Sequence[Json] = list(value.values())
    elif isinstance(value, list):
        inside = value
    else:
        return 0
    return isinstance(value, kind) + max((_levels(item, kind) for item in inside), default=0)


def _is_recursive(root: Mapping[str, Json], schemas: Sequence[tuple[Path, Mapping[str, Json]]]) -> bool:
    """Whether a schema refers to itself, at once or through others."""
    references = [(path, target[1]) for path, schema in schemas if (target := follow_reference(root, schema))]
    leads_to = {
        target: {other for path, other in references if path[: len(target)] == target} for _, target in references
    }
    return any(target in _reached(leads_to, target) for target in leads_to)


def _reached(leads_to: Mapping[Path, set[Path]], start: Path) -> set[Path]:
    reached: set[Path] = set()
    waiting = [*leads_to[start]]
    while waiting:
        if (here := waiting.pop()) not in reached:
            reached.add(here)
            waiting.extend(leads_to[here])
    return reached


def _forms(root: Mapping[str, Json], schema: Mapping[str, Json], kind: str) -> int:
    """How many forms of a union take values of a kind."""
    listed = (schema.get(key) for key in ("anyOf", "oneOf"))
    return max(
        (sum(_takes(root, form, kind) for form in forms) for forms in listed if isinstance(forms, list)), default=0
    )


def _takes(root: Mapping[str, Json], form: Json, kind: str) -> bool:
    if not isinstance(form, Mapping):
        return form is True
    kinds = resolve_references(root, form).get("type", kind)
    return kind in kinds if isinstance(kinds, list) else kinds == kind


_MOST: Final = 100
"""More errors help nobody, and a model can make any number of them."""

_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "minimum": "must be at least {limit}, not {got}",
        "maximum": "must be at most {limit}, not {got}",
        "exclusiveMinimum": "must be more than {limit}, not {got}",
        "exclusiveMaximum": "must be less than {limit}, not {got}",
        "multipleOf": "must be a multiple of {limit}, not {got}",
        "minLength": "must have at least {limit} characters, not {size}",
        "maxLength": "must have at most {limit} characters, not {size}",
        "minItems": "must have at least {limit} items, not {size}",
        "maxItems": "must have at most {limit} items, not {size}",
        "minProperties": "must have at least {limit} entries, not {size}",
        "maxProperties": "must have at most {limit} entries, not {size}",
        "format": "must be {words}, not {got}",
        "pattern": "must match the pattern {limit}, unlike {got}",
        "uniqueItems": "must not hold the same item twice",
        "contains": "holds too few or too many items of the kind that it must contain",
        "not": "must not be {got}",
        "oneOf": "fits more than one of the forms that it may have, and must fit just one",
        "falseSchema": "is not allowed here",
        "unevaluatedItems": "has more items than it may have",
    }
)


@dataclass(frozen=True, slots=True)
class Explainer:
    """Tells what is wrong with one value.

    `root` is the whole schema and `base` the way to the part of it that was checked; `at` is the place of `value` in
    the arguments.
    """

    root: Mapping[str, Json]
    value: Json
    base: Path = ()
    at: Path = ()

    def findings(self, errors: Iterable[ValidationError]) -> list[Finding]:
        """What `errors` come to."""
        found: list[Finding] = []
        doubtful: list[Finding] = []
        for error in islice(errors, _MOST):
            match error.kind:
                case ValidationErrorKind.AdditionalProperties(names) | ValidationErrorKind.UnevaluatedProperties(names):
                    known = self._known(error)
                    for name in names[:_MOST]:
                        finding = unexpected_argument((*self._where(error), name), known, self._got(error))
                        (doubtful if name in known else found).append(finding)
                case ValidationErrorKind.AnyOf(forms) | ValidationErrorKind.OneOfNotValid(forms):
                    found += self._nearest_form(error, forms)
                case _:
                    found.append(self._finding(error))
        # Where a form does not fit, its properties count as unevaluated: true, but not what is wrong.
        found += [finding for finding in doubtful if not any(_within(other, finding.path[:-1]) for other in found)]
        mistyped = {finding.path for finding in found if finding.kind == "wrong_type"}
        telling = [finding for finding in found if finding.kind != "schema" or finding.path not in mistyped]
        return list({(finding.kind, finding.path, finding.message): finding for finding in telling}.values())

    def _finding(self, error: ValidationError) -> Finding:
        where, got = self._where(error), self._got(error)
        match error.kind:
            case ValidationErrorKind.Required(name):
                return Finding("missing_argument", (*where, name), f"{quoted_path((*where, name))} is missing")
            case ValidationErrorKind.Type():
                return _mistyped(where, _as_list(self._limit(error)), got)
            case ValidationErrorKind.Custom():
                return _mistyped(where, _as_list(look_up(self.root, (*self._way(error)[:-1], "type"))), got)
            case ValidationErrorKind.Enum() | ValidationErrorKind.Constant():
                return _no_option(where, self._allowed(error), got)
            case ValidationErrorKind.PropertyNames(inner):
                path = (*where, str(inner.instance))
                return Finding("unexpected_argument", path, f"{quoted_path(path)} is no name that may be used here")
        limit = self._limit(error)
        size = len(got) if isinstance(got, str | Sequence | Mapping) else 0
        sentence = _SENTENCES.get(error.kind.name, "breaks the schema: {keyword}")
        words = FORMAT_DESCRIPTIONS.get(str(limit), f"of the format {limit}")
        said = sentence.format(limit=shown(limit), got=shown(got), size=size, words=words, keyword=error.kind.name)
        return Finding("schema", where, f"{quoted_path(where)} {said}", limit, got)

    def _nearest_form(self, error: ValidationError, forms: Sequence[Sequence[ValidationError]]) -> list[Finding]:
        """What keeps the value from the form that it was probably meant to have."""
        where, got = self._where(error), self._got(error)
        told = [(form, self.findings(form)) for form in forms]
        fitting = [(form, found) for form, found in told if not any(_is_mistyped(one, where) for one in found)]
        if not fitting:
            types = (name for _, found in told for one in found for name in _as_list(one.expected) if one.path == where)
            return [_mistyped(where, list(dict.fromkeys(types)), got)]
        if choice := self._choice([form for form, _ in fitting]):
            return [choice]
        missing = [found[0] for _, found in fitting if [one.kind for one in found] == ["missing_argument"]]
        if len(missing) == len(fitting):
            names = dict.fromkeys(quoted_path(one.path) for one in missing)
            return [Finding("missing_argument", missing[0].path, f"{alternatives(list(names))} is missing")]
        return min(fitting, key=lambda pair: (self._means_another(pair[0], where), len(pair[1])))[1]

    def _means_another(self, form: Sequence[ValidationError], where: Path) -> bool:
        """Whether a property with fixed values, such as `kind`, says that this form was not meant."""
        return any(error.kind.name in {"const", "enum"} and self._where(error)[:-1] == where for error in form)

    def _choice(self, forms: Sequence[Sequence[ValidationError]]) -> Finding | None:
        """The finding that the value, or the property that tells the forms apart, is none of those they list."""
        fixed = [
            {self._where(error): error for error in form if error.kind.name in {"const", "enum"}} for form in forms
        ]
        where = next((path for path in fixed[0] if all(path in errors for errors in fixed)), None)
        if where is None:
            return None
        errors = [listed[where] for listed in fixed]
        return _no_option(where, [value for error in errors for value in self._allowed(error)], self._got(errors[0]))

    def _allowed(self, error: ValidationError) -> list[Json]:
        limit = self._limit(error)
        return [limit] if error.kind.name == "const" else _as_list(limit)

    def _known(self, error: ValidationError) -> list[str]:
        pieces = applied_schemas(self.root, look_up(self.root, self._way(error)[:-1]))
        listed = (piece.get("properties") for piece, _ in pieces)
        return [name for properties in listed if isinstance(properties, Mapping) for name in properties]

    def _where(self, error: ValidationError) -> Path:
        return (*self.at, *error.instance_path)

    def _got(self, error: ValidationError) -> Json:
        return look_up(self.value, error.instance_path)

    def _limit(self, error: ValidationError) -> Json:
        """What stands at the keyword, as the schema has it; the validator's own copy is out of order."""
        way = self._way(error)
        return look_up(self.root, way) if path_exists(self.root, way) else None

    def _way(self, error: ValidationError) -> Path:
        """The way to the keyword. The validator counts from the root only once it followed a reference."""
        way = (*self.base, *error.schema_path)
        from_base = error.schema_path == error.evaluation_path and path_exists(self.root, way)
        return way if from_base else tuple(error.schema_path)


def unexpected_argument(path: Path, known: Sequence[str], owner: Json) -> Finding:
    """The finding that the last name of `path` is none of the `known` properties of its `owner`."""
    given = owner if isinstance(owner, Mapping) else {}
    near = nearest(path[-1], [name for name in known if name not in given])
    kind = f"property of {quoted_path(path[:-1])}" if path[:-1] else "argument of this tool"
    message = f"{quoted_path(path)} is no {kind}" + (f"; did you mean `{near}`?" if near else "")
    return Finding("unexpected_argument", path, message, got=given.get(str(path[-1])))


def too_deep_to_explain(path: Path, value: Json) -> Finding:
    """The finding that a value breaks its schema somewhere."""
    return Finding("schema", path, f"{quoted_path(path)} breaks its schema, nested too deeply to tell where", got=value)


def _mistyped(where: Path, types: Sequence[Json], got: Json) -> Finding:
    names = [str(name) for name in types]
    message = f"{quoted_path(where)} must be {types_in_words(names)}, not {with_type(got)}"
    return Finding("wrong_type", where, message, names[0] if len(names) == 1 else names, got)


def _no_option(where: Path, values: list[Json], got: Json) -> Finding:
    near = nearest(got, values)
    hint = f"; did you mean {shown(near)}?" if near else ""
    return Finding(
        "schema", where, f"{quoted_path(where)} must be {options(values)}, not {shown(got)}{hint}", values, got
    )


def _is_mistyped(finding: Finding, where: Path) -> bool:
    return finding.kind == "wrong_type" and finding.path == where


def _within(finding: Finding, path: Path) -> bool:
    return finding.path[: len(path)] == path


def _as_list(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list) else [value]
