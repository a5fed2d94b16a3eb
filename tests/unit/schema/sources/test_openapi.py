"""The operations of an OpenAPI document become tools."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Json, Tool
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.openapi import tools_from_openapi
from pytest_fcall.schema.tool_schema import tool_schema

PETS = yaml.safe_load("""
openapi: 3.0.3
info: {title: Pets, version: "1"}
paths:
  /pets:
    get:
      operationId: listPets
      summary: List the pets.
      description: Old ones first.
      parameters:
        - $ref: "#/components/parameters/limit"
        - {name: tags, in: query, schema: {type: array, items: {$ref: "#/components/schemas/Tag"}}}
        - {name: X-Trace, in: header, schema: {type: string}}
        - {name: Authorization, in: header, required: true, schema: {type: string}}
        - {name: session, in: cookie, schema: {type: string}}
      responses: {200: {description: fine}}
    post:
      operationId: createPet
      description: Create a pet.
      requestBody:
        required: true
        content:
          text/plain: {schema: {type: string}}
          application/json: {schema: {$ref: "#/components/schemas/NewPet"}}
  /pets/{petId}:
    parameters:
      - {name: petId, in: path, required: true, schema: {type: integer}}
      - {name: verbose, in: query, schema: {type: boolean}}
    get:
      parameters: [{name: verbose, in: query, description: How much., schema: {type: integer}}]
    put:
      operationId: replacePet
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}
    delete: {operationId: deletePet, description: Delete a pet.}
  /trees:
    post:
      operationId: plant
      requestBody: {content: {application/vnd.api+json: {schema: {$ref: "#/components/schemas/Tree"}}}}
components:
  parameters:
    limit:
      name: limit
      in: query
      description: How many.
      schema: {type: integer, nullable: true, minimum: 0, exclusiveMinimum: true}
  schemas:
    Tag: {type: string, enum: [old, new]}
    NewPet:
      type: object
      required: [name]
      properties:
        name: {type: string}
        tag: {description: Its tag., allOf: [{$ref: "#/components/schemas/Tag"}]}
    Pet:
      allOf:
        - $ref: "#/components/schemas/NewPet"
        - type: object
          required: [id, created]
          properties:
            id: {type: integer}
            created: {type: string, readOnly: true}
    Tree:
      type: object
      properties:
        name: {type: string}
        kids: {type: array, items: {$ref: "#/components/schemas/Tree"}}
""")


def pets(**changes: Any) -> Any:
    return {**copy.deepcopy(PETS), **changes}


def tool(operation: str, document: Any = None) -> Tool:
    (found,) = tools_from_openapi(document or PETS, [operation])
    return found


def test_every_operation_is_a_tool_unless_some_are_named() -> None:
    assert [tool.name for tool in tools_from_openapi(PETS)] == [
        "listPets",
        "createPet",
        "get_pets_petId",
        "replacePet",
        "deletePet",
        "plant",
    ]
    assert [tool.name for tool in tools_from_openapi(PETS, ["deletePet", "GET /pets"])] == ["deletePet", "listPets"]
    assert tools_from_openapi(PETS, []) == []


def test_parameters_become_arguments() -> None:
    found = tool("listPets")
    assert found.description == "List the pets.\n\nOld ones first."
    assert found.source == "openapi: GET /pets"
    assert found.parameters == {
        "type": "object",
        "properties": {
            "limit": {"type": ["integer", "null"], "exclusiveMinimum": 0, "description": "How many."},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["old", "new"]}},
            "X-Trace": {"type": "string"},
        },
        "required": [],
    }


def test_an_operation_goes_before_its_path() -> None:
    assert tool("GET /pets/{petId}").parameters == {
        "type": "object",
        "properties": {"petId": {"type": "integer"}, "verbose": {"type": "integer", "description": "How much."}},
        "required": ["petId"],
    }


def test_the_properties_of_a_json_body_become_arguments() -> None:
    assert tool("createPet").parameters == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "tag": {"description": "Its tag.", "allOf": [{"type": "string", "enum": ["old", "new"]}]},
        },
        "required": ["name"],
    }


def test_pieces_of_a_body_are_put_together_and_what_the_server_sets_is_left_out() -> None:
    found = tool_schema(tool("replacePet"))
    assert set(found.parameters) == {"petId", "verbose", "name", "tag", "id"}
    assert found.required == {"petId", "name", "id"}


def test_names_that_collide_say_where_they_belong() -> None:
    document = pets()
    document["paths"]["/pets/{petId}"]["put"]["parameters"] = [{"name": "id", "in": "query", "schema": {}}]
    found = tool_schema(tool("replacePet", document))
    assert set(found.parameters) == {"petId", "verbose", "query_id", "body_id", "name", "tag"}
    assert found.required == {"petId", "name", "body_id"}


def test_names_that_collide_even_then_are_an_error() -> None:
    document = pets()
    document["paths"]["/pets/{petId}"]["put"]["parameters"] = [
        {"name": "id", "in": "query", "schema": {}},
        {"name": "body_id", "in": "query", "schema": {}},
    ]
    with pytest.raises(SchemaError, match="two arguments called `body_id`") as caught:
        tool("replacePet", document)
    assert caught.value.path == ("paths", "/pets/{petId}", "put")


def test_a_schema_that_refers_to_itself_stays_a_definition() -> None:
    found = tool("plant")
    assert found.parameters["$defs"] == {
        "Tree": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
        }
    }
    assert tool_schema(found).check({"name": "a", "kids": [{"kids": [{"name": "b"}]}]}) == []
    assert tool_schema(found).check({"kids": [{"kids": [{"name": 1}]}]})


def test_definitions_that_would_be_copied_without_end_are_shared() -> None:
    schemas: dict[str, Json] = {
        f"L{number}": {
            "type": "object",
            "properties": {side: {"$ref": f"#/components/schemas/L{number + 1}"} for side in ("left", "right")},
        }
        for number in range(40)
    }
    document = body({"$ref": "#/components/schemas/L0"}, {**schemas, "L40": {"type": "integer"}})
    found = tool("op", document)
    assert len(repr(found.parameters)) < 200_000
    value: Json = 1
    for _ in range(40):
        value = {"left": value}
    assert tool_schema(found).check(value) == []  # type: ignore[arg-type]  # an object, as it was just made


def body(schema: Json, schemas: Json = None, **request: Json) -> dict[str, Json]:
    """A document with one operation that has a body."""
    content: Json = {"content": {"application/json": {"schema": schema}}, "required": True, **request}
    return {
        "openapi": "3.1.0",
        "paths": {"/op": {"post": {"operationId": "op", "requestBody": content}}},
        "components": {"schemas": schemas or {}},
    }


@pytest.mark.parametrize(
    ("schema", "properties"),
    [
        ({"type": "array", "items": {"type": "integer"}}, {"body": {"type": "array", "items": {"type": "integer"}}}),
        ({"type": "object"}, {"body": {"type": "object"}}),
        ({"type": "string"}, {"body": {"type": "string"}}),
        (
            {"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
            {"body": {"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}},
        ),
        ({"type": ["object", "null"], "properties": {"a": {"type": "string"}}}, {"a": {"type": "string"}}),
        ({}, {"body": {}}),
    ],
)
def test_a_body_that_lists_no_properties_is_one_argument(schema: Json, properties: Json) -> None:
    assert tool("op", body(schema)).parameters["properties"] == properties


def test_a_body_that_may_be_left_out_requires_nothing() -> None:
    schema: Json = {"properties": {"a": {}}, "required": ["a"]}
    assert tool("op", body(schema)).parameters["required"] == ["a"]
    assert tool("op", body(schema, required=False)).parameters["required"] == []


def test_a_body_that_is_open_makes_the_tool_open() -> None:
    found = tool_schema(tool("op", body({"properties": {"a": {}}, "additionalProperties": {"type": "integer"}})))
    assert found.allows_more_arguments
    assert found.check({"b": 1}) == []
    assert found.check({"b": "1"})


@pytest.mark.parametrize(
    "media", ["application/json; charset=utf-8", "application/problem+json", "multipart/form-data"]
)
def test_json_goes_before_forms_and_forms_before_the_rest(media: str) -> None:
    document = body({})
    document["paths"]["/op"]["post"]["requestBody"]["content"] = {  # type: ignore[call-overload,index]  # just made
        "text/csv": {"schema": {"type": "string"}},
        media: {"schema": {"properties": {"a": {}}}},
    }
    assert tool("op", document).parameters["properties"] == {"a": {}}


def test_a_parameter_may_be_json_itself() -> None:
    document = body({"properties": {"a": {}}})
    document["paths"]["/op"]["parameters"] = [  # type: ignore[call-overload,index]  # just made
        {"name": "filter", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}}
    ]
    assert tool("op", document).parameters["properties"] == {"filter": {"type": "object"}, "a": {}}


def test_words_beside_a_reference_are_kept_and_rules_are_added() -> None:
    schema: Json = {
        "properties": {
            "a": {"$ref": "#/components/schemas/N", "description": "mine"},
            "b": {"$ref": "#/components/schemas/N", "maximum": 3},
        }
    }
    found = tool("op", body(schema, {"N": {"type": "integer", "description": "theirs", "minimum": 1}}))
    assert found.parameters["properties"] == {
        "a": {"type": "integer", "description": "mine", "minimum": 1},
        "b": {"allOf": [{"type": "integer", "description": "theirs", "minimum": 1}], "maximum": 3},
    }


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("listPet", "`listPets`"),
        ("GET /pet", "`GET /pets`"),
        ("get /pets", "`GET /pets`"),
        ("quite other", "operationId"),
    ],
)
def test_an_unknown_operation_is_told_with_the_one_that_was_meant(name: str, hint: str) -> None:
    with pytest.raises(SchemaError) as caught:
        tools_from_openapi(PETS, [name])
    assert f"no operation `{name}`" in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("document", "path", "message"),
    [
        (None, (), "not null"),
        ([], (), "not a list"),
        ({}, (), "not an OpenAPI 3 document"),
        ({"swagger": "2.0", "paths": {}}, ("swagger",), "Swagger 2.0"),
        ({"openapi": "4.0"}, ("openapi",), "OpenAPI '4.0' is not supported"),
        ({"openapi": "3.1.0", "paths": {"/a": 3}}, ("paths", "/a"), "must be a mapping, not the integer 3"),
        (
            body({"$ref": "#/components/schemas/Nope"}),
            ("paths", "/op", "post", "requestBody", "content", "application/json", "schema", "$ref"),
            "cannot be resolved",
        ),
        (
            body({"properties": {"a": {"$ref": "https://127.0.0.1:9/x.json"}}}),
            ("paths", "/op", "post", "requestBody", "content", "application/json", "schema", "properties", "a", "$ref"),
            "remote references are not loaded",
        ),
        (body({"properties": {"a": {"type": "strin"}}}), ("paths", "/op", "post"), "POST /op: `strin` is not a type"),
        (
            {"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [{"name": "x"}]}}}},
            ("paths", "/a", "get", "parameters", 0),
            "needs `name` and `in`",
        ),
        (
            {"openapi": "3.0.0", "paths": {"/a": {"$ref": "#/paths/~1a"}}},
            ("paths", "/a"),
            "is circular",
        ),
        (
            {"openapi": "3.0.0", "paths": {"/a": {"get": {"requestBody": {"$ref": 3}}}}},
            ("paths", "/a", "get", "requestBody", "$ref"),
            "the integer 3",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(document: Json, path: tuple[str | int, ...], message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        tools_from_openapi(document)
    assert caught.value.path == path
    assert message in caught.value.message


def test_a_version_that_yaml_reads_as_a_number_is_fine() -> None:
    assert tools_from_openapi({"openapi": 3.1, "paths": {"/a": {"get": {}}}})[0].name == "get_a"


def test_a_bottomless_schema_is_refused() -> None:
    schema: Json = {}
    for _ in range(2000):
        schema = {"items": schema}
    with pytest.raises(SchemaError, match="too deeply"):
        tools_from_openapi(body(schema))


def test_a_long_chain_of_references_is_no_matter() -> None:
    schemas: dict[str, Json] = {f"S{number}": {"$ref": f"#/components/schemas/S{number + 1}"} for number in range(500)}
    document = body(
        {"properties": {"a": {"$ref": "#/components/schemas/S0"}}}, {**schemas, "S500": {"type": "integer"}}
    )
    found = tool_schema(tool("op", document))
    assert found.check({"a": 1}) == []
    assert found.check({"a": "1"})


LEAVES = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["string", "query", "#/paths", "#/paths/~1a", "a"])
)
WORDS = st.sampled_from(
    [
        "$ref",
        "parameters",
        "name",
        "in",
        "schema",
        "type",
        "properties",
        "allOf",
        "requestBody",
        "content",
        "application/json",
        "items",
    ]
)
TREES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=20
)


@given(st.dictionaries(st.sampled_from(["get", "post", "parameters", "$ref"]), TREES, max_size=3), TREES)
def test_any_document_gives_tools_or_an_error_in_words(item: Json, schema: Json) -> None:
    document: Json = {"openapi": "3.1.0", "paths": {"/a": item}, "components": {"schemas": {"a": schema}}}
    try:
        tools = tools_from_openapi(document)
    except SchemaError:
        return
    assert all(tool.name for tool in tools)


def test_tools_know_how_their_operation_is_asked_for() -> None:
    document = {
        **PETS,
        "servers": [{"url": "https://{zone}.pets.example/v1", "variables": {"zone": {"default": "eu"}}}],
    }
    listed, created, *_ = tools_from_openapi(document, ["listPets", "createPet"])
    assert listed.origin == {
        "openapi": {
            "method": "get",
            "path": "/pets",
            "parameters": {
                "limit": {"in": "query", "name": "limit"},
                "tags": {"in": "query", "name": "tags"},
                "X-Trace": {"in": "header", "name": "X-Trace"},
            },
            "server": "https://eu.pets.example/v1",
        }
    }
    assert created.origin is not None
    sending = created.origin["openapi"]
    assert isinstance(sending, dict)
    assert sending["media_type"] == "application/json"


@pytest.mark.parametrize(
    ("servers", "base", "server"),
    [
        (None, "", None),
        (None, "https://pets.example/spec/openapi.json", "https://pets.example/"),
        ([{"url": "../v2"}], "https://pets.example/spec/openapi.json", "https://pets.example/v2"),
        ([{"url": "/v2"}], "", "/v2"),
        ([{"url": "https://other.example"}], "https://pets.example/openapi.json", "https://other.example"),
        ("none", "", None),
        ([{}], "", None),
    ],
)
def test_an_address_is_read_from_where_the_document_lies(servers: Json, base: str, server: str | None) -> None:
    document = {**PETS, "servers": servers}
    (tool,) = tools_from_openapi(document, ["listPets"], base=base)
    assert tool.origin is not None
    sending = tool.origin["openapi"]
    assert isinstance(sending, dict)
    assert sending.get("server") == server
