"""Questions with the document that embeddings find: made once, and asked as often as there are models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pytest_fcall.retrieval import Embed, Embeddings, Vector
from pytest_fcall.suites.apibench.files import hub_files
from pytest_fcall.suites.apibench.prompt import with_document

_AT_ONCE: Final = 100
"""Texts that are handed over together: APIs bound their number."""


def write_questions(hub: str, folder: Path, embed: Embed) -> Path:
    """Write the questions of a hub with the closest document each, where the part `HUB_gpt_index` looks for them.

    What `embed` raises is left to rise. Raises OSError for files, and ValueError for data and for what are no vectors.
    """
    files = hub_files(hub, folder)
    questions = [question for question in files.asked("0_shot") if question.api is not None]
    documents = [str(dict(api.document)) for api in files.apis]
    texts = list(dict.fromkeys((*documents, *(question.text for question in questions))))
    vectors = dict(zip(texts, _vectors(texts, embed), strict=True))
    index = Embeddings(documents, lambda asked: [vectors[text] for text in asked])
    path = folder / f"questions_{hub}_gpt_index.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for question in questions:
            found = next((files.apis[place] for place in index.top(question.text, 1)), None)
            row = {"question_id": question.number, "text": with_document(question.text, found)}
            print(json.dumps(row), file=file)
    return path


def _vectors(texts: list[str], embed: Embed) -> Iterator[Vector]:
    for start in range(0, len(texts), _AT_ONCE):
        yield from embed(texts[start : start + _AT_ONCE])
