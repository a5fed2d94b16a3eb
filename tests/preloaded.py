"""What runs in forked processes import late, imported once for all of them."""

from __future__ import annotations

from importlib import import_module, metadata

from _pytest.config import default_plugins

from tests.suite_tools import distributions_with_plugins

for name in (
    *(f"_pytest.{plugin}" for plugin in default_plugins),
    "pytest_fcall.conversation.environments.mcp",
    "pytest_fcall.schema.sources.mcp_server",
    "pytest_fcall.plugin",
    "syrupy",
    "xdist.dsession",
    "xdist.looponfail",
    "xdist.plugin",
    "xdist.remote",
    "xdist.workermanage",
):
    import_module(name)

with_plugins = distributions_with_plugins()
metadata.distributions = lambda: with_plugins  # type: ignore[assignment]
