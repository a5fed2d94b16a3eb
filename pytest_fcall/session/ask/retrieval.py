"""Which tools a case offers, where a retriever chooses them, and what that leaves out."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import cast

from pytest_fcall.core import Case, ModelUnavailable, Request, Retrieval, Tool
from pytest_fcall.core.identity_key import IdentityKey
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
from pytest_fcall.session.outcomes import fail


def as_offered(case: Case, root: Path) -> Case:
    """The case with the tools that are offered of it, which are all of them unless it says otherwise.

    Ends the test in words where a model of embeddings cannot be loaded, or gives no vectors; what a function of the
    project raises is left to rise.
    """
    __tracebackhide__ = True
    how = case.retrieve
    if how is None:
        return case
    try:
        return replace(case, tools=choose_tools(case, _retriever(case, how, root), how.k))
    except NoVectors as error:
        fail(f"the model {how.model!r} of `retrieve` gives {error}")


def left_out(case: Case, request: Request) -> tuple[str, ...]:
    """The expected tools that retrieval did not find, so that the model could not call them."""
    return () if case.retrieve is None else missed_tools(case, request.tools)


def missed_told(case: Case, request: Request) -> tuple[str, ...]:
    """A line on what retrieval left out, if it did."""
    names = ", ".join(f"`{name}`" for name in left_out(case, request))
    return (f"retrieval missed {names}",) if names else ()


def _retriever(case: Case, how: Retrieval, root: Path) -> Retriever:
    __tracebackhide__ = True
    if how.by == "oracle":
        right = set(expected_tools(case))
        return Oracle([place for place, tool in enumerate(case.tools) if tool.name in right], len(case.tools))
    return _index(IdentityKey(case.tools), how.model, root)


@lru_cache(maxsize=16)
def _index(tools: IdentityKey[tuple[Tool, ...]], model: str | None, root: Path) -> Retriever:
    """Most cases of a file have the same tools, which are indexed once."""
    __tracebackhide__ = True
    documents = [tool_document(tool) for tool in tools.value]
    return Bm25(documents) if model is None else Embeddings(documents, _model(model, root))


@lru_cache(maxsize=2)
def _model(name: str, root: Path) -> Embed:
    __tracebackhide__ = True
    kind, _, place = name.partition(":")
    try:
        return _function(place, root) if kind == "python" else load_model(name)
    except ModelUnavailable as error:
        fail(f"the function of `retrieve` cannot be found: {error}")
    except (ImportError, OSError, ValueError) as error:
        fail(f"the model {name!r} of `retrieve` cannot be loaded: {error}")


def _function(place: str, root: Path) -> Embed:
    """What embeds texts in the project's own code, such as a client of an API."""
    from pytest_fcall.backends.apps.python import find_app

    return cast("Embed", find_app(place, root))
