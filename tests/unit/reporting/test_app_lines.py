from __future__ import annotations

from pytest_fcall.reporting.app_lines import way_lines, way_remarks, with_known_ways
from pytest_fcall.reporting.results import Result, Way

UNSEEN = "sent no request through the proxy, though it is known to call models"


def result(case: str, way: Way, *, asks_models: bool = False, detours: tuple[str, ...] = ()) -> Result:
    nodeid = f"a.fc.yaml::{case}"
    return Result(
        nodeid, case, "python:app:f", "passed", file="a.fc.yaml", way=way, asks_models=asks_models, detours=detours
    )


def test_a_case_of_which_nothing_was_seen_is_told_only_where_its_app_asks_models() -> None:
    silent = result("silent", "unseen")
    assert way_lines([silent]) == []
    told = [
        f"1 case in which python:app:f {UNSEEN}:",
        "  a.fc.yaml:1 silent",
        "  its client may have an address of its own, or a cache answered; fc_inside = required makes it an error",
    ]
    assert way_lines([silent, result("asking", "proxy")]) == told
    assert way_lines([silent._replace(asks_models=True)]) == told
    assert way_lines([silent, result("asking", "proxy")._replace(model="python:app:g")]) == []


def test_many_cases_are_not_all_listed() -> None:
    lines = way_lines([result(f"c{number}", "unseen", asks_models=True) for number in range(1007)])
    assert lines[0] == f"1,007 cases in which python:app:f {UNSEEN}:"
    assert lines[-2] == "  and 1,002 more"
    assert len(lines) == 8


def test_stored_answers_are_counted() -> None:
    assert way_lines([result("a", "stored"), result("b", "stored")]) == [
        "2 cases in which python:app:f was not run: its stored answer stands for it, as nothing is recorded inside it"
    ]


def test_each_detour_is_listed_once() -> None:
    around = ("api.openai.com, at app.py:7",)
    assert way_lines([result("a", "proxy", detours=around), result("b", "unseen", detours=around)])[-2:] == [
        "2 cases in which python:app:f went around the proxy, which can neither record nor replay that:",
        "  api.openai.com, at app.py:7",
    ]


def test_a_case_is_marked_by_what_other_cases_show() -> None:
    silent, asking = with_known_ways([result("silent", "unseen"), result("asking", "proxy")])
    assert [*way_remarks(silent)] == [f"it {UNSEEN}"]
    assert [*way_remarks(asking)] == []
    assert [*way_remarks(result("silent", "unseen"))] == []
    assert [*way_remarks(result("a", "stored"))] == [
        "it was not run: its stored answer stands for it, as nothing is recorded inside it for this case"
    ]


def test_what_is_no_app_is_not_marked() -> None:
    (model,) = with_known_ways([result("a", "")])
    assert model == result("a", "")
