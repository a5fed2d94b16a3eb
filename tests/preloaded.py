"""What runs in forked processes import late, imported once for all of them."""

from __future__ import annotations

import gc
from contextlib import suppress
from importlib import import_module, metadata

import pluggy
from _pytest.config import default_plugins
from _pytest.fixtures import FixtureManager

from tests.forked import names_of_tests
from tests.suite_tools import (
    LOOKS_FOR_DESCRIPTORS,
    NAMES_FIXTURES,
    distributions_with_plugins,
    fixtures_found_once,
    hooks_of_modules,
)

for name in (
    *(f"_pytest.{plugin}" for plugin in default_plugins),
    "openai",
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
with suppress(ModuleNotFoundError):  # not installed beside the lowest versions of all libraries
    import_module("opentelemetry.sdk.trace.export")
    import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")

with_plugins = distributions_with_plugins()
metadata.distributions = lambda: with_plugins  # type: ignore[assignment]
if NAMES_FIXTURES:
    FixtureManager.pytest_plugin_registered = fixtures_found_once()  # type: ignore[assignment,method-assign]
if LOOKS_FOR_DESCRIPTORS:
    pluggy._manager._static_hook_attr = hooks_of_modules()  # type: ignore[assignment]
names_of_tests()
gc.collect()
gc.freeze()  # at its end pytest collects garbage, and would look through, and copy, all that was imported here
