from __future__ import annotations

from collections import defaultdict

import pytest

from pytest_fcall.core.rate import Rate
from pytest_fcall.tracking.samples import PassRule


def exam(deciding: PassRule, true_rate: float) -> tuple[float, float]:
    """The chance to pass, and how many answers it takes on average, counted over all that may happen."""
    passes = asked = 0.0
    open_ends = {0: 1.0}
    for number in range(1, deciding.max_answers + 1):
        after: dict[int, float] = defaultdict(float)
        for right, chance in open_ends.items():
            after[right + 1] += chance * true_rate
            after[right] += chance * (1 - true_rate)
        open_ends = {}
        for right, chance in after.items():
            verdict = deciding.decide(Rate(right, number))
            if verdict is None:
                open_ends[right] = chance
            else:
                passes += chance * verdict
                asked += chance * number
    assert not open_ends
    return passes, asked


@pytest.mark.parametrize("rule", ["all", "any", "rate>=0.5", "rate>=0.8", "rate>=0.9", "rate>=0.95"])
def test_errors_are_as_rare_as_promised(rule: str) -> None:
    deciding = PassRule.parse(rule)
    for true_rate in (deciding.low, deciding.low / 2):
        assert exam(deciding, true_rate)[0] <= 0.05
    for true_rate in (deciding.high, (1 + deciding.high) / 2):
        assert exam(deciding, true_rate)[0] >= 0.95


def test_what_is_clear_takes_few_answers() -> None:
    assert exam(PassRule.parse("all"), 1.0) == (1, 14)
    assert exam(PassRule.parse("all"), 0.0) == (0, 1)
    assert exam(PassRule.parse("any"), 1.0) == (1, 1)
    assert exam(PassRule.parse("rate>=0.8"), 1.0) == (1, 12)
    assert exam(PassRule.parse("rate>=0.8"), 0.1)[1] < 4
    assert exam(PassRule.parse("rate>=0.8"), 0.8)[1] < 40


def test_one_wrong_answer_decides_where_all_must_be_right_and_one_right_where_any_may() -> None:
    assert PassRule.parse("all").decide(Rate(7, 8)) is False
    assert PassRule.parse("any").decide(Rate(1, 8)) is True
    assert PassRule.parse("any", margin=0.05).high == 0.1
    assert PassRule.parse("rate>=1").decide(Rate(7, 8)) is False
    assert PassRule.parse("all").decide(Rate(3, 3)) is None


def test_in_the_end_the_share_decides() -> None:
    short = PassRule.parse("rate>=0.75", max_answers=4)
    assert (short.decide(Rate(3, 4)), short.decide(Rate(2, 4))) == (True, False)
    assert PassRule.parse("any", max_answers=4).decide(Rate(0, 4)) is False


@pytest.mark.parametrize("rule", ["", "most", "rate", "rate>0.8", "rate>=x", "rate>=0", "rate>=1.1", "rate>=nan"])
def test_what_is_no_rule_is_told(rule: str) -> None:
    with pytest.raises(ValueError, match=r"must be all, any or rate>=0\.8"):
        PassRule.parse(rule)


@pytest.mark.parametrize("rule", ["all", "any", "rate>=0.5", "rate>=0.8", "rate>=0.95"])
@pytest.mark.parametrize("right", [0, 1])
def test_answers_that_are_all_alike_are_asked_for_in_a_few_portions_and_none_in_vain(rule: str, right: int) -> None:
    deciding, rate, portions = PassRule.parse(rule), Rate(0, 0), 0
    one_by_one = next(n for n in range(1, 101) if deciding.decide(Rate(n * right, n)) is not None)
    while deciding.decide(rate) is None:
        more = deciding.next_count(rate)
        rate = Rate(rate.right + right * more, rate.asked + more)
        portions += 1
    assert portions <= 6
    assert rate.asked < 2 * one_by_one + 1


def test_the_first_portion_is_what_must_be_asked_in_any_case() -> None:
    assert PassRule.parse("all").next_count(Rate(0, 0)) == 1
    deciding = PassRule.parse("rate>=0.8")
    first = deciding.next_count(Rate(0, 0))
    assert all(deciding.decide(Rate(right, asked)) is None for asked in range(first) for right in range(asked + 1))


@pytest.mark.parametrize(
    ("rule", "right", "suffices"),
    [
        ("all", 5, True),
        ("all", 4, False),
        ("any", 1, True),
        ("any", 0, False),
        ("rate>=0.8", 4, True),
        ("rate>=0.8", 3, False),
    ],
)
def test_a_case_that_is_asked_a_given_number_of_times_passes_by_its_share(
    rule: str, right: int, suffices: bool
) -> None:
    assert PassRule.parse(rule).suffices(Rate(right, 5)) is suffices
