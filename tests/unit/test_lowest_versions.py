"""The versions that `make test-lowest` tests with are the lowest that the package allows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_lowest_versions_that_are_allowed_are_those_that_are_tested() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        allowed = tomllib.load(file)["project"]["dependencies"]
    here = [each for each in allowed if ";" not in each]  # the others are of other systems, or of later Pythons
    tested = dict(re.findall(r"^([\w-]+)==([\d.]+)$", (ROOT / "tests" / "lowest.txt").read_text("utf-8"), re.MULTILINE))
    assert {name: _parts(version) for name, version in tested.items()} == {
        name: _parts(version) for name, version in (each.split(">=") for each in here)
    }


def _parts(version: str) -> list[str]:
    """The parts of a version: 8.0 and 8.0.0 are one."""
    return re.sub(r"(\.0)+$", "", version).split(".")
