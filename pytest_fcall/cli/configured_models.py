"""The models that the configuration of pytest names."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.cli.pytest_run import InProcessPlugin, run_pytest_offline
from pytest_fcall.session.models import parse_model
from pytest_fcall.session.outcomes import SettingError


class _Configuration(InProcessPlugin):
    """Reads the configuration, and ends the run before anything is collected."""

    def __init__(self) -> None:
        self.models: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int:
        """Take what the configuration says in the place of a run."""
        self.models = [*config.getini("fc_model"), *filter(None, [config.getini("fc_judge")])]
        return 0


def configured_models(root: Path) -> frozenset[str]:
    """The ids of the models that are tested and that judge; none where nothing is configured, or it cannot be read."""
    found = _Configuration()
    run_pytest_offline([f"--rootdir={root}"], found)
    try:
        return frozenset(parse_model(name, "fc_model", root).id for name in found.models)
    except SettingError:
        return frozenset()
