"""`openai:NAME`: OpenAI's interface, from OpenAI itself or any compatible server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.core.backend import Model

if TYPE_CHECKING:
    from pytest_fcall.backends.openai.backend import OpenAIBackend


def openai_backend(model: Model, root: Path) -> OpenAIBackend:
    """Make the backend of a model. Raises SettingsError.

    The first request looks for the key and starts the server of `serve`.
    """
    from pytest_fcall.backends.openai.backend import OpenAIBackend
    from pytest_fcall.backends.openai.settings import OPTIONS, command_of
    from pytest_fcall.backends.settings import read_entry

    entry = read_entry(model, root, OPTIONS)
    return OpenAIBackend(model, entry, command_of(entry, root))
