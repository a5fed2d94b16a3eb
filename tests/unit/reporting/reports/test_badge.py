from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings

from pytest_fcall.reporting.reports import badge, badge_image
from pytest_fcall.reporting.reports.report import Report
from tests.unit.reporting.reports.examples import report, reports, result

SVG = "{http://www.w3.org/2000/svg}"
PASSED = report(result(status="passed"), status=0)
CASES = [
    (PASSED, "100.0 %", "brightgreen"),
    (report(result()), "0.0 %", "red"),
    (report(result(status="passed"), status=10), "100.0 %, inconclusive", "lightgrey"),
    (report(result(status="error"), status=10), "not judged", "lightgrey"),
    (report(status=0), "not judged", "lightgrey"),
]


def image(made: Report) -> ET.Element:
    return ET.fromstring("".join(badge_image.write(made)))


@pytest.mark.parametrize(("made", "message", "colour"), CASES)
def test_the_data_and_the_picture_say_the_same(made: Report, message: str, colour: str) -> None:
    data = json.loads("".join(badge.write(made)))
    assert data == {"schemaVersion": 1, "label": "tool calls", "message": message, "color": colour}
    drawn = image(made)
    assert [text.text for text in drawn.iter(f"{SVG}text")] == ["tool calls", message]
    assert drawn.get("aria-label") == drawn.findtext(f"{SVG}title") == f"tool calls: {message}"


def test_colours_differ_between_right_wrong_and_not_judged() -> None:
    grounds = [[*image(made).iter(f"{SVG}rect")][-1].get("fill") for made, _, _ in CASES[:3]]
    assert len({*grounds}) == 3


@settings(max_examples=20)
@given(reports())
def test_texts_fit_between_the_edges(made: Report) -> None:
    drawn = image(made)
    boxes = [(float(rect.get("x", 0)), float(rect.get("width", 0))) for rect in drawn.iter(f"{SVG}rect")][1:]
    for (left, width), text in zip(boxes, drawn.iter(f"{SVG}text"), strict=True):
        half = float(text.get("textLength", 0)) / 2
        assert left < float(text.get("x", 0)) - half < float(text.get("x", 0)) + half < left + width
    assert sum(width for _, width in boxes) == float(drawn.get("width", 0))
