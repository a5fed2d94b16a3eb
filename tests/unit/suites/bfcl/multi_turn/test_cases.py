from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_fcall.core import Case, FaultyCase, Json
from pytest_fcall.suites.bfcl.suite import BfclSuite
from tests.unit.suites.bfcl.multi_turn.package import BOOK, LOOK, case_row, write_package

HELD_BACK = case_row(
    id="multi_turn_miss_func_0",
    question=[[{"role": "user", "content": "Book 4A."}], []],
    missed_function={"1": ["look"]},
)


def read(folder: Path, row: dict[str, Json], *, prompted: bool = False) -> Case | FaultyCase:
    category = str(row["id"]).rpartition("_")[0]
    data = write_package(folder, {category: [row]})
    suite = BfclSuite()
    (case,) = (suite.prompted if prompted else suite.cases)(category, data)
    return case


def case_of(folder: Path, row: dict[str, Json], *, prompted: bool = False) -> Case:
    case = read(folder, row, prompted=prompted)
    assert isinstance(case, Case), case
    return case


@pytest.mark.usefixtures("installed")
def test_a_row_is_a_conversation_with_the_functions_of_its_classes(tmp_path: Path) -> None:
    case = case_of(tmp_path, case_row())
    assert (case.id, case.category, case.mode) == ("multi_turn_base_0", "multi_turn_base", "conversation")
    assert [turn.messages[0]["content"] for turn in case.turns] == ["Book 4A.", "And now?"]
    assert [tool.name for tool in case.tools] == ["book", "look", "add"]
    assert case.tools[0].description == "To book. Note that the provided function is in Python 3 syntax."
    assert case.conversation is not None
    assert case.conversation.max_steps == 21
    assert case.conversation.setup == {
        "classes": ["TicketAPI", "MathAPI"],
        "config": {"TicketAPI": {"seats": ["1A"]}},
        "long_context": False,
    }


@pytest.mark.usefixtures("installed")
def test_only_one_category_has_long_contexts(tmp_path: Path) -> None:
    settings = case_of(tmp_path, case_row(id="multi_turn_long_context_0")).conversation
    assert settings is not None
    assert settings.setup["long_context"] is True


@pytest.mark.usefixtures("installed")
def test_functions_that_are_held_back_come_in_with_their_turn(tmp_path: Path) -> None:
    first, second = case_of(tmp_path, HELD_BACK).turns
    assert [tool.name for tool in first.tools or ()] == ["book", "add"]
    assert [(tool.name, tool.description) for tool in second.tools or ()][1:] == [
        ("add", "To add. Note that the provided function is in Python 3 syntax."),
        ("look", "To look."),
    ]
    assert second.messages == ({"role": "user", "content": "There is more now."},)


@pytest.mark.usefixtures("installed")
def test_a_model_without_tools_reads_of_them(tmp_path: Path) -> None:
    case = case_of(tmp_path, HELD_BACK, prompted=True)
    first, second = case.turns
    system = str(first.messages[0]["content"])
    assert system.startswith("Compose.Call. As [f(x=1)]. Go on. In json: [")
    hinted = {**BOOK, "description": f"{BOOK['description']} Note that the provided function is in Python 3 syntax."}
    assert json.loads(system.partition("json: ")[2])[0] == hinted
    assert second.messages == ({"role": "user", "content": f"{[LOOK]}\nThere is more now."},)
    assert (case.tools_in_messages, case.decoder) == (True, "bfcl")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"involved_classes": "TicketAPI"}, "`involved_classes` must be a list of names"),
        ({"involved_classes": ["Shop"]}, "no class 'Shop'"),
        ({"initial_config": {"TicketAPI": 3}}, "`initial_config` must be an object of objects"),
        ({"ground_truth": ["book()"]}, "`ground_truth` must be a list of turns"),
        ({"ground_truth": 3}, "`ground_truth` must be a list of turns"),
        ({"question": []}, "`question` must be a list of turns"),
        ({"question": [["Book 4A."]]}, "`question` must be a list of turns"),
        ({"missed_function": ["look"]}, "`missed_function` must be an object with a list of names"),
        (
            {"missed_function": {"x": ["look"]}},
            "`missed_function` must be an object with a list of names",
        ),
        ({"missed_function": {"1": ["fly"]}}, "no function 'fly' to hold back"),
    ],
)
def test_a_broken_row_is_a_faulty_case(tmp_path: Path, fields: dict[str, Json], why: str) -> None:
    case = read(tmp_path, case_row(**fields))
    assert isinstance(case, FaultyCase)
    assert why in case.faults[0].message


def test_without_the_classes_the_error_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("bfcl_eval", "mpmath"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ValueError, match="pip install --no-deps bfcl-eval mpmath"):
        read(tmp_path, case_row())


@pytest.mark.usefixtures("installed")
def test_documents_that_are_missing_are_told_by_their_file(tmp_path: Path) -> None:
    data = write_package(tmp_path, {"multi_turn_base": [case_row()]})
    (data / "multi_turn_func_doc" / "math_api.json").unlink()
    with pytest.raises(ValueError, match=r"cannot read .*math_api\.json: No such file"):
        list(BfclSuite().cases("multi_turn_base", data))


@pytest.mark.usefixtures("installed")
def test_no_case_file_can_say_what_is_right(tmp_path: Path) -> None:
    data = write_package(tmp_path, {"multi_turn_base": [case_row()]})
    (case,) = BfclSuite().plain("multi_turn_base", data)
    assert isinstance(case, FaultyCase)
    assert "a rule of their own" in case.faults[0].message
