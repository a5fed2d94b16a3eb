"""The prompts: a question, the form of the answer, and a document that a retriever found."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcall.core.values import Message
from pytest_fcall.retrieval import OkapiBm25, Oracle, Retriever
from pytest_fcall.suites.apibench.apis import Api
from pytest_fcall.suites.apibench.files import REFERENCE, Hub

_FORM = """
Call an API of {program} in one or two lines of Python. Answer in this form, and say it once:
<<<domain>>>: what the API is for, <<<api_call>>>: the call, in one line, <<<api_provider>>>: the framework, \
<<<explanation>>>: the steps, <<<code>>>: the program
The domain is one of: {domains}."""


def answer_form(hub: Hub, apis: Sequence[Api]) -> str:
    """Return the instruction on the form of answers for a hub."""
    return _FORM.format(program=hub.program, domains=", ".join(dict.fromkeys(api.domain for api in apis)))


def question_messages(question: str, form: str) -> tuple[Message, ...]:
    """Return the messages of a question, which may include a document."""
    return (
        {"role": "system", "content": "You write calls of APIs that do what is asked for."},
        {"role": "user", "content": question + form},
    )


def with_document(question: str, document: Api | None) -> str:
    """Return the question with the document of an API, in the form of the paper's retrievers."""
    return question if document is None else f"{question} \n {REFERENCE} {dict(document.document)}"


def bm25_retriever(apis: Sequence[Api]) -> Retriever:
    """Return the paper's BM25 retriever: documents are Python dicts as text, split into words at single spaces."""
    return OkapiBm25([str(dict(api.document)) for api in apis], lambda text: text.split(" "))


def oracle_retriever(apis: Sequence[Api], right: Api) -> Retriever:
    """Return a retriever that finds the right API, if the data base has it."""
    return Oracle([index for index, api in enumerate(apis) if api.call == right.call][:1], len(apis))
