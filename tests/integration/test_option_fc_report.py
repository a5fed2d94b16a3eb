"""`--fc-report`, `fc_report` and `fcall report`: files about a run."""

from __future__ import annotations

import csv
import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pytest_fcall.tracking.run_file import run_paths
from tests.by_night import by_night
from tests.integration.command import fcall, fcall_here, run_pytest
from tests.integration.conftest import Shop
from tests.integration.exam import called, weather_in

KINDS = ("html", "md", "json", "csv", "xml", "svg")


@pytest.fixture
def two(shop: Shop) -> Shop:
    """One right case, and one wrong."""
    shop.cases(
        weather_in(["Oslo"])
        + f"  - {{id: wrong, prompt: '{called('Rome')}', expect: [{{get_weather: {{city: Bern}}}}]}}\n"
    )
    return shop


def test_a_run_writes_the_reports_that_it_is_told_to(two: Shop) -> None:
    result = two.ask("--fc-report=out/report.md", "--fc-report=csv:table.txt")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["report: out/report.md", "report: table.txt"])
    text = (two.pytester.path / "out/report.md").read_text(encoding="utf-8")
    assert "### ❌ fcall: failed" in text
    assert "1 case failed." in text
    with (two.pytester.path / "table.txt").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["case"], row["right"], row["calls"]) for row in rows] == [
        ("Oslo", "1", '[{"get_weather": {"city": "Oslo"}}]'),
        ("wrong", "0", '[{"get_weather": {"city": "Rome"}}]'),
    ]


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_a_run_and_its_file_give_the_same_bytes(two: Shop, workers: str) -> None:
    two.ask(workers, *(f"--fc-report=run.{kind}" for kind in KINDS), "--fc-report=ctrf:run.ctrf")
    (two.pytester.path / "merged.json").write_bytes(run_paths(two.pytester.path)[0].read_bytes())
    done = fcall_here(two.pytester.path, "report", *(f"--output=file.{kind}" for kind in KINDS), "-o", "ctrf:file.ctrf")
    assert done.returncode == 0, done.stderr
    for kind in (*KINDS, "ctrf"):
        written, again = ((two.pytester.path / f"{name}.{kind}").read_bytes() for name in ("run", "file"))
        assert written == again


def test_what_cannot_be_read_of_an_earlier_run_costs_no_report(two: Shop) -> None:
    two.ask()
    (earlier,) = run_paths(two.pytester.path)
    run = json.loads(earlier.read_bytes())
    run["results"]["results"] = [{"nodeid": 5}, {"nodeid": "a", "status": "great"}, None, *run["results"]["results"]]
    earlier.write_text(json.dumps(run), encoding="utf-8")
    two.ask("--fc-report=r.html").stdout.fnmatch_lines(["report: r.html"])
    assert f'"earlier":["{run["started"]}"]' in (two.pytester.path / "r.html").read_text(encoding="utf-8")


def test_a_merged_run_gives_the_report_of_one_run(two: Shop) -> None:
    for shard in ("1/2", "2/2"):
        two.ask(f"--fc-shard={shard}")
    shards = [str(path) for path in run_paths(two.pytester.path)]
    assert fcall_here(two.pytester.path, "merge", *shards, "-o", "merged.json").returncode == 1
    merged = fcall_here(two.pytester.path, "report", "merged.json")
    assert "### ❌ fcall: failed" in merged.stdout
    assert "| 1/2 |" in merged.stdout
    assert "expected 'Bern'" in merged.stdout


def test_a_shard_says_that_its_gates_are_not_judged(two: Shop) -> None:
    two.ask("--fc-shard=1/2", "--fc-gate=accuracy>=1")
    assert "Gates are not judged: it is shard 1 of 2" in fcall_here(two.pytester.path, "report").stdout


def test_gates_stand_first_and_those_that_do_not_hold_before_others(two: Shop) -> None:
    two.ask("--fc-gate=cases>=1", "--fc-gate=accuracy>=0.9", "--fc-report=r.md")
    lines = (two.pytester.path / "r.md").read_text(encoding="utf-8").splitlines()
    gates = [line for line in lines if line.startswith("| <code>")]
    assert gates[0] == "| <code>accuracy&#62;=0.9</code> | 50.0 % | **does not hold** |"
    assert gates[1] == "| <code>cases&#62;=1</code> | 2 | holds |"


def test_a_merged_run_is_junit_xml_with_the_suites_of_all_parts(two: Shop) -> None:
    for shard in ("1/2", "2/2"):
        two.ask(f"--fc-shard={shard}")
    shards = [str(path) for path in run_paths(two.pytester.path)]
    fcall_here(two.pytester.path, "merge", *shards, "-o", "merged.json")
    assert fcall_here(two.pytester.path, "report", "merged.json", "-o", "junit:merged.txt").returncode == 0
    root = ET.parse(two.pytester.path / "merged.txt").getroot()
    found = {case.get("name"): [each.tag for each in case] for case in root.iter("testcase")}
    assert found == {"Oslo": ["properties", "system-out"], "wrong": ["properties", "failure", "system-out"]}


@pytest.mark.parametrize("name", [by_night("badge:b.svg"), "b.svg", by_night("svg:b.txt")])
def test_a_badge_is_a_picture_where_the_suffix_or_the_kind_says_so(two: Shop, name: str) -> None:
    two.ask()
    assert fcall_here(two.pytester.path, "report", "-o", name).returncode == 0
    (path,) = two.pytester.path.glob("b.*")
    assert 'aria-label="tool calls: 50.0 %"' in path.read_text(encoding="utf-8")


def test_annotations_stand_at_the_lines_of_the_cases(two: Shop) -> None:
    result = two.ask("--fc-report=github")
    result.stdout.fnmatch_lines(["::error file=cases/weather.fc.yaml,line=16,title=failed%3A wrong::*expected 'Bern'*"])


def test_an_annotation_of_a_mistake_in_a_case_is_its_first_line(shop: Shop) -> None:
    shop.cases("cases: [{id: a, prompt: Hi, expect: no_call, tgas: [x]}]", "bad.fc.yaml")
    result = shop.ask("--fc-report=github")
    result.stdout.re_match_lines([r"::error file=cases/bad\.fc\.yaml,line=\d+,title=.*::.* a case has no key `tgas`$"])


def test_the_configuration_names_reports_from_the_root(two: Shop) -> None:
    two.pytester.makeini("[pytest]\nfc_report =\n    reports/run.md\n    badge:reports/badge.json\n")
    (two.pytester.path / "elsewhere").mkdir()
    two.pytester.chdir()
    two.ask()
    assert (two.pytester.path / "reports/run.md").is_file()
    badge = json.loads((two.pytester.path / "reports/badge.json").read_text(encoding="utf-8"))
    assert badge == {"schemaVersion": 1, "label": "tool calls", "message": "50.0 %", "color": "red"}


@pytest.mark.parametrize("setting", ["on", "off"])
def test_the_summary_of_a_job_gets_the_report_behind_what_it_has(two: Shop, setting: str) -> None:
    summary = two.pytester.path / "summary.md"
    summary.write_text("# Before\n", encoding="utf-8")
    folder = two.pytester.path
    told = ("--fc-model=python:echo:answer", "-o", f"fc_step_summary={setting}")
    assert run_pytest(folder, *told, GITHUB_STEP_SUMMARY=str(summary)).returncode == 1
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("# Before\n")
    assert ("fcall: failed" in text) == (setting == "on")


def test_the_summary_of_a_job_is_written_where_no_run_is_kept(two: Shop) -> None:
    summary = two.pytester.path / "summary.md"
    run_pytest(two.pytester.path, "--fc-model=python:echo:answer", "-o", "fc_runs=0", GITHUB_STEP_SUMMARY=str(summary))
    assert "fcall: failed" in summary.read_text(encoding="utf-8")


def test_a_run_without_cases_writes_nothing_into_the_summary_of_a_job(shop: Shop) -> None:
    shop.file("test_plain.py", "def test_nothing(): pass\n")
    summary = shop.pytester.path / "summary.md"
    run_pytest(shop.pytester.path, GITHUB_STEP_SUMMARY=str(summary))
    assert not summary.exists()


@pytest.mark.parametrize(
    ("report", "line"),
    [
        ("out.pdf", "ERROR: --fc-report: the suffix of 'out.pdf' names no kind of report; suffixes: .html, .md, *"),
        ("out", "ERROR: --fc-report: the suffix of 'out' names no kind of report; *"),
        ("cvs:out", "ERROR: --fc-report: 'cvs' is no kind of report; suffixes: *; did you mean `csv`?"),
        ("inspect", "ERROR: --fc-report: inspect*"),
        ("echo.py/r.md", "ERROR: --fc-report: nothing can be written to */echo.py: File exists"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_runs(two: Shop, report: str, line: str) -> None:
    result = two.ask(f"--fc-report={report}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([line])


def test_a_kind_whose_package_is_missing_names_the_extra(two: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)  # as if it were not installed
    result = two.ask("--fc-report=run.eval")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    wanted = 'ERROR: --fc-report: inspect needs inspect_ai: pip install "pytest-fcall[[]inspect[]]"'
    result.stderr.fnmatch_lines([wanted])


def test_a_log_of_inspect_ai_is_written_for_each_model(two: Shop) -> None:
    log = pytest.importorskip("inspect_ai.log", reason="inspect_ai is an extra")
    told = two.ask("--fc-model=python:echo:answer_async", "--fc-report=logs/run.eval")
    names = ("run.python-echo-answer.eval", "run.python-echo-answer_async.eval")
    told.stdout.fnmatch_lines([f"report: logs/{name}" for name in names])
    for name in names:
        samples = log.read_eval_log(str(two.pytester.path / "logs" / name)).samples
        assert [(each.id, each.scores["fcall"].value) for each in samples] == [("Oslo", "C"), ("wrong", "I")]
    done = fcall(two.pytester.path, "score", "--cases", "cases", f"logs/{names[0]}")
    assert "wrong_value" in done.stdout


def test_a_file_that_cannot_be_written_in_the_end_is_told(two: Shop) -> None:
    (two.pytester.path / "r.md").mkdir()
    result = two.ask("--fc-report=r.md")
    result.stdout.fnmatch_lines(["the report is not written: *r.md"])
    assert result.ret == 1


def test_another_package_adds_a_kind(two: Shop) -> None:
    two.pytester.makeconftest(
        """
        def pytest_fcall_report_kinds(config):
            return {"count": lambda report: [f"{len(report.results.results)} results"]}
        """
    )
    two.ask("--fc-report=count:count.txt")
    assert (two.pytester.path / "count.txt").read_text(encoding="utf-8") == "2 results"


def test_a_kind_of_another_package_may_be_bytes(two: Shop) -> None:
    two.pytester.makeconftest(
        """
        def pytest_fcall_report_kinds(config):
            return {"raw": lambda report: [b"\\xff", "é"]}
        """
    )
    result = two.ask("--fc-report=raw:raw.bin", "--fc-report=raw")
    assert (two.pytester.path / "raw.bin").read_bytes() == b"\xff\xc3\xa9"
    result.stdout.fnmatch_lines(["\\xffé"])


def test_a_writer_of_another_package_that_fails_costs_its_own_report_only(two: Shop) -> None:
    two.pytester.makeconftest(
        """
        def fail(report):
            yield "half"
            raise LookupError("no such\\x1b[31m host")

        def pytest_fcall_report_kinds(config):
            return {"count": fail}
        """
    )
    result = two.ask("--fc-report=count:count.txt", "--fc-report=r.md")
    result.stdout.fnmatch_lines(["the report count is not written: LookupError: no such*host", "report: r.md"])
    result.stdout.no_fnmatch_line("*\x1b*")
    assert result.ret == 1
    assert not (two.pytester.path / "count.txt").exists()


def test_a_run_that_was_broken_off_is_never_reported_as_passed(shop: Shop) -> None:
    shop.cases(weather_in(["Oslo", "Rome"]))
    shop.pytester.makeconftest("def pytest_runtest_teardown(item):\n    raise KeyboardInterrupt\n")
    done = run_pytest(shop.pytester.path, "--fc-model=python:echo:answer", "--fc-report=r.md")
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    text = (shop.pytester.path / "r.md").read_text(encoding="utf-8")
    assert "fcall: inconclusive" in text
    assert "broken off" in text


def test_a_kind_that_is_built_in_cannot_be_added(two: Shop) -> None:
    two.pytester.makeconftest("def pytest_fcall_report_kinds(config):\n    return {'md': str}\n")
    result = two.ask("--fc-report=r.md")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *adds the kind of report 'md', which is there already"])


def test_a_run_is_kept_where_a_report_is_made_of_it(two: Shop) -> None:
    two.ask("-o", "fc_runs=0", "--fc-report=r.md")
    assert "expected 'Bern'" in (two.pytester.path / "r.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("content", ["{}", "no JSON", '{"fcall_run": 1, "id": "1", "started": "", "results": 3}'])
def test_a_file_that_is_no_run_is_told(two: Shop, tmp_path: Path, content: str) -> None:
    (two.pytester.path / "x.json").write_text(content, encoding="utf-8")
    done = fcall_here(two.pytester.path, "report", "x.json")
    assert done.returncode == 2
    assert "x.json: not a run file" in done.stderr


def test_the_runs_that_are_named_are_compared_with_the_last_of_them(two: Shop) -> None:
    for _ in range(3):
        two.ask("--fc-report=own.html")
    names = [path.name for path in run_paths(two.pytester.path)]

    def compared_with(*named: str) -> list[str]:
        done = fcall_here(two.pytester.path, "report", *named, "--output=html:-")
        data = json.loads(done.stdout.split('id="data">')[1].split("</script>")[0])
        return [pair["run"] + ".json" for pair in data["pairs"]]

    assert compared_with() == [names[1]]
    assert compared_with(*names) == [names[1], names[0]]
    assert compared_with(names[0]) == []
    again = fcall_here(two.pytester.path, "report", "--output=again.html")
    assert again.returncode == 0, again.stderr
    assert (two.pytester.path / "again.html").read_bytes() == (two.pytester.path / "own.html").read_bytes()
