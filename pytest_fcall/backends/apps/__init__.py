"""The team's own app as a backend: `python:module:function` and `http:URL`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_fcall.core.backend import Model

if TYPE_CHECKING:
    from pytest_fcall.backends.apps.http import HttpBackend
    from pytest_fcall.backends.apps.python import PythonBackend
    from pytest_fcall.core.extension import AgentKind

_NO_AGENTS: Mapping[str, AgentKind] = MappingProxyType({})


def python_backend(model: Model, root: Path, agents: Mapping[str, AgentKind] = _NO_AGENTS) -> PythonBackend:
    """Make the backend of an app in Python, which the first request imports. `agents` are those of other packages.

    Raises SettingsError.
    """
    from pytest_fcall.backends.apps.python import OPTIONS, PythonBackend, check_app, find_app
    from pytest_fcall.backends.settings import read_entry

    name = read_entry(model, root, OPTIONS).name
    return PythonBackend(partial(find_app, name, root, agents), partial(check_app, name, root))


def http_backend(model: Model, root: Path) -> HttpBackend:
    """Make the backend of an app behind an address. Raises SettingsError.

    The first request starts the app, if its settings have `serve`.
    """
    from pytest_fcall.backends.apps.http import OPTIONS, HttpBackend, http_app
    from pytest_fcall.backends.settings import read_entry

    return HttpBackend(model, http_app(model, read_entry(model, root, OPTIONS), root))
