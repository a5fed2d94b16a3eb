"""What the memories of the leaderboard need to be called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from pytest_fcall.suites.bfcl.data import PACKAGE

_ALL: Final[Mapping[str, str]] = MappingProxyType({"filelock": "filelock", "overrides": "overrides"})
_NEEDED: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "kv": {**_ALL, "rank_bm25": "rank-bm25"},
        "vector": {**_ALL, "faiss": "faiss-cpu", "sentence_transformers": "sentence-transformers"},
        "rec_sum": _ALL,
    }
)
"""Modules, and the packages that they are in, by kind of memory."""


def lacking(kind: str) -> str:
    """What cannot be imported, and how to get it; empty where nothing is lacking."""
    needed = _NEEDED[kind]
    missing = [name for name in (PACKAGE, *needed) if find_spec(name) is None]
    if not missing:
        return ""
    packages = " ".join(needed[name] for name in missing if name in needed)
    commands = ["pip install --no-deps bfcl-eval"] * (PACKAGE in missing) + [f"pip install {packages}"] * bool(packages)
    return (
        f"memory_{kind} is a class of the package bfcl-eval, and {' and '.join(missing)} cannot be imported: "
        f"{' && '.join(commands)}"
    )
