"""The JSON Schema of case files, for editors."""

from pytest_fcall.cases.editor.case_file import editor_schema

__all__ = ["editor_schema"]
