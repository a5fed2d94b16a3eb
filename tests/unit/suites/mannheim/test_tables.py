from __future__ import annotations

import pytest

from pytest_fcall.core.extension import Measured
from pytest_fcall.suites.mannheim.suite import MannheimSuite
from pytest_fcall.suites.mannheim.tables import PHASES, SCORES, accuracies_of, category_name, phase_name, tables


def test_a_table_has_both_domains_in_one_row_beside_the_published_figures() -> None:
    (table,) = tables(
        accuracies_of({("single", "Typos"): (9, 9, 6, 9, 5, 9), ("single", "Selection"): (1, 1, 1, 1, 0, 1)})
    )
    assert table.titles == (
        "table 4, single",
        "questions",
        "function",
        "paper",
        "parameter",
        "paper",
        "answer",
        "paper",
    )
    assert table.rows == (
        ("Selection", "1", "100.00", "100", "100.00", "100", "0.00", "64"),
        ("Typos", "9", "100.00", "100", "66.67", "66.67", "55.56", "55.56"),
        ("Overall", "10 of 97", "100.00", "95", "70.00", "85", "50.00", "66"),
    )


def test_tables_come_in_the_order_of_the_publication_and_own_ones_last() -> None:
    numbers = (1, 1, 0, 0, 1, 1)
    found = accuracies_of({(name, "Riddles"): numbers for name in ("mine", "sequential", "single")})
    first, second, own = tables(found)
    assert (first.titles[0], second.titles[0]) == ("table 4, single", "table 8, sequential")
    assert first.rows[0] == ("Riddles", "1", "100.00", "-", "-", "-", "100.00", "-")
    assert own.titles == ("mine", "questions", "function", "parameter", "answer")
    assert own.rows == (("Riddles", "1", "100.00", "-", "100.00"), ("Overall", "1", "100.00", "-", "100.00"))


@pytest.mark.parametrize(
    ("part", "phase"),
    [("music_single", "single"), ("travel_single_complex", "single_complex"), ("single", "single"), ("mine", "mine")],
)
def test_the_parts_of_both_domains_are_one_phase(part: str, phase: str) -> None:
    assert phase_name(part) == phase


@pytest.mark.parametrize(
    ("said", "meant"), [("Different Languages", "Languages"), (" Typos ", "Typos"), ("Own", "Own")]
)
def test_categories_have_the_names_of_the_publication(said: str, meant: str) -> None:
    assert category_name(said) == meant


def test_the_questions_of_all_published_categories_are_known() -> None:
    assert sum(phase.questions for phase in PHASES.values()) == 406
    assert {len(figures) for phase in PHASES.values() for figures in phase.published.values()} == {3}


def test_a_run_has_the_tables_of_the_phases_that_were_asked() -> None:
    measured = [
        Measured(tag, score, 2, 0.5)
        for tag in ("mannheim", "music_parallel", "parallel", "parallel/Selection")
        for score in SCORES
    ]
    (table,) = MannheimSuite().tables(measured)
    assert table.titles[0] == "table 7, parallel"
    assert [row[:3] for row in table.rows] == [("Selection", "2", "50.00"), ("Overall", "2 of 41", "50.00")]
