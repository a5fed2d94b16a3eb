"""Environment variables in which no secret stands."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_KEPT = frozenset(
    {
        *("PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
        *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "NUMBER_OF_PROCESSORS"),
    }
)
_FRUGAL: Mapping[str, str] = MappingProxyType(
    {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
)
"""Libraries take address space for each thread that they might start."""


def harmless(variables: Mapping[str, str], folder: str) -> dict[str, str]:
    """What a program needs to run, and nothing that only its user knows; home and temporary files are in `folder`."""
    kept = {name: value for name, value in variables.items() if name.upper() in _KEPT or name.startswith("LC_")}
    return {**kept, **_FRUGAL, **dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), folder)}
