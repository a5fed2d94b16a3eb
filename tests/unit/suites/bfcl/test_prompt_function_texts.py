from __future__ import annotations

import json

import pytest

from pytest_fcall.core import Json
from pytest_fcall.suites.bfcl.prompt import FunctionTexts

SAIL: dict[str, Json] = {
    "name": "sail",
    "description": "Sails.",
    "parameters": {
        "type": "dict",
        "properties": {
            "port": {"type": "string", "description": "Where to.", "enum": ["Oslo", "Turku"], "default": "Oslo, N"},
            "crew": {"type": "array", "items": {"type": "integer"}},
            "boat": {"type": "dict", "properties": {"name": {"type": "string"}}},
            "marks": {"type": "dict", "additionalProperties": {"type": "number"}},
        },
        "required": ["port"],
    },
}
XML = """\
<function name="sail">
  <desc>Sails.</desc>
  <params>
    <param name="port" type="string" required="true" default="'Oslo N'">
      <desc>Where to. Enum values: ['Oslo', 'Turku'].</desc>
    </param>
    <param name="crew" type="array[integer]" required="false">
      <desc></desc>
    </param>
    <param name="boat" type="dict" required="false">
      <desc></desc>
      <params>
        <param name="name" type="string" required="true">
          <desc></desc>
        </param>
      </params>
    </param>
    <param name="marks" type="dict[number]" required="false">
      <desc></desc>
    </param>
  </params>
</function>
"""
PYTHON = '''\
# Function: sail
    """
    Sails.

    Args:
        port (str, default='Oslo, N'): Where to. Enum values: ['Oslo', 'Turku'].
        crew (list[int]):\x20
        boat (dict):\x20
            name (str):\x20
        marks (dict[str, float]):\x20
    """



'''


def test_functions_are_told_in_xml_without_the_commas_of_their_defaults() -> None:
    assert FunctionTexts().text_of([SAIL], "xml") == XML
    assert FunctionTexts().text_of([SAIL, SAIL], "xml") == f"{XML}\n{XML}"


def test_functions_are_told_as_a_docstring_in_python() -> None:
    assert FunctionTexts().text_of([SAIL], "python") == PYTHON


@pytest.mark.parametrize("documents", [[], [{}], [SAIL, {"name": "a\nb", "x": {}}, SAIL]])
def test_functions_are_told_as_one_list_in_json(documents: list[dict[str, Json]]) -> None:
    assert FunctionTexts().text_of(documents, "json") == json.dumps(documents, indent=4)


def test_one_function_is_told_in_several_notations() -> None:
    notes = FunctionTexts()
    assert (notes.text_of([SAIL], "xml"), notes.text_of([SAIL], "python")) == (XML, PYTHON)


def test_a_function_without_parameters_has_no_list_of_them() -> None:
    told = FunctionTexts().text_of([{"name": "stop", "description": "Stops."}], "python")
    assert told.startswith('# Function: stop\n    """\n    Stops.\n\n    """\n')


@pytest.mark.parametrize("schema", [3, None, {"type": ["string"], "items": 3, "additionalProperties": True}])
def test_odd_schemas_are_passed_over(schema: Json) -> None:
    document: dict[str, Json] = {
        "parameters": {"properties": {"x": schema, "y": {"properties": [], "type": {}}}, "required": 1}
    }
    for notation in ("xml", "python", "json"):
        assert "x" in FunctionTexts().text_of([document], notation)
