"""`any:provider/model`: other providers' own interfaces, through the library any-llm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.core.backend import Model

if TYPE_CHECKING:
    from pytest_fcall.backends.any.backend import AnyBackend


def any_backend(model: Model, root: Path) -> AnyBackend:
    """Make the backend of `any:provider/model` with the settings of its entry and its query. Raises SettingsError."""
    from pytest_fcall.backends.any.backend import OPTIONS, AnyBackend
    from pytest_fcall.backends.settings import read_entry

    return AnyBackend(model, read_entry(model, root, OPTIONS))
