"""What the command line can say about suites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

_CHECKED: Final = "fc_apibench_checked"


def add_suite_options(parser: pytest.Parser) -> None:
    """Declare the options, which `pytest --help` lists."""
    group = parser.getgroup("fcall")
    group.addoption(
        "--fc-suite",
        action="append",
        default=[],
        metavar="NAME[:PART,…]",
        help="run a public benchmark, or parts of it, such as bfcl:simple_python,parallel; `fcall suites` lists them",
    )
    group.addoption(
        "--fc-suite-path",
        action="append",
        default=[],
        metavar="[NAME=]DIR",
        help="where the data is, if it is not in an installed package; with NAME=, that of one suite of several",
    )
    group.addoption(
        "--fc-pick", metavar="N[@SEED]|IDS", help="the first N cases of the suite, a sample of N, or ids and globs"
    )
    group.addoption("--fc-suite-profile", choices=("strict", "bfcl"), help="the rules that judge, if not the suite's")
    group.addoption(
        "--fc-suite-mode",
        choices=("native", "prompt"),
        help="prompt: tell the tools in the suite's own system prompt; native: send them beside it (default)",
    )
    group.addoption(
        "--fc-report",
        action="append",
        default=[],
        metavar="SUITE:DIR",
        help="bfcl:DIR writes answers and verdicts as the suite's own tools keep them, for these to read",
    )
    parser.addini(
        _CHECKED,
        "arguments that tell the APIs of APIBench apart, such as pipeline=model (an API a line)",
        type="linelist",
    )


def suite_settings(config: pytest.Config) -> Mapping[str, Mapping[str, object]]:
    """What the configuration says of suites, by their names. Raises UsageError for what cannot be read."""
    lines = config.getini(_CHECKED)
    if not lines:
        return {}
    from pytest_fcall.suites.apibench.strict_rule import parse_checked

    try:
        return {"apibench": {"checked": dict(map(parse_checked, lines))}}
    except ValueError as error:
        raise pytest.UsageError(f"{_CHECKED}: {error}") from None
