"""Plans: files with the requests that a selection of cases will make.

A plan has a line for each request, and before the first that offers them a line with the tools. In the form `batch`
each line is whole, and what the queues of providers and `vllm run-batch` read.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Final

from pytest_fcall.backends.recordings.line import tool_to_data
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.backends.wrapper import innermost
from pytest_fcall.core.backend import CaseRefused, OfflineBody, offline_backend
from pytest_fcall.core.digests import catalogue_digest
from pytest_fcall.core.files import path_from_root, replace_file
from pytest_fcall.core.json_data import readable_json
from pytest_fcall.core.parquet import SUFFIX, write_parquet
from pytest_fcall.core.secrets import Secrets
from pytest_fcall.core.storage import Folder
from pytest_fcall.core.values import Json
from pytest_fcall.session.ask.open_requests import OpenRequest
from pytest_fcall.session.ask.types import Question

FORMS: Final = ("fcall", "batch")
_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "digest": "string",
        "model": "string",
        "sample": "int32",
        "file": "string",
        "case": "string",
        "messages": "string",
        "catalogue": "string",
        "tools": "string",
        "settings": "string",
    }
)
_BATCH_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys(("custom_id", "method", "url", "body"), "string")
)


class PlanWriter:
    """Writes the open requests of a run into a plan."""

    def __init__(self, root: Path, secrets: Secrets) -> None:
        self._root = root
        self._secrets = secrets
        self.refused: dict[str, str] = {}
        """Requests that are not in the plan, and why, by the test that wants the reply."""
        self.written = 0
        self.catalogues: set[str] = set()
        """The digests of the tool catalogues in the plan."""

    def write(self, path: Path, requests: Iterable[OpenRequest], form: str) -> None:
        """Write the plan. Raises OSError."""
        rows = self._batch_rows(requests) if form == "batch" else self._rows(requests)
        if path.suffix == SUFFIX:
            write_parquet(path, _BATCH_COLUMNS if form == "batch" else _COLUMNS, map(_as_columns, rows))
            return
        lines = _with_catalogues(rows) if form == "fcall" else rows
        portions = (f"{readable_json(row)}\n".encode() for row in lines)
        if path == Path("-"):
            sys.stdout.writelines(portion.decode() for portion in portions)
        else:
            replace_file(path, portions)

    def write_into(self, folder: Folder, name: str, requests: Iterable[OpenRequest], form: str) -> None:
        """Write the plan as a file of a folder, which may be in object storage. Raises OSError."""
        with TemporaryDirectory() as own:
            self.write(Path(own) / name, requests, form)
            folder.put(Path(own) / name, name)

    def _rows(self, requests: Iterable[OpenRequest]) -> Iterator[dict[str, Json]]:
        for question in self._writable(requests):
            request, asker = question.request, question.asker
            catalogue = catalogue_digest(request.tools) if request.tools else None
            if catalogue:
                self.catalogues.add(catalogue)
            yield {
                "digest": question.digest,
                "model": question.source.id,
                "sample": request.sample,
                "file": path_from_root(asker.file, self._root),
                "case": asker.case,
                "messages": [*request.messages],
                "catalogue": catalogue,
                "tools": [tool_to_data(tool) for tool in request.tools],
                "settings": without_secrets(request.settings),
            }

    def _batch_rows(self, requests: Iterable[OpenRequest]) -> Iterator[dict[str, Json]]:
        with asyncio.Runner() as runner:
            for question in self._writable(requests):
                try:
                    whole = runner.run(body_of(question))
                except CaseRefused as refused:
                    self.refused[question.asker.again] = str(refused)
                    continue
                yield {"custom_id": question.digest, "method": "POST", "url": whole.path, "body": whole.body}

    def _writable(self, requests: Iterable[OpenRequest]) -> Iterator[Question]:
        """The requests without secrets."""
        for each in requests:
            question = each.first
            try:
                refuse_secrets(question, self._secrets)
            except CaseRefused as refused:
                self.refused[question.asker.again] = str(refused)
                continue
            self.written += 1
            yield question


def refuse_secrets(question: Question, secrets: Secrets) -> None:
    """Raise CaseRefused where the messages hold a secret: without it, the reply would be that to another question."""
    if secrets and secrets.may_be_in(repr(question.request.messages)):
        raise CaseRefused("its messages hold a secret, which belongs into no file")


async def body_of(question: Question) -> OfflineBody:
    """The body of a request as its backend sends it. Raises CaseRefused, also where others cannot send it."""
    inner = innermost(question.source.backend) if question.source.backend else None
    if inner is None or (backend := offline_backend(inner)) is None:
        raise CaseRefused(f"{question.source.id}: a request to a model of this kind has no body that others can send")
    return await backend.offline_body(question.request)


def _with_catalogues(rows: Iterable[dict[str, Json]]) -> Iterator[dict[str, Json]]:
    """The rows, and before the first that offers them a row with the tools."""
    known: set[Json] = set()
    for row in rows:
        tools, catalogue = row.pop("tools"), row["catalogue"]
        if catalogue is not None and catalogue not in known:
            known.add(catalogue)
            yield {"catalogue": catalogue, "tools": tools}
        yield row


def _as_columns(row: Mapping[str, Json]) -> dict[str, Json]:
    """The row with JSON text where a column holds more than a text or a number."""
    simple = (str, int, type(None))
    return {
        name: value if isinstance(value, simple) else json.dumps(value, default=dict) for name, value in row.items()
    }
