"""Questions with the documents that embeddings find, written once for all models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pytest_fcall.retrieval import Embed, Embeddings, Vector
from pytest_fcall.suites.apibench.files import hub_files
from pytest_fcall.suites.apibench.prompt import with_document

_AT_ONCE: Final = 100
"""The number of texts in one call, which APIs limit."""


def write_questions(hub: str, folder: Path, embed: Embed) -> Path:
    """Write the questions of a hub with the closest document each, for the part `HUB_gpt_index`. Returns the path.

    Errors of `embed` rise. Raises OSError for files, and ValueError for data and for invalid vectors.
    """
    files = hub_files(hub, folder)
    questions = [question for question in files.questions_in("0_shot") if question.api is not None]
    documents = [str(dict(api.document)) for api in files.apis]
    texts = list(dict.fromkeys((*documents, *(question.text for question in questions))))
    vectors = dict(zip(texts, _vectors(texts, embed), strict=True))
    index = Embeddings(documents, lambda wanted: [vectors[text] for text in wanted])
    path = folder / f"questions_{hub}_gpt_index.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for question in questions:
            found = next((files.apis[number] for number in index.top(question.text, 1)), None)
            row = {"question_id": question.number, "text": with_document(question.text, found)}
            print(json.dumps(row), file=file)
    return path


def _vectors(texts: list[str], embed: Embed) -> Iterator[Vector]:
    for start in range(0, len(texts), _AT_ONCE):
        yield from embed(texts[start : start + _AT_ONCE])
