from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import pytest
from hypothesis import settings

from tests.by_night import is_night
from tests.conformance.claims import PAGE, Claim, Claims, claims_of

Held: TypeAlias = Callable[..., None]

_CLAIMS = pytest.StashKey[Claims]()
_NARROWED = pytest.StashKey[bool]()

# Nine kinds of questions: 20,000 examples and some, which are new each time.
settings.register_profile("conformance", deadline=None, max_examples=2_300, derandomize=False)


@pytest.fixture(scope="session")
def every(pytestconfig: pytest.Config) -> int:
    """Of how many rows of the corpus one is judged."""
    return 1 if is_night(pytestconfig) else 11


@pytest.fixture(scope="session")
def held(pytestconfig: pytest.Config) -> Held:
    """Counts rows of which a test has seen that a claim holds: `held(suite, claim, compared_with, rows, differences)`.

    Fails where the table of the page does not have the claim, unless `make conformance` is to write it.
    """
    claims = pytestconfig.stash.setdefault(_CLAIMS, Claims())
    known = claims_of(PAGE.read_text(encoding="utf-8"))

    def count(suite: str, claim: str, compared_with: str, rows: int, differences: int = 0) -> None:
        seen = Claim(suite, claim, compared_with)
        assert seen in known or _is_written(pytestconfig), f"not in the table of {PAGE.name}: {seen}"
        claims.add(seen, rows, differences)

    return count


def _is_written(config: pytest.Config) -> bool:
    return bool(config.getoption("--hypothesis-profile") == "conformance")


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Note that not all tests of these files run: the rows of a claim would be too few."""
    items[0].config.stash[_NARROWED] = True


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    config = session.config
    claims = config.stash.get(_CLAIMS, None)
    has_all_rows = not (config.stash.get(_NARROWED, False) or hasattr(config, "workerinput"))
    if claims and has_all_rows and _is_written(config) and exitstatus == pytest.ExitCode.OK:
        claims.write(PAGE)
