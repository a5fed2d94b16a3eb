from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.core import Calls, Case, Json, Operator, Reply
from pytest_fcall.core.operators import Pattern
from pytest_fcall.suites.apibench.apis import ApiChange, ApiEntry, read_changes
from pytest_fcall.suites.apibench.grades import CHANGE_SCORES
from pytest_fcall.suites.apibench.strict_rule import StrictRule, api_call
from pytest_fcall.suites.apibench.suite import ApiBenchSuite
from tests.unit.suites.apibench.hubs import TORCH, api

OLD = TORCH[0].call
MOVED = OLD.replace("zoo/vision", "park/vision")
DOCUMENT: dict[str, Json] = {
    **TORCH[0].document,
    "api_arguments": {"repo_or_dir": "zoo/vision", "model": "tinynet"},
    "example_code": ["load('zoo/vision:v0.1', 'tinynet')", "# see https://test/zoo/vision", "tinynet_big = 1"],
}


def lines(path: Path, *rows: Json) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """A hub of two APIs with a question each; the first one has moved."""
    documents: list[dict[str, Json]] = [DOCUMENT, dict(TORCH[1].document)]
    lines(tmp_path / "torchhub_api.jsonl", *documents)
    asked = [
        {"code": f"###Instruction: Do {number}.", "api_call": each["api_call"], "api_data": each}
        for number, each in enumerate(documents)
    ]
    lines(tmp_path / "torchhub_eval.json", *asked)
    lines(tmp_path / "torchhub_changes.jsonl", {"was": OLD, "now": MOVED})
    return tmp_path


def changed(hub: Path) -> Case:
    (case,) = ApiBenchSuite().cases("torchhub_changed", hub)
    assert isinstance(case, Case), case
    return case


def test_a_question_is_asked_with_the_new_document_alone(hub: Path) -> None:
    case = changed(hub)
    said = str(case.turns[0].messages[-1]["content"])
    assert (case.id, case.category) == ("torchhub_changed_1", "torchhub_changed/Vision")
    assert "'api_arguments': {'repo_or_dir': 'park/vision', 'model': 'tinynet'}" in said
    assert "load('park/vision', 'tinynet')" in said
    assert "https://test/zoo/vision" in said
    assert "tinynet_big" in said
    assert OLD not in said


ANSWERS = [
    ("torch.hub.load('park/vision', 'tinynet')", ""),
    ("torch.hub.load('zoo/vision', 'tinynet')", "outdated: `torch.hub.load('zoo/vision', 'tinynet')` is how the API"),
    ("torch.hub.load('zoo/speech', 'listener')", "wrong: `torch.hub.load('zoo/speech', 'listener')` is another API"),
    ("torch.hub.load('park/vision', 'hugenet')", "hallucination: `torch.hub.load('park/vision', 'hugenet')` is not in"),
    ("Sorry.", "unparsable: the answer has no readable call"),
]


@pytest.mark.parametrize(("answer", "why"), ANSWERS)
@pytest.mark.parametrize("profile", ["strict", "original"])
def test_the_answer_by_the_old_document_is_wrong_for_a_reason_of_its_own(
    hub: Path, answer: str, why: str, profile: Pattern
) -> None:
    case = changed(hub)
    assert case.judge is not None
    verdict = case.judge(case, Reply(f"<<<api_call>>>: {answer}, <<<api_provider>>>: P"), Calls())
    assert verdict.valid is not bool(why)
    assert "".join(reason.message for reason in verdict.reasons).startswith(why)
    grade = why.partition(":")[0] or "exact_accuracy"
    assert verdict.scores == {name: (float(name == grade), 1.0) for name in CHANGE_SCORES}
    assert ApiBenchSuite().scores(case) == {"torchhub_changed": CHANGE_SCORES}


@pytest.mark.parametrize(("answer", "why"), ANSWERS)
def test_an_imported_case_knows_the_old_call(hub: Path, answer: str, why: str) -> None:
    (case,) = ApiBenchSuite().plain("torchhub_changed", hub)
    assert isinstance(case, Case)
    expected = case.turns[0].answer
    assert isinstance(expected, Operator)
    found = api_call(expected.operand, expected.options, answer)
    assert bool(found) is bool(why)
    assert (found or "").startswith("outdated: ") is why.startswith("outdated: ")


def graded(answer: str, new: str, former: str, *others: ApiEntry) -> str:
    rule, change = StrictRule((api("D", former), api("D", new), *others)), ApiChange(api("D", former), api("D", new))
    rule.refuse_empty(change)
    return rule.after_change(answer, change).grade


LOADED = "torch.hub.load(repo_or_dir='zoo/vision', model='tinynet', pretrained=True)"
WEIGHTED = "torch.hub.load(repo_or_dir='zoo/vision', model='tinynet', weights='DEFAULT')"


@pytest.mark.parametrize(
    ("answer", "new", "former", "grade"),
    [
        # What is compared elsewhere says nothing of this change, so that what changed is compared, too.
        ("torch.hub.load('zoo/vision', 'tinynet', weights='DEFAULT')", WEIGHTED, LOADED, "correct"),
        ("torch.hub.load('zoo/vision', 'tinynet', pretrained=True)", WEIGHTED, LOADED, "outdated"),
        ("torch.hub.load('zoo/vision', 'tinynet')", WEIGHTED, LOADED, "wrong"),
        # A version: any branch is as good as none only where the change is not about branches.
        ("torch.hub.load('zoo/vision:v2', 'tinynet')", LOADED.replace("vision", "vision:v2"), LOADED, "correct"),
        ("torch.hub.load('zoo/vision', 'tinynet')", LOADED.replace("vision", "vision:v2"), LOADED, "outdated"),
        ("torch.hub.load('zoo/vision:v1', 'tinynet')", LOADED, LOADED.replace("vision", "vision:v1"), "outdated"),
        ("torch.hub.load('zoo/vision', 'tinynet')", LOADED, LOADED.replace("vision", "vision:v1"), "correct"),
        ("torch.hub.load('park/vision:v1', 'tinynet')", LOADED.replace("zoo", "park"), LOADED, "correct"),
        # A function, and arguments that come and go.
        ("hub.KerasLayer('u')", "hub.KerasLayer('u')", "hub.load('u')", "correct"),
        ("hub.load('u')", "hub.KerasLayer('u')", "hub.load('u')", "outdated"),
        ("f('x', size=1)", "f('x', size=1)", "f('x')", "correct"),
        ("f('x')", "f('x', size=1)", "f('x')", "outdated"),
        ("f('x', size=1)", "f('x')", "f('x', size=1)", "outdated"),
        ("f('x')", "f('x')", "f('x', size=1)", "correct"),
        ("f('y')", "f('x', size=1)", "f('x')", "hallucination"),
        # The first call that is known counts.
        ("f('x') and then f('x', size=1)", "f('x', size=1)", "f('x')", "outdated"),
        ("print(f('x', size=1)) # was f('x')", "f('x', size=1)", "f('x')", "correct"),
    ],
)
def test_the_call_of_one_document_is_not_that_of_the_other(answer: str, new: str, former: str, grade: str) -> None:
    assert graded(answer, new, former) == grade


@pytest.mark.parametrize("new", [LOADED.replace("'", '"'), "torch.hub.load(model='tinynet', repo_or_dir='zoo/vision')"])
def test_a_change_after_which_the_old_call_is_as_right_is_refused(new: str) -> None:
    former = LOADED if '"' in new else LOADED.replace(", pretrained=True", "")
    with pytest.raises(ValueError, match="the change of a document changes nothing"):
        graded(former, new, former)


def test_a_value_changes_in_all_calls_that_have_it(tmp_path: Path) -> None:
    apis = (*TORCH, api("Vision", "torch.hub.load(repo_or_dir='zoo/vision', model='bignet')"))
    path = lines(tmp_path / "changes.jsonl", {"was": "zoo/vision", "now": "park/vision", "description": "Moved."})
    changes = read_changes(path, apis)
    assert [*changes] == [apis[0].call, apis[2].call]
    assert [change.new.call for change in changes.values()] == [
        each.call.replace("zoo", "park") for each in (apis[0], apis[2])
    ]
    assert {change.new.document["description"] for change in changes.values()} == {"Moved."}


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([{"was": OLD}], "1: `now` must be a non-empty string"),
        (
            [{"was": "zoo", "now": "park"}],
            "1: `was` is `zoo`, which is neither a call of the data base nor a text in one",
        ),
        ([{"was": OLD, "now": "park!"}], "1: `park!` cannot be read as a call"),
        ([{"was": OLD, "now": MOVED}, {"was": "tinynet", "now": "net"}], f"2: `{OLD}` is changed twice"),
        ([[]], "1: expected a JSON object, got list"),
        ([{"was": OLD, "now": MOVED, "domain": 1}], "1: `domain` and `api_call` must be strings"),
    ],
)
def test_a_line_that_is_no_change_is_named(hub: Path, rows: list[Json], why: str) -> None:
    lines(hub / "torchhub_changes.jsonl", *rows)
    with pytest.raises(ValueError, match=r"torchhub_changes\.jsonl:") as told:
        changed(hub)
    assert str(told.value).endswith(f"torchhub_changes.jsonl:{why}")


def test_without_changes_the_part_says_how_to_write_them(hub: Path) -> None:
    lines(hub / "torchhub_changes.jsonl")
    with pytest.raises(ValueError, match="changes no API that a question of torchhub asks for"):
        changed(hub)
    (hub / "torchhub_changes.jsonl").unlink()
    with pytest.raises(ValueError, match=r"no torchhub_changes.jsonl in .*a line for each change"):
        changed(hub)


@pytest.mark.parametrize(
    ("operand", "options", "got", "why"),
    [
        ("f(v=2)", {"was": "f(v=1)"}, "f(v=2)", None),
        (["f(v=2)", "g()"], {"was": "f(v=1)"}, "g()", None),
        (
            "f(v=2)",
            {"was": "f(v=1)"},
            "f(v=1)",
            "outdated: `f(v=1)` is called, as before the change; expected `f(v=2)`",
        ),
        ("f(v=2)", {"was": "f(v=1)"}, "f(v=3)", "`f(v=3)` is called; expected `f(v=2)`"),
        ("f(v=2)", {"was": "f(v=1)"}, "No.", "the text has no readable call; expected `f(v=2)`"),
        ("f(v=2)", {"was": "f(v=1)"}, None, "expected a text"),
        ("f(v=2)", {"was": 1}, "f(v=2)", "`was` and the operand of `$api_call` must be calls as text"),
        ("f(v=2)", {"was": "f"}, "f(v=2)", "`was` and the operand of `$api_call` must be calls as text"),
        ("f(v=2)", {"wass": "f(v=1)"}, "f(v=2)", "`$api_call` has no option `wass`; it has `was`"),
        ("f(v=2)", {"was": "f( v=2 )"}, "f(v=2)", "the change of a document changes nothing: "),
    ],
)
def test_the_operator_knows_the_call_before_a_change(
    operand: Pattern, options: dict[str, Pattern], got: Json, why: str | None
) -> None:
    found = api_call(operand, options, got)
    assert found == why or (why is not None and found is not None and found.startswith(why))
