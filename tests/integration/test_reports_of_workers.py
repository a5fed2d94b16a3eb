"""Workers of this suite tell of each test once, and of all that fails."""

from __future__ import annotations

import pytest

TESTS = """
import pytest

@pytest.fixture
def begins_badly():
    raise RuntimeError("at the beginning")

@pytest.fixture
def ends_badly():
    yield
    raise RuntimeError("at the end")

def test_passes(): pass
def test_fails(): assert 0
def test_skips(): pytest.skip("for a reason")
def test_begins_badly(begins_badly): pass
def test_ends_badly(ends_badly): pass
"""


def test_workers_tell_of_each_failure_wherever_it_is(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from tests.conftest import pytest_runtest_protocol")
    pytester.makepyfile(TESTS)
    result = pytester.runpytest("-n1", "-p", "no:cacheprovider", "-ra")
    result.assert_outcomes(passed=2, failed=1, skipped=1, errors=2)
    result.stdout.fnmatch_lines(["E *at the beginning", "E *at the end"])
