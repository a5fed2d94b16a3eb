"""What can be set on the command line and in the configuration."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Literal, TypeAlias, TypeVar, cast, get_args

import pytest

Record: TypeAlias = Literal["missing", "all", "off"]

CONCURRENCY = 64

_T = TypeVar("_T", int, float)


@dataclass(frozen=True, slots=True)
class Options:
    """How replies are got and kept."""

    replay: bool
    record: Record
    max_age: int | None
    """In seconds."""
    concurrency: int
    requests_per_minute: int | None
    tokens_per_minute: int | None
    max_cost: float | None
    dry_run: bool
    confirm: int
    """How often a case is asked again that seems to have regressed."""


OPTIONS = pytest.StashKey[Options]()


def add_options(parser: pytest.Parser) -> None:
    """Declare the options, which `pytest --help` lists."""
    group = parser.getgroup("fcall", "tool calls of language models (pytest-fcall)")
    group.addoption(
        "--fc-model",
        action="append",
        default=[],
        metavar="KIND:NAME",
        help="the model that sits the exam, such as openai:gpt-5.2 or python:shop.agent:answer; repeat it to compare",
    )
    group.addoption(
        "--fc-judge", metavar="KIND:NAME", help="the model that judges where a case says $judge, such as openai:gpt-5.2"
    )
    group.addoption(
        "--fc-live",
        action="store_true",
        help="ask the models that only the configuration names; without it they answer from recorded replies",
    )
    group.addoption(
        "--fc-replay",
        action="store_true",
        help="use recorded replies and nothing else; a missing one is an error that says what changed",
    )
    group.addoption(
        "--fc-record",
        choices=get_args(Record),
        metavar="missing|all|off",
        help="missing: use the replies that are kept, ask for the others and keep them (default); all: ask for all of "
        "them again; off: neither use nor keep any",
    )
    group.addoption(
        "--fc-samples",
        metavar="N|auto",
        help="ask each case so often, or as often as it takes to decide; 'N rate>=0.8' says how many must be right",
    )
    group.addoption(
        "--fc-confirm", metavar="N", help="ask what seems to have regressed N times more, and let the rate decide"
    )
    group.addoption("--fc-max-age", metavar="7d", help="ask again for replies that are older: 2w, 7d, 12h or 30m")
    group.addoption(
        "--fc-concurrency", metavar="N", help=f"requests in flight, over all workers (default {CONCURRENCY})"
    )
    group.addoption("--fc-rpm", metavar="N", help="requests a minute, over all workers (default: as many as there are)")
    group.addoption("--fc-tpm", metavar="N", help="tokens a minute, over all workers (default: as many as there are)")
    group.addoption("--fc-max-cost", metavar="USD", help="stop asking before the run would cost more than this")
    group.addoption(
        "--fc-dry-run",
        action="store_true",
        help="ask nothing: list what would be asked, with estimated tokens and cost",
    )
    group.addoption(
        "--fc-gate",
        action="append",
        default=[],
        metavar="GATE",
        help="what must hold of the whole run, such as 'accuracy>=0.9' or 'accuracy[parallel]>=80% and cost<=$2'",
    )
    group.addoption(
        "--fc-fail",
        choices=("items", "gates", "both"),
        metavar="items|gates|both",
        help="what makes the run fail: failed cases (default without gates), gates that do not hold (default with "
        "gates), or both",
    )
    group.addoption(
        "--fc-shard",
        metavar="I/N",
        help="run only this share of the cases and tests, such as 3/8; `fcall merge` joins the runs of all shares",
    )
    parser.addini("fc_model", "models to use when the command line names none (one a line)", type="linelist")
    parser.addini("fc_judge", "the model that judges where a case says $judge, if the command line names none")
    parser.addini(
        "fc_files",
        "globs, from the root folder, of YAML files that hold cases beside *.fc.yaml and *.fc.yml",
        type="linelist",
        default=["cases/**"],
    )
    parser.addini("fc_gates", "gates, beside those of the command line (one a line)", type="linelist")
    parser.addini("fc_runs", "how many runs are kept in .fcall/runs for `fcall compare`, 100 if not said; 0 keeps none")
    for name in ("fail", "record", "max_age", "concurrency", "rpm", "tpm", "max_cost", "samples", "confirm"):
        parser.addini(f"fc_{name}", f"what --fc-{name.replace('_', '-')} is where the command line does not say")


def options(config: pytest.Config) -> Options:
    """The session's options, checked. Raises UsageError for what cannot be read."""
    if OPTIONS not in config.stash:
        config.stash[OPTIONS] = _read(config)
    return config.stash[OPTIONS]


def _read(config: pytest.Config) -> Options:
    concurrency = _number(config, "concurrency", int, "whole number")
    record = _given(config, "record") or "missing"
    if record not in get_args(Record):
        raise pytest.UsageError(f"fc_record: {record!r} is none of {', '.join(get_args(Record))}")
    return Options(
        replay=config.getoption("fc_replay"),
        record=cast("Record", record),
        max_age=_age(_given(config, "max_age")),
        concurrency=CONCURRENCY if concurrency is None else concurrency,
        requests_per_minute=_number(config, "rpm", int, "whole number"),
        tokens_per_minute=_number(config, "tpm", int, "whole number"),
        max_cost=_number(config, "max_cost", float, "number of US dollars"),
        dry_run=config.getoption("fc_dry_run"),
        confirm=_number(config, "confirm", int, "whole number") or 0,
    )


def _given(config: pytest.Config, name: str) -> str:
    """What the command line says, or else the configuration."""
    return config.getoption(f"fc_{name}") or str(config.getini(f"fc_{name}") or "")


def _number(config: pytest.Config, name: str, read: Callable[[str], _T], wanted: str) -> _T | None:
    text = _given(config, name)
    if not text:
        return None
    with suppress(ValueError):
        number = read(text)
        if 0 < number < inf:
            return number
    raise pytest.UsageError(f"--fc-{name.replace('_', '-')}: {text!r} is no {wanted} above 0")


def _age(text: str) -> int | None:
    if not text:
        return None
    from pytest_fcall.core.duration import duration_in_seconds

    try:
        return duration_in_seconds(text)
    except ValueError as error:
        raise pytest.UsageError(f"--fc-max-age: {error}") from None
