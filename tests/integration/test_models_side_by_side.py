"""Several models in one run: the cases that they answer differently stand side by side."""

from __future__ import annotations

import pytest

from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.conftest import Shop

APP = """
def steady(request):
    return [{"name": "get_weather", "arguments": {"city": "Oslo"}}]


def wavering(request):
    case = request.messages[-1]["content"]
    return [{"name": "get_weather", "arguments": {"city": "Oslo" if case < "case03" else "Rome"}}]
"""
MODELS = ["--fc-model=python:two:steady", "--fc-model=python:two:wavering"]


@pytest.fixture
def two(shop: Shop) -> Shop:
    """Fifteen cases, of which one model has all right, and the other three."""
    shop.pytester.makepyfile(two=APP)
    ids = [f"case{number:02}" for number in range(15)]
    shop.cases(
        "cases:\n"
        + "".join(f"  - {{id: {id_}, prompt: {id_}, expect: [{{get_weather: {{city: Oslo}}}}]}}\n" for id_ in ids)
    )
    return shop


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_cases_that_one_has_right_and_the_other_wrong_have_a_row(two: Shop, workers: str) -> None:
    lines = two.run(*MODELS, workers).outlines

    start = lines.index("right by one model and wrong by another: 12")
    assert lines[start + 1].split() == ["python:two:steady", "python:two:wavering"]
    assert lines[start + 2] == '  case03  ✓ get_weather(city: "Oslo")  ✗ get_weather(city: "Rome")'
    assert lines[start + 12] == "  and 2 more; `fcall show --differing` lists all"


def test_the_command_lists_all_of_them(two: Shop) -> None:
    two.run(*MODELS)

    lines = fcall_here(two.pytester.path, "show", "--differing", COLUMNS="100").stdout.splitlines()

    assert len(lines) == 14
    assert lines[-1].split()[0] == "case14"


def test_one_model_has_nobody_to_differ_from(two: Shop) -> None:
    assert "right by one" not in two.run(MODELS[1]).stdout.str()


def test_answers_that_begin_alike_are_shown_from_where_they_differ(two: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")

    lines = two.run(*MODELS).outlines

    start = lines.index("right by one model and wrong by another: 12")
    assert lines[start + 2] == '  case03  ✓ …ity: "Oslo")      ✗ …ity: "Rome")'


def test_names_in_the_table_are_whole_in_a_file_and_in_a_pipe(two: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    name = "a_part_of_the_suite_with_quite_a_long_name_and_more"
    expected = "expect: [{get_weather: {city: Oslo}}]"
    two.cases(
        "cases:\n"
        f"  - {{id: case00, prompt: case00, {expected}}}\n"
        f"  - {{id: case04, prompt: case04, tags: [{name}], {expected}}}\n"
        f"  - {{id: case05, prompt: case05, {expected}}}\n"
    )
    lines = two.run(*MODELS).outlines
    assert [line.split()[:3] for line in lines if name in line] == [["tag", name, "0/1"]]
