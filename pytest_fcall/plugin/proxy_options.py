"""What can be set for the proxy between apps and their models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pytest


def add_proxy_options(parser: pytest.Parser) -> None:
    """Declare what can be set for the proxy."""
    parser.addini("fc_proxy", "`off` lets apps ask their models directly, so that nothing inside them is recorded")
    parser.addini(
        "fc_proxy_variables",
        "environment variables that lead an app to its models, as NAME or NAME=URL (one a line)",
        type="linelist",
        default=["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"],
    )


class ProxyOptions(NamedTuple):
    """Which variables lead to the proxy, with the addresses that they stand for, and whether there is one."""

    variables: Mapping[str, str]
    on: bool


def proxy_options(config: pytest.Config) -> ProxyOptions:
    """What is set. Raises UsageError for what cannot be read."""
    from pytest_fcall.backends.proxy.variables import read_variables

    said = str(config.getini("fc_proxy") or "on").strip()
    if said not in ("on", "off"):
        raise pytest.UsageError(f"fc_proxy: {said!r} is neither on nor off")
    try:
        return ProxyOptions(read_variables(config.getini("fc_proxy_variables")), said == "on")
    except ValueError as error:
        raise pytest.UsageError(f"fc_proxy_variables: {error}") from None
