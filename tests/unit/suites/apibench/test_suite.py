from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from pytest_fcall.core import Calls, Case, FaultyCase, Json, Operator, Reply
from pytest_fcall.core.operators import OPERATORS, Pattern
from pytest_fcall.suites.apibench.constraints import read_constraints
from pytest_fcall.suites.apibench.embedded import write_questions
from pytest_fcall.suites.apibench.strict_rule import api_call, parse_checked
from pytest_fcall.suites.apibench.suite import ApiBenchSuite
from pytest_fcall.suites.builtin import SUITE_OPERATORS
from tests.unit.suites.apibench.hubs import TORCH

WANTED = ("Find me people in pictures.", "Understand speech with fewer than 5M parameters.")


def write(path: Path, *rows: Json) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A hub of two APIs and as many questions, in the folders of the original."""
    documents: list[dict[str, Json]] = [
        {**api.document, "description": words}
        for api, words in zip(TORCH, ("people", "speech understanding"), strict=True)
    ]
    write(tmp_path / "data" / "api" / "torchhub_api.jsonl", *documents)
    answers: list[Json] = [{"api_call": api.call, "api_data": each} for api, each in zip(TORCH, documents, strict=True)]
    write(tmp_path / "data" / "apibench" / "torchhub_eval.json", *answers)
    questions = [{"question_id": str(number), "text": f" {text}\\n"} for number, text in enumerate(WANTED, 1)]
    write(folder(tmp_path) / "questions_torchhub_0_shot.jsonl", *reversed(questions))
    return tmp_path


def folder(root: Path) -> Path:
    return root / "gorilla" / "eval" / "eval-data" / "questions" / "torchhub"


def cases(data: Path, part: str = "torchhub") -> dict[str, Case]:
    found = list(ApiBenchSuite().cases(part, data))
    return {case.id: case for case in found if isinstance(case, Case)}


def said(case: Case) -> str:
    return str(case.turns[0].messages[-1]["content"])


def test_a_question_goes_with_the_answer_whose_number_is_its_id(data: Path) -> None:
    found = cases(data)
    assert list(found) == ["torchhub_2", "torchhub_1"]
    assert [case.category for case in found.values()] == ["torchhub/Speech", "torchhub/Vision"]
    assert said(found["torchhub_1"]).startswith(f" {WANTED[0]}\\n")
    assert "one of: Vision, Speech." in said(found["torchhub_1"])


def test_documents_are_appended_that_bm25_finds(data: Path) -> None:
    found = cases(data, "torchhub_bm25")
    assert "reference: {'domain': 'Vision'" in said(found["torchhub_bm25_1"])


def test_an_oracle_appends_the_document_of_the_right_api(data: Path) -> None:
    found = cases(data, "torchhub_oracle")
    assert "reference: {'domain': 'Speech'" in said(found["torchhub_oracle_2"])


def test_documents_that_embeddings_find_are_written_once(data: Path) -> None:
    with pytest.raises(ValueError, match=r"embedded\.write_questions"):
        cases(data, "torchhub_gpt_index")
    asked: list[int] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.append(len(texts))
        return [[float("speech" in text), float("people" in text)] for text in texts]

    assert write_questions("torchhub", data, embed).parent == data
    found = cases(data, "torchhub_gpt_index")
    assert list(found) == ["torchhub_gpt_index_2", "torchhub_gpt_index_1"]
    assert said(found["torchhub_gpt_index_1"]).startswith(
        f" {WANTED[0]}\\n \n Use this API documentation for reference:"
    )
    assert "reference: {'domain': 'Vision'" in said(found["torchhub_gpt_index_1"])
    assert "reference: {'domain': 'Speech'" in said(found["torchhub_gpt_index_2"])
    assert asked == [4]


def test_published_questions_with_documents_go_before_our_own(data: Path) -> None:
    write(folder(data) / "questions_torchhub_bm25.jsonl", {"question_id": "1", "text": "Published."})
    (case,) = cases(data, "torchhub_bm25").values()
    assert said(case).startswith("Published.")


def test_a_hub_of_ones_own_needs_no_file_of_questions(tmp_path: Path) -> None:
    document: dict[str, Json] = {**TORCH[0].document, "domain": "Own"}
    write(tmp_path / "mine_api.jsonl", document)
    row: Json = {"code": "###Instruction: Do it.\n###Output: it", "api_call": TORCH[0].call, "api_data": document}
    write(tmp_path / "mine_eval.json", row)
    (case,) = cases(tmp_path, "mine").values()
    assert (case.id, case.category) == ("mine_1", "mine/Own")
    assert said(case).startswith("Do it.\n")


def test_compressed_files_in_one_folder_are_found(tmp_path: Path) -> None:
    for name, row in (
        ("torchhub_api.jsonl", TORCH[0].document),
        ("torchhub_eval.json", {"code": "### Instruction: Go.", "api_data": TORCH[0].document}),
    ):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(json.dumps(row).encode()))
    assert list(cases(tmp_path)) == ["torchhub_1"]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"question_id": "3", "text": "x"}, "no answer number 3"),
        ({"question_id": "0", "text": "x"}, "no answer number 0"),
        ({"question_id": "9" * 5_000, "text": "x"}, "no answer number 9999"),
        ({"question_id": "1"}, "`question_id` must be a number"),
        ({"question_id": "one", "text": "x"}, "`question_id` must be a number"),
        ({"question_id": "1", "text": ""}, "no question"),
        ([], "expected a JSON object, got list"),
    ],
)
def test_a_broken_row_is_a_case_with_a_fault(data: Path, row: Json, why: str) -> None:
    write(folder(data) / "questions_torchhub_0_shot.jsonl", row)
    (case,) = ApiBenchSuite().cases("torchhub", data)
    assert isinstance(case, FaultyCase)
    assert why in case.faults[0].message


def test_an_answer_without_an_api_is_a_fault(data: Path) -> None:
    write(data / "data" / "apibench" / "torchhub_eval.json", {"api_data": {}}, {"api_data": "x"})
    found = list(ApiBenchSuite().cases("torchhub", data))
    assert all(isinstance(case, FaultyCase) for case in found)


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ("nohub", "no nohub_api.jsonl in "),
        ("torchhub_gpt_index", "no questions of torchhub with documents by embeddings"),
    ],
)
def test_what_is_not_there_is_said_with_the_way_to_get_it(data: Path, part: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{why}.*ShishirPatil/gorilla"):
        list(ApiBenchSuite().cases(part, data))


def test_without_a_folder_there_is_no_data() -> None:
    with pytest.raises(ValueError, match=r"no data for suite apibench.*--fc-suite-path"):
        list(ApiBenchSuite().cases("", None))


ANSWERS = [
    ("<<<api_call>>>: torch.hub.load('zoo/vision', 'tinynet')", True, True, ""),
    ("torch.hub.load('zoo/vision', 'tinynet')", True, False, ""),
    ("<<<api_call>>>: torch.hub.load('zoo/vision', 'tinynetx')", False, True, "hallucination: `torch.hub.load("),
    ("<<<api_call>>>: torch.hub.load('zoo/speech', 'listener')", False, False, "wrong: `torch.hub.load("),
    ("<<<api_call>>>: Sorry.", False, False, "unparsable: the answer has no readable call"),
]


@pytest.mark.parametrize(("answer", "strict", "original", "why"), ANSWERS)
def test_replies_are_judged_by_the_rule_of_the_profile(
    data: Path, answer: str, strict: bool, original: bool, why: str
) -> None:
    case = cases(data)["torchhub_1"]
    assert case.judge is not None
    verdict = case.judge(case, Reply(answer), Calls())
    assert verdict.valid is strict
    assert "".join(reason.message for reason in verdict.reasons).startswith(why)
    theirs = replace(case, rules=case.rules._replace(profile="original"))
    assert case.judge(theirs, Reply(answer), Calls()).valid is original


@pytest.mark.parametrize(("answer", "strict", "original", "why"), ANSWERS)
def test_a_plain_case_says_all_that_its_judge_knows(
    data: Path, answer: str, strict: bool, original: bool, why: str
) -> None:
    (case, *_) = [case for case in ApiBenchSuite().plain("torchhub", data) if case.id == "torchhub_1"]
    assert isinstance(case, Case)
    assert case.judge is None
    expected = case.turns[0].answer
    assert isinstance(expected, Operator)
    assert (api_call(expected.operand, {}, answer) is None) is strict


@pytest.fixture
def with_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Make an environment that has the original's parser, or lacks it. It is not loaded."""

    def make(there: bool) -> None:
        prefix = tmp_path / f"environment_{there}"
        (prefix / "share" / "pytest-fcall" / "apibench-parser" / "tree_sitter_languages").mkdir(parents=True)
        monkeypatch.setattr(sys, "prefix", str(prefix if there else tmp_path))

    return make


def test_without_the_parser_of_the_original_its_scores_say_so(data: Path, with_parser: Callable[[bool], None]) -> None:
    with_parser(False)
    case = cases(data)["torchhub_1"]
    original = replace(case, rules=case.rules._replace(profile="original"))
    assert ApiBenchSuite().scores(original)["torchhub"][-1] == "other_parser"
    assert original.judge is not None
    for answer in (f"<<<api_call>>>: {TORCH[0].call}", "Sorry."):
        verdict = original.judge(original, Reply(answer), Calls())
        assert verdict.scores["other_parser"] == (1.0, 1.0)
        assert "pip install --no-deps --target" in verdict.notes[-1]
        assert original.judge(case, Reply(answer), Calls()).scores.keys().isdisjoint({"other_parser"})
    with_parser(True)
    assert "other_parser" not in ApiBenchSuite().scores(original)["torchhub"]


def test_scores_are_told_for_each_part(data: Path) -> None:
    case = cases(data, "torchhub_bm25")["torchhub_bm25_1"]
    suite = ApiBenchSuite()
    assert suite.scores(case) == {
        "torchhub_bm25": ("domain_accuracy", "exact_accuracy", "hallucination", "wrong", "unparsable")
    }
    original = replace(case, rules=case.rules._replace(profile="original"))
    assert suite.scores(original)["torchhub_bm25"][:3] == ("domain_accuracy", "hallucination", "wrong")
    for each in (case, original):
        assert each.judge is not None
        verdict = each.judge(each, Reply(f"<<<api_call>>>: {TORCH[0].call}"), Calls())
        assert verdict.scores == {
            name: (float("accuracy" in name or name == "other_parser"), 1.0)
            for name in suite.scores(each)["torchhub_bm25"]
        }


def own_hub(folder: Path, *documents: dict[str, Json]) -> Path:
    write(folder / "mine_api.jsonl", *documents)
    asked = [{"code": "###Instruction: Do it.", "api_call": each["api_call"], "api_data": each} for each in documents]
    write(folder / "mine_eval.json", *asked)
    return folder


LOADER: dict[str, Json] = {"domain": "Own", "api_call": "load(name='x', size=1, device='cpu')"}


def test_a_data_base_may_say_which_arguments_matter(tmp_path: Path) -> None:
    own_hub(tmp_path, {**LOADER, "checked": ["name"]})
    (case,) = cases(tmp_path, "mine_oracle").values()
    assert "checked" not in said(case)
    assert case.judge is not None
    assert case.judge(case, Reply("load(name='x', device='gpu')"), Calls()).notes
    assert not case.judge(case, Reply("load(name='z', device='cpu')"), Calls()).valid


@pytest.mark.parametrize("suite", [ApiBenchSuite(), ApiBenchSuite({"load": ["name"]})])
def test_an_imported_case_knows_which_arguments_matter(tmp_path: Path, suite: ApiBenchSuite) -> None:
    said_so: dict[str, Json] = {"checked": ["size"]}
    own_hub(tmp_path, LOADER, {**LOADER, "api_call": "load(name='y', size=2, device='cpu')", **said_so})
    for case, plain in zip(suite.cases("mine", tmp_path), suite.plain("mine", tmp_path), strict=True):
        assert isinstance(case, Case)
        assert isinstance(plain, Case)
        expected = plain.turns[0].answer
        assert case.judge is not None
        assert isinstance(expected, Operator)
        for name, size, device in product("xyz", (1, 2), ("cpu", "gpu")):
            answer = f"load(name='{name}', size={size}, device='{device}')"
            valid = case.judge(case, Reply(answer), Calls()).valid
            assert (api_call(expected.operand, {}, answer) is None) is valid, answer


@pytest.mark.parametrize(
    ("checked", "wrong"),
    [
        ("name", "`checked` must be a list of names of arguments"),
        ([1], "`checked` must be a list of names of arguments"),
        (
            ["nmae"],
            "`checked` names `nmae`, which is not a named argument of `load(name='x', size=1, device='cpu')`",
        ),
    ],
)
def test_what_a_data_base_cannot_mean_is_told_with_its_line(tmp_path: Path, checked: Json, wrong: str) -> None:
    own_hub(tmp_path, LOADER, {**LOADER, "checked": checked})
    with pytest.raises(ValueError, match=re.escape(f"mine_api.jsonl:2: {wrong}")):
        cases(tmp_path, "mine")


def test_a_misspelt_argument_that_is_to_be_checked_is_told(tmp_path: Path) -> None:
    own_hub(tmp_path, LOADER)
    with pytest.raises(ValueError, match="no call of load in the API data base has the argument `nmae`"):
        list(ApiBenchSuite({"load": ["nmae"]}).cases("mine", tmp_path))
    assert list(ApiBenchSuite({"pipeline": ["nmae"]}).cases("mine", tmp_path))


@pytest.mark.parametrize("text", ["pipeline", "=model", ""])
def test_what_is_to_be_checked_is_an_api_and_its_arguments(text: str) -> None:
    with pytest.raises(ValueError, match="expected API=NAMES"):
        parse_checked(text)
    assert parse_checked(" pipeline = model, ,revision") == ("pipeline", ("model", "revision"))
    assert parse_checked("load=") == ("load", ())


def test_what_there_is_is_told_with_and_without_data(data: Path) -> None:
    about = ApiBenchSuite().about(data)
    assert about.parts[0].name == "torchhub"
    assert [part.cases for part in about.parts[:3]] == [2, None, None]
    assert ApiBenchSuite().about(None).parts[0].cases is None


@pytest.mark.parametrize(
    ("question", "tags"),
    [
        ("Translate this.", ()),
        ("Use a model with less than 10 million parameters.", ("parameter_count",)),
        ("I have room for 5.5M params", ("parameter_count",)),
        ("It should reach an accuracy of 80%", ("accuracy_bound",)),
        ("with at least 75.5% top-1 accuracy and under 10M parameters", ("parameter_count", "accuracy_bound")),
        ("Which parameters does it take?", ()),
        ("I need high accuracy.", ()),
        ("Boost the accuracy of a Resnet-50.", ()),
    ],
)
def test_constraints_are_tags(question: str, tags: tuple[str, ...]) -> None:
    assert read_constraints(question).tags == tags


@pytest.mark.parametrize(
    ("operand", "got", "wrong"),
    [
        ("f(a, x='1')", "Use `f(a, x='1')`.", None),
        (["f('x')", "g('y')"], "g('y')", None),
        ("f('x')", "f('z')", "`f('z')` is called; expected `f('x')`"),
        ("f('x')", "I cannot.", "the text has no readable call; expected `f('x')`"),
        ("f('x')", None, "expected a text"),
        ({"call": "f('x', y=1)", "checked": []}, "f('x', y=2)", None),
        ({"call": "f('x', y=1)", "checked": ["y"]}, "f('x', y=2)", "`f('x', y=2)` is called; expected `f('x', y=1)`"),
        (7, "f('x')", "`$api_call` needs a call as text, or a list of calls"),
    ],
)
def test_the_operator_looks_for_a_call_in_a_text(operand: Pattern, got: Json, wrong: str | None) -> None:
    assert api_call(operand, {}, got) == wrong
    assert SUITE_OPERATORS["api_call"](operand, {}, got) == wrong


def test_operators_of_suites_have_names_of_their_own() -> None:
    assert not SUITE_OPERATORS.keys() & OPERATORS.keys()
