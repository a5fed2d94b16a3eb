"""Findings about arguments that do not match their schema, with a sentence for people.

A value that matches no branch of a union is explained by the errors of each branch. If branches contain the union
again, the errors multiply with every level. Therefore only values up to a certain depth are explained.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from jsonschema_rs import ValidationError, ValidationErrorKind

from pytest_fcall.core.message_text import (
    alternatives,
    clauses,
    did_you_mean,
    one_of_values,
    quoted_path,
    shown,
    types_in_words,
    with_type,
)
from pytest_fcall.core.values import Json
from pytest_fcall.schema.traversal import (
    Path,
    applied_schemas,
    follow_reference,
    look_up,
    path_exists,
    resolve_references,
    schemas_in,
)

FindingKind: TypeAlias = Literal["missing_argument", "unexpected_argument", "wrong_type", "schema"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which arguments do not match their schema."""

    kind: FindingKind
    path: Path
    message: str
    expected: Json = None
    """The requirement of the schema: type names, the allowed values, a bound. None for a missing name."""
    got: Json = None


Depths: TypeAlias = Mapping[type, int]
"""The largest depth of nested objects (dict) and of nested lists that can be explained. Without a type: no limit."""

_MAX_ERRORS_OF_UNIONS: Final = 1000
_KINDS: Final[Mapping[type, str]] = {dict: "object", list: "array"}


def explicable_depths(root: Mapping[str, Json]) -> Depths:
    """The depths of values that can be explained under the schema `root`."""
    schemas = list(schemas_in(root))
    if not _is_recursive(root, schemas):
        return {}
    forms = {kind: max(_forms(root, schema, name) for _, schema in schemas) for kind, name in _KINDS.items()}
    return {kind: int(math.log(_MAX_ERRORS_OF_UNIONS, count)) for kind, count in forms.items() if count > 1}


def is_deeper(value: Json, depths: Depths) -> bool:
    """Whether a value of dicts and lists is too deep to be explained."""
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
    """Whether a schema refers to itself, directly or through others."""
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
    """The number of branches of a union that allow values of a kind."""
    listed = (schema.get(key) for key in ("anyOf", "oneOf"))
    return max(
        (sum(_takes(root, form, kind) for form in forms) for forms in listed if isinstance(forms, list)), default=0
    )


def _takes(root: Mapping[str, Json], form: Json, kind: str) -> bool:
    if not isinstance(form, Mapping):
        return form is True
    kinds = resolve_references(root, form).get("type", kind)
    return kind in kinds if isinstance(kinds, list) else kinds == kind


_MAX_ERRORS: Final = 100
"""Further errors are left out. A model can make any number of them."""

FORMAT_DESCRIPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "date": "a date such as 2026-11-21",
        "date-time": "a date and time with its offset, such as 2026-11-21T16:30:00Z",
        "duration": "a duration such as PT1H30M",
        "email": "an e-mail address",
        "hostname": "a host name",
        "idn-email": "an e-mail address",
        "idn-hostname": "a host name",
        "ipv4": "an IPv4 address",
        "ipv6": "an IPv6 address",
        "iri": "an IRI such as https://example.org/a",
        "iri-reference": "an IRI or a part of one",
        "json-pointer": "a JSON pointer such as /a/0",
        "regex": "a regular expression of JSON Schema",
        "relative-json-pointer": "a relative JSON pointer such as 1/a",
        "time": "a time of day with its offset, such as 16:30:00Z",
        "uri": "a URI such as https://example.org/a",
        "uri-reference": "a URI or a part of one",
        "uri-template": "a URI template such as /users/{id}",
        "uuid": "a UUID such as 2eb8aa08-aa98-11ea-b4aa-73b441d16380",
    }
)
"""The formats of strings that the validator checks."""

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
        "uniqueItems": "must not contain the same item twice",
        "contains": "contains too few or too many of the required items",
        "not": "must not be {got}",
        "oneOf": "matches more than one of the allowed forms, and must match just one",
        "falseSchema": "is not allowed here",
        "unevaluatedItems": "has too many items",
    }
)


@dataclass(frozen=True, slots=True)
class Explainer:
    """Translates the errors of the validator about one value.

    `schema_path` is the path of the checked part in the whole schema `root`, `argument_path` that of `value` in the
    arguments.
    """

    root: Mapping[str, Json]
    value: Json
    schema_path: Path = ()
    argument_path: Path = ()

    def findings(self, errors: Iterable[ValidationError]) -> list[Finding]:
        """The findings for `errors`, each once."""
        found: list[Finding] = []
        doubtful: list[Finding] = []
        for error in islice(errors, _MAX_ERRORS):
            match error.kind:
                case ValidationErrorKind.AdditionalProperties(names) | ValidationErrorKind.UnevaluatedProperties(names):
                    known = self._known(error)
                    for name in names[:_MAX_ERRORS]:
                        finding = unexpected_argument((*self._where(error), name), known, self._got(error))
                        (doubtful if name in known else found).append(finding)
                case ValidationErrorKind.AnyOf(forms) | ValidationErrorKind.OneOfNotValid(forms):
                    found += self._nearest_form(error, forms)
                case _:
                    found.append(self._finding(error))
        # The properties of a branch that does not match count as unevaluated, which is not the cause of the error.
        found += [finding for finding in doubtful if not any(_within(other, finding.path[:-1]) for other in found)]
        mistyped = {finding.path for finding in found if finding.kind == "wrong_type"}
        causes = [finding for finding in found if finding.kind != "schema" or finding.path not in mistyped]
        return list({(finding.kind, finding.path, finding.message): finding for finding in causes}.values())

    def _finding(self, error: ValidationError) -> Finding:
        where, got = self._where(error), self._got(error)
        match error.kind:
            case ValidationErrorKind.Required(name):
                return Finding("missing_argument", (*where, name), f"{quoted_path((*where, name))} is missing")
            case ValidationErrorKind.Type():
                return _mistyped(where, _as_list(self._limit(error)), got)
            case ValidationErrorKind.Custom():
                return _mistyped(where, _as_list(look_up(self.root, (*self._keyword_path(error)[:-1], "type"))), got)
            case ValidationErrorKind.Enum() | ValidationErrorKind.Constant():
                return _no_option(where, self._allowed(error), got)
            case ValidationErrorKind.PropertyNames(inner):
                path = (*where, str(inner.instance))
                return Finding("unexpected_argument", path, f"{quoted_path(path)} is not an allowed name")
        limit = self._limit(error)
        size = len(got) if isinstance(got, str | Sequence | Mapping) else 0
        sentence = _SENTENCES.get(error.kind.name, "does not match the schema: {keyword}")
        words = FORMAT_DESCRIPTIONS.get(str(limit), f"of the format {limit}")
        text = sentence.format(limit=shown(limit), got=shown(got), size=size, words=words, keyword=error.kind.name)
        return Finding("schema", where, f"{quoted_path(where)} {text}", limit, got)

    def _nearest_form(self, error: ValidationError, forms: Sequence[Sequence[ValidationError]]) -> list[Finding]:
        """The findings about the branch of a union that the value was probably meant for."""
        where, got = self._where(error), self._got(error)
        explained = [(form, self.findings(form)) for form in forms]
        fitting = [(form, found) for form, found in explained if not any(_is_mistyped(one, where) for one in found)]
        if not fitting:
            here = (finding for _, found in explained for finding in found if finding.path == where)
            types = dict.fromkeys(name for finding in here for name in _as_list(finding.expected))
            return [_mistyped(where, list(types), got)]
        if choice := self._choice([form for form, _ in fitting]):
            return [choice]
        missing = [found[0] for _, found in fitting if [each.kind for each in found] == ["missing_argument"]]
        if len(missing) == len(fitting):
            names = dict.fromkeys(quoted_path(each.path) for each in missing)
            return [Finding("missing_argument", missing[0].path, f"{alternatives(list(names))} is missing")]
        return min(fitting, key=lambda pair: (self._is_excluded(pair[0], where), len(pair[1])))[1]

    def _is_excluded(self, form: Sequence[ValidationError], where: Path) -> bool:
        """Whether a property with fixed values, such as `kind`, shows that the value is not of this branch."""
        return any(error.kind.name in {"const", "enum"} and self._where(error)[:-1] == where for error in form)

    def _choice(self, forms: Sequence[Sequence[ValidationError]]) -> Finding | None:
        """The finding that a value is none of the fixed values that distinguish the branches; None without these."""
        fixed = [
            {self._where(error): error for error in form if error.kind.name in {"const", "enum"}} for form in forms
        ]
        shared = [path for path in fixed[0] if all(path in errors for errors in fixed)]
        if not shared:
            return None
        where = min(shared, key=lambda path: (len(path), [*map(str, path)]))  # in whatever order the model wrote them
        errors = [listed[where] for listed in fixed]
        return _no_option(where, [value for error in errors for value in self._allowed(error)], self._got(errors[0]))

    def _allowed(self, error: ValidationError) -> list[Json]:
        limit = self._limit(error)
        return [limit] if error.kind.name == "const" else _as_list(limit)

    def _known(self, error: ValidationError) -> list[str]:
        pieces = applied_schemas(self.root, look_up(self.root, self._keyword_path(error)[:-1]))
        listed = (piece.get("properties") for piece, _ in pieces)
        return [name for properties in listed if isinstance(properties, Mapping) for name in properties]

    def _where(self, error: ValidationError) -> Path:
        return (*self.argument_path, *error.instance_path)

    def _got(self, error: ValidationError) -> Json:
        return look_up(self.value, error.instance_path)

    def _limit(self, error: ValidationError) -> Json:
        """The value of the keyword in the schema. The validator's own copy has lost its order."""
        path = self._keyword_path(error)
        return look_up(self.root, path) if path_exists(self.root, path) else None

    def _keyword_path(self, error: ValidationError) -> Path:
        """The path of the keyword in `root`. The validator's paths begin there only after a reference."""
        path = (*self.schema_path, *error.schema_path)
        is_relative = error.schema_path == error.evaluation_path and path_exists(self.root, path)
        return path if is_relative else tuple(error.schema_path)


def unexpected_argument(path: Path, known: Sequence[str], owner: Json) -> Finding:
    """The finding that the last name of `path` is not one of the `known` properties of its `owner`."""
    given = owner if isinstance(owner, Mapping) else {}
    hint = did_you_mean(path[-1], [name for name in known if name not in given])
    kind = f"property of {quoted_path(path[:-1])}" if path[:-1] else "argument of this tool"
    article = "a" if path[:-1] else "an"
    message = clauses(f"{quoted_path(path)} is not {article} {kind}", hint)
    return Finding("unexpected_argument", path, message, got=given.get(str(path[-1])))


def too_deep_to_explain(path: Path, value: Json) -> Finding:
    """The finding that a value does not match its schema, without the reason."""
    message = f"{quoted_path(path)} does not match its schema (nested too deeply to say where)"
    return Finding("schema", path, message, got=value)


def _mistyped(where: Path, types: Sequence[Json], got: Json) -> Finding:
    names = [str(name) for name in types]
    message = f"{quoted_path(where)} must be {types_in_words(names)}, not {with_type(got)}"
    return Finding("wrong_type", where, message, names[0] if len(names) == 1 else names, got)


def _no_option(where: Path, values: list[Json], got: Json) -> Finding:
    fault = f"{quoted_path(where)} must be {one_of_values(values)}, not {shown(got)}"
    return Finding("schema", where, clauses(fault, did_you_mean(got, values)), values, got)


def _is_mistyped(finding: Finding, where: Path) -> bool:
    return finding.kind == "wrong_type" and finding.path == where


def _within(finding: Finding, path: Path) -> bool:
    return finding.path[: len(path)] == path


def _as_list(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list) else [value]
