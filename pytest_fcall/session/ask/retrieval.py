"""Tools that a retriever chooses for a case, and expected tools that it missed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import cast

from pytest_fcall.core.backend import ModelUnavailable
from pytest_fcall.core.case import Case, Retrieval
from pytest_fcall.core.digests import IdentityKey
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.retrieval import (
    Bm25,
    Embed,
    Embeddings,
    NoVectors,
    Oracle,
    Retriever,
    choose_tools,
    expected_tools,
    missed_tools,
    tool_document,
)
from pytest_fcall.retrieval import sentence_transformer as load_model
from pytest_fcall.session.endings import CaseError


def with_chosen_tools(case: Case, how: Retrieval, root: Path) -> Case:
    """The case with the tools that are offered to the model.

    Raises CaseError where a model of embeddings cannot be loaded, or gives no vectors. Exceptions of a function of the
    project are left to rise.
    """
    try:
        return replace(case, tools=choose_tools(case, _retriever(case, how, root), how.k))
    except NoVectors as error:
        raise CaseError(f"the model {how.model!r} of `retrieve` gives {error}") from None


def missed_by_retrieval(case: Case, request: Request) -> tuple[str, ...]:
    """The expected tools that retrieval did not find, so that the model could not call them."""
    return missed_tools(case, request.tools)


def _retriever(case: Case, how: Retrieval, root: Path) -> Retriever:
    if how.by == "oracle":
        right = set(expected_tools(case))
        return Oracle([place for place, tool in enumerate(case.tools) if tool.name in right], len(case.tools))
    return _index(IdentityKey(case.tools), how.model, root)


@lru_cache(maxsize=16)
def _index(tools: IdentityKey[tuple[Tool, ...]], model: str | None, root: Path) -> Retriever:
    """Most cases of a file have the same tools, which are indexed once."""
    documents = [tool_document(tool) for tool in tools.value]
    return Bm25(documents) if model is None else Embeddings(documents, _model(model, root))


@lru_cache(maxsize=2)
def _model(name: str, root: Path) -> Embed:
    kind, _, place = name.partition(":")
    try:
        return _function(place, root) if kind == "python" else load_model(name)
    except ModelUnavailable as error:
        raise CaseError(f"the function of `retrieve` cannot be found: {error}") from None
    except (ImportError, OSError, ValueError) as error:
        raise CaseError(f"the model {name!r} of `retrieve` cannot be loaded: {error}") from None


def _function(place: str, root: Path) -> Embed:
    """A function of the project that embeds texts, such as a client of an API."""
    from pytest_fcall.backends.apps.python import find_object

    found = find_object(place, root)
    if not callable(found):
        raise ModelUnavailable(f"python:{place}: this is of type {type(found).__name__}, which cannot be called")
    return cast("Embed", found)  # what it returns is checked where it is used
