"""`http:URL`: the team's own app behind an address, whatever language it is written in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.core import Model

if TYPE_CHECKING:
    from pytest_fcall.backends.http.backend import HttpBackend


def http_backend(model: Model, root: Path) -> HttpBackend:
    """Make the back end of an app, as its entry and its query say. Raises BadSettings.

    What is to be served is started with the first request.
    """
    from pytest_fcall.backends.entries import read_entry
    from pytest_fcall.backends.http.app import app_of
    from pytest_fcall.backends.http.backend import HttpBackend
    from pytest_fcall.backends.http.settings import OPTIONS

    return HttpBackend(model, app_of(model, read_entry(model, root, OPTIONS), root))
