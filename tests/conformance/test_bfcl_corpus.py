"""Real answers of models, with the verdicts of the official checker.

The rows are not ours to pass on: FCALL_CORPUS names a folder that holds them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.core import Json, Location
from pytest_fcall.matching.bfcl.checker import check_answer
from pytest_fcall.matching.bfcl.official_case import OfficialCase, official_case
from pytest_fcall.schema.tool_schema import ToolSchema, tool_schema
from pytest_fcall.suites.bfcl.answers import BfclAnswer
from pytest_fcall.suites.bfcl.cases import BfclCase, case_of
from pytest_fcall.suites.bfcl.disguise import disguise_row
from pytest_fcall.suites.bfcl.judge import score_answer
from tests.bfcl_data import write_rows
from tests.by_night import is_night
from tests.conformance.conftest import Held
from tests.conformance.corpus import read_cases, rows, write_part
from tests.integration.command import fcall

CORPUS = Path(os.environ.get("FCALL_CORPUS") or "no-corpus").absolute()
CASES, ROWS = CORPUS / "bfcl_cases.jsonl.gz", (CORPUS / "bfcl_verdicts.jsonl.gz", CORPUS / "bfcl_mutants.jsonl.gz")

UNLIKE = {
    "live_simple_106-63-0": "a list stands in place of the list of alternatives",
    "live_simple_112-68-0": "a list stands in place of the list of alternatives",
    "simple_java_64": "a key of an object has a value and no list of alternatives",
    "live_multiple_862-181-3": "an argument is asked for that the function does not have",
    "live_multiple_964-207-0": "an argument is asked for that the function does not have",
}
"""Cases whose ground truth is broken: `strict` takes it for what was meant."""

pytestmark = pytest.mark.skipif(not CASES.is_file(), reason="FCALL_CORPUS names no folder with the corpus of answers")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "source" in metafunc.fixturenames:
        metafunc.parametrize("source", ["raw", "decoded"] if is_night(metafunc.config) else ["raw"])


def test_every_verdict_and_every_error_type_is_the_official_one(
    source: str, every: int, tmp_path: Path, held: Held
) -> None:
    judged = [write_part(path, tmp_path, every).name for path in ROWS]
    cases = ("--cases", str(CASES), "--from", source)
    done = fcall(tmp_path, "score", "--format", "bfcl", *cases, "--compare", "-j", "2", *judged)
    assert done.returncode == 0, done.stderr
    counts = re.findall(r"^(\w+): ([\d,]+) of ([\d,]+) agree with the rows$", done.stderr, re.MULTILINE)
    assert [key for key, _, _ in counts] == ["valid", "error_type"]
    answered = done.stdout.count("\n")
    assert {number for _, *numbers in counts for number in numbers} == {f"{answered:,}"}
    said = "raw output" if source == "raw" else "decoded calls"
    held("BFCL", f"verdict and error type of single turns, from {said}", "official verdicts on 38 models", answered)


def test_the_rows_that_are_judged_have_every_official_error_type(every: int) -> None:
    told = [[row["error_type"] for row in rows(path)] for path in ROWS]
    assert {error for each in told for error in each} == {error for each in told for error in each[::every]}


def test_files_of_results_are_judged_officially_though_they_do_not_say_how_the_model_was_asked(
    every: int, tmp_path: Path, held: Held
) -> None:
    files: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows(ROWS[0]):
        if row["decoder"] in ("fc_json", "prompt_default"):
            handler = (row["model"], row["style"], str(row["underscore_to_dot"]), row["category"])
            files.setdefault(handler, []).append(row)
    step = min(every**2, 25)  # of fewer files, whole kinds would be missing
    for number, answered in enumerate([*files.values()][::step]):
        kept = ("id", "valid", "error_type")
        results = [{**{key: row[key] for key in kept}, "result": row["raw"]} for row in answered]
        write_rows(tmp_path / f"{number}_result.jsonl", results)
    done = fcall(
        tmp_path,
        *("score", "--format", "bfcl", "--cases", str(CASES), "--compare"),
        *(path.name for path in sorted(tmp_path.iterdir())),
    )
    assert done.returncode == 0, done.stderr
    count = done.stdout.count("\n")
    assert count > 10_000 / step
    claim = "verdict and error type of single turns, from files that do not say how the model was asked"
    held("BFCL", claim, "official verdicts on 38 models", count)


def test_a_right_answer_to_every_case_is_right_under_strict(every: int) -> None:
    step = min(every, 5)
    asked = [case for case in read_cases(step) if case.expect.kind == "calls"]
    refused = {
        case.case.id: [reason.message for reason in verdict.reasons]
        for case in asked
        if not (verdict := score_answer(case, BfclAnswer("decoded", right_answer(case))).strict.verdict).valid
    }
    assert len(asked) > 2_000 / step
    assert refused == {}


def test_a_question_in_disguise_has_the_right_answers_of_the_published_one_by_other_names(every: int) -> None:
    for row in islice(rows(CASES), 0, None, every):
        if any(kind in str(row["category"]) for kind in ("java", "relevance")):
            continue
        published, hidden = (case_of(each, Location(CASES.name)) for each in (row, disguise_row(row)))
        answers = BfclAnswer("decoded", right_answer(published)), BfclAnswer("decoded", right_answer(hidden))
        assert is_right(hidden, answers[1]) == is_right(published, answers[0]), row["id"]
        assert not is_right(hidden, answers[0]), row["id"]


def is_right(case: BfclCase, answer: BfclAnswer) -> bool:
    return score_answer(case, answer).official.ruling.valid


def test_the_expectation_says_all_that_the_ground_truth_says(every: int) -> None:
    """Told of the case by way of its expectation, the official rules judge as they do by the ground truth."""
    unlike = {case.case.id for case in read_cases(every, UNLIKE) if not same_exam(case)}
    assert unlike == UNLIKE.keys()


def same_exam(case: BfclCase) -> bool:
    again = official_case(case.expect, case.case.tools, case.official_case.language)
    again = replace(
        again, category=case.official_case.category
    )  # the expectation does not say how many calls were hinted at
    return omittable_last(again.truth) == omittable_last(case.official_case.truth) and all(
        ruling(case.official_case, answer) == ruling(again, answer) for answer in [[], *changed(case)]
    )


def omittable_last(truth: Any) -> Any:
    if isinstance(truth, dict):
        return {key: omittable_last(value) for key, value in truth.items()}
    if isinstance(truth, list):
        return sorted(map(omittable_last, truth), key=lambda value: value == "")
    return truth


def ruling(exam: OfficialCase, answer: Json) -> tuple[bool, str | None]:
    found = check_answer(exam, answer)
    return found.valid, found.error_type


def right_answer(case: BfclCase) -> list[dict[str, dict[str, Any]]]:
    """Decoded calls with a value for each argument that must be given, one that the schema allows."""
    known = {tool.name: tool_schema(tool) for tool in case.case.tools}
    return [
        {
            name: {
                key: given(key, options, known[name])
                for key, options in arguments.items()
                if key in known[name].required or (key in known[name].parameters and "" not in options)
            }
            | dict.fromkeys(known[name].required - arguments.keys(), "anything")
            for name, arguments in call.items()
        }
        for call in case.official_case.truth
    ]


def given(key: str, options: Sequence[Json], schema: ToolSchema) -> Json:
    values = [example(option) for option in options] or [[]]
    return next((value for value in values if not schema.check_at((key,), value)), values[0])


def example(option: Json) -> Json:
    """A value that an alternative allows."""
    if isinstance(option, list):
        return [example(item) if isinstance(item, dict) else item for item in option]
    if not isinstance(option, dict):
        return option
    lists = {key: options if isinstance(options, list) else [options] for key, options in option.items()}
    return {key: options[0] for key, options in lists.items() if "" not in options}


def changed(case: BfclCase) -> Iterator[list[dict[str, dict[str, Any]]]]:
    """The right answer, and others that differ from it in one argument."""
    right = right_answer(case)
    yield right
    yield right[::-1]
    yield right[1:]
    for index, call in enumerate(right):
        ((name, arguments),) = call.items()
        options = case.official_case.truth[index][name]
        for key in {**arguments, **options, "invented": []}:
            without = {other: value for other, value in arguments.items() if other != key}
            told = options.get(key, [])
            for value in [None, "", [], {}, 1, 1.0, True, "?", *(example(option) for option in told)]:
                yield [*right[:index], {name: {**without, key: value}}, *right[index + 1 :]]
            yield [*right[:index], {name: without}, *right[index + 1 :]]
