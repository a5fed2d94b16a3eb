"""The settings of a pytest run, read from the command line and the configuration, and checked."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pytest

from pytest_fcall.plugin.models import ModelArguments
from pytest_fcall.plugin.options import AROUND, DRIFT, FIXED, INSIDE, MISSING, PROXY, RECORD, SPANS
from pytest_fcall.plugin.redaction import secrets_of, usage_error
from pytest_fcall.session.ask.volatile import read_volatile
from pytest_fcall.session.endings import SettingError
from pytest_fcall.session.settings import (
    DEFAULT_CONCURRENCY,
    DEFAULT_SPANS_WAIT,
    BaselineSettings,
    Confirm,
    EnvironmentSettings,
    Inside,
    Settings,
    Shard,
    Spans,
    Vary,
    Worker,
    choice,
    positive_number,
)

if TYPE_CHECKING:
    from pytest_fcall.backends.store.address import StoreAddress

SETTINGS = pytest.StashKey[Settings]()
STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
"""The variable by which GitHub names the file that it shows as the summary of a job."""
_MAX_AGE_IN_CI: Final = "1d"
"""CI is to notice what has changed since; an earlier attempt of the same workflow is as good as this one."""

_Choice = TypeVar("_Choice", bound=str)


@contextmanager
def usage_errors(config: pytest.Config) -> Iterator[None]:
    """Raise settings that cannot be used as errors of the command line."""
    try:
        yield
    except SettingError as error:
        raise usage_error(config, str(error)) from None


def settings_of(config: pytest.Config) -> Settings:
    """The settings of a run. Raises UsageError for what cannot be used."""
    if SETTINGS not in config.stash:
        with usage_errors(config):
            config.stash[SETTINGS] = _SettingsReader(config).read()
    return config.stash[SETTINGS]


def outside_paths(config: pytest.Config) -> tuple[Path, ...]:
    """Files and folders outside of the root folder that case files may name, from there or from the user's own."""
    return tuple(config.rootpath / Path(line).expanduser() for line in config.getini("fc_outside"))


def wants_step_summary(config: pytest.Config) -> bool:
    """Whether the report is to be added to the summary of a job of GitHub."""
    with usage_errors(config):
        written = choice("fc_step_summary", str(config.getini("fc_step_summary") or "on"), ("on", "off"))
    return written == "on" and bool(os.environ.get(STEP_SUMMARY))


_SUITE_SETTINGS: Final = {
    "fc_apibench_checked": ("apibench", "checked", "apibench.strict_rule:parse_checked"),
    "fc_toolbench_documents": ("toolbench", "documents", "toolbench.documents:parse_documents"),
}
"""The suite of a setting, the name that it has there, and what parses a line of it."""


def has_suite_settings(config: pytest.Config) -> bool:
    """Whether the command line or the configuration sets something for a suite."""
    return any(config.getoption(name) or config.getini(name) for name in _SUITE_SETTINGS)


def suite_settings(config: pytest.Config) -> Mapping[str, Mapping[str, object]]:
    """The settings of suites, by their names. Raises SettingError."""
    found: dict[str, dict[str, object]] = {}
    for name, (suite, keyword, parser) in _SUITE_SETTINGS.items():
        lines = [*config.getoption(name), *config.getini(name)]
        if not lines:
            continue
        module, _, function = parser.partition(":")
        parse = getattr(import_module(f"pytest_fcall.suites.{module}"), function)
        try:
            values = [parse(line) for line in lines]
        except ValueError as error:
            raise SettingError(f"{name}: {error}") from None
        first = dict(reversed(values))
        found.setdefault(suite, {})[keyword] = {key: first[key] for key, _ in values}
    return found


class _SettingsReader:
    """Reads the settings of a run from its command line and its configuration."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def read(self) -> Settings:
        """All settings. Raises SettingError for what cannot be used."""
        from pytest_fcall.session.judge.samples import parse_samples
        from pytest_fcall.session.result.run_store import DEFAULT_RUNS, parse_kept_runs

        samples, models = self._given("samples").strip(), ModelArguments(self._config)
        settings = Settings(
            root=self._config.rootpath,
            models=models.under_test(),
            judge=models.judge(),
            live=self._config.getoption("fc_live"),
            replay=self._config.getoption("fc_replay"),
            record=self._choice("record", RECORD),
            missing=self._choice("missing", MISSING),
            started=self._started(),
            clock_lead=self._clock_lead(),
            max_age=_max_age(self._given("max_age") or (_MAX_AGE_IN_CI if _is_ci() and self._asks_models() else "")),
            result_max_age=_max_age(self._given("max_age")),
            store=self._store(),
            concurrency=self._count("concurrency") or DEFAULT_CONCURRENCY,
            requests_per_minute=self._count("rpm"),
            tokens_per_minute=self._count("tpm"),
            max_cost=positive_number("--fc-max-cost", self._given("max_cost"), float, " of US dollars"),
            confirm=Confirm.parse(self._given("confirm")),
            bisect=self._count("bisect"),
            history=self._history(),
            samples=parse_samples(samples) if samples else None,
            vary=self._vary(),
            new_texts=self._config.getoption("fc_new_texts"),
            baseline=self._baseline(),
            proxy=self._proxy(),
            proxy_variables=self._proxy_variables(),
            volatile=read_volatile(self._config.getini("fc_volatile"), self._config.rootpath),
            inside=self._inside(),
            around=choice("fc_around", self._written("around") or AROUND[0], AROUND),
            spans=self._spans(),
            spans_wait=positive_number("fc_spans_wait", self._written("spans_wait"), float) or DEFAULT_SPANS_WAIT,
            wanted_scores=self._wanted_scores(),
            kept_runs=parse_kept_runs(str(self._config.getini("fc_runs") or DEFAULT_RUNS)),
            shard=_shard(self._config.getoption("fc_shard")),
            writes_reports=bool(
                self._config.getoption("fc_report")
                or self._config.getini("fc_report")
                or wants_step_summary(self._config)
            ),
            environments=self._environments(),
            worker=self._worker(),
            secrets=secrets_of(self._config),
        )
        settings.environments.check()
        return settings

    def _vary(self) -> Vary | None:
        written = self._given("vary")
        return Vary.parse(written, is_typed=bool(self._config.getoption("fc_vary"))) if written else None

    def _store(self) -> StoreAddress | None:
        if not (written := self._written("store")):
            return None
        from pytest_fcall.backends.store.address import server_address

        try:
            return server_address(written, self._config.rootpath)
        except ValueError as error:
            raise SettingError(f"fc_store {error}") from None

    def _given(self, name: str) -> str:
        """The value of the command line, or else of the configuration."""
        return self._config.getoption(f"fc_{name}") or str(self._config.getini(f"fc_{name}") or "")

    def _written(self, name: str) -> str:
        """The value of the configuration."""
        return str(self._config.getini(f"fc_{name}") or "").strip()

    def _choice(self, name: str, choices: tuple[_Choice, ...]) -> _Choice:
        """One of the choices; the first where nothing is given."""
        return choice(f"fc_{name}", self._given(name) or choices[0], choices)

    def _count(self, name: str) -> int | None:
        return positive_number(f"--fc-{name}", self._given(name), int)

    def _baseline(self) -> BaselineSettings:
        accept, prune = self._config.getoption("fc_accept"), self._config.getoption("fc_prune")
        if (accept or prune) and _is_ci():
            option = "--fc-accept" if accept else "--fc-prune"
            raise SettingError(f"{option}: CI={os.environ['CI']} is set, and baselines are only written by people")
        return BaselineSettings(
            accept=accept,
            prune=prune,
            drift=self._choice("drift", DRIFT),
            fixed=self._choice("fixed", FIXED),
            against=self._config.getoption("fc_baseline") or "",
        )

    def _history(self) -> tuple[Path, ...]:
        """The folders of the command line, from where it was typed, and of the configuration, from the root."""
        typed = [self._config.invocation_params.dir / name for name in self._config.getoption("fc_history")]
        folders = (*(self._config.rootpath / name for name in self._config.getini("fc_history")), *typed)
        for folder in folders:
            if not folder.is_dir():
                raise SettingError(f"--fc-history: {folder} is no folder")
        return folders

    def _proxy(self) -> bool:
        given = str(self._config.getini("fc_proxy") or "on").strip()
        return choice("fc_proxy", given, PROXY) != "off"

    def _inside(self) -> Inside:
        found = choice("fc_inside", self._written("inside") or INSIDE[0], INSIDE)
        if found == "required" and not self._proxy():
            raise SettingError("fc_inside = required needs the proxy, and fc_proxy is off")
        return found

    def _spans(self) -> Spans:
        found = choice("fc_spans", self._written("spans") or SPANS[0], SPANS)
        if found == "always" and not self._proxy():
            raise SettingError("fc_spans = always needs the proxy, and fc_proxy is off")
        return found

    def _proxy_variables(self) -> tuple[str, ...]:
        lines = tuple(self._config.getini("fc_proxy_variables"))
        if lines:
            from pytest_fcall.backends.proxy.variables import read_variables

            try:
                read_variables(lines)
            except ValueError as error:
                raise SettingError(f"fc_proxy_variables: {error}") from None
        return lines

    def _wanted_scores(self) -> dict[str, tuple[str, ...]]:
        written = [("fc_scores", line) for line in self._config.getini("fc_scores")]
        typed = [("--fc-score", line) for line in self._config.getoption("fc_score")]
        wanted: dict[str, dict[str, None]] = {}
        for where, line in (*written, *typed):
            tag, scores = _scores_of_line(where, line)
            wanted.setdefault(tag, {}).update(dict.fromkeys(scores))
        return {tag: tuple(scores) for tag, scores in wanted.items()}

    def _environments(self) -> EnvironmentSettings:
        lines: Callable[[str], list[str]] = self._config.getini
        return EnvironmentSettings(
            timeout=str(self._config.getini("fc_tool_timeout") or ""),
            memory=str(self._config.getini("fc_tool_memory") or ""),
            permissions=tuple(lines("fc_tool_allow")),
            walls=str(self._config.getini("fc_walls") or ""),
            folders=tuple(lines("fc_tool_folders")),
            variables=tuple(lines("fc_tool_variables")),
            typed_hosts=tuple(self._config.getoption("fc_allow_host")),
            hosts=tuple(lines("fc_allow_hosts")),
            headers=tuple(lines("fc_http_headers")),
        )

    def _asks_models(self) -> bool:
        """Whether the command line has models asked; what a conftest file names may be asked all the same."""
        asking = map(self._config.getoption, ("fc_model", "fc_live", "fc_judge"))
        return any(asking) and not self._config.getoption("fc_replay")

    def _started(self) -> float:
        """The time at which the run began, by the clock of this host; all workers have it from the controller."""
        given: Mapping[str, Any] = getattr(self._config, "workerinput", {})
        return float(given.get("fcall_started") or time.time()) + self._clock_lead()

    def _clock_lead(self) -> float:
        given: Mapping[str, Any] = getattr(self._config, "workerinput", {})
        return float(given.get("fcall_clock") or 0.0)

    def _worker(self) -> Worker | None:
        given: Mapping[str, Any] | None = getattr(self._config, "workerinput", None)
        return Worker(given["workerid"], given["workercount"], given["testrunuid"]) if given else None


def _is_ci() -> bool:
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def _max_age(text: str) -> int | None:
    if text in ("", "none"):
        return None
    from pytest_fcall.core.duration import duration_in_seconds

    try:
        return duration_in_seconds(text)
    except ValueError as error:
        raise SettingError(f"--fc-max-age: {error}; none sets no limit") from None


def _shard(text: str | None) -> Shard | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,5})/(\d{1,5})", text)
    shard = Shard(int(found[1]), int(found[2])) if found else Shard(0, 0)
    if not 1 <= shard.number <= shard.of:
        raise SettingError(f"--fc-shard: {text!r} must be a shard such as 3/8, from 1/8 to 8/8")
    return shard


def _scores_of_line(where: str, line: str) -> tuple[str, list[str]]:
    from pytest_fcall.conversation.named_scores import SCORES

    tag, colon, names = line.rpartition(":")
    scores = ["".join(name.split()) for name in names.split(",")]
    if not (tag.strip() and colon and all(scores)):
        raise SettingError(
            f"{where}: {line!r} names no scores; write a tag and its scores, such as 'smoke: api_f1, lcs_f1'"
        )
    if unknown := [score for score in scores if score not in SCORES]:
        from pytest_fcall.core.message_text import did_you_mean

        hint = did_you_mean(unknown[0], SCORES) or f"there are {', '.join(SCORES)}"
        raise SettingError(f"{where}: there is no score {unknown[0]!r}; {hint}")
    return tag.strip(), scores
