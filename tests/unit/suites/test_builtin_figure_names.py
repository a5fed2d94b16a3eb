from __future__ import annotations

import pytest

from pytest_fcall.core.extension import Measured, averages_of, case_figures_of, figure_names_of, figures_of
from pytest_fcall.suites.bfcl.categories import GROUPS
from pytest_fcall.suites.builtin import SUITES


@pytest.mark.parametrize(
    ("suite", "runs", "scores"),
    [
        (
            "bfcl",
            (
                (
                    "simple_python",
                    "disguised_simple_python",
                    "live_simple",
                    "irrelevance",
                    "multi_turn_base",
                    "memory_kv",
                    "format_sensitivity/json/xml",
                    *("multiple", "parallel", "parallel_multiple"),
                    *("exec_simple", "exec_multiple", "exec_parallel", "exec_parallel_multiple"),
                ),
                GROUPS["v2"],
            ),
            (),
        ),
        ("mannheim", (("music_single/Selection", "travel_single/Selection"),), ()),
        ("toolbench", (("booking_v0", "home_search_v0"),), ()),
        ("api_blend", (), ("api_f1", "parameter_f1", "lcs_f1")),
    ],
)
def test_gates_can_know_the_name_of_whatever_a_suite_tells(
    suite: str, runs: tuple[tuple[str, ...], ...], scores: tuple[str, ...]
) -> None:
    told = [
        *(figure for asked in runs for figure in figures_of(SUITES[suite], dict.fromkeys(asked, (1, 2)))),
        *averages_of(SUITES[suite], [Measured("seq_sgd", score, 3, 0.5) for score in scores]),
    ]
    assert {figure.name for figure in told} == set(figure_names_of(SUITES[suite]))


def test_gates_can_know_the_names_of_scores_of_single_cases() -> None:
    suite = SUITES["acebench"]
    names = {each.name for each in case_figures_of(suite, {"en_special_irrelevant_0": (1, 1)})}
    assert names == {"irrelevant", "special_summary", "Summary"} <= set(figure_names_of(suite))
