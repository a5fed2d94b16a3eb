"""Gemini's batches: a file that is uploaded, and an operation that has its name."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from yarl import URL

from pytest_fcall.backends.batch.client import BatchClient, ServerRefused, StreamedBody, Unclear, id_in
from pytest_fcall.backends.batch.service import BatchOutcome, BatchState, Frame, ResultRow
from pytest_fcall.backends.http_answers import RedirectError, redirect_target
from pytest_fcall.core.json_data import as_mapping, optional_field, required_field
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.backends.batch.portion import Portion
    from pytest_fcall.core.backend import OfflineBody

_MOST_PAGES: Final = 1_000
_OUTCOMES: Final[Mapping[str, BatchOutcome]] = MappingProxyType(
    {"SUCCEEDED": "completed", "FAILED": "failed", "CANCELLED": "cancelled", "EXPIRED": "expired"}
)
_STAGES: Final = frozenset({"PENDING", "RUNNING", "UNSPECIFIED", "QUEUED", "CANCELLING", "UPDATING", "PAUSED"})
_STATUSES: Final[Mapping[int, int]] = MappingProxyType(
    {1: 499, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 12: 501, 13: 500, 14: 503, 16: 401}
)
"""By code of gRPC, the status with which it comes where requests are sent at once."""


class GeminiBatches:
    """See BatchService."""

    frame = Frame(b"", b"\n", b"\n")
    takes_files = True
    names_batches = True

    def __init__(self, client: BatchClient, url: str) -> None:
        self.client = client
        self._url = url
        before, _, self._version = url.rpartition("/")
        self._host = before

    def line(self, digest: str, offline: OfflineBody) -> Json:
        """A line of the file."""
        return {"key": digest, "request": offline.body}

    async def upload(self, portion: Portion, file: Path) -> str:
        """Upload the file under the name of the portion: the name first, then the bytes, to the address that comes."""
        task, start = "upload requests", f"{self._host}/upload/{self._version}/files"
        headers = {
            "x-goog-upload-protocol": "resumable",
            "x-goog-upload-command": "start",
            "x-goog-upload-header-content-length": str(portion.bytes),
            "x-goog-upload-header-content-type": "application/jsonl",
        }
        named = json.dumps({"file": {"displayName": portion.name, "mimeType": "application/jsonl"}}).encode()
        begun = await self.client.ask(task, "POST", start, body=named, headers=headers)
        try:
            address = redirect_target(URL(start), begun.headers.get("x-goog-upload-url", ""))
        except RedirectError as error:
            raise ServerRefused(self.client.message(task, str(error))) from None
        headers = {"x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0"}
        body = StreamedBody.of_file(file, "application/jsonl")
        data = (await self.client.ask(task, "POST", str(address), body=body, headers=headers)).data(task)
        return id_in(as_mapping(data.get("file"), "`file`"), task, "name", "files/")

    async def find_upload(self, portion: Portion) -> str | None:
        """The file of this name and length, if it is ready."""
        async for each in self._pages("files", "files"):
            if each.get("displayName") == portion.name and str(each.get("sizeBytes")) == str(portion.bytes):
                return id_in(each, "list files", "name", "files/")
        return None

    async def submit(self, portion: Portion, _file: Path) -> str:
        """Submit the uploaded file."""
        task = "submit a batch"
        model = portion.path.partition("/models/")[2].removesuffix(":generateContent")
        data = {"batch": {"displayName": portion.name, "inputConfig": {"fileName": portion.file_id}}}
        address = f"{self._url}/models/{model}:batchGenerateContent"
        answer = (await self.client.ask(task, "POST", address, body=json.dumps(data).encode())).data(task)
        return id_in(answer, task, "name", "batches/")

    async def mark(self) -> str:
        """Batches have names."""
        return ""

    async def find_batches(self, portion: Portion) -> Sequence[str]:
        """The batches of this name."""
        return [
            id_in(each, "list batches", "name", "batches/")
            async for each in self._pages("batches", "operations")
            if _about(each).get("displayName") == portion.name
        ]

    async def state(self, batch: str) -> BatchState:
        """The state of a batch, with the address of its results."""
        task = f"look at {batch}"
        data = (await self.client.ask(task, "GET", f"{self._url}/{batch}")).data(task)
        about = _about(data)
        state = required_field(about, "state", str).removeprefix("BATCH_STATE_").removeprefix("JOB_STATE_")
        words = f"{state.lower()}{_counted(about)}"
        if state in _STAGES:
            return BatchState(words)
        if state not in _OUTCOMES:
            raise Unclear(self.client.message(task, f"the server calls it {state!r:.40}, which is not known"))
        error = optional_field(data, "error", dict) or {}
        output = optional_field(about, "output", dict) or optional_field(data, "response", dict) or {}
        file = optional_field(output, "responsesFile", str)
        before = f"{self._host}/download/{self._version}"
        sources = (f"{before}/{id_in({'name': file}, task, 'name', 'files/')}:download?alt=media",) if file else ()
        faults = {-1: self.client.shortened(str(error["message"]))} if error.get("message") else {}
        return BatchState(words, _OUTCOMES[state], sources, faults)

    async def cancel(self, batch: str) -> None:
        """Cancel it. What is done by then is not given out."""
        await self.client.ask(f"cancel {batch}", "POST", f"{self._url}/{batch}:cancel", body=b"{}")

    def result(self, row: Mapping[str, Json]) -> ResultRow:
        """A line of the results."""
        name = required_field(row, "key", str)
        if error := optional_field(row, "error", dict):
            code = optional_field(error, "code", int) or 500
            status = _STATUSES.get(code, 500) if code < 100 else code
            return ResultRow(name, status, {"error": {**error, "code": status}})
        return ResultRow(name, 200, required_field(row, "response", dict))

    async def _pages(self, what: str, items: str) -> AsyncIterator[Mapping[str, Json]]:
        """The items of a list on the server, fetched page by page."""
        task, token = f"list {what}", ""
        for _ in range(_MOST_PAGES):
            query = {"pageSize": "100", **({"pageToken": token} if token else {})}
            data = (await self.client.ask(task, "GET", f"{self._url}/{what}", query=query)).data(task)
            for each in optional_field(data, items, list) or []:
                yield as_mapping(each, f"an item of {what}")
            token = optional_field(data, "nextPageToken", str) or ""
            if not token:
                return
        raise Unclear(self.client.message(task, f"there are more than {_MOST_PAGES} pages"))


def _about(operation: Mapping[str, Json]) -> Mapping[str, Json]:
    return optional_field(operation, "metadata", dict) or {}


def _counted(about: Mapping[str, Json]) -> str:
    stats = optional_field(about, "batchStats", dict) or {}
    total, done = stats.get("requestCount"), stats.get("successfulRequestCount", "0")
    return f", {done} of {total} answered" if total else ""
