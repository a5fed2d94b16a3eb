"""`openai:NAME`: OpenAI's interface, whoever serves it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.core import Model

if TYPE_CHECKING:
    from pytest_fcall.backends.openai.backend import OpenAIBackend


def openai_backend(model: Model, root: Path) -> OpenAIBackend:
    """Make the back end of a model. Raises BadSettings.

    The key is looked for, and what is to be served is started, with the first request.
    """
    from pytest_fcall.backends.openai.backend import OpenAIBackend
    from pytest_fcall.backends.openai.settings import OPTIONS, command_of
    from pytest_fcall.backends.settings import read_entry

    entry = read_entry(model, root, OPTIONS)
    return OpenAIBackend(model, entry, command_of(entry, root))
