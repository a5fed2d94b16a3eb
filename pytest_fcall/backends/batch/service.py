"""The common interface of providers' batches: limits and rates, the requests to a server, and its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeAlias

from pytest_fcall.backends.batch_server import BatchInterface
from pytest_fcall.backends.costs import BatchPrice, Price
from pytest_fcall.core.backend import Model
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.backends.batch.client import BatchClient
    from pytest_fcall.backends.batch.portion import Portion
    from pytest_fcall.core.backend import OfflineBody


_MB: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """A provider's limits."""

    requests: int
    """The most requests in one batch."""
    bytes: int
    """The most bytes of the file, or of the body, that holds them."""
    days: int
    """Days for which results are kept."""
    share: float
    """The share of the usual price that is paid."""


LIMITS: Final[Mapping[BatchInterface, BatchLimits]] = MappingProxyType(
    {
        # openai 3.54: docstrings of `client.batches.create` (requests, bytes) and `output_expires_after` (30 days).
        # Azure's reference of /openai/v1/batches names the same figures. platform.openai.com/docs/guides/batch: 50 %.
        "openai": BatchLimits(requests=50_000, bytes=200 * _MB, days=30, share=0.5),
        # platform.claude.com/docs/en/build-with-claude/batch-processing: 100,000 or 256 MB, whichever comes first;
        # results for 29 days after creation; 50 %.
        "anthropic": BatchLimits(requests=100_000, bytes=256 * _MB, days=29, share=0.5),
        # ai.google.dev/gemini-api/docs/batch-api: 2 GB a file; 50 %. It names no number of requests: this one is ours.
        # Files live for two days by ai.google.dev/gemini-api/docs/files, and no longer time is promised for results.
        "gemini": BatchLimits(requests=100_000, bytes=2_000 * _MB, days=2, share=0.5),
    }
)
"""Read on 2026-11-23 in the places that each row names; nothing of it is asked of a server."""


def batch_price(model: Model, usual: Price) -> BatchPrice:
    """The price of a model in batches of its provider."""
    provider = model.name.partition("/")[0] if model.kind == "any" else "openai"
    share = next(
        (limits.share for interface, limits in LIMITS.items() if interface == provider), LIMITS["openai"].share
    )
    return BatchPrice(usual, share)


BatchOutcome: TypeAlias = Literal["completed", "failed", "expired", "cancelled", "gone"]


class Frame(NamedTuple):
    """The bytes around the requests in the file that is sent."""

    before: bytes
    between: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class BatchState:
    """The state of a batch: under way, or ended with an outcome."""

    words: str
    """The state in the provider's words, with its counts of requests."""
    outcome: BatchOutcome | None = None
    """None before its end."""
    sources: tuple[str, ...] = ()
    """The addresses of its results."""
    faults: Mapping[int, str] = field(default_factory=dict)
    """Its faults, by the number of the request, from 0; -1 for the whole batch."""


class ResultRow(NamedTuple):
    """The result of one request."""

    custom_id: str
    status: int | None
    """The HTTP status of the answer; None where there is none."""
    body: Json
    reason: str = ""
    """The reason why there is no answer."""


class BatchService(Protocol):
    """The batches of one server. All methods raise ServerError."""

    client: BatchClient
    frame: Frame
    takes_files: bool
    """Whether requests are uploaded first, and submitted as the id of a file."""
    names_batches: bool
    """Whether a batch can be found by the name of its portion. Else it is known by the ids in its results."""

    def line(self, digest: str, offline: OfflineBody) -> Json:
        """A request as it stands in the file."""
        ...

    async def upload(self, portion: Portion, file: Path) -> str:
        """Upload the file, and return its id."""
        ...

    async def find_upload(self, portion: Portion) -> str | None:
        """The id of the file, if an earlier process has uploaded it."""
        ...

    async def submit(self, portion: Portion, file: Path, /) -> str:
        """Submit the batch, and return its id."""
        ...

    async def mark(self) -> str:
        """The newest batch of the server, after which later ones are sought; empty where batches have names."""
        ...

    async def find_batches(self, portion: Portion) -> Sequence[str]:
        """The ids of batches that may be what an earlier process has submitted."""
        ...

    async def state(self, batch: str) -> BatchState:
        """The state of a batch."""
        ...

    async def cancel(self, batch: str) -> None:
        """Have the batch end soon, with what it has."""
        ...

    def result(self, row: Mapping[str, Json]) -> ResultRow:
        """The result in a line of the file of results. Raises DamagedData."""
        ...
