"""The prompts: a question, the form of the answer, and a document that a retriever found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from pytest_fcall.core.values import Message
from pytest_fcall.retrieval import OkapiBm25, Oracle, Retriever
from pytest_fcall.suites.apibench.apis import Api
from pytest_fcall.suites.apibench.files import HOW_TO_GET_IT, REFERENCE, Hub, HubFiles

FindDocument: TypeAlias = Callable[[str, Api], Api | None]
"""Returns the document for a question and its right API."""
SETTINGS: Final = ("bm25", "gpt_index", "oracle")
"""The retrievers of the paper."""
_FORM: Final = """
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


def hub_and_setting(part: str) -> tuple[str, str]:
    """Return the hub and the retriever of a part; the retriever is empty for questions without documents."""
    setting = next((each for each in SETTINGS if part.endswith(f"_{each}")), "")
    return part.removesuffix(f"_{setting}") if setting else part, setting


def document_finder(setting: str, files: HubFiles) -> FindDocument:
    """Return the retriever of a setting; without a setting, no document is found. Raises ValueError, OSError."""
    if not setting:
        return lambda _, __: None
    apis = files.apis
    if setting == "oracle":
        return lambda question, right: apis[oracle_retriever(apis, right).top(question, 1)[0]] if apis else None
    if setting == "bm25":
        retriever = bm25_retriever(apis)
        return lambda question, _: apis[retriever.top(question, 1)[0]] if apis else None
    raise ValueError(
        f"no questions of {files.hub.name} with documents by embeddings: {HOW_TO_GET_IT}; "
        "or write them with pytest_fcall.suites.apibench.embedded.write_questions"
    )


def bm25_retriever(apis: Sequence[Api]) -> Retriever:
    """Return the paper's BM25 retriever: documents are Python dicts as text, split into words at single spaces."""
    return OkapiBm25([str(dict(api.document)) for api in apis], lambda text: text.split(" "))


def oracle_retriever(apis: Sequence[Api], right: Api) -> Retriever:
    """Return a retriever that finds the right API, if the data base has it."""
    return Oracle([index for index, api in enumerate(apis) if api.call == right.call][:1], len(apis))
