"""The plugins of pytest that serve the tests, and that runs inside tests do without.

A run inside a test is over sooner than they are imported. Where a test is about one of them, it says `-p NAME`.
"""

from __future__ import annotations

TOOLS = "anyio", "asyncio", "hypothesispytest", "platformdirs", "pytest_cov", "randomly", "rerunfailures", "timeout"
WITHOUT_TOOLS = " ".join(f"-p no:{name}" for name in TOOLS)
