"""How much an installation brings: what docs/explanation/installs.md promises."""

from __future__ import annotations

from tests.installs.environments import Environment, weight

MOST_PACKAGES = 30
MOST_BYTES = 90_000_000


def test_it_brings_thirty_packages_at_most(plain: Environment) -> None:
    packages = plain.packages()
    assert "pytest-fcall" in packages
    assert len(packages) <= MOST_PACKAGES, sorted(packages)


def test_it_takes_ninety_megabytes_at_most(plain: Environment) -> None:
    assert MOST_BYTES / 2 < weight(plain) <= MOST_BYTES
