"""The ground truths of the leaderboard, as expectations of ours and back again."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from pytest_fcall.core import Rules
from pytest_fcall.core.bfcl_support import unsupported_by_bfcl
from pytest_fcall.matching.bfcl.checker import check_answer
from pytest_fcall.matching.bfcl.official_case import OfficialCase, official_case
from pytest_fcall.suites.bfcl.cases import BfclCase
from tests.conformance.corpus import read_cases
from tests.conformance.test_bfcl_corpus import pytestmark  # noqa: F401  skips without the corpus

WITHOUT_LISTS = {"simple_java_64", "live_simple_106-63-0", "live_simple_112-68-0"}
AGAINST_THE_TOOL = {
    *("parallel_multiple_12", "parallel_multiple_26"),
    *("live_multiple_862-181-3", "live_multiple_964-207-0"),
}
BROKEN = WITHOUT_LISTS | AGAINST_THE_TOOL
"""Cases whose ground truth lacks lists of alternatives, or names other arguments than the tool has.

Our expectation is what they must have meant, and no longer what they say.
"""


@pytest.fixture(scope="module")
def found(every: int) -> list[BfclCase]:
    return read_cases(min(every, 5), BROKEN)


def test_no_sound_ground_truth_is_beyond_the_profile(found: list[BfclCase]) -> None:
    beyond = {case.case.id for case in found if list(unsupported_by_bfcl(case.expect, Rules()))}
    assert beyond <= AGAINST_THE_TOOL


def test_a_sound_ground_truth_survives_the_way_there_and_back(found: list[BfclCase]) -> None:
    chance = random.Random(0)  # noqa: S311  the same answers each time
    for case in found:
        if case.case.id in BROKEN:
            continue
        back = official_case(case.expect, case.case.tools, case.official_case.language)
        for answer in answers(case.official_case, chance):
            there, here = check_answer(case.official_case, answer), check_answer(back, answer)
            assert (here.valid, here.error_type) == (there.valid, there.error_type), (case.case.id, answer)


def answers(exam: OfficialCase, chance: random.Random) -> Iterator[Any]:
    """Some answers, more or less right."""
    yield []
    for _ in range(8):
        calls: list[dict[str, Any]] = []
        for expected in exam.truth:
            ((name, arguments),) = expected.items()
            calls.append({name: {key: worse(taken(chance, of), chance) for key, of in arguments.items()}})
            for key in [key for key in arguments if chance.random() < 0.1]:
                del calls[-1][name][key]
        chance.shuffle(calls)
        yield calls


def taken(chance: random.Random, alternatives: Any) -> Any:
    chosen = chance.choice(alternatives) if alternatives else None
    if isinstance(chosen, Mapping):
        return {key: chance.choice(of) for key, of in chosen.items()}
    if isinstance(chosen, list):
        return [
            {key: chance.choice(of) for key, of in item.items()} if isinstance(item, dict) else item for item in chosen
        ]
    return chosen


def worse(value: Any, chance: random.Random) -> Any:
    return (
        chance.choice([None, True, 1, 1.0, "a", "", [], ["a"], [1], {}, {"a": 1}]) if chance.random() < 0.1 else value
    )
