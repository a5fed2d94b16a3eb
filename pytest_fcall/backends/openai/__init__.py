"""`openai:NAME`: OpenAI's interface, whoever serves it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.core import Model

if TYPE_CHECKING:
    from pytest_fcall.backends.openai.backend import OpenAIBackend


def openai_backend(model: Model, root: Path) -> OpenAIBackend:
    """Make the back end of a model. Raises BadSettings; the key is looked for with the first request."""
    from pytest_fcall.backends.entries import read_entry
    from pytest_fcall.backends.openai.backend import OpenAIBackend
    from pytest_fcall.backends.openai.settings import OPTIONS

    return OpenAIBackend(model, read_entry(model, root, OPTIONS))
