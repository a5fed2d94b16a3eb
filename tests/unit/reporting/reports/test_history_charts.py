from __future__ import annotations

import re
from itertools import pairwise

import pytest

from pytest_fcall.reporting.reports.history.charts import Line, Point, Tick, line_chart


def ticks(count: int, **fields: object) -> list[Tick]:
    return [Tick(f"11-{day:02}", "", f"run-{day}", "", asked=True)._replace(**fields) for day in range(1, count + 1)]  # type: ignore[arg-type]


def point(value: float, margin: float = 0.1) -> Point:
    return Point(value, value - margin, value + margin, f"about {value}")


def drawn(*lines: list[Point | None], unit: str = "s") -> str:
    named = [Line(f"model {place}", place, points) for place, points in enumerate(lines)]
    return line_chart(named, ticks(len(lines[0])), "Title", unit)


def axis(chart: str) -> list[str]:
    return re.findall(r'text-anchor="end">([^<]*)<', chart)


def test_each_model_has_a_line_a_band_and_a_name_and_each_answer_a_point() -> None:
    chart = drawn([point(1), point(2), point(3)], [point(2), None, point(1)])
    assert chart.count("<polyline") == 1, "one point is no line"
    assert chart.count("<polygon") == 1
    assert chart.count('class="whisker series-1"') == 2
    assert chart.count("<circle") == 5
    assert re.findall(r'class="name[^>]*>([^<]*)<', chart) == ["model 0", "model 1"]


def test_a_line_has_a_gap_where_a_run_has_no_answer() -> None:
    chart = drawn([point(1), point(2), None, point(3), point(4)])
    assert chart.count("<polyline") == chart.count("<polygon") == 2


@pytest.mark.parametrize(
    ("values", "unit", "figures"),
    [
        ([0.93, 0.97], "%", ["80 %", "90 %", "100 %"]),
        ([0.31, 0.97], "%", ["20 %", "40 %", "60 %", "80 %", "100 %"]),
        ([0.999], "%", ["80 %", "90 %", "100 %"]),
        ([1.4, 2.2], "s", ["0 s", "1 s", "2 s", "3 s"]),
        ([0.0041], "$", ["$0", "$0.0025", "$0.005", "$0.0075", "$0.01"]),
        ([4e-7], "$", ["$0", "$2e-07", "$4e-07", "$6e-07", "$8e-07"]),
    ],
)
def test_an_axis_has_round_figures(values: list[float], unit: str, figures: list[str]) -> None:
    assert axis(drawn([*map(point, values)], unit=unit)) == figures


def test_names_of_lines_that_end_near_each_other_do_not_overlap() -> None:
    chart = line_chart([Line(f"m{n}", n, [point(1 + n / 1000)]) for n in range(8)], ticks(1), "T", "s")
    places = [float(y) for y in re.findall(r'class="name[^>]* y="([\d.]+)"', chart)]
    assert all(after - before >= 13.9 for before, after in pairwise(sorted(places)))
    assert max(places) < 250


@pytest.mark.parametrize("count", [1, 2, 7, 20, 100, 1000])
def test_labels_have_room(count: int) -> None:
    chart = line_chart([Line("m", 0, [point(1)] * count)], ticks(count, label="11-02 09:30"), "T", "s")
    xs = sorted(float(x) for x in re.findall(r'<text x="([\d.]+)" y="232"', chart))
    assert 1 <= len(xs) <= 6
    assert all(after - before > 70 for before, after in pairwise(xs))


def test_a_run_before_which_something_changed_has_a_mark_with_letters() -> None:
    marked = [*ticks(2), Tick("11-03", "PT", "run-3", "the system prompt changed", asked=False)]
    chart = line_chart([Line("m", 0, [point(1)] * 3)], marked, "T", "s")
    assert chart.count('class="mark-line"') == 1
    assert ">PT</text>" in chart
    assert "the system prompt changed</title>" in chart
    assert chart.count('class="dot replayed') == 1


@pytest.mark.parametrize(
    "points",
    [
        [None, None],
        [Point(0, 0, 0, ""), Point(0, 0, 0, "")],
        [point(float("inf")), point(float("nan"))],
        [point(1e300), point(-1.0)],
    ],
)
def test_where_nothing_can_be_drawn_there_is_no_chart(points: list[Point | None]) -> None:
    assert drawn(points) == ""


def test_text_is_escaped() -> None:
    hostile = '"><script>alert(1)</script>'
    marked = [Tick(hostile, hostile, hostile, hostile, asked=True)]
    chart = line_chart([Line(hostile, 0, [Point(1, 1, 1, hostile)])], marked, hostile, "s")
    assert "<script" not in chart
    assert '"&gt;' not in chart
