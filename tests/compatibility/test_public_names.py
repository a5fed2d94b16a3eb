"""What was public in an earlier version still is."""

from __future__ import annotations

from functools import cache

import pytest

from tests.compatibility.public_names import NAMES, public_names
from tests.compatibility.written_files import VERSIONS, this_version

WRITTEN = sorted(path.name for path in VERSIONS.iterdir())
_MAY_BE_LEFT_OUT = " may be left out"


@cache
def today() -> frozenset[str]:
    return frozenset(public_names())


def names_of(version: str) -> frozenset[str]:
    return frozenset((VERSIONS / version / NAMES).read_text("utf-8").splitlines())


@pytest.mark.parametrize("version", WRITTEN)
def test_no_public_name_of_an_earlier_version_is_gone(version: str) -> None:
    assert names_of(version) - today() == set()


@pytest.mark.parametrize("version", WRITTEN)
def test_what_could_be_called_can_still_be_called_so(version: str) -> None:
    known = names_of(version)
    new = [name for name in today() - known if name.startswith("python ") and name.endswith(")")]
    assert [name for name in new if name.partition("(")[0] in known] == []


def test_a_new_public_name_is_kept_with_its_version() -> None:
    """`python -m tests.compatibility` adds it: from the release on it is promised."""
    assert today() == names_of(this_version())
