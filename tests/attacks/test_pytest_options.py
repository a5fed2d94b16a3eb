"""Options, plugins that are switched off and surroundings under which pytest must never say INTERNALERROR."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.files import unprivileged
from tests.by_night import by_night
from tests.integration.command import python, run_pytest
from tests.servers import Server

CASES = """
tools: [{name: f, parameters: {properties: {x: {type: string}}}}]
cases:
  - {id: right, prompt: '[{"name": "f", "arguments": {"x": "a"}}]', expect: [{f: {x: a}}]}
  - {id: wrong, prompt: '[{"name": "f", "arguments": {"x": "b"}}]', expect: [{f: {x: a}}]}
  - {id: faulty, prompt: hi, expect: [{g: {}}]}
  - {id: excused, prompt: '[]', tags: [slow], xfail: {reason: because}, expect: [{f: {x: a}}]}
"""
PLAIN = """
def test_plain(fc_model):
    assert fc_model('[{"name": "f", "arguments": {"x": "a"}}]').calls == [{"f": {"x": "a"}}]


def test_wire(fc_wire):
    assert fc_wire.calls == []
"""
QUICK = (
    "-W error",
    "--strict -W error",
    "--strict-markers --strict-config",
    "-p no:terminal",
    "-p no:terminal -n2",
    "-p no:terminal -p no:junitxml -p no:cacheprovider -p no:warnings -p no:logging -p no:tmpdir",
    "-p no:capture",
    "-n2 -W error",
    "--co",
)
SLOW = (
    "--strict",
    "--strict-markers",
    *(
        f"-p no:{name}"
        for name in (
            "junitxml", "cacheprovider", "xdist", "warnings", "tmpdir", "logging", "skipping", "stepwise",
            "faulthandler",
            "monkeypatch", "recwarn", "unittest", "assertion", "threadexception", "unraisableexception", "debugging",
            "pastebin", "setuponly", "reports", "doctest",
        )
    ),
    "-s", "-x", "-v", "-vv", "-qqq", "-rA", "--setup-show", "--setup-plan", "--setup-only", "--fixtures", "--markers",
    "--stepwise", "--lf", "--ff", "--nf", "--import-mode=importlib", "--import-mode=append", "--assert=plain",
    "--tb=no",
    "--tb=native", "--tb=line", "--no-header", "--no-summary", "--color=yes", "--junitxml=report.xml", "--maxfail=1",
    "--durations=0", "--cache-clear", "--cache-show", "--runxfail", "--noconftest", "-c /dev/null", "--rootdir=..",
    "--confcutdir=/", "--deselect=a.fc.yaml::right", "-k right", "-m slow", "--doctest-modules", "--pyargs", "--debug",
    "-n2 -p no:logging", "-n2 --dist=loadfile", "-n2 --maxfail=1", "--co -q -p no:terminal",
    "-p no:terminal --fc-accept", "-p no:terminal --fc-dry-run", "-p no:terminal --fc-gate=accuracy>=0.9",
    "-p no:terminal --fc-replay", "-p no:terminal --fc-samples=3", "-p no:terminal --fc-model=openai:",
    "-W error --fc-replay", "-W error --fc-samples=3", "-W error --fc-accept", "-p no:terminal -W error -n2",
)  # fmt: skip
SURROUNDINGS = {
    "optimised": {"PYTHONOPTIMIZE": "2"},
    "warnings are errors": {"PYTHONWARNINGS": "error", "PYTHONDEVMODE": "1"},
    "no home": {"HOME": "/nowhere"},
    "an ASCII terminal": {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "no width": {"COLUMNS": "0", "TERM": "dumb"},
    "a width that is none": {"COLUMNS": "wide"},
    "no folder for temporary files": {"TMPDIR": "/nowhere"},
    "plugins are named": {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p pytest_fcall.plugin"},
    "no time zone": {"TZ": "Nowhere/At_All"},
    "in CI": {"CI": "true"},
}


@pytest.fixture
def project(tmp_path: Path, server: Server) -> Path:
    """A project with all that a run may meet, whose model is served."""
    (tmp_path / "a.fc.yaml").write_text(CASES, encoding="utf-8")
    (tmp_path / "test_plain.py").write_text(PLAIN, encoding="utf-8")
    ini = f"[pytest]\nfc_model = openai:exam?base_url={server.url}\nmarkers =\n    slow: takes long\n"
    (tmp_path / "pytest.ini").write_text(ini, encoding="utf-8")
    return tmp_path


def check(project: Path, *options: str, **environment: str) -> None:
    done = run_pytest(project, "--fc-live", *options, **{"OPENAI_API_KEY": "none"} | environment)
    said = done.stdout + done.stderr
    assert "INTERNALERROR" not in said
    assert "Traceback" not in said
    assert "Exception ignored" not in said
    assert done.returncode != pytest.ExitCode.INTERNAL_ERROR


@pytest.mark.parametrize("options", [*QUICK, *map(by_night, SLOW)])
def test_no_option_makes_an_internal_error(project: Path, options: str) -> None:
    check(project, *options.split())


@pytest.mark.nightly
def test_a_debugger_that_nobody_talks_to_ends_the_run(project: Path) -> None:
    done = python(project, "-m", "pytest", "--fc-live", "--pdb", OPENAI_API_KEY="none", **NO_ASYNCIO)
    assert "INTERNALERROR" not in done.stdout + done.stderr


@pytest.mark.nightly
@pytest.mark.parametrize("environment", SURROUNDINGS.values(), ids=SURROUNDINGS)
def test_no_surroundings_make_an_internal_error(project: Path, environment: dict[str, str]) -> None:
    done = python(project, "-m", "pytest", "--fc-live", **{"OPENAI_API_KEY": "none"} | NO_ASYNCIO | environment)
    said = done.stdout + done.stderr
    assert "INTERNALERROR" not in said
    assert "Traceback" not in said
    assert "1 failed, 3 passed, 1 xfailed" in said


NO_ASYNCIO = {"PYTEST_ADDOPTS": "-p no:asyncio"}
"""pytest-asyncio warns of a setting of its own, which is an error where warnings are."""


def test_warnings_that_are_errors_are_none_of_ours(project: Path) -> None:
    done = run_pytest(project, "--fc-live", "-W", "error", OPENAI_API_KEY="none")
    assert "1 failed, 3 passed, 1 xfailed, 1 error" in done.stdout
    assert "Warning" not in done.stdout


@pytest.mark.skipif(not unprivileged(), reason="root may write anywhere")
def test_a_folder_that_nobody_may_write_is_told_without_an_internal_error(project: Path) -> None:
    project.chmod(0o500)
    try:
        check(project)
    finally:
        project.chmod(0o700)
