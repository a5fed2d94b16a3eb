"""JUnit files, which continuous integration reads."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from tests.by_night import by_night
from tests.integration.conftest import Shop
from tests.integration.exam import Exam


def test_properties_name_the_yaml_line_the_model_and_the_reasons(weather: Shop) -> None:
    weather.ask("--junitxml=report.xml")
    tree = ET.parse(weather.pytester.path / "report.xml")
    found = {
        case.get("name"): {one.get("name"): one.get("value") for one in case.iter("property")}
        for case in tree.iter("testcase")
    }
    lines = (weather.pytester.path / "cases/weather.fc.yaml").read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "id: fahrenheit" in text)
    assert float(found["fahrenheit"].pop("fcall_seconds") or "-1") >= 0
    assert found["fahrenheit"] == {
        "fcall_file": "cases/weather.fc.yaml",
        "fcall_line": str(line),
        "fcall_model": "python:echo:answer",
        "fcall_category": "simple",
        "fcall_asked": "1",
        "fcall_reasons": "wrong_value at calls[0].args.unit",
    }
    assert found["celsius"]["fcall_model"] == "python:echo:answer"


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_the_message_is_the_reason_and_the_text_has_the_place(weather: Shop, workers: str) -> None:
    weather.ask("--junitxml=report.xml", workers)
    failure = next(ET.parse(weather.pytester.path / "report.xml").iter("failure"))
    assert failure.get("message") == "wrong_value: `unit` is 'celsius', expected 'fahrenheit'"
    assert "  cases/weather.fc.yaml:18 asked python:echo:answer: " in (failure.text or "")


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_properties_tell_tokens_and_cost_where_they_are_known(exam: Exam, workers: str) -> None:
    exam.shop.pytester.makepyprojecttoml('[tool.fcall.prices."openai:exam"]\ninput = 25\noutput = 50\n')
    exam.cities("Oslo")
    exam.run("--junitxml=report.xml", workers)
    tree = ET.parse(exam.path / "report.xml")
    found = {one.get("name"): one.get("value") for one in tree.iter("property")}
    assert (found["fcall_tokens"], found["fcall_cost"]) == ("30", "0.001000")
