"""Batch APIs: requests that a provider answers within a day for less, submitted once whatever befalls the process."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_fcall.backends.batch.service import BatchService
    from pytest_fcall.backends.batch_server import BatchServer


def batch_service(server: BatchServer) -> BatchService:
    """The batches of a server, by its interface, for one event loop."""
    from pytest_fcall.backends.batch.anthropic import AnthropicBatches
    from pytest_fcall.backends.batch.client import BatchClient
    from pytest_fcall.backends.batch.gemini import GeminiBatches
    from pytest_fcall.backends.batch.openai import OpenAIBatches

    client = BatchClient(server)
    match server.interface:
        case "openai":
            return OpenAIBatches(client, server.url)
        case "anthropic":
            return AnthropicBatches(client, server.url)
        case "gemini":
            return GeminiBatches(client, server.url)
