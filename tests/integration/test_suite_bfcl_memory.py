"""Questions about what was said in earlier conversations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from tests.integration.exam import Exam
from tests.servers import Answer, Asked, chat, provider_error
from tests.unit.suites.bfcl.memory.package import question_row, said, write_memories

SUITE = ("--fc-suite=bfcl:memory_kv", "--fc-suite-path=bfcl_eval")
QUESTIONS = ("Which tea do I like?", "Which of the teas?")
OUT = Path("out/result/exam-FC/agentic/memory/kv")


def remembering(asked: Asked) -> Answer:
    """Write down the tea, note all else, and answer what is asked by what is in the system's message."""
    system, *_, last = asked.json["messages"]
    if last["content"] == "I like green tea.":
        return chat(calls=[("add", {"key": "tea", "value": "green"})])
    return chat(system["content"] if last["content"].startswith("Which") else "Noted.")


@pytest.fixture
def agent(exam: Exam, monkeypatch: pytest.MonkeyPatch) -> Exam:
    monkeypatch.delenv("CI", raising=False)
    rows = [
        question_row(id=f"memory_{number}-customer-{number}", question=said(question))
        for number, question in enumerate(QUESTIONS)
    ]
    write_memories(exam.path, {"memory": rows})
    exam.shop.file("pytest.ini", "[pytest]\npythonpath = .\n")
    exam.server.default = remembering
    return exam


def rows_of(path: Path) -> list[dict[str, Json]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_what_was_written_down_is_known_to_every_question(agent: Exam) -> None:
    agent.run(*SUITE, "--fc-report=bfcl:out").assert_outcomes(passed=2)
    *before, one, other = agent.asked()
    assert before == ["I like green tea.", '{"status": "added"}', "Really.", "And I like milk."]
    assert {one, other} == {*QUESTIONS}
    results = agent.path / OUT / "BFCL_v4_memory_kv_result.json"
    assert [row["id"] for row in rows_of(results)] == ["memory_kv_0-customer-0", "memory_kv_1-customer-1"]
    first, second = rows_of(agent.path / OUT / "BFCL_v4_memory_kv_prereq_result.json")
    assert first["id"] == "memory_kv_prereq_0-customer-0"
    assert first["result"] == [[[{"add": '{"key": "tea", "value": "green"}'}], "Noted."], ["Noted."]]
    assert second["result"] == [["Noted."]]
    assert not (agent.path / "out/score/exam-FC/agentic/memory/kv/BFCL_v4_memory_kv_prereq_score.json").exists()


def test_a_recorded_run_needs_neither_model_nor_memory(agent: Exam) -> None:
    agent.run(*SUITE).assert_outcomes(passed=2)
    (agent.path / "bfcl_eval/notes.py").unlink()
    replayed = agent.run(*SUITE, "--fc-replay")
    replayed.assert_outcomes(passed=2)
    assert len(agent.server.asked) == 6


def test_a_conversation_before_that_is_not_recorded_is_named(agent: Exam) -> None:
    result = agent.run(*SUITE, "--fc-replay")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        [
            "memory_kv_prereq_0-customer-0, a conversation before this case: no recorded state of the environment; "
            'to ask the model: pytest *"bfcl.fc.yaml::memory_kv_0-customer-0"'
        ]
    )
    result.stdout.fnmatch_lines(["2 cases not judged: *"])


def test_a_conversation_before_that_cannot_be_held_is_no_wrong_answer(agent: Exam) -> None:
    def refusing(asked: Asked) -> Answer:
        late = asked.json["messages"][-1]["content"] == "And I like milk."
        return provider_error(400, "too long", code="context_length_exceeded") if late else remembering(asked)

    agent.server.default = refusing
    result = agent.run(*SUITE)
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        ["memory_kv_prereq_1-customer-1, a conversation before this case: openai:exam: *too long*"] * 2
    )
    assert agent.asked().count("And I like milk.") == 1


def test_a_model_that_writes_nothing_down_is_told_to_have_done_so(agent: Exam) -> None:
    agent.always(chat("I do not know."))
    result = agent.run(*SUITE)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["wrong_answer: *'green'; in the earlier conversations no tool was called, so *"])


def test_a_memory_that_lacks_its_packages_is_skipped_with_what_to_do(agent: Exam) -> None:
    result = agent.run("--fc-suite=bfcl:memory_vector", SUITE[1], "-rs")
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(
        ["*memory_vector_prereq_0-customer-0, a conversation before this case: *pip install faiss-cpu*"]
    )


def test_workers_hold_each_conversation_once_between_them(agent: Exam) -> None:
    result = agent.apart(*SUITE, "-n2")
    result.assert_outcomes(passed=2)
    assert len(agent.server.asked) == 6
