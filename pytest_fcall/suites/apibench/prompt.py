"""What models are told: a question, the form of the answer, and a document that a retriever found."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcall.core.values import Message
from pytest_fcall.retrieval import OkapiBm25, Oracle, Retriever
from pytest_fcall.suites.apibench.apis import Api
from pytest_fcall.suites.apibench.files import Hub

_REFERENCE = "Use this API documentation for reference:"
_FORM = """
Call an API of {program} in one or two lines of Python. Answer in this form, and say it once:
<<<domain>>>: what the API is for, <<<api_call>>>: the call, in one line, <<<api_provider>>>: the framework, \
<<<explanation>>>: the steps, <<<code>>>: the program
The domain is one of: {domains}."""


def answer_form(hub: Hub, apis: Sequence[Api]) -> str:
    """What is said of the form of answers, to all questions of a hub."""
    return _FORM.format(program=hub.program, domains=", ".join(dict.fromkeys(api.domain for api in apis)))


def question_messages(question: str, form: str) -> tuple[Message, ...]:
    """The messages of a question, in whose text a document may stand already."""
    return (
        {"role": "system", "content": "You write calls of APIs that do what is asked for."},
        {"role": "user", "content": question + form},
    )


def with_document(question: str, document: Api | None) -> str:
    """The question with what is known of an API, as the retrievers of the paper append it."""
    return question if document is None else f"{question} \n {_REFERENCE} {dict(document.document)}"


def question_without_document(text: str) -> str:
    """The question alone, of a text that may hold a document, too."""
    return text.partition(_REFERENCE)[0]


def bm25_retriever(apis: Sequence[Api]) -> Retriever:
    """The paper's: documents are dicts of Python as text, and words are what single spaces part."""
    return OkapiBm25([str(dict(api.document)) for api in apis], lambda text: text.split(" "))


def oracle_retriever(apis: Sequence[Api], right: Api) -> Retriever:
    """Finds the entry of the API that is right, if the data base has it."""
    return Oracle([place for place, api in enumerate(apis) if api.call == right.call][:1], len(apis))
