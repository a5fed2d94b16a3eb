"""The example cases, and the replies of the embedded model that are kept beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import validator_for

from pytest_fcall.backends.local import local_backend
from pytest_fcall.backends.local.grammar import ANSWER_FORMS
from pytest_fcall.backends.local.prompts import smollm2_prompt
from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.recordings.file import read_recordings, recordings_path, write_recordings
from pytest_fcall.cases.case import plan_request
from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.core import Case, Model, Request, request_digest

ROOT = Path(__file__).parents[2]
CASE_FILES = sorted((ROOT / "cases").glob("*.fc.yaml"))
MODEL = Model("local", "smollm2")


def recorded_cases() -> Iterator[tuple[Case, Request, Recording | None]]:
    """The cases that are asked, with what is kept of each."""
    settings = local_backend(MODEL, ROOT).settings
    for path in CASE_FILES:
        recordings = read_recordings(recordings_path(path, MODEL), MODEL)
        assert not recordings.faults
        for entry in read_case_file(path, root=ROOT).entries:
            assert isinstance(entry, Case)
            if not entry.skip:
                request = plan_request(entry, settings)
                yield entry, request, recordings.find(request_digest(MODEL.id, request))


def test_no_worked_example_is_one_of_the_questions() -> None:
    case, request, _ = next(recorded_cases())
    shown = smollm2_prompt(request).casefold()
    assert case.tools
    own = str(case.turns[0].messages[-1]["content"]).casefold()
    for _, other, _ in recorded_cases():
        question = str(other.messages[-1]["content"]).casefold()
        assert question == own or f"user\n{question}<" not in shown


def test_every_case_has_its_answer() -> None:
    assert [case.id for case, _, recorded in recorded_cases() if recorded is None] == []


def test_every_answer_is_one_that_the_grammar_admits() -> None:
    for case, request, recorded in recorded_cases():
        assert recorded
        assert recorded.case == case.id
        if recorded.reply.finish == "stop":
            form: Any = ANSWER_FORMS["json"](request.tools)
            assert validator_for(form["json_schema"]).is_valid(json.loads(recorded.reply.text))


@pytest.mark.parametrize("path", CASE_FILES, ids=lambda path: path.name)
def test_the_files_of_answers_are_as_they_are_written(path: Path, tmp_path: Path) -> None:
    answers = recordings_path(path, MODEL)
    write_recordings(tmp_path / "again", MODEL, read_recordings(answers).entries)
    assert (tmp_path / "again").read_bytes() == answers.read_bytes()
