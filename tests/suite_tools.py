"""The plugins of pytest that serve the tests, and that runs inside tests do without.

A run inside a test is over sooner than they are imported. Where a test is about one of them, it says `-p NAME`.
"""

from __future__ import annotations

from functools import cache
from importlib import metadata

TOOLS = "anyio", "asyncio", "hypothesispytest", "platformdirs", "pytest_cov", "randomly", "rerunfailures", "timeout"
WITHOUT_TOOLS = " ".join(f"-p no:{name}" for name in TOOLS)


@cache
def distributions_with_plugins() -> tuple[metadata.Distribution, ...]:
    """Stands in for `importlib.metadata.distributions`: pytest reads the files of each one twice, in every run."""
    return tuple(
        distribution
        for distribution in metadata.distributions()
        if any(entry.group == "pytest11" for entry in distribution.entry_points)
    )
