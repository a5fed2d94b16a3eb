from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name

import pytest

from pytest_fcall.core import Calls, Case, FaultyCase, Json, Location, Profile, Reply, Verdict
from pytest_fcall.core.case import judge_fault
from pytest_fcall.suites.builtin import SUITE_OPERATORS
from pytest_fcall.suites.toolbench.documents import Documents, parse_documents, write_rankings
from pytest_fcall.suites.toolbench.recorded_shop import RecordedShop, UnrecordedAction
from pytest_fcall.suites.toolbench.suite import ToolBenchSuite

HOME = 'API.set_location("Oslo")\nAPI.set_buy_or_rent("buy")\nAPI.set_num_beds(2)\nAPI.search()'
HOTEL = (
    "API.select_booking_type('hotels')\nAPI.set_hotel_location(Loc('Reno'))\nAPI.set_checkin_date(Date(1, 2, 2023))\n"
    "API.set_checkout_date(Date(1, 5, 2023))\nAPI.search()"
)
STEPS = "Agent.WalkTo(bedroom)\nAgent.Read(novel)"
CATS = "curl -X GET 'https://api.thecatapi.com/v1/favourites'"
WEATHER = "curl -X GET 'https://api.openweathermap.org/data/2.5/weather?q=Oslo&appid={API_KEY}'"
CELL = "worksheet.update('A1', 1)"


def write(folder: Path, task: str, *rows: Json, version: str = "v0") -> Path:
    own = folder / "data" / task / version
    own.mkdir(parents=True, exist_ok=True)
    (own / "test.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return own


def outcomes(folder: Path, *rows: Json) -> None:
    (folder / "outcomes.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def only(folder: Path, suite: ToolBenchSuite | None = None) -> Case:
    (case,) = (suite or ToolBenchSuite()).cases("", folder)
    assert isinstance(case, Case), case
    return case


def judged(case: Case, answer: str, profile: Profile = "strict") -> Verdict:
    assert case.judge is not None
    own = replace(case, rules=case.rules._replace(profile=profile))
    return case.judge(own, Reply(answer), Calls())


def row(label: str, **others: Json) -> Json:
    return {"prompt": "Do it.", "completion": [label], **others}


def documents(folder: Path, *texts: str) -> None:
    folder.mkdir()
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_text(text, newline="")


def said(case: Case) -> str:
    return str(case.turns[0].messages[0]["content"])


def test_a_prompt_tells_the_documents_and_demonstrations_that_suit_the_question(tmp_path: Path) -> None:
    own = write(tmp_path, "the_cat_api", {"prompt": "Vote for the image ", "completion": [CATS]})
    documents(own / "functions", "list breeds\n", "vote for an image\r\n/votes\n", "upload it", "remove a cat")
    documents(own / "examples", "Task: Vote up\nAction:\ncurl -X POST 'votes'\n")
    case = only(tmp_path)
    assert said(case) == (
        "I have the following set of API:\n\nvote for an image\n/votes\n\nremove a cat\nupload it\n-------------\n"
        "I have the following set of examples:\n\nTask: Vote up\nAction:\ncurl -X POST 'votes'\n\n-------------\n"
        "Task: Vote for the image\nAction:\n"
    )
    assert case.proposed_settings["stop"] == ["------", "Task:"]


def test_words_have_two_letters_and_of_documents_that_are_as_good_the_last_goes_first(tmp_path: Path) -> None:
    own = write(tmp_path, "the_cat_api", {"prompt": "A cat, a CAT!", "completion": [CATS]})
    documents(own / "functions", "a a a a", "cats", "my cat one", "my dog two", "his dog red")
    assert said(only(tmp_path)).splitlines()[2:5] == ["my cat one", "his dog red", "my dog two"]


def test_a_document_counts_once_and_an_index_beside_it_not_at_all(tmp_path: Path) -> None:
    own = write(tmp_path, "the_cat_api", row(CATS))
    documents(own / "functions", "the same", "the same", "another")
    for index in ("document_store", "document_store.json", "faiss_document_store.db", ".hidden"):
        (own / "functions" / index).write_text("do it")
    assert said(only(tmp_path)).splitlines()[2:5] == ["another", "the same", "-------------"]


@pytest.mark.parametrize(
    ("given", "apis", "examples"),
    [({}, 3, 3), ({"the_cat*": Documents(1, 0)}, 1, 0), ({"booking": Documents(0, 0), "*": Documents(2, 1)}, 2, 1)],
)
def test_a_person_says_how_many_documents_a_prompt_has(
    tmp_path: Path, given: dict[str, Documents], apis: int, examples: int
) -> None:
    own = write(tmp_path, "the_cat_api", row(CATS))
    documents(own / "functions", *(f"api {number}" for number in range(5)))
    documents(own / "examples", *(f"example {number}" for number in range(5)))
    lines = said(only(tmp_path, ToolBenchSuite(documents=given))).splitlines()
    assert sum(line.startswith("api ") for line in lines) == apis
    assert sum(line.startswith("example ") for line in lines) == examples


@pytest.mark.parametrize("text", ["home_search", "=1,2", "home_search=1", "booking=1,x", "booking=-1,2", "*=1,2,3"])
def test_numbers_of_documents_that_cannot_be_read_are_told(text: str) -> None:
    assert parse_documents(" home_* = 10, 0 ") == ("home_*", Documents(10, 0))
    with pytest.raises(ValueError, match="expected TASK=APIS,EXAMPLES, such as home_search=10,3"):
        parse_documents(text)
    with pytest.raises(ValueError, match="no task of ToolBench is called 'homes'; available: open_weather, "):
        parse_documents("homes=1,1")


def embed(texts: Sequence[str]) -> list[list[float]]:
    return [[float("vote" in text.lower()) * len(text), float("cat" in text.lower())] for text in texts]


def test_documents_by_embeddings_are_found_once_by_the_scalar_product(tmp_path: Path) -> None:
    own = write(tmp_path, "the_cat_api", {"prompt": "Vote up", "completion": [CATS]})
    documents(own / "functions", "cats", "vote", "upvote, or vote down", "upload")
    documents(own / "examples", "a cat", "vote!")
    with pytest.raises(ValueError, match=r"no .*dense.jsonl: write it with .*\.write_rankings") as refused:
        list(ToolBenchSuite().cases("the_cat_api_dense", tmp_path))
    assert resolve_name(str(refused.value).rpartition(" ")[2]) is write_rankings
    assert write_rankings(own, embed).parent == own
    assert [part.name for part in ToolBenchSuite().about(tmp_path).parts] == ["the_cat_api_v0", "the_cat_api_v0_dense"]
    (case,) = ToolBenchSuite(documents={"*": Documents(2, 1)}).cases("the_cat_api_v0_dense", tmp_path)
    assert isinstance(case, Case)
    assert (case.id, case.category) == ("the_cat_api_v0_dense_1", "the_cat_api_v0_dense")
    assert ToolBenchSuite().scores(case)["the_cat_api_v0_dense"]
    assert said(case).splitlines()[2:4] == ["upvote, or vote down", "vote"]
    assert said(case).splitlines()[7] == "vote!"


def test_a_ranking_of_other_documents_or_questions_is_told(tmp_path: Path) -> None:
    own = write(tmp_path, "the_cat_api", row(CATS))
    documents(own / "functions", "cats", "votes")
    write_rankings(own, embed)
    (own / "functions" / "2.txt").write_text("new")
    (case,) = ToolBenchSuite().cases("the_cat_api_dense", tmp_path)
    assert isinstance(case, FaultyCase)
    assert "dense.jsonl does not rank the functions of today for this question: rewrite it" in case.faults[0].message
    write_rankings(own, embed)
    assert isinstance(next(iter(ToolBenchSuite().cases("the_cat_api_dense", tmp_path))), Case)
    write(tmp_path, "the_cat_api", {"prompt": "Other.", "completion": [CATS]})
    assert isinstance(next(iter(ToolBenchSuite().cases("the_cat_api_dense", tmp_path))), FaultyCase)
    (own / "dense.jsonl").write_text('{"prompt": 1}\n')
    with pytest.raises(ValueError, match=r"dense.jsonl:1: `prompt` must be a non-empty string"):
        list(ToolBenchSuite().cases("the_cat_api_dense", tmp_path))


def test_without_documents_the_question_is_told_alone(tmp_path: Path) -> None:
    write(tmp_path, "home_search", row(HOME))
    assert only(tmp_path).turns[0].messages[0]["content"] == "\n\nTask: Do it.\nAction:\n"


@pytest.mark.parametrize(
    ("task", "label", "answer", "right", "scores"),
    [
        ("home_search", HOME, HOME, True, {"state_f1": (1.0, 1.0), "executability": (1.0, 1.0)}),
        ("home_search", HOME, f"{HOME}\nTask: Another.", True, {"state_f1": (1.0, 1.0)}),
        ("home_search", HOME, f"{HOME}\nHope this helps.", False, {"executability": (0.0, 1.0)}),
        ("home_search", HOME, "", False, {"executability": (1.0, 1.0), "state_f1": (0.0, 1.0)}),
        ("booking", HOTEL, HOTEL.replace("(1, 5", "(1, 6"), False, {"state_f1": (6 / 7, 1.0)}),
        ("virtual_home", STEPS, f"1. {STEPS}", True, {"lcs": (1.0, 1.0), "lcs(executable)": (1.0, 1.0)}),
        ("virtual_home", STEPS, "Agent.Read(novel)", False, {"lcs": (0.5, 1.0), "lcs(executable)": (0.5, 1.0)}),
        ("virtual_home", STEPS, "Agent.Read(moon)", False, {"lcs": (0.0, 1.0), "lcs(executable)": (0.0, 0.0)}),
    ],
)
def test_programs_and_steps_are_judged_here(
    tmp_path: Path, task: str, label: str, answer: str, right: bool, scores: Mapping[str, tuple[float, ...]]
) -> None:
    write(tmp_path, task, row(label))
    verdict = judged(only(tmp_path), answer)
    assert verdict.valid is right
    assert bool(verdict.reasons) is not right
    for name, numbers in scores.items():
        assert verdict.scores[name] == pytest.approx(numbers), name


def test_a_fence_around_a_program_is_a_crash_for_the_original_alone(tmp_path: Path) -> None:
    write(tmp_path, "home_search", row(HOME))
    fenced = f"```python\n{HOME}\n```"
    assert judged(only(tmp_path), fenced).valid
    assert judged(only(tmp_path), fenced, "original").reasons[0].message.startswith("the answer cannot be executed: ")


@pytest.mark.parametrize(
    ("task", "label", "answer", "why"),
    [
        ("home_search", HOME, HOME.replace("beds(2)", "beds(3)"), "(F1 0.8000): `num_beds` is 3, expected 2"),
        ("home_search", HOME, HOME.replace("num_beds", "num_baths"), "`num_beds` is missing, expected 2; `num_baths`"),
        ("home_search", HOME, "", "`min_price` is missing, expected 0; `min_square_feet` is missing, expected 0; `loc"),
        ("home_search", HOME, "API.fly()", "the answer cannot be executed: unknown function API.fly"),
        ("virtual_home", STEPS, f"{STEPS}\nAgent.Fly(moon)", "the answer cannot be executed: unknown step 'Agent.Fly("),
    ],
)
def test_a_failure_names_what_is_wrong(tmp_path: Path, task: str, label: str, answer: str, why: str) -> None:
    write(tmp_path, task, row(label))
    (reason,) = judged(only(tmp_path), answer).reasons
    assert why in reason.message


def test_objects_of_the_task_go_before_those_that_are_known(tmp_path: Path) -> None:
    own = write(tmp_path, "virtual_home", row(STEPS))
    (own / "valid_object_lists.json").write_text('{"Agent.Fly": {"object": ["moon"]}}')
    assert judged(only(tmp_path), f"{STEPS}\nAgent.Fly(moon)").scores["executability"] == (1.0, 1.0)
    assert judged(only(tmp_path), f"{STEPS}\nAgent.Sleep()").scores["executability"] == (0.0, 1.0)


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        (CATS, True),
        (f"Sure:\n{CATS.replace(' -X ', '  -X ')}\nDone.", True),
        (CATS.replace("GET", "POST"), False),
        ("", False),
    ],
)
def test_cats_are_compared_as_text_where_the_row_says_so(tmp_path: Path, answer: str, right: bool) -> None:
    write(tmp_path, "the_cat_api", row(CATS, compare_string_only=True))
    case = only(tmp_path)
    assert case.skip == ()
    assert judged(case, answer).valid is right


@pytest.mark.parametrize(
    ("task", "data"),
    [
        ("open_weather", row(WEATHER)),
        ("the_cat_api", row(CATS, compare_string_only=False)),
        ("google_sheets", row(CELL)),
        ("web_shop", {"id": 3}),
        ("code_as_policies_tabletop", {"configs": {"instruction": "Stack the blocks."}}),
    ],
)
def test_what_cannot_be_carried_out_here_is_skipped_and_says_what_it_takes(
    tmp_path: Path, task: str, data: Json
) -> None:
    write(tmp_path, task, data)
    (condition,) = only(tmp_path).skip
    assert condition.reason.startswith(f"{task} needs ")
    assert "give the suite" in condition.reason


@pytest.mark.parametrize(
    ("answer", "right", "f1"),
    [
        (WEATHER, True, 1.0),
        (WEATHER.replace("q=Oslo&appid={API_KEY}", "appid={API_KEY}&q=Oslo&lang=en"), True, 1.0),
        (WEATHER.replace("Oslo", "NO%2FOslo"), True, 1.0),
        (WEATHER.replace("Oslo", "Rome"), False, 0.5),
        (WEATHER.replace("Oslo", "Nowhere"), False, 0.0),
        (WEATHER[:-1], False, 0.0),
    ],
)
def test_services_are_compared_by_what_is_recorded_of_them(tmp_path: Path, answer: str, right: bool, f1: float) -> None:
    own = write(tmp_path, "open_weather", row(WEATHER))
    oslo = {"cod": 200, "temp": 3}
    outcomes(
        own,
        {"answer": WEATHER, "gives": {"body": oslo}},
        {"answer": WEATHER.replace("Oslo", "NO/Oslo"), "gives": {"body": oslo}},
        {"answer": WEATHER.replace("Oslo", "Rome"), "gives": {"body": {**oslo, "temp": 20}}},
        {"answer": WEATHER.replace("Oslo", "Nowhere"), "gives": {"body": {"cod": "404"}}},
    )
    verdict = judged(only(tmp_path), answer)
    assert verdict.valid is right
    assert verdict.scores["state_f1"] == (f1, 1)


def test_an_answer_of_which_nothing_is_recorded_is_wrong_and_not_scored(tmp_path: Path) -> None:
    outcomes(write(tmp_path, "open_weather", row(WEATHER)))
    verdict = judged(only(tmp_path), WEATHER.replace("Oslo", "Rome"))
    assert not verdict.valid
    assert "no outcome is recorded" in verdict.reasons[0].message
    assert not verdict.scores


def test_a_service_of_cats_must_say_that_it_succeeded(tmp_path: Path) -> None:
    own = write(tmp_path, "the_cat_api", row(CATS, compare_string_only=False))
    votes = CATS.replace("favourites", "votes")
    outcomes(
        own,
        {"answer": CATS, "gives": {"body": {"message": "SUCCESS", "id": 1}}},
        {"answer": votes, "gives": {"body": {"message": "SUCCESS", "id": 2}}},
        {"answer": CATS.replace("GET", "POST"), "gives": {"body": {"message": "NO"}}},
    )
    case = only(tmp_path)
    assert judged(case, votes).valid
    assert judged(case, CATS.replace("GET", "POST")).scores["executability"] == (0.0, 1.0)


def test_sheets_are_compared_without_empty_rows_and_columns(tmp_path: Path) -> None:
    def carry(row: Mapping[str, Json], answer: str) -> Mapping[str, Json] | None:
        assert row["question_sheet_name"] == "A"
        sheets: Mapping[str, Mapping[str, Json]] = {
            CELL: {"cells": [[1, 2]]},
            "same": {"cells": [["", "", ""], [1, 2], ["", None]]},
            "other": {"cells": [[1, 3]]},
            "broken": {"error": "no such method"},
        }
        return sheets.get(answer)

    write(tmp_path, "google_sheets", row(CELL, question_sheet_name="A", check_format=False))
    case = only(tmp_path, ToolBenchSuite(carry={"google_sheets": carry}))
    assert [judged(case, answer).valid for answer in (CELL, "same", "other", "broken", "unknown")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert judged(case, "broken").scores["executability"] == (0.0, 1.0)


def test_formats_of_cells_count_where_the_row_says_so(tmp_path: Path) -> None:
    own = write(tmp_path, "google_sheets", row(CELL, check_format=True))
    outcomes(
        own,
        {"answer": CELL, "gives": {"cells": [[1]], "format": {"A1": "bold"}}},
        {"answer": "plain", "gives": {"cells": [[1]]}},
    )
    assert not judged(only(tmp_path), "plain").valid


def test_scenes_succeed_as_the_simulation_says(tmp_path: Path) -> None:
    own = write(tmp_path, "code_as_policies_tabletop", *[{"configs": {"instruction": "Stack the blocks."}}] * 2)
    outcomes(
        own,
        {"answer": "stack()", "gives": {"success": True}},
        {"case": 2, "answer": "stack()", "gives": {"success": False}},
    )
    first, second = (case for case in ToolBenchSuite().cases("", tmp_path) if isinstance(case, Case))
    assert first.turns[0].messages[0]["content"] == "Stack the blocks."
    assert judged(first, "stack()").valid
    assert not judged(second, "stack()").valid


def test_a_shop_is_a_conversation_with_the_users_environment(tmp_path: Path) -> None:
    write(tmp_path, "web_shop", {"id": 3})
    case = only(tmp_path, ToolBenchSuite(shop="shop.env:make"))
    assert case.conversation is not None
    assert (case.conversation.environment, case.conversation.setup, case.conversation.max_steps) == (
        "shop.env:make",
        {"id": 3},
        25,
    )
    assert case.skip == ()


def test_a_recorded_shop_shows_what_it_once_showed(tmp_path: Path) -> None:
    own = write(tmp_path, "web_shop", {"id": 3}, {"id": 4})
    outcomes(
        own,
        {"answer": "", "gives": {"page": "Shop"}},
        {"case": 1, "answer": "search[Red  Shoes]", "gives": {"page": "B1, B2"}},
        {"case": 1, "answer": "search[red shoes]\nclick[B1]", "gives": {"page": "Bought", "reward": 0.5, "done": True}},
    )
    first, second = (case for case in ToolBenchSuite().cases("", tmp_path) if isinstance(case, Case))
    assert first.conversation is not None
    assert second.conversation is not None
    assert first.skip == second.skip == ()
    assert first.conversation.environment == "pytest_fcall.suites.toolbench.recorded_shop:RecordedShop"
    shop = RecordedShop(**first.conversation.setup)  # type: ignore[arg-type]  # a mapping, as JSON has it
    assert (shop.look(), shop.search("red shoes"), shop.done, shop.reward) == ("Shop", "B1, B2", False, 0)
    assert (shop.click("b1"), shop.done, shop.reward) == ("Bought", True, 0.5)
    with pytest.raises(UnrecordedAction, match="the visit has come to its end"):
        shop.search("more")
    other = RecordedShop(**second.conversation.setup)  # type: ignore[arg-type]
    assert other.look() == "Shop"
    with pytest.raises(UnrecordedAction, match=r"no outcome is recorded for search\[red shoes\]"):
        other.search("red shoes")
    assert (other.done, other.reward) == ("no outcome is recorded for search[red shoes]", 0)


@pytest.mark.parametrize(
    ("task", "data", "why"),
    [
        ("home_search", [], "expected a JSON object"),
        ("home_search", {"completion": [HOME]}, "`prompt` must be a non-empty string"),
        ("home_search", {"prompt": "x", "completion": []}, "`completion` must be a non-empty list of strings"),
        ("web_shop", {}, "`id` must be a string or an integer"),
        ("code_as_policies_tabletop", {"configs": 3}, "`configs` must be an object with an `instruction`"),
    ],
)
def test_a_broken_row_is_a_case_with_a_fault(tmp_path: Path, task: str, data: Json, why: str) -> None:
    write(tmp_path, task, data)
    (case,) = ToolBenchSuite().cases("", tmp_path)
    assert isinstance(case, FaultyCase)
    assert why in case.faults[0].message


def test_a_label_that_cannot_be_carried_out_is_a_fault_of_its_row(tmp_path: Path) -> None:
    path = write(tmp_path, "home_search", row(HOME), row("API.fly()")) / "test.jsonl"
    right, wrong = ToolBenchSuite().cases("", tmp_path)
    assert isinstance(right, Case)
    assert isinstance(wrong, Case)
    assert judge_fault(right) is None
    fault = judge_fault(wrong)
    assert fault is not None
    assert fault.location == Location(str(path), 2)
    assert "invalid row: a label cannot be executed: unknown function API.fly" in fault.message
    right, wrong = ToolBenchSuite().plain("", tmp_path)
    assert isinstance(right, Case)
    assert isinstance(wrong, FaultyCase)


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        ({"answer": "x"}, "`answer` must be a string"),
        ({"answer": "x", "gives": {}, "case": [1]}, "`case` must be the number"),
    ],
)
def test_recorded_outcomes_that_cannot_be_read_are_told(tmp_path: Path, outcome: Json, why: str) -> None:
    outcomes(write(tmp_path, "open_weather", row(WEATHER)), outcome)
    with pytest.raises(ValueError, match=rf"outcomes\.jsonl:1: {why}"):
        list(ToolBenchSuite().cases("", tmp_path))


def test_tasks_are_found_by_folder_and_version(tmp_path: Path) -> None:
    write(tmp_path, "home_search", row(HOME))
    write(tmp_path, "home_search", row(HOME), row(HOME), version="v1")
    for part, number in {"": 3, "home_search": 3, "home_search_v1": 2}.items():
        assert len(list(ToolBenchSuite().cases(part, tmp_path))) == number
    assert len(list(ToolBenchSuite().cases("", tmp_path / "data"))) == 3
    assert len(list(ToolBenchSuite().cases("", tmp_path / "data" / "home_search"))) == 3
    assert [part.cases for part in ToolBenchSuite().about(tmp_path).parts] == [1, 2]
    assert len(ToolBenchSuite().about(None).parts) == 8


@pytest.mark.parametrize(
    ("part", "folder", "why"),
    [
        ("", None, "no data for suite toolbench"),
        ("", "empty", "no task of ToolBench in .*download_resources"),
        ("booking", ".", "no task booking in .*available: home_search"),
    ],
)
def test_what_is_not_there_is_said(tmp_path: Path, part: str, folder: str | None, why: str) -> None:
    write(tmp_path, "home_search", row(HOME))
    with pytest.raises(ValueError, match=why):
        list(ToolBenchSuite().cases(part, None if folder is None else tmp_path / folder))


@pytest.mark.parametrize(
    ("operand", "got", "wrong"),
    [
        ({"task": "home_search", "labels": [HOME]}, f"```\n{HOME}\n```", None),
        ({"task": "home_search", "labels": [HOME]}, "API.fly()", "the answer cannot be executed"),
        ({"task": "home_search", "labels": [HOME]}, 3, "expected a text"),
        ({"task": "open_weather", "labels": [WEATHER]}, "x", "`$toolbench` cannot judge: `task` must be one of"),
        ({"task": "home_search", "labels": []}, "x", "`$toolbench` cannot judge: `labels` must be a non-empty list"),
        ("x", "x", "`$toolbench` needs a `task`"),
    ],
)
def test_the_operator_judges_a_text(operand: Json, got: Json, wrong: str | None) -> None:
    said = SUITE_OPERATORS["toolbench"](operand, {}, got)
    assert said is None if wrong is None else said is not None and said.startswith(wrong)
