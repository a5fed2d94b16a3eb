from __future__ import annotations

import pytest

from pytest_fcall.suites.bfcl.figures import FIGURES, leaderboard_figures, version_figures

WHOLE = {
    **dict.fromkeys(("simple_python", "simple_java", "simple_javascript"), (1, 2)),
    "multiple": (9, 10),
    "parallel": (7, 10),
    "parallel_multiple": (5, 10),
    "irrelevance": (3, 4),
    "live_simple": (1, 1),
    "live_multiple": (1, 7),
    "live_parallel": (1, 1),
    "live_parallel_multiple": (1, 1),
    "live_irrelevance": (1, 4),
    "live_relevance": (0, 9),
}


def shares(tallies: dict[str, tuple[int, int]]) -> dict[str, float | None]:
    return {figure.name.partition(" (")[0]: figure.share for figure in leaderboard_figures(tallies)}


def test_categories_count_alike_but_live_ones_by_their_number() -> None:
    found = shares(WHOLE)
    assert found["non_live_ast"] == pytest.approx((0.5 + 0.9 + 0.7 + 0.5) / 4)
    assert found["live"] == pytest.approx(0.4)
    assert found["irrelevance"] == pytest.approx(0.5)


def test_overall_counts_what_was_not_asked_as_wrong() -> None:
    assert shares(WHOLE)["overall"] == pytest.approx(0.1 * (0.65 + 0.4 + 0.5))


def test_a_score_that_lacks_a_category_is_not_told() -> None:
    found = shares({"simple_python": (1, 1), "live_simple": (258, 258)})
    assert found["non_live_ast"] is None
    assert found["live"] is None
    assert found["overall"] == pytest.approx(0.1 * (1 / 3 / 4) + 0.1 * 258 / 1351)


def test_categories_of_others_have_no_score() -> None:
    assert leaderboard_figures({"weather": (1, 2)}) == []


FIRST = {
    "simple_python": (300, 400),
    "simple_java": (50, 100),
    "simple_javascript": (25, 50),
    "multiple": (180, 200),
    "parallel": (160, 200),
    "parallel_multiple": (140, 200),
    "irrelevance": (120, 240),
    "exec_simple": (100, 100),
    "exec_multiple": (40, 50),
    "exec_parallel": (30, 50),
    "exec_parallel_multiple": (20, 40),
    "rest": (36, 70),
}


def test_the_first_version_has_nine_columns_and_weights_of_its_own() -> None:
    extras = {"sql": (1, 100), "chatable": (0, 200)}
    found = {figure.name: figure.share for figure in version_figures(FIRST | extras)}
    assert list(found) == [
        *("simple_ast", "multiple_ast", "parallel_ast", "parallel_multiple_ast"),
        *("simple_exec", "multiple_exec", "parallel_exec", "parallel_multiple_exec"),
        *("relevance_detection", "ast_summary", "exec_summary", "overall"),
    ]
    assert found["simple_ast"] == pytest.approx(375 / 550)
    assert found["simple_exec"] == pytest.approx(136 / 170)
    assert found["exec_summary"] == pytest.approx((136 / 170 + 0.8 + 0.6 + 0.5) / 4)
    assert found["overall"] == pytest.approx(1201 / 1700)


def test_a_column_of_the_first_version_that_lacks_a_category_is_not_told() -> None:
    found = {figure.name: figure.share for figure in version_figures({"exec_simple": (1, 1), "exec_parallel": (1, 2)})}
    assert found == {"simple_exec": None, "parallel_exec": 0.5, "exec_summary": None, "overall": None}


def test_newer_categories_keep_their_scores_beside_executed_calls() -> None:
    found = version_figures({**WHOLE, "exec_simple": (1, 1), "rest": (1, 1)})
    assert [figure.name for figure in found].count("overall") == 1
    assert {figure.name: figure.share for figure in found}["simple_exec"] == 1
    assert version_figures(WHOLE) == leaderboard_figures(WHOLE)


# Of the second version's own table, with figures that tell the columns apart.
SECOND = WHOLE | {name: FIRST[name] for name in FIRST if name.startswith("exec_") or name == "rest"}
CONVERSATIONS = {
    "multi_turn_base": (1, 2),
    "multi_turn_miss_func": (1, 4),
    "multi_turn_miss_param": (1, 4),
    "multi_turn_long_context": (0, 1),
}
EXECUTED = ((1 + 36 / 70) / 2, 0.8, 0.6, 0.5)


def test_the_second_version_has_ten_columns_that_count_alike() -> None:
    found = {figure.name: figure.share for figure in version_figures(SECOND)}
    ast = [(0.5 + 1) / 2, (0.9 + 1 / 7) / 2, (0.7 + 1) / 2, (0.5 + 1) / 2]
    names = ("simple", "multiple", "parallel", "parallel_multiple")
    assert [found[f"{name}_ast"] for name in names] == pytest.approx(ast)
    assert [found[f"{name}_exec"] for name in names] == pytest.approx(EXECUTED)
    assert (found["irrelevance"], found["relevance"]) == (0.5, 0)
    assert found["live"] == pytest.approx(5 / 23)
    assert found["non_live"] == pytest.approx((0.5 + 0.9 + 0.7 + 0.5 + sum(EXECUTED) + 0.75) / 9)
    assert found["overall"] == pytest.approx((sum(ast) + sum(EXECUTED) + 0.5 + 0) / 10)


def test_the_third_version_is_the_mean_of_live_questions_others_and_conversations() -> None:
    figures = version_figures(WHOLE | CONVERSATIONS)
    found = {figure.name: figure.share for figure in figures}
    assert (figures[-1].name, figures[-1].note) == ("overall", "version 3")
    assert found["ast_summary"] == pytest.approx(0.65)
    assert found["multi_turn"] == pytest.approx(0.25)
    assert found["non_live"] == pytest.approx(0.67)
    assert found["overall"] == pytest.approx((0.67 + 5 / 23 + 0.25) / 3)
    assert "simple_exec" not in found


def test_the_third_version_of_2024_executes_calls_too() -> None:
    found = {figure.name: figure.share for figure in version_figures(SECOND | CONVERSATIONS)}
    assert found["exec_summary"] == pytest.approx(sum(EXECUTED) / 4)
    assert found["non_live"] == pytest.approx((0.65 * 4 + sum(EXECUTED) + 0.75) / 9)


@pytest.mark.parametrize("lacking", ["live_relevance", "exec_simple"])
def test_a_version_that_lacks_a_category_is_not_told(lacking: str) -> None:
    notes = {figure.note for figure in version_figures({**SECOND, lacking: (0, 0)})}
    assert "version 2" not in notes


def test_every_figure_has_a_name_for_gates() -> None:
    figures = [
        *version_figures(FIRST),
        *version_figures(SECOND),
        *version_figures(SECOND | CONVERSATIONS),
        *version_figures(WHOLE),
    ]
    assert {figure.name for figure in figures} <= {*FIGURES}
