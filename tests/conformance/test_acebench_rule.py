"""Answers to all questions of ACEBench, most with a mistake, judged by its own code and by ours."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from pytest_fcall.core import Case
from pytest_fcall.core.extension import Figure
from pytest_fcall.suites.acebench.categories import ASKED, CATEGORIES, LANGUAGES, PARTS, QuestionCategory
from pytest_fcall.suites.acebench.files import AceBenchQuestion
from pytest_fcall.suites.acebench.rule import judge_answer, judge_task, task_progress
from pytest_fcall.suites.acebench.scores import column_shares
from pytest_fcall.suites.acebench.suite import SETTINGS, AceBenchSuite
from pytest_fcall.suites.json_files import read_rows
from tests.conformance.conftest import Held
from tests.conformance.generated.ace_answers import call_answers, problem_answers, task_results
from tests.conformance.official.ace_process import CHECKOUT, AceProcess, all_questions

SIZES = {"en": 973, "zh": 967}

pytestmark = [
    pytest.mark.skipif(not CHECKOUT.is_dir(), reason="FCALL_ACEBENCH names no checkout of ACEBench"),
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def original() -> Iterator[AceProcess]:
    with AceProcess() as process:
        yield process


def answers(category: QuestionCategory, question: AceBenchQuestion) -> Iterator[Any]:
    chance = Random(question.id)  # noqa: S311
    if category.kind == "problem":
        return problem_answers(question.truth, chance)
    return call_answers(question.truth, question.functions, chance)


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_questions_are_read(language: str) -> None:
    cases = list(AceBenchSuite().cases(language, CHECKOUT))
    assert len(cases) == SIZES[language]
    assert all(isinstance(case, Case) for case in cases)


@pytest.mark.parametrize("language", LANGUAGES)
def test_requests_are_the_originals(language: str, original: AceProcess, held: Held) -> None:
    asked = {case.id: case for case in AceBenchSuite().cases(language, CHECKOUT) if isinstance(case, Case)}
    for category in ASKED:
        for row in read_rows(CHECKOUT / f"data_all/data_{language}/data_{category.name}.json"):
            request = original.ask("prompt", language=language, case=row.data)
            case = asked.pop(f"{language}_{row.data['id']}")
            assert [*case.turns[0].messages] == request.pop("messages")
            assert request == {"model": "gpt-4o", "top_p": 1, **SETTINGS}
            assert case.proposed_settings == SETTINGS
    assert not asked
    held("ACEBench", "requests, but for `top_p`", "the original's handler for APIs", SIZES[language])


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("category", ASKED, ids=lambda each: each.name)
def test_both_judges_say_the_same(
    category: QuestionCategory, language: str, original: AceProcess, every: int, held: Held
) -> None:
    differing, number = [], 0
    for question in all_questions(language, category)[::every]:
        for answer in answers(category, question):
            number += 1
            official = original.error_type(category, question, answer)
            ours = judge_answer(category, question.functions, question.truth, answer)
            if (ours.valid, ours.error_type) != (official is None, official):
                differing.append((question.id, answer, official, ours.error_type))
    assert not differing
    held("ACEBench", "verdict and error type", "the original evaluator, on made-up answers", number)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["agent_multi_turn", "agent_multi_step"])
def test_ends_of_tasks_are_judged_alike(name: str, language: str, original: AceProcess, held: Held) -> None:
    category, differing, number = CATEGORIES[name], [], 0
    for question in all_questions(language, category):
        for result, process in task_results(question.truth, question.milestones, Random(question.id)):  # noqa: S311
            number += 1
            told = original.evaluate(category, [(question, result)], [process])
            ours = judge_task(question.truth, result)
            progress = 1.0 if ours.valid else task_progress(question.milestones, process)
            error = f"case_error:{told['crash']}" if "crash" in told else dict(told["wrong"]).get(0)
            if error != ours.error_type or told.get("process_accuracy", round(progress, 3)) != round(progress, 3):
                differing.append((question.id, told, ours.error_type, progress))
    assert not differing
    held("ACEBench", "verdict and progress of agents", "the original evaluator, on changed right results", number)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.nightly if seed > 1 else ()) for seed in range(10)]
)
def test_scores_are_the_originals_to_the_last_digit(seed: int, language: str, original: AceProcess, held: Held) -> None:
    chance = Random(seed)  # noqa: S311
    scores: dict[str, Any] = {}
    groups: dict[tuple[str, str], list[float]] = {}
    for category in CATEGORIES.values():
        given, steps = [], []
        for question in all_questions(language, category):
            result, process, numbers = _some_result(category, question, chance)
            given.append((question, result))
            steps.append(process)
            dialogue = question.id.split("_")[-2] if category.kind == "dialogue" else ""
            before = groups.get((category.name, dialogue), [0, 0, 0])
            groups[category.name, dialogue] = [one + other for one, other in zip(before, numbers, strict=True)]
        told = original.evaluate(category, given, steps)
        scores[f"data_{category.name}"] = {**told, "accuracy": told.get("accuracy", told.get("end_to_end_accuracy"))}
    table = original.ask("table", scores=scores)
    assert table.pop("Model") == "model"
    # The original puts the figures of the two under each other's title.
    table["object_short"], table["object_deep"] = table["object_deep"], table["object_short"]
    assert column_shares(groups) == table
    held("ACEBench", "columns of the table of a model, but for two titles", "the original evaluator", len(table))


def _some_result(
    category: QuestionCategory, question: AceBenchQuestion, chance: Random
) -> tuple[Any, list[str], list[float]]:
    """A result on which the original does not end, and what it adds to scores."""
    while True:
        if category.kind == "agent":
            result, process = chance.choice([*task_results(question.truth, question.milestones, chance)])
            ruling = judge_task(question.truth, result)
            progress = 1.0 if ruling.valid else task_progress(question.milestones, process)
        else:
            result, process, progress = chance.choice([*answers(category, question)][: chance.choice((1, 40))]), [], 0.0
            ruling = judge_answer(category, question.functions, question.truth, result)
        if not str(ruling.error_type).startswith("case_error"):
            return result, process, [int(ruling.valid), 1, progress]


def test_a_run_asks_no_agents_and_says_so() -> None:
    tallies = {
        f"{part}_0_0" if category.kind == "dialogue" else f"{part}_0": (1, 1) for part, (_, category) in PARTS.items()
    }
    summaries = [each for each in AceBenchSuite().case_figures(tallies) if each.name == "Summary"]
    assert summaries == [Figure("Summary", 0.846, of, "agents not asked: wrong") for of in LANGUAGES]
