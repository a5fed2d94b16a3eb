from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_fcall.cli import main
from tests.integration.command import fcall, python


def test_help_names_all_commands(tmp_path: Path) -> None:
    done = fcall(tmp_path, "--help")
    assert done.returncode == 0
    for command in ("init", "lint", "record", "schema", "tools"):
        assert f"\n  {command} " in done.stdout


def test_no_command_shows_the_help_and_is_a_usage_error(tmp_path: Path) -> None:
    done = fcall(tmp_path)
    assert done.returncode == 2
    assert "commands:" in done.stdout


def test_the_version_is_shown(tmp_path: Path) -> None:
    done = fcall(tmp_path, "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("pytest-fcall 0.")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a folder that somebody is in")
def test_a_folder_that_is_gone_is_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["--version"]) == 0
    assert main(["lint", "cases"]) != 0
    shown = capsys.readouterr()
    assert shown.out.startswith("pytest-fcall ")
    assert "Traceback" not in shown.err


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("lnt", "unknown command 'lnt'; did you mean `lint`?"),
        ("tool", "unknown command 'tool'; did you mean `tools`?"),
        ("xyz", "unknown command 'xyz'\n"),
        ("__main__", "unknown command '__main__'"),
    ],
)
def test_an_unknown_command_is_named_with_a_suggestion(
    capsys: pytest.CaptureFixture[str], word: str, said: str
) -> None:
    assert main([word]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("command", ["init", "lint", "record", "schema", "tools lock"])
def test_every_command_shows_examples(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert main([*command.split(), "--help"]) == 0
    assert f"examples:\n  fcall {command}" in capsys.readouterr().out


def test_each_action_of_tools_has_a_help_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {}
    for action in ("lock", "diff", "list", "coverage"):
        assert main(["tools", action, "--help"]) == 0
        shown[action] = capsys.readouterr().out
        assert shown[action].startswith(f"usage: fcall tools {action} ")
    assert {action for action, text in shown.items() if "--timeout" in text} == {"lock", "diff"}


def test_the_help_of_score_has_the_options_of_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--help"]) == 0
    shown = capsys.readouterr().out
    for name, option in (("apibench", "--api-db DIR"), ("bfcl", "--cases FILE"), ("toolbench", "--objects FILE")):
        assert option in shown.partition(f"options with --format {name}:")[2].partition("options with")[0]


def test_the_help_of_score_for_a_format_has_its_options_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--format", "toolbench", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--objects FILE" in shown
    assert "--api-db" not in shown


def test_score_without_a_format_asks_for_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "rows.jsonl"]) == 2
    assert "the following arguments are required: --format\n" in capsys.readouterr().err


@pytest.mark.nightly  # Pythons from their very start, for speed alone
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_what_needs_no_case_file_loads_nothing_heavy(tmp_path: Path, option: str) -> None:
    code = (
        "import sys\nfrom pytest_fcall.cli import main\n"
        f"main([{option!r}])\n"
        "print(sorted({'yaml', 'pytest', 'asyncio', 'jsonschema_rs', 'openai', 'mcp'} & set(sys.modules)))"
    )
    done = python(tmp_path, "-c", code)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_reader_that_stops_reading_is_no_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest_fcall.cli", "schema"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as schema:
        assert schema.stdout is not None
        assert schema.stderr is not None
        schema.stdout.close()
        assert schema.stderr.read() == ""


def test_what_a_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    done = fcall(tmp_path, "lint", "caf\u00e9", PYTHONIOENCODING="ascii")
    assert done.returncode == 2
    assert "no such file or folder: caf\\xe9" in done.stderr
