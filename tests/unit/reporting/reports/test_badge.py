from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given

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
    grounds = [image(made).find(f"{SVG}rect").get("fill") for made, _, _ in CASES[:3]]  # type: ignore[union-attr]
    assert len({*grounds}) == 3


@given(reports())
def test_texts_fit_between_the_edges(made: Report) -> None:
    drawn = image(made)
    edges = [0.0]
    for text in drawn.iter(f"{SVG}text"):
        middle, half = float(text.get("x", 0)), float(text.get("textLength", 0)) / 2
        assert edges[-1] < middle - half
        edges.append(middle + half)
    assert edges[-1] < float(drawn.get("width", 0))


def test_two_badges_on_a_page_have_no_id_in_common() -> None:
    assert not any(element.get("id") for element in image(PASSED).iter())
