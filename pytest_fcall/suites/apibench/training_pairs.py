"""Pairs for retriever-aware training: a question with a document that was found, and its answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pytest_fcall.core.values import Json
from pytest_fcall.suites.apibench.apis import parse_api
from pytest_fcall.suites.apibench.files import HOW_TO_GET_IT, hub_files, training_file
from pytest_fcall.suites.apibench.prompt import FindDocument, document_finder, hub_and_setting, with_document
from pytest_fcall.suites.json_files import BrokenRow, FileRow, read_rows

_PAIR: Final = re.compile(
    r"(?P<before>\s*(?:###\s*Instruction:|\{'Instruction':)\s*)(?P<question>.*?)"
    r"(?P<answer>(?:\s*###\s*Output:|,\s*'Output':).*)",
    re.DOTALL,
)
"""Both forms of the published files: with headings, and as a dict."""


def training_pairs(part: str, folder: Path) -> Iterator[FileRow]:
    """Yield the pairs of `HUB` or `HUB_SETTING`, as rows of the file for training; a row that is none has a fault.

    Questions of the evaluation are never among them. Raises ValueError or OSError.
    """
    hub, setting = hub_and_setting(part)
    files = hub_files(hub, folder)
    path = training_file(files.hub, folder)
    if path is None:
        raise ValueError(f"no questions of {hub} for training in {folder}: {HOW_TO_GET_IT}")
    find = document_finder(setting, files)
    for row in read_rows(path):
        try:
            yield FileRow(row.location, {**row.record, "code": _code(row.record, find)})
        except BrokenRow as error:
            yield FileRow(row.location, {}, str(error))


def _code(row: Mapping[str, Json], find: FindDocument) -> str:
    """The instruction with a document, and the answer."""
    code, document = row.get("code"), row.get("api_data")
    found = _PAIR.fullmatch(code) if isinstance(code, str) else None
    if found is None:
        raise BrokenRow("`code` must be a text with an instruction and an output")
    right = parse_api(document if isinstance(document, Mapping) else {})
    question = found["question"]
    return f"{found['before']}{with_document(question, find(question, right))}{found['answer']}"
