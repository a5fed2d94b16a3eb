"""Anthropic's Message Batches: submitted in one body, and without a name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from pytest_fcall.backends.batch.client import BatchClient, StreamedBody, Unclear, id_in
from pytest_fcall.backends.batch.service import BatchState, Frame, ResultRow
from pytest_fcall.core.json_data import as_mapping, optional_field, required_field
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.backends.batch.portion import Portion
    from pytest_fcall.core.backend import OfflineBody

_MOST_PAGES: Final = 1_000
_COUNTS: Final = ("processing", "succeeded", "errored", "canceled", "expired")
_STATUSES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "invalid_request_error": 400,
        "authentication_error": 401,
        "billing_error": 402,
        "permission_error": 403,
        "not_found_error": 404,
        "request_too_large": 413,
        "rate_limit_error": 429,
        "api_error": 500,
        "timeout_error": 504,
        "overloaded_error": 529,
    }
)
"""By type of error, the status with which it comes where requests are sent at once."""


class AnthropicBatches:
    """See BatchService."""

    frame = Frame(b'{"requests": [\n', b",\n", b"\n]}\n")
    takes_files = False
    names_batches = False

    def __init__(self, client: BatchClient, url: str) -> None:
        self.client = client
        self._url = f"{url}/v1/messages/batches"

    def line(self, digest: str, offline: OfflineBody) -> Json:
        """An item of the list."""
        return {"custom_id": digest, "params": offline.body}

    async def upload(self, portion: Portion, file: Path) -> str:
        """Nothing is uploaded first."""
        raise NotImplementedError

    async def find_upload(self, portion: Portion) -> str | None:
        """Nothing is uploaded first."""
        raise NotImplementedError

    async def submit(self, _portion: Portion, file: Path) -> str:
        """Send all requests at once."""
        task = "submit a batch"
        body = StreamedBody.of_file(file, "application/json")
        return id_in((await self.client.ask(task, "POST", self._url, body=body)).data(task), task)

    async def mark(self) -> str:
        """The newest batch. The server lists those that were made later before it."""
        async for each in self._newest_first():
            return id_in(each, "list batches")
        return ""

    async def find_batches(self, portion: Portion) -> Sequence[str]:
        """The batches of as many requests that were made since; their results tell which one it is."""
        found: list[str] = []
        async for each in self._newest_first():
            batch = id_in(each, "list batches")
            if batch == portion.mark:
                break
            if sum(_counts(each).values()) == len(portion.digests):
                found.append(batch)
        return found

    async def _newest_first(self) -> AsyncIterator[Mapping[str, Json]]:
        task = "list batches"
        after: dict[str, str] = {}
        for _ in range(_MOST_PAGES):
            data = (await self.client.ask(task, "GET", self._url, query={"limit": "100", **after})).data(task)
            listed = [as_mapping(each, "a batch") for each in optional_field(data, "data", list) or []]
            for each in listed:
                yield each
            if not (listed and data.get("has_more")):
                return
            after = {"after_id": id_in(listed[-1], task)}
        raise Unclear(self.client.message(task, f"there are more than {_MOST_PAGES} pages"))

    async def state(self, batch: str) -> BatchState:
        """The state of a batch, with the number of its requests in each state."""
        task = f"look at batch {batch}"
        data = (await self.client.ask(task, "GET", f"{self._url}/{batch}")).data(task)
        status, counts = required_field(data, "processing_status", str), _counts(data)
        parts = [f"{number} {name}" for name, number in counts.items() if number]
        words = ", ".join([status.replace("_", " "), *parts])
        if status != "ended":
            return BatchState(words)
        if data.get("archived_at") or not data.get("results_url"):
            return BatchState(words, "gone")
        if data.get("cancel_initiated_at"):
            return BatchState(words, "cancelled", (f"{self._url}/{batch}/results",))
        return BatchState(words, "expired" if counts["expired"] else "completed", (f"{self._url}/{batch}/results",))

    async def cancel(self, batch: str) -> None:
        """Cancel it; what is done by then is kept."""
        await self.client.ask(f"cancel batch {batch}", "POST", f"{self._url}/{batch}/cancel", body=b"{}")

    def result(self, row: Mapping[str, Json]) -> ResultRow:
        """A line of the results."""
        name, result = required_field(row, "custom_id", str), required_field(row, "result", dict)
        match required_field(result, "type", str):
            case "succeeded":
                return ResultRow(name, 200, result.get("message"))
            case "errored":
                error = required_field(result, "error", dict)
                inner = optional_field(error, "error", dict) or error
                return ResultRow(name, _STATUSES.get(str(inner.get("type")), 500), error)
            case other:
                return ResultRow(name, None, None, other)


def _counts(data: Mapping[str, Json]) -> dict[str, int]:
    counts = optional_field(data, "request_counts", dict) or {}
    return {name: optional_field(counts, name, int) or 0 for name in _COUNTS}
