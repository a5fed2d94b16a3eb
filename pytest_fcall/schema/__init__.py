"""Tools and their parameter schemas: where they come from, and whether arguments fit them."""

from pytest_fcall.schema.dialect import normalise
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.finding import Finding, FindingKind
from pytest_fcall.schema.sources.objects import tool_from_object
from pytest_fcall.schema.sources.openapi import tools_from_openapi
from pytest_fcall.schema.sources.python_source import tools_from_python
from pytest_fcall.schema.sources.shapes import tool_from_data, tools_from_data
from pytest_fcall.schema.tool_schema import NO_PROPERTIES, Properties, ToolSchema, tool_schema

__all__ = [
    "NO_PROPERTIES",
    "Finding",
    "FindingKind",
    "Properties",
    "SchemaError",
    "ToolSchema",
    "normalise",
    "tool_from_data",
    "tool_from_object",
    "tool_schema",
    "tools_from_data",
    "tools_from_openapi",
    "tools_from_python",
]
