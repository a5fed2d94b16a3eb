"""What the memories of the leaderboard need to be called."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.case import Needs
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
_ENCODER: Final = "all-MiniLM-L6-v2"
_ROOM: Final = 16 << 30
"""What torch takes of address space, most of which it never uses."""


def needs_of(kind: str) -> Needs:
    """What a memory of this kind needs; vectors are made by a model, which was fetched before."""
    missing = _missing_packages(kind)
    if kind != "vector":
        return Needs(missing)
    hub = _hub(os.environ)
    return Needs(
        missing or _missing_encoder(hub),
        memory=_ROOM,
        folders=(str(hub),),
        variables={"HF_HUB_CACHE": str(hub), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"},
    )


def _missing_packages(kind: str) -> str:
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


def _missing_encoder(hub: Path) -> str:
    if (hub / f"models--sentence-transformers--{_ENCODER}").is_dir():
        return ""
    fetch = f"from sentence_transformers import SentenceTransformer as Model; Model({_ENCODER!r})"
    return f'memory_vector takes the model {_ENCODER}, which is not in {hub}; fetch it: python -c "{fetch}"'


def _hub(variables: Mapping[str, str]) -> Path:
    """Where models are kept that were fetched."""
    if hub := variables.get("HF_HUB_CACHE"):
        return Path(hub).expanduser().absolute()
    cache = variables.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(variables.get("HF_HOME") or f"{cache}/huggingface").expanduser().absolute() / "hub"
