"""All modules of the package, imported once: a run inside a test forgets its own, and the next compiles them anew."""

from __future__ import annotations

import multiprocessing.resource_tracker  # noqa: F401
import sys
from importlib import import_module
from pkgutil import walk_packages

import aiohttp.web  # noqa: F401
import genai_prices  # noqa: F401
import httpcore  # noqa: F401  # httpx holds classes of it, so that no run may load it anew
import numpy as np  # noqa: F401

import pytest_fcall

# deepdiff imports it where it is installed: half a second, and 60 MB that each forked process would have to map.
sys.modules["pandas"] = None  # type: ignore[assignment]
import deepdiff  # noqa: E402, F401

del sys.modules["pandas"]

for module in walk_packages(pytest_fcall.__path__, f"{pytest_fcall.__name__}."):
    if not module.name.endswith(".__main__"):
        try:
            import_module(module.name)
        except ModuleNotFoundError as error:
            if error.name != "inspect_ai":  # which has an environment to itself
                raise
