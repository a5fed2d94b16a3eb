from __future__ import annotations

import pytest

from pytest_fcall.core.verdict import Rate, passes, required_share


@pytest.mark.parametrize(
    ("rule", "right", "expected"),
    [
        ("all", 5, True),
        ("all", 4, False),
        ("any", 1, True),
        ("any", 0, False),
        ("rate>=0.8", 4, True),
        ("rate>=0.8", 3, False),
        ("rate>=1.0", 4, False),
        ("rate>=0.001", 0, False),
    ],
)
def test_a_case_that_is_asked_several_times_passes_by_its_share(rule: str, right: int, expected: bool) -> None:
    assert passes(rule, Rate(right, 5)) is expected


@pytest.mark.parametrize("rule", ["", "most", "rate", "rate>0.8", "rate>=x", "rate>=0", "rate>=1.1", "rate>=nan"])
def test_an_unknown_rule_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match=r"must be all, any or rate>=0\.8"):
        required_share(rule)
