"""Schemas handed to the validator, and its complaints about them put into words."""

from __future__ import annotations

from collections.abc import Mapping

from jsonschema_rs import (
    Draft202012Validator,
    EmailOptions,
    ValidationError,
    Validator,
    ValidatorMap,
    validator_map_for,
)

from pytest_fcall.core import Json
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.keywords import schemas_in
from pytest_fcall.schema.pointers import follow
from pytest_fcall.schema.strict import INTEGER, Integer

_LONGEST = 200
_PLAIN_ADDRESS = EmailOptions(allow_display_text=False)


def compiled(schema: dict[str, Json]) -> Validator:
    """The validator of a strict schema, which holds values to the formats that it knows. Nothing is ever fetched."""
    try:
        return Draft202012Validator(
            schema, keywords={INTEGER: Integer}, offline=True, validate_formats=True, email_options=_PLAIN_ADDRESS
        )
    except ValidationError as error:
        raise _complaint(error, schema) from None
    except ValueError as error:
        raise SchemaError(f"this schema cannot be used: {str(error)[:_LONGEST]}") from None


def compiled_parts(schema: dict[str, Json]) -> ValidatorMap:
    """The validators of all schemas inside a schema that compiled, by JSON pointer."""
    return validator_map_for(
        schema, keywords={INTEGER: Integer}, offline=True, validate_formats=True, email_options=_PLAIN_ADDRESS
    )


def _complaint(error: ValidationError, schema: Mapping[str, Json]) -> SchemaError:
    path = tuple(error.instance_path)
    if error.kind.name == "$ref":
        return _lost_reference(schema) or SchemaError(error.message[:_LONGEST])
    if path[-1:] == ("pattern",):
        return SchemaError(f"`{error.instance}` is no regular expression of JSON Schema", path)
    return SchemaError(f"this is no valid JSON Schema: {error.message[:_LONGEST]}", path)


def _lost_reference(root: Mapping[str, Json]) -> SchemaError | None:
    for path, schema in schemas_in(root):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or follow(root, schema):
            continue
        if reference.startswith("#"):
            return SchemaError(f"`{reference}` leads nowhere", (*path, "$ref"))
        return SchemaError(
            f"`{reference}` leads out of this schema, and nothing is fetched",
            (*path, "$ref"),
            hint="copy what it names under `$defs`, and refer to it as `#/$defs/…`",
        )
    return None
