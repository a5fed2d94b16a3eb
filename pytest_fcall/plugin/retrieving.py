"""Which tools a case offers, where a retriever chooses them, and what that leaves out."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from pytest_fcall.core import Case, Request, Retrieval, Tool
from pytest_fcall.core.same import Same
from pytest_fcall.plugin.words import fail
from pytest_fcall.retrieval import Bm25, Embed, Embeddings, Oracle, Retriever, chosen, document, expected, missed
from pytest_fcall.retrieval import sentence_transformer as load_model


def as_offered(case: Case) -> Case:
    """The case with the tools that are offered of it, which are all of them unless it says otherwise.

    Ends the test in words where a model of embeddings cannot be loaded.
    """
    __tracebackhide__ = True
    how = case.retrieve
    return case if how is None else replace(case, tools=chosen(case, _retriever(case, how), how.k))


def left_out(case: Case, request: Request) -> tuple[str, ...]:
    """The expected tools that retrieval did not find, so that the model could not call them."""
    return () if case.retrieve is None else missed(case, request.tools)


def missed_told(case: Case, request: Request) -> tuple[str, ...]:
    """A line on what retrieval left out, if it did."""
    names = ", ".join(f"`{name}`" for name in left_out(case, request))
    return (f"retrieval missed {names}",) if names else ()


def _retriever(case: Case, how: Retrieval) -> Retriever:
    __tracebackhide__ = True
    if how.by == "oracle":
        right = set(expected(case))
        return Oracle([place for place, tool in enumerate(case.tools) if tool.name in right], len(case.tools))
    return _index(Same(case.tools), how.model)


@lru_cache(maxsize=16)
def _index(tools: Same[tuple[Tool, ...]], model: str | None) -> Retriever:
    """Most cases of a file have the same tools, which are indexed once."""
    __tracebackhide__ = True
    documents = [document(tool) for tool in tools.it]
    return Bm25(documents) if model is None else Embeddings(documents, _model(model))


@lru_cache(maxsize=2)
def _model(name: str) -> Embed:
    __tracebackhide__ = True
    try:
        return load_model(name)
    except (ImportError, OSError, ValueError) as error:
        fail(f"the model {name!r} of `retrieve` cannot be loaded: {error}")
