"""The border of this process towards people and files: without secrets, and without what a terminal would obey.

Reports of pytest are what terminal, JUnit files, files of runs and baselines are made from, so that they pass through
here where they are made. Lines that belong to no report pass through `print_lines`, and refusals through `usage_error`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fcall.core.provider_variables import raw_environment
from pytest_fcall.core.secrets import Secrets, looks_secret
from pytest_fcall.reporting.safe_text import laid_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_fcall.plugin.report import CaseReport

_SECRETS = pytest.StashKey["RunSecrets"]()
_LINES = ("fc_model", "fc_judge", "fc_http_headers", "fc_allow_hosts")
"""Settings of the configuration that may hold an address or a header."""


def secrets_of(config: pytest.Config) -> Secrets:
    """The secrets of the run, as far as they are known: what comes into the environment later is added."""
    known = config.stash.get(_SECRETS, None)
    if known is None:
        known = config.stash[_SECRETS] = RunSecrets(config)
    return known.now()


class RunSecrets:
    """The secrets of a run, and the environment in which they were looked for last."""

    def __init__(self, config: pytest.Config) -> None:
        from pytest_fcall.backends.known_secrets import secrets_of_arguments, secrets_of_project, secrets_of_text

        self._secrets = Secrets()
        self._secrets.add(secrets_of_arguments(map(str, config.invocation_params.args)))
        self._secrets.add(secrets_of_project(config.rootpath, os.environ))
        for name in _LINES:
            written = config.getini(name)
            for line in [written] if isinstance(written, str) else written:
                self._secrets.add(secrets_of_text(str(line)))
        if store := str(config.getini("fc_store") or ""):
            from pytest_fcall.backends.store.address import passwords_of

            self._secrets.add(filter(looks_secret, passwords_of(store)))
        self._environment, key = raw_environment()
        self._seen: dict[Any, Any] = {}
        self._changing = key("PYTEST_CURRENT_TEST")

    def now(self) -> Secrets:
        """The secrets, with those that have come into the environment."""
        environment, changing = self._environment, self._changing
        if changing in environment:  # pytest sets it three times a test
            self._seen[changing] = environment[changing]
        else:
            self._seen.pop(changing, None)
        if self._seen != environment:
            from pytest_fcall.backends.known_secrets import secrets_of_environment

            seen, self._seen = self._seen, dict(environment)
            new = {name: value for name, value in environment.items() if name == changing or seen.get(name) != value}
            decoded = {os.fsdecode(name): os.fsdecode(value) for name, value in new.items()}
            self._secrets.add(secrets_of_environment(decoded))
        return self._secrets


def shown(config: pytest.Config, text: str) -> str:
    """A text for people, of one line or several."""
    return laid_out(secrets_of(config).redacted(text))


def print_lines(reporter: pytest.TerminalReporter, lines: Iterable[str]) -> None:
    """Print lines that belong to no report."""
    for line in lines:
        reporter.line(shown(reporter.config, line))


def usage_error(config: pytest.Config, text: str) -> pytest.UsageError:
    """The error that refuses a run."""
    return pytest.UsageError(shown(config, text))


def redacted_failure(config: pytest.Config, shown_failure: Any) -> Any:
    """A failure as pytest represents it: a text, a tuple of texts, or an object."""
    secrets = secrets_of(config)
    return _changed(shown_failure, lambda text: laid_out(secrets.redacted(text)))


def redact_report(secrets: Secrets, report: pytest.TestReport, *, is_ours: bool) -> None:
    """Leave secrets out of a report; of one that `is_ours`, no text is a command to the terminal either."""
    if is_ours and report.longrepr is not None:
        report.longrepr = _changed(report.longrepr, lambda text: laid_out(secrets.redacted(text)))
    elif secrets and report.longrepr is not None and secrets.may_be_in(str(report.longrepr)):
        report.longrepr = _changed(report.longrepr, secrets.redacted)
    if secrets and report.sections:
        report.sections = [(title, secrets.redacted(text)) for title, text in report.sections]
    texts = "".join([value for _, value in report.user_properties if isinstance(value, str)])
    is_plain = texts.isascii() and texts.isprintable()  # as most are: then they are not looked at one by one
    if secrets.may_be_in(texts) or (is_ours and not is_plain):
        clean = secrets.redacted if not is_ours else lambda text: laid_out(secrets.redacted(text))
        report.user_properties = [
            (name, clean(value) if isinstance(value, str) else value) for name, value in report.user_properties
        ]


def redacted_case(secrets: Secrets, attached: CaseReport) -> CaseReport:
    """The part of a report that this plugin adds, without secrets."""
    if not secrets or not secrets.may_be_in(_texts(attached)):
        return attached
    from pytest_fcall.reporting.result_json import result_from_json, result_to_json
    from pytest_fcall.reporting.results import MissingReply

    result, missing = attached.result, attached.missing
    if result is not None:
        result = result_from_json(secrets.redacted_fields(result_to_json(result)))
    return attached._replace(
        result=result,
        missing=MissingReply(*map(secrets.redacted, missing)) if missing else None,
        changes=tuple(map(secrets.redacted, attached.changes)),
        account=secrets.redacted(attached.account),
        remark=secrets.redacted(attached.remark),
        texts=tuple(map(secrets.redacted, attached.texts)),
    )


def _texts(attached: CaseReport) -> str:
    """The texts of an attached part that come from outside: to look through all of it takes several times as long."""
    found = f"{attached.account}{attached.changes}{attached.remark}{attached.missing}{attached.texts}"
    if (of := attached.result) is None:
        return found
    seen = f"{of.reasons}{of.since}{of.causes}{of.left_out}{of.called}{of.inside}{of.judging}{of.remarks}{of.detours}"
    return f"{found}{seen}{of.stanza}{of.nodeid}{of.model}{of.file}{of.suite}{of.variants or ''}"


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    """A representation of pytest, with each of its texts changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        items = [_changed(item, change) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if type(value).__module__.startswith("_pytest."):
        for name, inner in vars(value).items():
            setattr(value, name, _changed(inner, change))
    return value
