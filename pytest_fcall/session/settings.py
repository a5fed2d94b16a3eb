"""Settings of a run, as the command line and the configuration give them: checked once, then plain data."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

from pytest_fcall.core.case import Samples
from pytest_fcall.core.secrets import Secrets
from pytest_fcall.session.endings import SettingError
from pytest_fcall.session.models import NamedModel

if TYPE_CHECKING:
    from pytest_fcall.backends.store.address import StoreAddress
    from pytest_fcall.conversation.environments.context import EnvironmentContext, Hosts, ResultStore
    from pytest_fcall.conversation.execution.limits import CallLimits


_Number = TypeVar("_Number", int, float)
_Choice = TypeVar("_Choice", bound=str)


def positive_number(name: str, text: str, read: Callable[[str], _Number], unit: str = "") -> _Number | None:
    """The number of a setting; None where nothing is given. Raises SettingError for one that is not positive."""
    if not text:
        return None
    with suppress(ValueError):
        number = read(text)
        if 0 < number < inf:
            return number
    raise SettingError(f"{name}: {text!r} must be a positive {'integer' if read is int else 'number'}{unit}")


def choice(name: str, text: str, choices: Sequence[_Choice]) -> _Choice:
    """The choice of a setting. Raises SettingError for another text."""
    for each in choices:
        if each == text:
            return each
    raise SettingError(f"{name}: {text!r} is none of {', '.join(choices)}")


_PERMISSIONS = ("network", "programs")
_WALLS = ("strict", "weaker")
_MIB = 1 << 20


class EnvironmentSettings(NamedTuple):
    """Settings for called functions and services, as they are written; `check` finds what is wrong with them."""

    timeout: str = ""
    memory: str = ""
    permissions: tuple[str, ...] = ()
    walls: str = ""
    folders: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    typed_hosts: tuple[str, ...] = ()
    """Those of the command line."""
    hosts: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise SettingError where a setting cannot be used."""
        if self.timeout or self.memory or self.permissions or self.walls or self._all_hosts or self.headers:
            self._limits(Path())
            self._hosts()

    def context(
        self,
        root: Path,
        case_file: Path,
        store: ResultStore | None = None,
        note: Callable[[str], object] | None = None,
    ) -> EnvironmentContext:
        """The context of environments for the cases of a file. `note` is told what people should know."""
        from pytest_fcall.conversation.environments.context import EnvironmentContext

        return EnvironmentContext(root, case_file.parent, self._limits(root), self._hosts(), store, note)

    def _limits(self, root: Path) -> CallLimits:
        from pytest_fcall.conversation.execution.limits import DEFAULT_LIMITS, CallLimits

        if unknown := [each for each in self.permissions if each not in _PERMISSIONS]:
            raise SettingError(f"fc_tool_allow: {unknown[0]!r} is none of {', '.join(_PERMISSIONS)}")
        default = DEFAULT_LIMITS
        return CallLimits(
            seconds=positive_number("fc_tool_timeout", self.timeout, float) or default.seconds,
            memory=(positive_number("fc_tool_memory", self.memory, int) or default.memory // _MIB) * _MIB,
            network="network" in self.permissions,
            processes="programs" in self.permissions,
            weaker=choice("fc_walls", self.walls or "strict", _WALLS) == "weaker",
            folders=tuple(root / path for path in self.folders),
            variables={name: os.environ[name] for name in self.variables if name in os.environ},
        )

    def _hosts(self) -> Hosts:
        from pytest_fcall.conversation.environments.context import Hosts, is_host

        headers: dict[str, dict[str, str]] = {}
        for line in self.headers:
            host, _, header = line.partition(" ")
            name, colon, value = header.partition(":")
            if not colon:
                raise SettingError(f"fc_http_headers: {line!r} is not of the form `HOST NAME: VALUE`")
            headers.setdefault(host, {})[name.strip()] = value.strip()
        named = {"--fc-allow-host": self.typed_hosts, "fc_allow_hosts": self.hosts, "fc_http_headers": headers}
        for where, hosts in named.items():
            for host in hosts:
                if not is_host(host):
                    hint = "write api.example.com, or localhost:8000 with a port"
                    raise SettingError(f"{where}: {host!r} is not a host; {hint}")
        return Hosts(self._all_hosts, headers, os.environ)

    @property
    def _all_hosts(self) -> tuple[str, ...]:
        return (*self.typed_hosts, *self.hosts)


RecordMode: TypeAlias = Literal["missing", "all", "off"]
Accept: TypeAlias = Literal["valid", "all"]
Drift: TypeAlias = Literal["note", "fail", "ignore"]
Fixed: TypeAlias = Literal["pass", "fail"]
Missing: TypeAlias = Literal["inconclusive", "skip"]
Inside: TypeAlias = Literal["note", "required", "ignore"]
Around: TypeAlias = Literal["refuse", "allow"]
Spans: TypeAlias = Literal["auto", "always", "off"]

ALL_CASES = "*"
"""Stands for all cases where a tag is asked for."""
DEFAULT_CONCURRENCY = 64
DEFAULT_SPANS_WAIT = 5.0


class BaselineSettings(NamedTuple):
    """The baseline that verdicts are compared with, and the effect of differences."""

    accept: Accept | None
    prune: bool
    drift: Drift
    fixed: Fixed
    against: str
    """Another model, a folder, or `git:REVISION`; empty for the model's own baseline."""


class Confirm(NamedTuple):
    """The number of times that cases are asked again that seem to have regressed."""

    most: int = 15
    """Most further answers to one case."""
    budget: float | None = 0.3
    """The share of all cases that may be asked for as further answers; None where `most` is what a person wants."""

    @classmethod
    def parse(cls, text: str) -> Confirm:
        """Read `auto`, `auto 10%`, `0` or a number. Raises SettingError."""
        found = re.fullmatch(r"\s*(?:(?:auto)?(?:\s+(\d{1,4})\s*%)?|(\d{1,6}))\s*", text)
        if found is None:
            raise SettingError(
                f"--fc-confirm: {text.strip()!r} must be auto, a number of further answers, 0 for none, or 'auto 10%' "
                "for as many as a tenth of the cases"
            )
        share, most = found.groups()
        if most is not None:
            return cls(int(most), None)
        return cls(budget=int(share) / 100) if share else cls()


class Vary(NamedTuple):
    """The relations that cases are varied by, whatever their files say; see `--fc-vary`."""

    relations: tuple[tuple[str, int | None], ...] = ()
    """Names, each with the number of variants; None for as many as the file says."""
    all: bool = False
    """Whether all relations are wanted that need no parameters, beside those of the files."""
    option: str = ""
    """The option as somebody typed it, for commands in messages; empty where the configuration says it."""

    @classmethod
    def parse(cls, text: str, *, is_typed: bool) -> Vary | None:
        """Read `off`, `all` or `tool_order,typos:3`; None of an empty text. Raises SettingError."""
        written = [part.strip() for part in text.split(",")]
        if written == [""]:
            return None
        from pytest_fcall.core.variants import MOST_VARIANTS

        option = f' --fc-vary="{text.strip()}"' if " " in text.strip() else f" --fc-vary={text.strip()}"
        if written == ["off"]:
            return cls(option=option if is_typed else "")
        found: list[tuple[str, int | None]] = []
        for part in written:
            name, colon, count = part.partition(":")
            if not re.fullmatch(r"[^\W\d]\w*", name.strip()) or (
                colon and not (re.fullmatch(r"\s*[0-9]{1,3}\s*", count) and 1 <= int(count) <= MOST_VARIANTS)
            ):
                raise SettingError(
                    f"--fc-vary: {part!r} must be a relation, which may have a number of variants behind it, such as "
                    f"typos:3 (at most {MOST_VARIANTS}); or say all, or off"
                )
            if name.strip() != "all":
                found.append((name.strip(), int(count) if colon else None))
        return cls(tuple(found), "all" in written, option if is_typed else "")


@dataclass(frozen=True, slots=True)
class Worker:
    """The worker of pytest-xdist that this process is."""

    id: str
    count: int
    """Number of workers of the run."""
    run: str
    """Identifies the run among all runs."""


class Shard(NamedTuple):
    """One shard of a run that several machines divide, counted from 1."""

    number: int
    of: int

    def includes(self, nodeid: str) -> bool:
        """Whether a case or test belongs to this shard. It depends on the node id alone, so all machines agree."""
        return int(hashlib.sha256(nodeid.encode("utf-8", "replace")).hexdigest(), 16) % self.of == self.number - 1


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set for a run, for asking models and for comparing verdicts."""

    root: Path
    models: tuple[NamedModel, ...]
    judge: NamedModel | None
    live: bool
    """Whether `--fc-live` was given, so that plain tests may ask models, too."""
    replay: bool
    record: RecordMode
    missing: Missing
    """The treatment of cases without a recorded reply, where no model may be asked."""
    started: float
    """The time at which the run began, in seconds since 1970 by the clock of this host: what was recorded since then is
    of this run."""
    clock_lead: float
    """The seconds by which the clock of this host is ahead of that of the host where the results arrive."""
    max_age: int | None
    """In seconds: where a model may be asked, older replies are not used again."""
    result_max_age: int | None
    """The same for results of tools."""
    store: StoreAddress | None
    """The server that keeps replies for several hosts; None where they are kept in a file of this one."""
    concurrency: int
    requests_per_minute: int | None
    tokens_per_minute: int | None
    max_cost: float | None
    confirm: Confirm
    bisect: int | None
    """Most requests that a search for the edits behind regressions may send; None where there is no search."""
    samples: Samples | None
    """Overrides the `samples` of the cases; an empty rule leaves each case its own."""
    vary: Vary | None
    """Overrides the `variants` of the cases."""
    new_texts: bool
    """Whether texts of variants that cannot be used any more are made anew."""
    baseline: BaselineSettings
    proxy: bool
    proxy_variables: tuple[str, ...]
    """Lines `NAME`, `NAME=URL` or `NAME=off`, beside the variables that are known anyway."""
    volatile: Mapping[str, tuple[str, ...]]
    """Patterns of what is no part of the keys of requests, by the model, as `read_volatile` gives them."""
    inside: Inside
    """The treatment of answers of apps that asked nothing by way of the proxy."""
    around: Around
    """The treatment of connections to providers that go around the proxy."""
    spans: Spans
    """Whether spans of apps are taken: where a case judges them, from the start of the run, or never."""
    spans_wait: float
    """The longest wait in seconds for the spans of an answer."""
    wanted_scores: Mapping[str, tuple[str, ...]]
    """Names of scores by the tag of the cases whose scores they are."""
    environments: EnvironmentSettings
    history: tuple[Path, ...]
    """Folders with files of runs, beside those of this project."""
    kept_runs: int
    """Number of runs that stay in `.fcall/runs`."""
    shard: Shard | None
    writes_reports: bool
    worker: Worker | None
    secrets: Secrets = field(default_factory=Secrets, compare=False, repr=False)
    """The texts that are never written or shown. They grow, since a request may bring a key of its own."""

    @property
    def keeps_run(self) -> bool:
        """Whether the file of this run is kept: always that of a shard, for `fcall merge`, and what reports are of."""
        return self.kept_runs > 0 or self.shard is not None or self.writes_reports
