from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.core import Calls, Case, FaultyCase, Json, Operator, Reply
from pytest_fcall.suites.apibench.constraints import fulfilment, named_constraints, read_constraints
from pytest_fcall.suites.apibench.documented_figures import read_figures
from pytest_fcall.suites.apibench.grades import CONSTRAINT_SCORES, STRICT_SCORES
from pytest_fcall.suites.apibench.strict_rule import api_call
from pytest_fcall.suites.apibench.suite import ApiBenchSuite
from tests.by_night import by_night


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("It uses less than 10M parameters.", ["less than 10,000,000 parameters"]),
        ("Fewer than 5.5 million params, please", ["less than 5,500,000 parameters"]),
        ("parameters under 10M", ["less than 10,000,000 parameters"]),
        ("a model of 10M parameters or fewer", ["at most 10,000,000 parameters"]),
        ("no more than 1,000,000 parameters", ["at most 1,000,000 parameters"]),
        ("It needs at least 1B parameters", ["at least 1,000,000,000 parameters"]),
        ("with at least 80% accuracy on the ImageNet dataset.", ["at least 80 % accuracy on ImageNet"]),
        ("scored 85% or more Top-1 accuracy on ImageNet.", ["at least 85 % top-1 on ImageNet"]),
        ("achieve more than 80% top-1 accuracy on ImageNet without tricks?", ["more than 80 % top-1 on ImageNet"]),
        ("with an accuracy of 80% or higher on the ImageNet dataset.", ["at least 80 % accuracy on ImageNet"]),
        ("boosts ResNet-50 to 80%+ top-1 accuracy on ImageNet for crops", ["at least 80 % top-1 on ImageNet"]),
        ("pretrained on ImageNet and achieves at least 80% top-1 accuracy.", ["at least 80 % top-1"]),
        ("It should reach an accuracy of 80%", ["at least 80 % accuracy"]),
        ("accuracy on ImageNet of at least 80 percent", ["at least 80 % accuracy on ImageNet"]),
        ("The accuracy should be above 0.9", ["more than 90 % accuracy"]),
        ("Use something with F1 above 0.9 on SQuAD", ["more than 90 % F1 on SQuAD"]),
        ("ImageNet accuracy of at least 70%", ["at least 70 % accuracy on ImageNet"]),
        ("Its COCO 2017 mAP must be over 50", ["more than 50 % mAP on COCO 2017"]),
        (
            "uses less than 10M parameters, but maintains an ImageNet accuracy of at least 70%",
            ["less than 10,000,000 parameters", "at least 70 % accuracy on ImageNet"],
        ),
        ("at least 0.5% accuracy", ["at least 0.5 % accuracy"]),
        ("top-1 of at least 75.5% and top-5 of at least 93%", ["at least 75.5 % top-1", "at least 93 % top-5"]),
    ],
)
def test_a_bound_is_read_from_a_question(question: str, read: list[str]) -> None:
    found = read_constraints(question)
    assert [str(each) for each in found.known] == read
    assert found.unread == ()


@pytest.mark.parametrize(
    ("question", "unread"),
    [
        ("It should have at most five million parameters.", ("parameter_count",)),
        ("The parameters must stay around 5M.", ("parameter_count",)),
        ("I have room for 5.5M params", ("parameter_count",)),
        ("between 5M and 10M parameters", ("parameter_count",)),
        ("The current one has an accuracy of 80%.", ("accuracy_bound",)),
        ("top-1 error below 25%", ("accuracy_bound",)),
        ("an accuracy over 80 %. It has 1.5B params at most", ("parameter_count",)),
        ("top-1 of at least 75% and a top-5 accuracy around 90%", ("accuracy_bound",)),
        ("less than 2% accuracy drop", ("accuracy_bound",)),
        ("within 5% accuracy of the best", ("accuracy_bound",)),
        ("at least 5% accuracy improvement over ResNet", ("accuracy_bound",)),
        ("improves the accuracy by at least 5%", ("accuracy_bound",)),
    ],
)
def test_what_is_asked_for_in_other_words_is_known_to_be_unread(question: str, unread: tuple[str, ...]) -> None:
    assert read_constraints(question).unread == unread


@pytest.mark.parametrize(
    "question",
    [
        "Translate this.",
        "Which parameters does it take?",
        "It takes many parameters, and 5 minutes.",
        "A function that takes 2 parameters, or three parameters.",
        "I need high accuracy.",
        "Boost the accuracy of a Resnet-50.",
        "Find a depth map of at least 5 scenes over 50 days.",
        "Identify 102 types of flowers accurately.",
        "What is the similarity score of 2 sentences?",
        "A discount of at least 30%!",
    ],
)
def test_other_numbers_are_no_constraints(question: str) -> None:
    assert not read_constraints(question)


@pytest.mark.parametrize("count", [5_000, by_night(20_000)])
def test_hostile_questions_are_read_in_no_time(count: int) -> None:
    for piece in ("at least ", "accuracy of ", "1 ", "Aa ", "on A ", "9,999", "accuracy on A ", "<=5M parameters "):
        read_constraints(piece * count)


TINY: dict[str, Json] = {"dataset": "Zoo", "accuracy": {"top-1": 67.6}, "parameters": "2M"}


@pytest.mark.parametrize(
    ("question", "performance", "found"),
    [
        ("at least 67.6% accuracy", [TINY], "met"),
        ("more than 67.6% accuracy", [TINY], "unmet"),
        ("at most 2M parameters", [TINY], "met"),
        ("under 2M parameters", [TINY], "unmet"),
        ("at least 60% accuracy on Zoo", [TINY], "met"),
        ("at least 60% accuracy on ImageNet", [TINY], "not judged"),
        ("at least 60% top-5 accuracy", [TINY], "not judged"),
        ("at least 60% accuracy", [{}], "not judged"),
        ("at least 60% accuracy", [TINY, {"accuracy": 70}], "met"),
        ("at least 69% accuracy", [TINY, {"accuracy": 70}], "not judged"),
        ("at least 90% accuracy and under 5M parameters", [{"parameters": "9M"}], "unmet"),
        ("at least 60% accuracy and fewer parameters than AlexNet", [TINY], "not judged"),
        ("at most five million parameters", [TINY], "not judged"),
        ("at least 90% accuracy and fewer parameters than AlexNet", [TINY], "unmet"),
        ("at least 60% accuracy and under 5M parameters", [TINY], "met"),
    ],
)
def test_a_constraint_is_met_by_what_all_documents_say(question: str, performance: list[Json], found: str) -> None:
    figures = [read_figures({"performance": each}) for each in performance]
    assert fulfilment(read_constraints(question), figures).fulfilment == found


@pytest.mark.parametrize("text", ["80%", "", "fewer parameters", "at least 80% accuracy and under 5M parameters"])
def test_a_constraint_that_a_person_names_must_be_clear(text: str) -> None:
    with pytest.raises(ValueError, match="is no constraint; write"):
        named_constraints([text])


APIS: list[dict[str, Json]] = [
    {"domain": "Vision", "api_call": "load('tiny')", "performance": TINY},
    {"domain": "Vision", "api_call": "load('big')", "performance": {"accuracy": 85, "params": "60M"}},
    {"domain": "Vision", "api_call": "load('dim')", "performance": {"accuracy": "N/A"}},
    {"domain": "Speech", "api_call": "load('loud')", "performance": {"accuracy": 99}},
]
ASKED = "Find people with at least 80% accuracy."


def only(folder: Path, question: str = ASKED, **fields: Json) -> Case | FaultyCase:
    (folder / "mine_api.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in APIS))
    row = {"code": f"###Instruction: {question}", "api_call": "load('big')", "api_data": APIS[1], **fields}
    (folder / "mine_eval.json").write_text(json.dumps(row))
    (case,) = ApiBenchSuite().cases("mine", folder)
    return case


@pytest.mark.parametrize(
    ("answer", "grades", "score", "why"),
    [
        ("load('big')", "", "constraints_met", ""),
        (
            "load('tiny')",
            "",
            "constraints_unmet",
            "constraint unmet: 67.6 % accuracy; asked for at least 80 % accuracy",
        ),
        (
            "load('dim')",
            "",
            "constraints_unjudged",
            "constraint not judged: the document has no such figure; asked",
        ),
        ("load('loud')", "wrong", "constraints_met", ""),
        ("load('none')", "hallucination", "constraints_unmet", "constraint unmet: no API of the data base is called"),
        ("Sorry.", "unparsable", "constraints_unmet", "constraint unmet: no API of the data base is called"),
    ],
)
def test_the_verdict_on_constraints_stands_beside_that_on_the_call(
    tmp_path: Path, answer: str, grades: str, score: str, why: str
) -> None:
    case = only(tmp_path)
    assert isinstance(case, Case)
    assert case.judge is not None
    assert case.tags == ("accuracy_bound",)
    verdict = case.judge(case, Reply(answer), Calls())
    told = [reason.message for reason in verdict.reasons]
    assert verdict.valid is (not told)
    expected = [text for text in (grades, why) if text]
    assert [text[: len(start)] for text, start in zip(told, expected, strict=True)] == expected
    assert {name: verdict.scores[name] for name in CONSTRAINT_SCORES} == {
        name: (float(name == score), 1.0) for name in CONSTRAINT_SCORES
    }
    assert verdict.scores["domain_accuracy"] == (float(not grades), 1.0)
    assert ApiBenchSuite().scores(case) == {"mine": (*STRICT_SCORES, *CONSTRAINT_SCORES)}
    original = replace(case, rules=case.rules._replace(profile="original"))
    assert not set(CONSTRAINT_SCORES) & {*ApiBenchSuite().scores(original)["mine"]}


@pytest.mark.parametrize("bound", ["", " and at least 60% accuracy"])
def test_a_comparison_without_a_number_is_told_and_does_not_bind(tmp_path: Path, bound: str) -> None:
    question = f"Find people with 50x fewer parameters than AlexNet{bound}."
    case = only(tmp_path, question)
    assert isinstance(case, Case)
    assert case.judge is not None
    assert case.tags == (("parameter_count", "accuracy_bound") if bound else ("parameter_count",))
    verdict = case.judge(case, Reply("load('tiny')"), Calls())
    assert verdict.valid
    assert "Constraint not judged: the question compares numbers of parameters, and names none." in verdict.notes
    assert verdict.scores["constraints_unjudged"] == (1.0, 1.0)
    (plain,) = ApiBenchSuite().plain("mine", tmp_path)
    assert isinstance(plain, Case)


def test_the_row_of_the_answer_may_say_what_is_asked_for(tmp_path: Path) -> None:
    case = only(tmp_path, "Find people with fewer parameters than AlexNet.", constraints=["under 61M parameters"])
    assert isinstance(case, Case)
    assert case.judge is not None
    assert case.tags == ("parameter_count",)
    assert case.judge(case, Reply("load('big')"), Calls()).valid
    free = only(tmp_path, constraints=[])
    assert isinstance(free, Case)
    assert free.judge is not None
    assert free.judge(free, Reply("load('dim')"), Calls()).valid
    for wrong in ("5M", [5], ["5M"]):
        faulty = only(tmp_path, constraints=wrong)
        assert isinstance(faulty, FaultyCase)
        assert "invalid `constraints` in the answer" in faulty.faults[0].message


def test_an_imported_case_takes_only_what_is_known_to_meet_the_constraints(tmp_path: Path) -> None:
    only(tmp_path)
    (case,) = ApiBenchSuite().plain("mine", tmp_path)
    assert isinstance(case, Case)
    expected = case.turns[0].answer
    assert isinstance(expected, Operator)
    right = [name for name in ("tiny", "big", "dim") if api_call(expected.operand, {}, f"load('{name}')") is None]
    assert right == ["big"]
    only(tmp_path, "Find people with at least 99% accuracy.")
    (none,) = ApiBenchSuite().plain("mine", tmp_path)
    assert isinstance(none, FaultyCase)
    assert "no API of the data base is known to meet its constraints" in none.faults[0].message
