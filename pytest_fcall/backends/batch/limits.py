"""The limits and rates of providers' batches.

Read on 2026-11-23 in the places that each row names; nothing of it is asked of a server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pytest_fcall.backends.batch_server import BatchInterface
from pytest_fcall.backends.costs.prices import BatchPrice, Price
from pytest_fcall.core import Model

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


def batch_price(model: Model, usual: Price) -> BatchPrice:
    """The price of a model in batches of its provider."""
    provider = model.name.partition("/")[0] if model.kind == "any" else "openai"
    share = next(
        (limits.share for interface, limits in LIMITS.items() if interface == provider), LIMITS["openai"].share
    )
    return BatchPrice(usual, share)
