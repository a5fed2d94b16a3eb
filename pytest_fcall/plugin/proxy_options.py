"""What can be set for the proxy between apps and their models."""

from __future__ import annotations

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


def proxy_options(config: pytest.Config) -> tuple[dict[str, str], bool]:
    """The variables with the addresses that they stand for, and whether there is a proxy. Raises UsageError."""
    from pytest_fcall.backends.proxy.variables import read_variables

    said = str(config.getini("fc_proxy") or "on").strip()
    if said not in ("on", "off"):
        raise pytest.UsageError(f"fc_proxy: {said!r} is neither on nor off")
    try:
        return read_variables(config.getini("fc_proxy_variables")), said == "on"
    except ValueError as error:
        raise pytest.UsageError(f"fc_proxy_variables: {error}") from None
