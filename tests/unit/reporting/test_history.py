from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_fcall.core.verdict import Rate
from pytest_fcall.reporting.history import HistoricRun, RunSeries, history_lines

PAGE = Path(__file__).parents[3] / "docs/reference/commands-runs.md"
DAYS = [HistoricRun(f"2026-11-0{day} 09:00", asked=day != 3) for day in range(1, 5)]
DAYS[-1] = replace(DAYS[-1], origin="80 asked, 10 replayed (2 to 9 days old)")


def points(*right: int | None, of: int = 40) -> tuple[Rate | None, ...]:
    return tuple(None if number is None else Rate(number, of) for number in right)


def test_each_model_and_category_has_a_bar_for_each_run_as_the_documentation_shows() -> None:
    series = [
        RunSeries("openai:gpt-5.2", "all", points(36, 38, 30, 40)),
        RunSeries("openai:gpt-5.2", "parallel", points(None, 10, 5, 10, of=10)),
        RunSeries("local:smollm2", "all", points(20, 20, 20, None)),
    ]
    lines = history_lines(series, DAYS, 100)
    assert "\n".join(lines) in PAGE.read_text(encoding="utf-8")
    assert lines == [
        "model           category  chart    first     last       95 %  answers",
        "openai:gpt-5.2  all        ▇▇▅█   90.0 %  100.0 %  [91, 100]       40",
        "                parallel   ·█▁█  100.0 %  100.0 %  [72, 100]       10",
        "local:smollm2   all        ▁▁▁·   50.0 %   50.0 %   [35, 65]       40",
        "▁ 50.0 %, █ 100.0 %, · no answer",
        "4 runs, from 2026-11-01 09:00 to 2026-11-04 09:00",
        "1 run sent no request: all answers were replayed",
        "last run: 80 asked, 10 replayed (2 to 9 days old)",
    ]


def chart(series: Sequence[RunSeries], runs: Sequence[HistoricRun], width: int = 100, encoding: str = "utf-8") -> str:
    return history_lines(series, runs, width, encoding)[1].split()[2]


def test_what_stays_the_same_has_whole_bars() -> None:
    assert chart([RunSeries("m", "all", points(3, 3))], DAYS[:2]) == "██"


def test_the_newest_runs_are_shown_where_not_all_fit() -> None:
    many = [RunSeries("m", "all", points(*[0] * 80, *[40] * 20)), RunSeries("gone", "all", points(40, *[None] * 99))]
    lines = history_lines(many, [HistoricRun(f"day {number}") for number in range(100)], 80)
    assert lines[1].split()[2] == "█" * 20
    assert not any("gone" in line for line in lines)
    assert lines[-1] == "20 runs, from day 80 to day 99"
    assert max(map(len, lines)) <= 80


def test_a_terminal_without_blocks_gets_digits() -> None:
    assert chart([RunSeries("m", "all", points(0, 20, None, 40))], DAYS, encoding="ascii") == "15.8"


def test_names_cannot_take_over_the_terminal() -> None:
    text = "\n".join(history_lines([RunSeries("m\x1b[2J", "\x07", points(1))], [HistoricRun("\x1b]0;x")], 100))
    assert "\x1b" not in text
    assert "\x07" not in text
