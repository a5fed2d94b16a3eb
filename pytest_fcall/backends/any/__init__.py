"""`any:provider/model`: other providers' own interfaces, through the library any-llm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.core import Model

if TYPE_CHECKING:
    from pytest_fcall.backends.any.backend import AnyBackend


def any_backend(model: Model, root: Path) -> AnyBackend:
    """Make the backend of `any:provider/model`, as its entry and its query say. Raises ModelUnavailable."""
    from pytest_fcall.backends.any.backend import OPTIONS_OF_ANY, AnyBackend
    from pytest_fcall.backends.settings import read_entry

    return AnyBackend(model, read_entry(model, root, OPTIONS_OF_ANY))
