"""The JSON Schema of case files, for editors."""
