from __future__ import annotations

import json

import pytest

from tests.integration.command import fcall
from tests.integration.conftest import Shop
from tests.unit.suites.bfcl.multi_turn.package import case_row, write_package

APP = """
def right(request):
    if request.messages[-1]["role"] == "tool":
        return f"It says {request.messages[-1]['content']}"
    asked = [message for message in request.messages if message["role"] == "user"]
    call = {"name": "look", "arguments": {}}
    return [{"name": "book", "arguments": {"seat": "4A"}}] if len(asked) == 1 else [call]


def wrong(request):
    return "Nothing." if request.messages[-1]["role"] == "tool" else [{"name": "book", "arguments": {"seat": "4B"}}]


def told(request):
    assert request.tools == []
    *_, last = request.messages
    if last["content"].startswith("[{'role': 'tool'"):
        return "Done."
    return "[book(seat='4A')]" if last["content"] == "Book 4A." else "[look()]"


def found(request):
    search = {"id": "1", "function": {"name": "search_engine_query", "arguments": "{}"}, "type": "function"}
    return [
        {"role": "assistant", "content": None, "tool_calls": [search]},
        {"role": "tool", "tool_call_id": "1", "content": "O'Neil grows it."},
        {"role": "assistant", "content": "It is o'neil."},
    ]


def guessed(request):
    if request.messages[-1]["role"] == "tool":
        return f"Somebody, since {request.messages[-1]['content']}"
    return [{"name": "search_engine_query", "arguments": {}}]


def endless(request):
    return [{"name": "look", "arguments": {}}]
"""
SUITE = ("--fc-suite=bfcl:multi_turn", "--fc-suite-path=bfcl_eval")


@pytest.fixture
def desk(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.delenv("CI", raising=False)
    shop.file("desk.py", APP)
    shop.file("pytest.ini", "[pytest]\npythonpath = .\n")
    rows = {
        f"multi_turn_{name}": [case_row(id=f"multi_turn_{name}_0")]
        for name in ("base", "miss_func", "miss_param", "long_context")
    }
    question = [[{"role": "user", "content": "Who grows the tea?"}]]
    searches = case_row(id="web_search_0", question=question, ground_truth=["O'Neil"])
    write_package(shop.pytester.path, {**rows, "web_search": [searches]})
    return shop


def test_right_calls_pass_whatever_they_are_asked_for(desk: Shop) -> None:
    desk.run(*SUITE, "--fc-model=python:desk:right").assert_outcomes(passed=4)


def test_models_without_tools_are_told_of_tools_and_results(desk: Shop) -> None:
    suite = ("--fc-suite=bfcl:multi_turn_base,multi_turn_miss_func", SUITE[1], "--fc-suite-mode=prompt")
    desk.run(*suite, "--fc-model=python:desk:told").assert_outcomes(passed=2)


@pytest.mark.nightly  # the results that are written have the name
def test_a_failure_tells_the_state_and_the_official_name(desk: Shop) -> None:
    result = desk.run("--fc-suite=bfcl:multi_turn_base", SUITE[1], "--fc-model=python:desk:wrong")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["wrong_state: `TicketAPI.tickets` is [[]<bfcl_eval.tickets.Ticket object>*(bfcl: *:instance_state_mismatch)"]
    )


def test_a_model_that_calls_without_end_is_ended_as_it_is_officially(desk: Shop) -> None:
    result = desk.run("--fc-suite=bfcl:multi_turn_base", SUITE[1], "--fc-model=python:desk:endless")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["step_limit: The conversation ended after 1 of 2 turns (bfcl: *force_terminated)"])


def test_apps_that_search_themselves_are_judged_by_what_they_answer(desk: Shop) -> None:
    arguments = ("--fc-suite=bfcl:web_search", SUITE[1])
    guessed = desk.run(*arguments, "--fc-model=python:desk:guessed")
    guessed.assert_outcomes(failed=2)
    guessed.stdout.fnmatch_lines(["wrong_answer: The last message mentions none of*(bfcl: agentic:answer_not_found)"])
    found = desk.run(*arguments, "--fc-model=python:desk:found", "--fc-report=bfcl:out")
    found.assert_outcomes(passed=2)
    results = desk.pytester.path / "out/result/desk_found-FC/agentic/BFCL_v4_web_search_base_result.json"
    scored = fcall(desk.pytester.path, "score", "--format", "bfcl", "--cases", "bfcl_eval", str(results))
    assert json.loads(scored.stdout)["valid"]


def test_what_apps_have_found_is_found_again_by_models_that_are_asked_directly(desk: Shop) -> None:
    suite = ("--fc-suite=bfcl:web_search_base", SUITE[1])
    desk.run(*suite, "--fc-model=python:desk:found").assert_outcomes(passed=1)
    desk.run(*suite, "--fc-model=python:desk:guessed").assert_outcomes(passed=1)
    desk.run("--fc-suite=bfcl:web_search_no_snippet", SUITE[1], "--fc-model=python:desk:guessed").assert_outcomes(
        failed=1
    )


def test_an_answer_that_was_accepted_is_judged_again_by_what_it_says(desk: Shop) -> None:
    arguments = ("--fc-suite=bfcl:web_search", SUITE[1], "--fc-model=python:desk:found")
    desk.run(*arguments, "--fc-accept")
    result = desk.run(*arguments)
    result.assert_outcomes(passed=2)
    result.stdout.no_fnmatch_line("*fixed*")


@pytest.mark.nightly  # as one of any suite
def test_a_failure_that_was_accepted_is_known(desk: Shop) -> None:
    arguments = ("--fc-suite=bfcl:multi_turn_base", SUITE[1], "--fc-model=python:desk:wrong")
    desk.run(*arguments, "--fc-accept=all")
    result = desk.run(*arguments)
    result.assert_outcomes(xfailed=1)
    result.stdout.no_fnmatch_line("*and gone*")


def test_results_are_written_as_the_harness_does_and_score_alike(desk: Shop) -> None:
    desk.run(*SUITE, "--fc-model=python:desk:wrong", "--fc-report=bfcl:out")
    out = desk.pytester.path / "out"
    results = out / "result/desk_wrong-FC/multi_turn/BFCL_v4_multi_turn_base_result.json"
    scores = out / "score/desk_wrong-FC/multi_turn/BFCL_v4_multi_turn_base_score.json"
    row = json.loads(results.read_text(encoding="utf-8"))
    assert row["result"][0] == [[{"book": '{"seat": "4B"}'}], "Nothing."]
    header, wrong = map(json.loads, scores.read_text(encoding="utf-8").splitlines())
    assert header == {"accuracy": 0.0, "correct_count": 0, "total_count": 1}
    assert wrong["error"]["error_type"] == "multi_turn:instance_state_mismatch"
    scored = fcall(desk.pytester.path, "score", "--format", "bfcl", "--cases", "bfcl_eval", str(results))
    assert json.loads(scored.stdout)["error_type"] == "multi_turn:instance_state_mismatch"
