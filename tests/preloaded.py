"""What runs in forked processes import late, imported once for all of them."""

from __future__ import annotations

import gc
from contextlib import suppress
from importlib import import_module

import pytest
from _pytest.config import default_plugins

from tests.first_run import run_once
from tests.forked import names_of_tests
from tests.suite_tools import stand_ins

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

for name, other in stand_ins().items():
    pytest.MonkeyPatch().setattr(name, other, raising=False)
names_of_tests()
run_once()
gc.collect()
gc.freeze()  # at its end pytest collects garbage, and would look through, and copy, all that was imported here
