from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.core import Call, Calls, Case, Expectation, FaultyCase, Json, Operator, Profile, Reply, Verdict
from pytest_fcall.suites.mannheim.suite import MannheimSuite
from tests.unit.suites.mannheim.data import BEST, BY_ANN, OFFERED, function, path, question, write

GRID = "MUSIC_Q_PAR_MULTI_STEP_ONE_SHOT_V1", "MUSIC_FUNC_COMPLEX_DESC_NO_EX_V2"


def cases(folder: Path, part: str = "") -> list[Case]:
    found = list(MannheimSuite().cases(part, folder))
    assert all(isinstance(case, Case) for case in found), found
    return [case for case in found if isinstance(case, Case)]


def expected(case: Case) -> Expectation:
    found = case.turns[0].expect
    assert found is not None
    return found


def verdict_of(case: Case, reply: str, *calls: Call, profile: Profile = "strict") -> Verdict:
    assert case.judge is not None
    own = replace(case, rules=case.rules._replace(profile=profile))
    return case.judge(own, Reply(reply), Calls(calls))


def judged(case: Case, reply: str, *calls: Call, profile: Profile = "strict") -> bool:
    return verdict_of(case, reply, *calls, profile=profile).valid


def mended(folder: Path) -> list[str]:
    return [said.partition(": ")[2] for said in MannheimSuite().repairs(folder)]


def test_a_question_is_a_conversation_of_ten_steps_over_tables(tmp_path: Path) -> None:
    first, second = cases(write(tmp_path, [BY_ANN, BEST], OFFERED))
    assert (first.id, first.category) == ("music_single_Q1", "music_single/Selection")
    assert second.category == "music_single/Long Tail Entities"
    assert first.mode == "conversation"
    assert first.conversation is not None
    assert (first.conversation.max_steps, first.conversation.setup["domain"]) == (10, "music")
    assert [tool.name for tool in first.tools] == ["albums_by_artist_1", "top_rated_albums", "high_rated_albums"]


def test_several_paths_are_alternatives(tmp_path: Path) -> None:
    (case,) = cases(write(tmp_path, [BEST], OFFERED))
    assert expected(case).kind == "any_of"
    for call in (Call("top_rated_albums", {"n": 1}), Call("high_rated_albums", {"rating_threshold": 4.2})):
        assert judged(case, "{'album': 'Two'}", call)
        assert judged(case, "{'album': 'Two'}", call, profile="original")


def test_the_second_of_two_paths_that_differ_in_an_argument_is_right_for_us_alone(tmp_path: Path) -> None:
    paths: list[Json] = [path(top_rated_albums={"n": 1}), path(top_rated_albums={"n": 2})]
    (case,) = cases(write(tmp_path, [question("Q", paths, {"a": "x"})], OFFERED))
    call = Call("top_rated_albums", {"n": 2})
    assert judged(case, '{"a": "x"}', call)
    assert not judged(case, '{"a": "x"}', call, profile="original")


@pytest.mark.parametrize(
    ("reply", "call", "right"),
    [
        ("It is {'albums': ['Two', 'One']}.", Call("albums_by_artist_1", {"artist_name": "Ann"}), True),
        ("It is {'albums': ['Two']}.", Call("albums_by_artist_1", {"artist_name": "Ann"}), False),
        ("It is Two and One.", Call("albums_by_artist_1", {"artist_name": "Ann"}), False),
        ("{'albums': ['Two', 'One']}", Call("albums_by_artist_1", {"artist_name": "ann"}), False),
        ("{'albums': ['Two', 'One']}", Call("top_rated_albums", {"n": 2}), False),
    ],
)
@pytest.mark.parametrize("profile", ["strict", "original"])
def test_functions_parameters_and_answer_must_all_be_right(
    tmp_path: Path, reply: str, call: Call, right: bool, profile: Profile
) -> None:
    (case,) = cases(write(tmp_path, [BY_ANN], OFFERED))
    assert judged(case, reply, call, profile=profile) is right


def test_the_original_tells_what_is_wrong_in_its_own_words(tmp_path: Path) -> None:
    (case,) = cases(write(tmp_path, [BY_ANN], OFFERED))
    case = replace(case, rules=case.rules._replace(profile="original"))
    assert case.judge is not None
    verdict = case.judge(case, Reply("?"), Calls((Call("albums_by_artist_1", {}), Call("top_rated_albums", {}))))
    assert [reason.message for reason in verdict.reasons] == [
        "functions are partially correct: 1 of 1",
        "parameters are incorrect: 0 of 1",
        "the answer is incorrect",
    ]


def test_the_order_of_lists_counts_only_where_the_question_says_so(tmp_path: Path) -> None:
    one: list[Json] = [path(top_rated_albums={"n": 1})]
    (case,) = cases(write(tmp_path, [question("Q", one, {"a": [1, 2]}, ordered=("a",))], OFFERED))
    call = Call("top_rated_albums", {"n": 1})
    assert judged(case, '{"a": [1, 2]}', call)
    assert not judged(case, '{"a": [2, 1]}', call)


def test_calls_that_do_not_depend_on_each_other_come_in_any_order(tmp_path: Path) -> None:
    both: list[Json] = [path(a={"x": 1}, b={"x": 2})]
    offered = [function("a", x="number"), function("b", x="number")]
    row = question("Q", both, {"r": 1})
    one, other = Call("a", {"x": 1}), Call("b", {"x": 2})
    (parallel,) = cases(write(tmp_path / "p", [row], offered, *GRID), "music_parallel")
    (single,) = cases(write(tmp_path / "s", [row], offered))
    assert judged(parallel, '{"r": 1}', other, one)
    assert judged(single, '{"r": 1}', one, other)
    assert not judged(single, '{"r": 1}', other, one)


def test_further_arguments_are_free_and_numbers_count_to_two_decimals(tmp_path: Path) -> None:
    one: list[Json] = [path(f={"x": 1.5})]
    offered = [function("f", x="number")]
    offered[0]["parameters"]["properties"]["y"] = {"type": "number"}  # type: ignore[call-overload, index]  # made above
    (case,) = cases(write(tmp_path, [question("Q", one, {"r": 1})], offered))
    assert judged(case, '{"r": 1}', Call("f", {"x": 1.501, "y": 3}))
    assert not judged(case, '{"r": 1}', Call("f", {"x": 1.51}))


@pytest.mark.parametrize("profile", ["strict", "original"])
def test_scores_are_those_of_the_original_rules_in_every_profile(tmp_path: Path, profile: Profile) -> None:
    paths: list[Json] = [path(top_rated_albums={"n": 1}), path(high_rated_albums={"rating_threshold": 4.5})]
    (case,) = cases(write(tmp_path, [question("Q", paths, {"a": "x"})], OFFERED))
    verdict = verdict_of(case, '{"a": "x"}', Call("high_rated_albums", {"rating_threshold": 4.501}), profile=profile)
    assert verdict.valid
    assert verdict.scores == {"function_accuracy": (1, 1), "parameter_accuracy": (1, 1), "answer_accuracy": (1, 1)}


@pytest.mark.parametrize(("profile", "right"), [("strict", True), ("original", False)])
def test_the_original_judges_and_scores_by_the_data_with_its_faults(
    tmp_path: Path, profile: Profile, right: bool
) -> None:
    faulty: Json = {"functions": ["top_rated_albums "], "parameters": [{"n": 1}]}
    (case,) = cases(write(tmp_path, [question("Q", [faulty], {"r": 1})], OFFERED))
    verdict = verdict_of(case, '{"r": 1}', Call("top_rated_albums", {"n": 1}), profile=profile)
    assert verdict.valid is right
    assert verdict.scores["function_accuracy"] == (0, 1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"functions": [" top_rated_albums "], "parameters": [{"n": 1}]}, "is called `top_rated_albums`"),
        ({"functions": ["top_rated_album"], "parameters": [{"n": 1}]}, "is called `top_rated_albums`"),
        ({"functions": ["top_rated_albums"], "parameters": [{"number": 1}]}, "is called `n`"),
        ({"functions": ["top_rated_albums"], "parameters": [{"n": "1"}]}, "is 1, not '1'"),
        ({"functions": ["top_rated_albums"], "parameters": [{}]}, "needs `n`, for which any value is right"),
    ],
)
def test_faults_of_the_data_are_mended_and_told(tmp_path: Path, given: Json, said: str) -> None:
    (case,) = cases(write(tmp_path, [question("Q", [given], {"r": 1})], OFFERED))
    assert judged(case, '{"r": 1}', Call("top_rated_albums", {"n": 1}))
    (line,) = mended(tmp_path)
    assert said in line


def test_a_function_that_nobody_offers_is_offered_to_all(tmp_path: Path) -> None:
    unknown = question("Q", [{"functions": ["sing"], "parameters": [{"song": "x", "loud": True}]}], {"r": 1})
    first, second = cases(write(tmp_path, [BY_ANN, unknown], OFFERED))
    assert first.tools == second.tools
    assert first.tools[-1].parameters["properties"] == {"song": {"type": "string"}, "loud": {"type": "boolean"}}
    assert "the function `sing` is offered" in mended(tmp_path)[0]


def test_a_function_that_is_offered_twice_is_offered_once(tmp_path: Path) -> None:
    (case,) = cases(write(tmp_path, [BY_ANN], [*OFFERED, OFFERED[0]]))
    assert len(case.tools) == len(OFFERED)
    assert mended(tmp_path) == ["the function `albums_by_artist_1` is offered once, not twice"]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("?", "missing `id`, `question`"),
        ({**BY_ANN, "id": "a::b"}, "`id` is empty or has unprintable characters"),
        (question("Q", [], {"r": 1}), "missing `id`, `question`"),
        (question("Q", [{"functions": ["f"], "parameters": []}], {}), "as many `functions` as `parameters`"),
        (question("Q", [{"functions": [1], "parameters": [{}]}], {}), "functions must be strings"),
    ],
)
def test_a_broken_question_is_a_case_with_a_fault(tmp_path: Path, row: Json, why: str) -> None:
    (case,) = MannheimSuite().cases("", write(tmp_path, [row], OFFERED))  # type: ignore[list-item]  # wrong on purpose
    assert isinstance(case, FaultyCase)
    assert why in case.faults[0].message


@pytest.mark.parametrize("text", ["{", "[]", '{"question_sets": 3}', '{"question_sets": [{"id": 1}]}', "\xff"])
def test_a_file_that_is_none_is_told(tmp_path: Path, text: str) -> None:
    write(tmp_path, [BY_ANN], OFFERED)
    (tmp_path / "src" / "config" / "question_sets.json").write_bytes(text.encode("latin1"))
    with pytest.raises(ValueError, match=r"question_sets\.json (must hold|is not)"):
        list(MannheimSuite().cases("", tmp_path))


def test_functions_that_are_none_are_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="invalid functions in the part music_single"):
        list(MannheimSuite().cases("", write(tmp_path, [BY_ANN], [{"description": "no name"}])))


def test_what_is_required_is_no_fault_where_it_is_no_name(tmp_path: Path) -> None:
    odd: dict[str, Json] = {
        **function("f", x="number"),
        "parameters": {"type": "object", "properties": {}, "required": [{}, 3]},
    }
    (case,) = cases(write(tmp_path, [question("Q", [path(f={})], {"r": 1})], [odd]))
    assert judged(case, '{"r": 1}', Call("f", {}))


def test_sets_that_name_no_functions_are_told(tmp_path: Path) -> None:
    write(tmp_path, [BY_ANN], OFFERED, "MINE", "THEIRS")
    sets = {"question_sets": [{"id": "MINE", "function_sets": [{}, "OTHERS"], "questions": [BY_ANN]}]}
    (tmp_path / "src" / "config" / "question_sets.json").write_text(json.dumps(sets))
    with pytest.raises(ValueError, match=r"question_sets\.json: no set names .*_sets\.json; available: THEIRS"):
        list(MannheimSuite().cases("", tmp_path))


def test_sets_of_ones_own_are_parts_by_their_ids(tmp_path: Path) -> None:
    (case,) = cases(write(tmp_path, [BY_ANN], OFFERED, "MINE", "THEIRS"), "mine")
    assert case.id == "mine_Q1"


@pytest.mark.parametrize(
    ("part", "folder", "why"),
    [("", None, "no data for suite mannheim"), ("", ".", "no question_sets.json in"), ("x", "full", "no part 'x'")],
)
def test_what_is_not_there_is_said(tmp_path: Path, part: str, folder: str | None, why: str) -> None:
    write(tmp_path / "full", [BY_ANN], OFFERED)
    with pytest.raises(ValueError, match=why):
        list(MannheimSuite().cases(part, None if folder is None else tmp_path / folder))


def test_what_there_is_is_told_with_and_without_data(tmp_path: Path) -> None:
    about = MannheimSuite().about(write(tmp_path, [BY_ANN], [*OFFERED, OFFERED[0]]))
    assert [(part.name, part.cases) for part in about.parts] == [("music_single", 1)]
    assert len(about.mended) == 1
    assert len(MannheimSuite().about(None).parts) == 10


def test_scores_are_told_of_all_of_each_part_and_of_each_category_over_both_domains(tmp_path: Path) -> None:
    (case,) = cases(write(tmp_path, [BY_ANN], OFFERED))
    assert [*MannheimSuite().scores(case)] == [
        *("mannheim", "music_single", "music_single/Selection", "single", "single/Selection")
    ]


def test_a_plain_case_says_all_that_its_judge_knows(tmp_path: Path) -> None:
    (case,) = MannheimSuite().plain("", write(tmp_path, [BY_ANN], OFFERED))
    assert isinstance(case, Case)
    assert case.judge is None
    answer = case.turns[0].answer
    assert isinstance(answer, Operator)
    assert json.dumps(answer.operand) == '{"albums": ["One", "Two"]}'
