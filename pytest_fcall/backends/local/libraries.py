"""The large libraries, which only the answering process imports."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pytest_fcall.core import ModelUnavailable

_EXTRA = "pip install 'pytest-fcall[local]'"


def import_library(name: str, wanted: str = "local models need", how: str = _EXTRA) -> Any:
    """Import a module. Raises ModelUnavailable, which says how to install it."""
    package = name.partition(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise ModelUnavailable(f"{package} cannot be imported: {error}; to install what it needs: {how}") from None
        raise ModelUnavailable(f"{wanted} {package}, which is not installed; to install it: {how}") from None
    except (ImportError, OSError) as error:
        told = " ".join(str(error).split())[:200]
        raise ModelUnavailable(f"{package} is installed and cannot be imported: {told}") from None
