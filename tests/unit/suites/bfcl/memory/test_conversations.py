from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_fcall.core import Case, FaultyCase, Json
from pytest_fcall.suites.bfcl.agentic import memory_needs
from pytest_fcall.suites.bfcl.suite import BfclSuite
from tests.unit.suites.bfcl.memory.package import question_row, said, write_memories
from tests.unit.suites.bfcl.multi_turn.package import write_package


def case_of(data: Path, part: str = "memory_kv", *, prompted: bool = False) -> Case:
    suite = BfclSuite()
    (case,) = (suite.prompted if prompted else suite.cases)(part, data)
    assert isinstance(case, Case), case
    return case


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_memories(tmp_path, {"memory": [question_row()]})


def contents(case: Case) -> list[list[Json]]:
    return [[message["content"] for message in turn.messages] for turn in case.turns]


def test_a_question_is_asked_on_what_is_in_the_memory(data: Path) -> None:
    case = case_of(data)
    assert case.id == "memory_kv_0-customer-0"
    assert contents(case) == [["Serve a customer. Core: {memory_content}\n\nAnswer in short.", "Which tea do I like?"]]
    assert [tool.name for tool in case.tools] == ["add", "read", "leave"]
    assert case.conversation is not None
    assert case.conversation.setup == {"kind": "kv", "scenario": "customer"}
    assert case.earlier is not None
    assert case.earlier.placeholder == "{memory_content}"


def test_the_conversations_before_it_are_told_of_the_memory_too(data: Path) -> None:
    case = case_of(data)
    assert case.earlier is not None
    first, second = case.earlier.cases
    assert [first.id, second.id] == ["memory_kv_prereq_0-customer-0", "memory_kv_prereq_1-customer-1"]
    instruction = "Serve a customer. Core: {memory_content}"
    assert contents(first) == [[instruction, "I like green tea."], ["Really."]]
    assert contents(second) == [[instruction, "And I like milk."]]
    assert (first.conversation, first.tools) == (case.conversation, case.tools)


def test_a_memory_that_is_one_text_is_told_of_otherwise(data: Path) -> None:
    assert str(contents(case_of(data, "memory_rec_sum"))[0][0]).startswith("Serve a customer. All: {memory_content}")


def test_a_model_without_tools_reads_of_them_in_every_conversation(data: Path) -> None:
    case = case_of(data, prompted=True)
    assert case.earlier is not None
    for each, end in [(case, "\n\nAnswer in short."), *((each, "") for each in case.earlier.cases)]:
        system = str(each.turns[0].messages[0]["content"])
        assert system.startswith("Compose.Call.")
        assert system.endswith(f"\n\nServe a customer. Core: {{memory_content}}{end}")
        assert (each.tools_in_messages, each.decoder) == (True, "bfcl")


def test_questions_of_a_scenario_share_what_is_held_before(tmp_path: Path) -> None:
    rows = [question_row(), question_row(id="memory_1-customer-1")]
    first, second = BfclSuite().cases("memory_kv", write_memories(tmp_path, {"memory": rows}))
    assert isinstance(first, Case)
    assert isinstance(second, Case)
    assert first.earlier is second.earlier


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"scenario": 3}, "`scenario` must be a string"),
        ({"scenario": "../customer"}, "no scenario '../customer'; available: customer, student"),
    ],
)
def test_a_broken_question_is_a_faulty_case(tmp_path: Path, fields: dict[str, Json], why: str) -> None:
    (case,) = BfclSuite().cases("memory_kv", write_memories(tmp_path, {"memory": [question_row(**fields)]}))
    assert isinstance(case, FaultyCase)
    assert why in case.faults[0].message


@pytest.mark.parametrize("row", [{"id": "memory_prereq_0", "question": []}, {"id": 3, "question": said("Hello.")}])
def test_a_broken_conversation_makes_its_questions_faulty(tmp_path: Path, row: dict[str, Json]) -> None:
    (case,) = BfclSuite().cases("memory_kv", write_memories(tmp_path, {"memory": [question_row()]}, [row]))
    assert isinstance(case, FaultyCase)
    assert "memory_customer.json:1): " in case.faults[0].message


def test_conversations_that_are_missing_are_told_by_their_file(tmp_path: Path) -> None:
    data = write_memories(tmp_path, {"memory": [question_row(scenario="student")]})
    with pytest.raises(ValueError, match=r"cannot read .*memory_student\.json: No such file"):
        list(BfclSuite().cases("memory_kv", data))


def test_words_that_are_missing_are_told(tmp_path: Path) -> None:
    data = write_package(tmp_path, {"memory": [question_row()]})
    with pytest.raises(ValueError, match="not those of bfcl-eval 2026: no 'MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL'"):
        list(BfclSuite().cases("memory_kv", data))


def test_what_a_memory_needs_is_told_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("bfcl_eval", "overrides", "faiss", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    assert memory_needs("vector").missing.endswith(
        "bfcl_eval and overrides and faiss and sentence_transformers cannot be imported: "
        "pip install --no-deps bfcl-eval && pip install overrides faiss-cpu sentence-transformers"
    )


def test_a_memory_that_needs_nothing_more_lacks_nothing(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(data.parents[1]), *sys.path])
    assert memory_needs("rec_sum").missing == ""


def test_a_memory_of_vectors_takes_a_model_that_was_fetched(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("faiss", "sentence_transformers"):
        (tmp_path / f"{name}.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(data.parents[1]), *sys.path])
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    assert "all-MiniLM-L6-v2, which is not in" in memory_needs("vector").missing
    (tmp_path / "hub/models--sentence-transformers--all-MiniLM-L6-v2").mkdir(parents=True)
    needs = memory_needs("vector")
    assert not needs.missing
    assert needs.folders == (str(tmp_path / "hub"),)
    assert needs.variables["HF_HUB_CACHE"] == str(tmp_path / "hub")
