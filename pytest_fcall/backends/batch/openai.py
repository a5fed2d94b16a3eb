"""Batches as OpenAI designed them: `/v1/files` and `/v1/batches`, which Azure and others speak, too."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_fcall.backends.batch.client import BatchClient, StreamedBody, Unclear, id_in
from pytest_fcall.backends.batch.service import BatchOutcome, BatchState, Frame, ResultRow
from pytest_fcall.core.json_data import as_mapping, optional_field, required_field
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.backends.batch.portion import Portion
    from pytest_fcall.core.backend import OfflineBody

_NAME: Final = "fcall_portion"
"""The key of our name among a batch's metadata."""
_AZURE_DEPLOYMENTS: Final = "/openai/deployments/"
"""The path before the name of a deployment at Azure, which answers there; files and batches have other paths."""
_MOST_PAGES: Final = 1_000
_OUTCOMES: Final[Mapping[str, BatchOutcome]] = {
    "completed": "completed",
    "failed": "failed",
    "expired": "expired",
    "cancelled": "cancelled",
}
_STAGES: Final = frozenset({"validating", "in_progress", "finalizing", "cancelling"})


class OpenAIBatches:
    """See BatchService."""

    frame = Frame(b"", b"\n", b"\n")
    takes_files = True
    names_batches = True

    def __init__(self, client: BatchClient, url: str) -> None:
        self.client = client
        resource, found, self._deployment = url.partition(_AZURE_DEPLOYMENTS)
        self._url = f"{resource}/openai" if found else url

    def line(self, digest: str, offline: OfflineBody) -> Json:
        """A line of the file. Its model is the deployment, where the address names one."""
        model = {"model": self._deployment} if self._deployment else {}
        return {"custom_id": digest, "method": "POST", "url": offline.path, "body": {**offline.body, **model}}

    async def upload(self, portion: Portion, file: Path) -> str:
        """Upload the file under the name of the portion."""
        edge = f"fcall-{portion.name}"
        purpose = f'--{edge}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        head = (
            f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{_file_name(portion)}"\r\n'
            "Content-Type: application/jsonl\r\n\r\n"
        )
        form = f"multipart/form-data; boundary={edge}"
        body = StreamedBody.of_file(file, form, f"{purpose}{head}".encode(), f"\r\n--{edge}--\r\n".encode())
        task = "upload requests"
        return id_in((await self.client.ask(task, "POST", f"{self._url}/files", body=body)).data(task), task)

    async def find_upload(self, portion: Portion) -> str | None:
        """The id of the file with the name and the length of the portion's."""
        async for each in self._pages("files", {"purpose": "batch"}):
            if each.get("filename") == _file_name(portion) and each.get("bytes") in (portion.bytes, None):
                return optional_field(each, "id", str)
        return None

    async def submit(self, portion: Portion, _file: Path) -> str:
        """Submit the uploaded file."""
        data = {
            "input_file_id": portion.file_id,
            "endpoint": portion.path,
            "completion_window": "24h",
            "metadata": {_NAME: portion.name},
        }
        task = "submit a batch"
        body = json.dumps(data).encode()
        return id_in((await self.client.ask(task, "POST", f"{self._url}/batches", body=body)).data(task), task)

    async def mark(self) -> str:
        """Batches have names."""
        return ""

    async def find_batches(self, portion: Portion) -> Sequence[str]:
        """The batches of the file, which no other batch has, or of the name."""
        return [
            id_in(each, "list batches")
            async for each in self._pages("batches", {})
            if each.get("input_file_id") == portion.file_id
            or (isinstance(named := each.get("metadata"), Mapping) and named.get(_NAME) == portion.name)
        ]

    async def state(self, batch: str) -> BatchState:
        """The state of a batch, with the number of its requests in each state and the addresses of its results."""
        task = f"look at batch {batch}"
        data = (await self.client.ask(task, "GET", f"{self._url}/batches/{batch}")).data(task)
        status = required_field(data, "status", str).lower()  # Azure begins some with a capital
        words = f"{status.replace('_', ' ')}{_counted(data)}"
        if status in _STAGES:
            return BatchState(words)
        if status not in _OUTCOMES:
            raise Unclear(self.client.message(task, f"the server calls it {status!r:.40}, which is not known"))
        keys = [key for key in ("output_file_id", "error_file_id") if data.get(key)]
        sources = tuple(f"{self._url}/files/{id_in(data, task, key)}/content" for key in keys)
        return BatchState(words, _OUTCOMES[status], sources, dict(self._faults(data)))

    async def cancel(self, batch: str) -> None:
        """Cancel it; what is done by then is kept."""
        await self.client.ask(f"cancel batch {batch}", "POST", f"{self._url}/batches/{batch}/cancel", body=b"{}")

    def result(self, row: Mapping[str, Json]) -> ResultRow:
        """A line of the file of answers, or of that of errors."""
        name = required_field(row, "custom_id", str)
        if response := optional_field(row, "response", dict):
            return ResultRow(name, required_field(response, "status_code", int), response.get("body"))
        error = optional_field(row, "error", dict) or {}
        parts = (optional_field(error, key, str) for key in ("code", "message"))
        return ResultRow(name, None, None, ": ".join(part for part in parts if part) or "no answer, and no reason")

    def _faults(self, data: Mapping[str, Json]) -> list[tuple[int, str]]:
        """The faults that the server found in the file, by the number of the line, from 0; -1 for the whole file."""
        errors = optional_field(data, "errors", dict) or {}
        listed = optional_field(errors, "data", list) or []
        return [
            (
                (optional_field(each, "line", int) or 0) - 1,
                self.client.shortened(str(each.get("message") or each.get("code"))),
            )
            for each in listed
            if isinstance(each, Mapping)
        ]

    async def _pages(self, what: str, query: Mapping[str, str]) -> AsyncIterator[Mapping[str, Json]]:
        """The items of a list on the server, fetched page by page."""
        task = f"list {what}"
        after: dict[str, str] = {}
        for _ in range(_MOST_PAGES):
            asked = {**query, "limit": "100", **after}
            data = (await self.client.ask(task, "GET", f"{self._url}/{what}", query=asked)).data(task)
            listed = [as_mapping(each, f"an item of {what}") for each in optional_field(data, "data", list) or []]
            for each in listed:
                yield each
            if not (listed and data.get("has_more")):
                return
            after = {"after": id_in(listed[-1], task)}
        raise Unclear(self.client.message(task, f"there are more than {_MOST_PAGES} pages"))


def _file_name(portion: Portion) -> str:
    return f"{portion.name}.jsonl"


def _counted(data: Mapping[str, Json]) -> str:
    counts = optional_field(data, "request_counts", dict) or {}
    done, total, failed = (counts.get(key) for key in ("completed", "total", "failed"))
    if not (isinstance(total, int) and total and isinstance(done, int)):
        return ""
    return f", {done} of {total} answered{f', {failed} failed' if isinstance(failed, int) and failed else ''}"
