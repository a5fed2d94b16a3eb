"""The place of recorded replies and the models that the configuration of pytest names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_fcall.backends.store import StoreError, store_path
from pytest_fcall.backends.store.address import StorePlace, server_address
from pytest_fcall.cli.project import ROOT_MARKERS
from pytest_fcall.cli.pytest_run import InProcessPlugin, run_pytest_offline
from pytest_fcall.session.endings import SettingError
from pytest_fcall.session.models import parse_model

_STORE = "fc_store"


def configured_store(root: Path) -> StorePlace:
    """The server that the configuration names, or the file of this project. Raises StoreError."""
    if not _may_be_configured(root):
        return store_path(root)
    found = _Configuration()
    _, output = run_pytest_offline([f"--rootdir={root}"], found)
    if found.store is None:
        last = output.splitlines()[-1:] or [""]
        raise StoreError(f"{_STORE} is not known, because pytest cannot read the configuration: {last[0]}")
    try:
        return server_address(found.store, root) if found.store else store_path(root)
    except ValueError as error:
        raise StoreError(f"{_STORE} {error}") from None


def _may_be_configured(root: Path) -> bool:
    """Whether the setting is named anywhere: pytest, with all conftest files, starts only then."""
    if _STORE in os.environ.get("PYTEST_ADDOPTS", ""):
        return True
    return any(
        _STORE in (root / name).read_text(encoding="utf-8", errors="replace")
        for name in ROOT_MARKERS
        if (root / name).is_file()
    )


def configured_models(root: Path) -> frozenset[str]:
    """The ids of the models that are tested and that judge; none where nothing is configured, or it cannot be read."""
    found = _Configuration()
    run_pytest_offline([f"--rootdir={root}"], found)
    try:
        return frozenset(parse_model(name, "fc_model", root).id for name in found.models)
    except SettingError:
        return frozenset()


class _Configuration(InProcessPlugin):
    """Reads the configuration, and ends the run before anything is collected."""

    def __init__(self) -> None:
        self.store: str | None = None
        """None where pytest could not read the configuration."""
        self.models: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int:
        """Take what the configuration says in the place of a run."""
        self.store = str(config.getini(_STORE) or "").strip()
        self.models = [*config.getini("fc_model"), *filter(None, [config.getini("fc_judge")])]
        return 0
