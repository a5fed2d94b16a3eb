from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.session.endings import SettingError
from pytest_fcall.session.result.report_files import ReportFile, parse_report, report_text, write_report
from tests.unit.reporting.reports.examples import report, result


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("badge:b.json", "badge", "b.json"),
        ("badge:b.SVG", "svg", "b.SVG"),
        ("b.svg", "svg", "b.svg"),
        ("r.xml", "junit", "r.xml"),
        ("ctrf:r.json", "ctrf", "r.json"),
        ("C:r.csv", "csv", "C:r.csv"),
        ("junit:-", "junit", None),
        ("svg", "svg", None),
    ],
)
def test_a_kind_or_a_suffix_says_what_is_written(text: str, kind: str, name: str | None) -> None:
    assert parse_report(text, Path("f")) == ReportFile(kind, Path("f") / name if name else None)


def test_a_suffix_of_another_kind_is_left_to_kinds_that_packages_add() -> None:
    assert parse_report("mine:b.svg", Path(), ["mine"]).kind == "mine"


def test_a_log_of_one_model_cannot_be_printed() -> None:
    pytest.importorskip("inspect_ai", reason="inspect_ai is an extra")
    with pytest.raises(SettingError, match=r"inspect: needs a file, such as inspect:run.eval"):
        parse_report("inspect:-", Path())


def test_each_model_has_a_file_of_its_own_where_a_file_is_about_one(tmp_path: Path) -> None:
    models = ["a:b", "A/b", "a-b-2", "…", "_"]
    results = [*(result(model=model) for model in models), result("faulty", "error", model="")]
    told = ReportFile("inspect", tmp_path / "logs" / "run.eval")
    paths = write_report(told, report(*results), lambda part: [f"{part.models} {len(part.results.results)}"])
    assert [path.name for path in paths] == [
        "run.a-b.eval",
        "run.A-b-2.eval",
        "run.a-b-2-2.eval",
        "run.model.eval",
        "run._.eval",
    ]
    assert [path.read_text(encoding="utf-8") for path in paths] == [f"{(model,)} 2" for model in models]


@pytest.mark.parametrize("models", [[], ["m"]])
def test_a_run_of_one_model_has_the_file_that_is_named(tmp_path: Path, models: list[str]) -> None:
    told = ReportFile("inspect", tmp_path / "run.eval")
    made = report(*(result(model=model) for model in models), result("faulty", "error", model=""))
    assert write_report(told, made, lambda _: [b"x"]) == [tmp_path / "run.eval"]


def test_bytes_and_text_are_printed_as_text() -> None:
    assert report_text(report(), lambda _: [b"\xff\xc3", b"\xa9", "\ud800"]) == "\\xffé\\ud800"
