"""The place of recorded replies that the configuration of pytest names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_fcall.backends.store import StoreError, store_path
from pytest_fcall.backends.store.address import StorePlace, server_address
from pytest_fcall.cli.project import ROOT_MARKERS
from pytest_fcall.cli.pytest_run import InProcessPlugin, run_pytest_offline

_SETTING = "fc_store"


class _Configuration(InProcessPlugin):
    """Reads the configuration, and ends the run before anything is collected."""

    def __init__(self) -> None:
        self.written: str | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int:
        """Take what the configuration says in the place of a run."""
        self.written = str(config.getini(_SETTING) or "").strip()
        return 0


def configured_store(root: Path) -> StorePlace:
    """The server that the configuration names, or the file of this project. Raises StoreError."""
    if not _may_be_configured(root):
        return store_path(root)
    found = _Configuration()
    _, output = run_pytest_offline([f"--rootdir={root}"], found)
    if found.written is None:
        last = output.splitlines()[-1:] or [""]
        raise StoreError(f"{_SETTING} is not known, because pytest cannot read the configuration: {last[0]}")
    try:
        return server_address(found.written, root) if found.written else store_path(root)
    except ValueError as error:
        raise StoreError(f"{_SETTING} {error}") from None


def _may_be_configured(root: Path) -> bool:
    """Whether the setting is named anywhere: pytest, with all conftest files, starts only then."""
    if _SETTING in os.environ.get("PYTEST_ADDOPTS", ""):
        return True
    return any(
        _SETTING in (root / name).read_text(encoding="utf-8", errors="replace")
        for name in ROOT_MARKERS
        if (root / name).is_file()
    )
