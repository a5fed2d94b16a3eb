"""`fc_store` where no server is at hand. What it does with one: tests/hosts."""

from __future__ import annotations

import sys

import pytest

from tests.attacks.commands import said
from tests.integration.exam import Exam

SECRET = "pa55word-of-ours"  # noqa: S105
STORE = f"postgresql://ci:{SECRET}@127.0.0.1:1/replies"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("redis://127.0.0.1", "fc_store must be an address such as postgresql://user@host/database?project=NAME; *"),
        (STORE, "fc_store must name the project whose replies are meant, once: …?project=NAME"),
        ("${NOT_SET}", "fc_store needs the environment variable NOT_SET, which is not set"),
    ],
)
def test_what_is_no_address_is_refused_by_runs_and_commands(exam: Exam, written: str, message: str) -> None:
    exam.cities("Oslo")
    exam.shop.file("pytest.ini", f"[pytest]\nfc_store = {written}\n")
    result = exam.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    status, text = said(exam.path, "record", "--stats")
    assert (status, text.startswith(f"fcall record: {message.removesuffix('*')}")) == (1, True), text
    assert SECRET not in result.stderr.str() + result.stdout.str() + text


def test_without_the_driver_nothing_is_asked_and_the_extra_is_named(
    exam: Exam, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    exam.cities("Oslo")
    exam.shop.file("pytest.ini", f"[pytest]\nfc_store = {STORE}?project=shop\n")
    result = exam.run("-rN")
    assert (result.ret, exam.asked()) == (10, [])
    place = "recorded replies in postgresql://127.0.0.1:1/replies (project shop)"
    result.stdout.fnmatch_lines([f'{place}: this needs psycopg: pip install "pytest-fcall?postgres?" *'])
    assert SECRET not in result.stdout.str()
    exam.run("--fc-record=off").assert_outcomes(passed=1)


def test_a_configuration_without_it_is_not_read_by_commands(exam: Exam) -> None:
    exam.shop.pytester.makeconftest("raise RuntimeError('read')")
    exam.shop.file("pytest.ini", "[pytest]\n")
    assert said(exam.path, "record", "--stats") == (0, "no replies are recorded in .fcall/replies.db\n")
    exam.shop.file("pytest.ini", f"[pytest]\nfc_store = {STORE}?project=shop\n")
    status, text = said(exam.path, "record", "--stats")
    assert status == 1
    assert text.startswith("fcall record: fc_store is not known, because pytest cannot read the configuration: ")
