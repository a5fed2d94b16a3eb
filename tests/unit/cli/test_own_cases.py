"""Stored answers to cases of one's own: however they are divided, the same verdicts and the same summary."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.cli.pytest_run import CaseFilesPlugin, run_pytest
from pytest_fcall.cli.score.collected_cases import UnreadableCases
from pytest_fcall.cli.score.own_cases import OwnCaseJudge, summary_of
from pytest_fcall.cli.score.rows import JudgedRow, RowBatch, judge_batch
from pytest_fcall.core import Case, Json, Verdict
from tests.suite_tools import WITHOUT_TOOLS

CASES = """
tools:
  - {name: get_weather, parameters: {type: object, properties: {city: {type: string}}, required: [city]}}
cases:
  - {id: oslo, prompt: Weather in Oslo?, expect: [{get_weather: {city: Oslo}}], samples: {count: 2, rule: any}}
  - {id: thanks, prompt: Thanks., expect: no_call}
  - {id: rude, prompt: Thanks., answer: {$judge: friendly}}
  - {id: odd, prompt: Thanks., expect: [{get_wether: {}}]}
  - {id: later, prompt: Thanks., expect: no_call, skip: not yet}
  - id: turns
    turns:
      - {user: Weather in Oslo?, expect: [{get_weather: {city: Oslo}}]}
      - {user: Thanks., expect: no_call}
"""
OSLO: Json = [{"name": "get_weather", "arguments": {"city": "Oslo"}}]
ROME: Json = [{"name": "get_weather", "arguments": {"city": "Rome"}}]
ANSWERS: list[dict[str, Json]] = [
    {"reply": OSLO},
    {"reply": ROME},
    {"reply": "Hello."},
    {"reply": 7},
    {"replies": [OSLO, "Sunny.", "Bye."]},
    {"replies": [OSLO]},
    {"replies": [OSLO, "Sunny.", "Bye.", ROME]},
    {"error": "429"},
    {"reply": OSLO, "key": "k1"},
]
NAMES = ("oslo", "thanks", "rude", "odd", "later", "turns", "bergen", "rome", "lima", "paris", "bonn", "cork", "shop")
LINES = st.one_of(
    st.builds(
        lambda name, answer: json.dumps({"id": name, **answer}).encode(),
        st.sampled_from(NAMES),
        st.sampled_from(ANSWERS),
    ),
    st.sampled_from([b"{", b"3", b'{"id": 3}', b"", b'{"reply": "x"}', b'{"id": "oslo", "reply": 1e999}']),
)


@pytest.fixture(scope="module", autouse=True)
def _without_tools() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", WITHOUT_TOOLS)
        yield


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> OwnCaseJudge:
    folder = tmp_path_factory.mktemp("own")
    (folder / "shop.fc.yaml").write_text(CASES, "utf-8")
    (folder / "conftest.py").write_text("def pytest_collection_modifyitems(items):\n    items.reverse()\n", "utf-8")
    return OwnCaseJudge("shop.fc.yaml", folder)


def summary(judge: OwnCaseJudge, rows: list[JudgedRow]) -> tuple[list[str], int, list[tuple[str, str]]]:
    found = summary_of(judge, Namespace(compare=False))
    for row in rows:
        found.add(row)
    return [*found.lines(100)], found.status, [*found.files()]


@given(st.lists(st.tuples(LINES, st.integers(0, 9)), max_size=40))
def test_parts_and_their_order_change_neither_verdicts_nor_the_summary(
    judge: OwnCaseJudge, given: list[tuple[bytes, int]]
) -> None:
    whole = judge_batch(judge, RowBatch("log.jsonl", 1, tuple(line for line, _ in given)))
    alone = [
        (part, judge_batch(judge, RowBatch("log.jsonl", number, (line,))))
        for number, (line, part) in enumerate(given, 1)
    ]
    shuffled = [row for _, rows in sorted(alone, key=lambda each: each[0]) for row in rows]
    assert [row for _, rows in alone for row in rows] == whole
    assert summary(judge, shuffled) == summary(judge, whole)


def test_only_right_answers_to_all_cases_are_green(judge: OwnCaseJudge) -> None:
    right: list[dict[str, Json]] = [
        {"id": "oslo", "reply": OSLO},
        {"id": "thanks", "reply": "Bye."},
        {"id": "turns", "replies": [OSLO, "Sunny.", "Bye."]},
    ]
    lines, status, _ = summary(judge, judged(judge, *right))
    assert status == 10
    assert lines[-1] == "2 cases without an answer: shop.fc.yaml::rude, shop.fc.yaml::odd"
    bad_rows: list[dict[str, Json]] = [
        {"id": "odd", "reply": "x"},
        {"id": "thanks", "reply": OSLO},
        {"id": "oslo", "error": "429"},
    ]
    for bad in bad_rows:
        assert summary(judge, judged(judge, *right, bad))[1] == 1
    assert summary(judge, [])[:2] == (
        [
            "no answer was judged",
            "5 cases without an answer: " + ", ".join(f"shop.fc.yaml::{name}" for name in NAMES[:4] + NAMES[5:6]),
        ],
        10,
    )


def judged(judge: OwnCaseJudge, *rows: dict[str, Json]) -> list[JudgedRow]:
    return judge_batch(judge, RowBatch("log.jsonl", 1, tuple(json.dumps(row).encode() for row in rows)))


def test_a_summary_does_not_grow_with_answers_or_with_unknown_names(judge: OwnCaseJudge) -> None:
    rows: list[dict[str, Json]] = [{"id": f"case {number % 500}", "reply": "x"} for number in range(2000)]
    lines, _, _ = summary(
        judge, judged(judge, *rows, *({"id": "thanks", "reply": OSLO, "key": key} for key in range(99)))
    )
    first = "case 0 (4), case 1 (4), case 10 (4), case 100 (4), case 101 (4)"
    assert f"2,000 answers not judged, since no case has this id: {first} and more" in lines
    assert len([line for line in lines if "log.jsonl:" in line]) == 10
    assert "  and 89 more" in lines


@pytest.mark.parametrize("name", ["shop.fc.yaml::thanks", "thanks"])
def test_a_case_is_named_by_its_id_or_as_a_plan_names_it(judge: OwnCaseJudge, name: str) -> None:
    rows: list[dict[str, Json]] = [{"id": name, "reply": "x"}, {"case": "thanks", "file": "shop.fc.yaml", "reply": "x"}]
    found = [
        json.loads(row.line) for row in judged(judge, *rows, {"id": "thanks", "file": "elsewhere.log", "reply": "x"})
    ]
    assert [row["valid"] for row in found] == [True] * 3
    assert {row["file"] for row in found} == {"shop.fc.yaml"}


def test_a_hook_of_the_project_has_its_part_in_verdicts_and_its_failure_is_told(tmp_path: Path) -> None:
    hook = "def pytest_fcall_verdict(reply, verdict):\n    return replace(verdict, valid=1 / len(reply.text) < 1)\n"
    (tmp_path / "conftest.py").write_text(f"from dataclasses import replace\n\n\n{hook}", "utf-8")
    (tmp_path / "a.fc.yaml").write_text("cases: [{id: a, prompt: Hi, expect: no_call}]", "utf-8")
    rows: list[dict[str, Json]] = [{"id": "a", "reply": text} for text in ("long", "x", "")]
    right, wrong, broken = judged(OwnCaseJudge("a.fc.yaml", tmp_path), *rows)
    assert '"valid": true' in right.line
    assert '"valid": false' in wrong.line
    assert broken.problem == "it cannot be judged: ZeroDivisionError: division by zero"


def test_the_table_names_what_was_not_judged_and_many_cases_are_shown_from_the_worst_on(tmp_path: Path) -> None:
    cases = [{"id": f"c{number}", "prompt": "Hi", "answer": "yes"} for number in range(30)]
    (tmp_path / "many.fc.yaml").write_text(json.dumps({"cases": cases}), "utf-8")
    rows: list[dict[str, Json]] = [
        {"id": f"c{case}", "reply": "yes" if answer >= case // 3 else "no"}
        for case in range(30)
        for answer in range(10)
    ]
    judge = OwnCaseJudge("many.fc.yaml", tmp_path)
    lines, status, ((_, table),) = summary(judge, judged(judge, *rows, {"id": "c29", "error": "429"}))
    assert status == 1
    assert lines[0] == "3/30 cases pass, 165/300 answers right"
    assert lines[1].startswith("mean of the cases, each counted once: 55.0 %, 95 % interval [")
    assert lines[2].split() == ["case", "answers", "right", "rate", "95", "%", "interval", "not", "judged"]
    assert lines[3].split()[:3] == ["many.fc.yaml::c27", "10", "1"]
    assert lines[5].split() == ["many.fc.yaml::c29", "10", "1", "10.0", "%", "[2,", "40]", "1"]
    assert lines[23] == "and 10 cases with rates that are no lower; --csv writes all"
    assert len(table.splitlines()) == 31


def test_a_process_that_has_other_cases_judges_nothing(judge: OwnCaseJudge) -> None:
    with pytest.raises(UnreadableCases, match="holds other cases"):
        judged(replace(judge, digest="another"), {"id": "oslo", "reply": OSLO})


ASKED = """
tools:
  - {name: get_weather, parameters: {type: object, properties: {city: {type: string}}, required: [city]}}
cases:
  - {id: oslo, prompt: Weather in Oslo?, expect: [{get_weather: {city: Oslo}}]}
  - {id: thanks, prompt: Thanks., expect: no_call, answer: {$contains: welcome}}
  - {id: silent, prompt: Hush., expect: no_call}
  - id: turns
    turns:
      - {user: Weather in Rome?, expect: [{get_weather: {city: Rome}}]}
      - {user: Thanks a lot., expect: no_call}
"""
APP = """
import json

given = {{question: iter(answers) for question, answers in json.loads({given!r}).items()}}


def answer(request):
    return next(given[request.messages[0]["content"]])
"""


class NotedVerdicts(CaseFilesPlugin):
    """Notes the verdicts of a run."""

    def __init__(self) -> None:
        self.verdicts: dict[str, tuple[bool, list[tuple[str, str, str]]]] = {}

    def pytest_fcall_verdict(self, case: Case, verdict: Verdict) -> Verdict:
        self.verdicts[case.id] = (verdict.valid, [(each.kind, each.path, each.message) for each in verdict.reasons])
        return verdict


def test_an_answer_is_judged_as_in_a_run_of_pytest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, tuple[str, list[Json]]] = {
        "oslo": ("Weather in Oslo?", [ROME]),
        "thanks": ("Thanks.", ["You are Welcome"]),
        "silent": ("Hush.", ["Quiet."]),
        "turns": ("Weather in Rome?", [ROME, "Sunny.", OSLO]),
    }
    (tmp_path / "shop.fc.yaml").write_text(ASKED, "utf-8")
    (tmp_path / "given_answers_app.py").write_text(APP.format(given=json.dumps(dict(given.values()))), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    noted = NotedVerdicts()
    _, output = run_pytest(["--fc-model=python:given_answers_app:answer", "-o", "fc_runs=0", "shop.fc.yaml"], noted)
    rows: list[dict[str, Json]] = [{"id": name, "replies": replies} for name, (_, replies) in given.items()]
    found = [json.loads(row.line) for row in judged(OwnCaseJudge("shop.fc.yaml", tmp_path), *rows)]
    ours = {row["id"]: (row["valid"], [tuple(each.values()) for each in row["reasons"]]) for row in found}
    assert ours == noted.verdicts, output
    assert [row["valid"] for row in found] == [False, False, True, False]
