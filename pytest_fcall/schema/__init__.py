"""Tools and their parameter schemas: where they come from, and whether arguments fit them."""

from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.finding import Finding, FindingKind

__all__ = ["Finding", "FindingKind", "SchemaError"]
