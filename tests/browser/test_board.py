"""The page of a board in a browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from pytest_fcall.core.extension import Figure
from pytest_fcall.reporting.reports.board.board import Board, BoardModel, PublishedFigure
from pytest_fcall.reporting.reports.board.page import write
from pytest_fcall.reporting.run_comparison import ComparedGroup, ModelPair
from tests.browser.conftest import Looking
from tests.unit.reporting.reports.examples import HOSTILE, result

Look = Callable[..., Looking]


@pytest.fixture
def board() -> Board:
    """Ten models, more than there are colours, one of them with a name that would do harm."""
    names = [HOSTILE, *(f"model-{n}" for n in range(9))]
    models = [
        BoardModel(
            name,
            [
                result(f"c{n}", "passed" if n < 9 - place % 5 else "failed", model=name, category=f"part_{n % 4}")
                for n in range(12)
            ],
            figures=[Figure("overall", 0.9 - place / 20)],
            published=[PublishedFigure(HOSTILE, 0.8, 0.75, "what was not asked counts as wrong")] if not place else [],
        )
        for place, name in enumerate(names)
    ]
    group = ComparedGroup("m", "all", 12, 8, 9, 0, 1, (0.01, 0.2), 0.01, is_significant=True)
    pairs = {(HOSTILE, "model-0"): ModelPair("model-0", HOSTILE, group)}
    return Board(models, [f"part_{n}" for n in range(4)], pairs, is_by_overall=True, remarks=[HOSTILE])


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_the_board_is_whole_without_scripts_at_any_width(look: Look, board: Board, width: int) -> None:
    page = look(board, write, java_script_enabled=False, viewport={"width": width, "height": 900}).page
    expect(page.locator("table.ranking tbody tr")).to_have_count(10)
    expect(page.locator("svg.radar polygon.line")).to_have_count(8)
    expect(page.locator(".pairs li")).to_have_count(9)
    expect(page.locator(".pairs .apart")).to_have_count(1)
    for text in ("no case in common", "the best 8 models", "what was not asked counts as wrong"):
        expect(page.locator("main")).to_contain_text(text)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_the_board(look: Look, board: Board, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    looking = look(board, write, color_scheme=scheme)
    found = Axe().run(looking.page)
    assert found.violations_count == 0, found.generate_report()
