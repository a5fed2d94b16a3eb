"""The batches of a server, by its interface."""

from __future__ import annotations

from pytest_fcall.backends.batch.anthropic import AnthropicBatches
from pytest_fcall.backends.batch.client import Client
from pytest_fcall.backends.batch.gemini import GeminiBatches
from pytest_fcall.backends.batch.openai import OpenAIBatches
from pytest_fcall.backends.batch.service import BatchService
from pytest_fcall.backends.batch_server import BatchServer


def batch_service(server: BatchServer) -> BatchService:
    """The batches of a server, for one event loop."""
    client = Client(server)
    match server.interface:
        case "openai":
            return OpenAIBatches(client, server.url)
        case "anthropic":
            return AnthropicBatches(client, server.url)
        case "gemini":
            return GeminiBatches(client, server.url)
