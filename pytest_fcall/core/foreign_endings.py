"""Code of a project that is no test, and wants to end the one that calls it: by pytest.skip() and the like."""

from __future__ import annotations

from typing import Final

_OF_TESTS: Final = frozenset((("_pytest.outcomes", "OutcomeException"), ("unittest.case", "SkipTest")))


def ends_test(error: BaseException) -> bool:
    """Whether pytest takes the exception for the end of a test: a skip, a failure, or one that was expected.

    Known by name: where nothing imported pytest, nothing raises these.
    """
    return any((each.__module__, each.__name__) in _OF_TESTS for each in type(error).__mro__)
