"""Globs over names of tools, parameters and models, with one meaning everywhere."""

from __future__ import annotations


def is_glob(name: str) -> bool:
    """Whether a name is a glob."""
    return "*" in name


def glob_matches(glob: str, text: str) -> bool:
    """Whether `text` matches `glob`, in which `*` is any run of characters and no other character is special.

    Takes linear time, unlike regular expressions: the text may come from a model.
    """
    first, *rest = glob.split("*")
    if not rest:
        return text == glob
    last = rest.pop()
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    start, end = len(first), len(text) - len(last)
    for part in rest:
        place = text.find(part, start, end)
        if place < 0:
            return False
        start = place + len(part)
    return True
