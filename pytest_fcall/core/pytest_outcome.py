"""The exceptions by which pytest.skip() and the like end a test, where code that is no test raises them."""

from __future__ import annotations

from typing import Final

_OF_TESTS: Final = frozenset((("_pytest.outcomes", "OutcomeException"), ("unittest.case", "SkipTest")))


def is_pytest_outcome(error: BaseException) -> bool:
    """Whether pytest takes the exception for the end of a test: a skip, a failure, or one that was expected.

    Known by name: where nothing imported pytest, nothing raises these.
    """
    return any((each.__module__, each.__name__) in _OF_TESTS for each in type(error).__mro__)
