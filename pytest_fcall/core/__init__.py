"""Frozen, typed data that all rooms share. Suites of others import names from here; `exports` lists them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_fcall.core.exports import *
else:

    def __getattr__(name: str) -> object:
        try:
            return getattr(import_module(f"{__name__}.exports"), name)
        except AttributeError:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
