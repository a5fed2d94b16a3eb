from __future__ import annotations

import pytest

from tests.unit.backends.local.asking import ROOT


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process find the engines of these tests, wherever they are started."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
