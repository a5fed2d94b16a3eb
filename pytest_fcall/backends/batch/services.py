"""The batches of a server, by its interface."""

from __future__ import annotations

from pytest_fcall.backends.batch.anthropic import AnthropicBatches
from pytest_fcall.backends.batch.gemini import GeminiBatches
from pytest_fcall.backends.batch.openai import OpenAIBatches
from pytest_fcall.backends.batch.road import Road
from pytest_fcall.backends.batch.service import BatchService
from pytest_fcall.backends.batch_server import BatchServer


def batch_service(server: BatchServer) -> BatchService:
    """The batches of a server, for one event loop."""
    road = Road(server)
    match server.interface:
        case "openai":
            return OpenAIBatches(road, server.url)
        case "anthropic":
            return AnthropicBatches(road, server.url)
        case "gemini":
            return GeminiBatches(road, server.url)
