"""What the tests of this room share."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def own_import_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a `python:` source puts the root folder on the import path; each test has a path of its own."""
    monkeypatch.setattr(sys, "path", list(sys.path))
