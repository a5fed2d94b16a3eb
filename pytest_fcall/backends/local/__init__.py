"""`local:NAME`: a model that runs on this machine, in a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.core.backend import Model

if TYPE_CHECKING:
    from pytest_fcall.backends.local.backend import LocalBackend


def local_backend(model: Model, root: Path) -> LocalBackend:
    """Make the backend of a model. Raises SettingsError. The first request looks for the weights."""
    from pytest_fcall.backends.local.backend import LocalBackend
    from pytest_fcall.backends.local.settings import OPTIONS, process_spec
    from pytest_fcall.backends.settings import read_entry

    entry = read_entry(model, root, OPTIONS)
    return LocalBackend(model, process_spec(entry, root), entry.reply_settings)
