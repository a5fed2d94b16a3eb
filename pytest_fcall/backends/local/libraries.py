"""The large libraries, which only the model process imports."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pytest_fcall.core.backend import ModelUnavailable
from pytest_fcall.core.commands import install_command

_NEED = "local models need"
_LOCAL_EXTRA = install_command("local")


def import_library(name: str, need: str = _NEED, install: str = _LOCAL_EXTRA) -> Any:
    """Import a module. Raises ModelUnavailable, which says how to install it."""
    package = name.partition(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise ModelUnavailable(
                f"{package} cannot be imported: {error}; to install what it needs: {install}"
            ) from None
        raise _not_installed(package, need, install) from None
    except (ImportError, OSError) as error:
        raise ModelUnavailable(f"{package} is installed but cannot be imported: {one_line(error)}") from None


def check_installed(*names: str) -> None:
    """Raise ModelUnavailable for a missing library. None is imported."""
    for name in names:
        if find_spec(name) is None:
            raise _not_installed(name, _NEED, _LOCAL_EXTRA)


def _not_installed(package: str, need: str, install: str) -> ModelUnavailable:
    return ModelUnavailable(f"{need} {package}, which is not installed; to install it: {install}")


def one_line(error: object) -> str:
    """The start of an error's message, in one line."""
    return " ".join(str(error).split())[:200]
