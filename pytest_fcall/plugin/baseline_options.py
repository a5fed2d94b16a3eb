"""What a run compares its verdicts with, and what becomes of the differences, on the command line."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

import pytest

Accept: TypeAlias = Literal["valid", "all"]
Drift: TypeAlias = Literal["note", "fail", "ignore"]
Fixed: TypeAlias = Literal["pass", "fail"]


@dataclass(frozen=True, slots=True)
class BaselineOptions:
    """What a run compares with, and what becomes of the differences."""

    accept: Accept | None
    prune: bool
    drift: Drift
    fixed: Fixed
    against: str


def add_baseline_options(parser: pytest.Parser) -> None:
    """Declare the options, which `pytest --help` lists."""
    group = parser.getgroup("fcall", "tool calls of language models (pytest-fcall)")
    # Two options: one that may do without its value would swallow the path behind it.
    group.addoption(
        "--fc-accept",
        action="store_const",
        const="valid",
        help="write what is right into the baseline: later runs are compared with it",
    )
    group.addoption(
        "--fc-accept=all",
        dest="fc_accept",
        action="store_const",
        const="all",
        help="the same, and take failures as known ones: a starting point",
    )
    group.addoption(
        "--fc-prune",
        action="store_true",
        help="forget what is accepted of cases that are gone, if the run is complete and nothing fails",
    )
    group.addoption(
        "--fc-drift",
        choices=get_args(Drift),
        metavar="note|fail|ignore",
        help="what becomes of right answers that differ from those accepted (default: note)",
    )
    group.addoption(
        "--fc-fixed",
        choices=get_args(Fixed),
        metavar="pass|fail",
        help="what becomes of cases that were accepted as failures and are right now (default: pass)",
    )
    group.addoption(
        "--fc-baseline",
        metavar="MODEL|FOLDER|git:REVISION",
        help="compare with what is accepted of another model, in another copy of the project, or at a commit",
    )
    for name in ("drift", "fixed"):
        parser.addini(f"fc_{name}", f"what --fc-{name} is where the command line does not say")


def baseline_options(config: pytest.Config) -> BaselineOptions:
    """The options, checked."""
    accept, prune = config.getoption("fc_accept"), config.getoption("fc_prune")
    if (accept or prune) and os.environ.get("CI", "").lower() not in ("", "0", "false"):
        option = "--fc-accept" if accept else "--fc-prune"
        raise pytest.UsageError(f"{option}: CI={os.environ['CI']} is set, and baselines are only written by people")
    return BaselineOptions(
        accept=accept,
        prune=prune,
        drift=cast("Drift", _choice(config, "drift", get_args(Drift))),
        fixed=cast("Fixed", _choice(config, "fixed", get_args(Fixed))),
        against=config.getoption("fc_baseline") or "",
    )


def _choice(config: pytest.Config, name: str, choices: tuple[str, ...]) -> str:
    """What the command line says, or else the configuration, or else the first choice."""
    given = config.getoption(f"fc_{name}") or str(config.getini(f"fc_{name}") or "") or choices[0]
    if given not in choices:
        raise pytest.UsageError(f"fc_{name}: {given!r} is none of {', '.join(choices)}")
    return given
