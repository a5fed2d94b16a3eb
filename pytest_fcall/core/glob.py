"""Globs over names of tools, parameters and models. One meaning everywhere."""

from __future__ import annotations


def is_glob(name: str) -> bool:
    """Whether the name stands for many."""
    return "*" in name


def glob_matches(glob: str, text: str) -> bool:
    """Whether `text` fits `glob`, in which `*` stands for any run of characters and nothing else is special.

    Linear in the text, unlike regular expressions: models invent names.
    """
    first, *rest = glob.split("*")
    if not rest:
        return text == glob
    last = rest.pop()
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    start, end = len(first), len(text) - len(last)
    for part in rest:
        found = text.find(part, start, end)
        if found < 0:
            return False
        start = found + len(part)
    return True
