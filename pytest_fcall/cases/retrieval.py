"""`retrieve:` of a case: which of its tools are offered."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import cast, get_args

from yaml import MappingNode, Node

from pytest_fcall.cases import fields
from pytest_fcall.cases.scope import Scope
from pytest_fcall.core.case import Retrieval, RetrieverName

RETRIEVE_KEYS = ("with", "k", "model")
_LIBRARIES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"bm25": ("rank_bm25", "retrieval"), "embeddings": ("sentence_transformers", "embeddings")}
)
"""The module that each needs, and the extra that brings it."""


def retrieval(node: Node, scope: Scope) -> Retrieval:
    """`{with: bm25, k: 5}`, or `{with: embeddings, model: NAME}`, where `python:module:function` may be the name."""
    faults = scope.faults
    found = fields.entries(node, faults, "`retrieve`")
    fields.known_only(found, RETRIEVE_KEYS, faults, "`retrieve`")
    k = fields.integer(found["k"][1], faults, "`k`", least=1) if "k" in found else 5
    if "with" not in found:
        if isinstance(node, MappingNode):
            faults.add("missing-key", node, "`retrieve` needs a `with`", "such as `retrieve: {with: bm25, k: 5}`")
        return Retrieval("bm25", k)
    by = cast("RetrieverName", fields.choice(found["with"][1], faults, "`with`", get_args(RetrieverName)))
    model = fields.text(found["model"][1], faults, "`model`") if "model" in found else None
    if not (model and model.startswith("python:")):
        _check_library(by, found["with"][1], scope)
    if by == "embeddings" and not model:
        faults.add(
            "missing-key",
            node,
            "`embeddings` need a `model`",
            "the name of one for sentence-transformers, or python:module:function",
        )
    if by != "embeddings" and "model" in found:
        faults.add("contradiction", found["model"][0], f"`{by}` has no model", "leave `model` out")
    return Retrieval(by, k, model)


def _check_library(by: str, node: Node, scope: Scope) -> None:
    module, extra = _LIBRARIES.get(by, ("", ""))
    if module and find_spec(module) is None:
        message = f"`with: {by}` needs the library {module.replace('_', '-')}, which is not installed"
        scope.faults.add("not-installed", node, message, f"pip install 'pytest-fcall[{extra}]'")
