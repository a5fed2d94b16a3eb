"""Plugins that serve the tests and not the runs inside them: to import them takes longer than such a run.

Where a test is about one of them, it says `-p NAME`.
"""

from __future__ import annotations

TOOLS = "anyio", "asyncio", "hypothesispytest", "platformdirs", "pytest_cov", "randomly", "rerunfailures", "timeout"
WITHOUT_TOOLS = " ".join(f"-p no:{name}" for name in TOOLS)
"""For `PYTEST_ADDOPTS`, which the workers of a run read, too."""
