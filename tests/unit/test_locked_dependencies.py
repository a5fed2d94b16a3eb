"""`dependencies.lock` is what `make audit` asks advisories about, and what a bill of materials names."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
DEPENDENCIES = [
    Requirement(text) for text in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
]
LOCKED = dict(re.findall(r"^([\w.-]+)==(\S+) \\$", (ROOT / "dependencies.lock").read_text(), re.MULTILINE))


@pytest.mark.parametrize("dependency", DEPENDENCIES, ids=lambda dependency: dependency.name)
def test_each_dependency_is_locked_in_a_version_that_it_may_have(dependency: Requirement) -> None:
    if dependency.marker is None or dependency.marker.evaluate():
        assert LOCKED[dependency.name.lower()] in dependency.specifier


def test_an_installation_brings_no_more_than_thirty_packages() -> None:
    assert len(LOCKED) < 30


def test_each_package_is_locked_by_its_contents() -> None:
    text = (ROOT / "dependencies.lock").read_text()
    assert all("--hash=sha256:" in part for part in re.split(r"^(?=\S+==)", text, flags=re.MULTILINE)[1:])
