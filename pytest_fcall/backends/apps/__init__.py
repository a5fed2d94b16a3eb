"""The team's own app as a backend: `python:module:function` and `http:URL`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.core import Model

if TYPE_CHECKING:
    from pytest_fcall.backends.apps.http import HttpBackend


def http_backend(model: Model, root: Path) -> HttpBackend:
    """Make the back end of an app, as its entry and its query say. Raises BadSettings.

    What is to be served is started with the first request.
    """
    from pytest_fcall.backends.apps.http import OPTIONS, HttpBackend, http_app
    from pytest_fcall.backends.settings import read_entry

    return HttpBackend(model, http_app(model, read_entry(model, root, OPTIONS), root))
