"""pytest, run by a command for its own purpose and without output.

A run of pytest loads the conftest files and plugins of the project, which may have a part in what a model is sent.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path

import pytest

_QUIET = ("-q", "--no-header", "--capture=no", "--assert=plain", "-p", "no:cacheprovider")


class InProcessPlugin:
    """Base of plugins whose run stays in this process: what they collect does not travel between workers."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Switch the workers of pytest-xdist off."""
        if hasattr(config.option, "dist"):
            config.option.dist, config.option.numprocesses, config.option.tx = "no", None, []


class CaseFilesPlugin(InProcessPlugin):
    """Base of plugins that want case files and nothing else."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out files that no plugin would take for case files: test modules would be imported."""
        may_be = collection_path.suffix in (".yaml", ".yml", ".json") or ".fc." in collection_path.name
        return None if may_be or not collection_path.is_file() else True


def run_pytest(arguments: Sequence[str], plugin: InProcessPlugin) -> tuple[int, str]:
    """Run pytest with a plugin. Returns the exit status and the output."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        status = pytest.main([*_QUIET, *arguments], plugins=[plugin])
    return status, output.getvalue().strip()


def run_pytest_offline(arguments: Sequence[str], plugin: InProcessPlugin) -> tuple[int, str]:
    """Run pytest where no model is asked: what the project imports may make a client that needs a key to be there."""
    from pytest_fcall.core.provider_variables import with_placeholder_keys

    with with_placeholder_keys():
        return run_pytest(arguments, plugin)
