"""Patterns of calls in Python notation, as text: they are compiled where they are used."""

from __future__ import annotations

# Tool names may contain hyphens, which Python cannot read, and models escape underscores as in Markdown.
NAME = r"[^\W\d][\w.\\-]*+"
FIRST_ARGUMENT = r"\(\s*+(?:[^\W\d]\w*+\s*+=(?!=)|['\"]|\))"
LIST_OF_CALLS = rf"\[\s*+['\"]?(?P<name>{NAME}){FIRST_ARGUMENT}"
"""A pattern of what prose does not contain: a list of Python calls whose first argument, if any, is named or quoted."""
