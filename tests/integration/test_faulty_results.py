from __future__ import annotations

import base64
import json
import re
import zlib

import pytest

from tests.integration.command import fcall
from tests.integration.conftest import Shop

AGENT = '''
SEARCH = {"name": "search_flights", "arguments": {"to": "Oslo"}}


def stubborn(request):
    """Call again until there is a list of flights, at most four times."""
    results = [str(message["content"]) for message in request.messages if message["role"] == "tool"]
    if results and results[-1].startswith("[") and results[-1].endswith("]") and "F7" in results[-1]:
        return "Take F7 for 90 euros."
    return [SEARCH] if len(results) < 4 else "I could not get any flights."


def honest(request):
    said = str(request.messages[-1]["content"])
    if request.messages[-1]["role"] == "user":
        return [SEARCH]
    return "Take F7 for 90 euros." if said.endswith("]") else "I could not search for flights: please try later."


def liar(request):
    return [SEARCH] if request.messages[-1]["role"] == "user" else "Take F7 for 90 euros."


def idle(request):
    return "I see nothing."
'''
CASES = """
tools:
  - {name: search_flights, parameters: {type: object, properties: {to: {type: string}}}}
cases:
  - id: oslo
    prompt: A flight to Oslo, please.
    expect: [{search_flights: {to: Oslo}, returns: [{id: F7, price: 90}]}]
    answer: {$contains: F7}
    faults:
      - {tool: search_flights, kind: [timeout, truncated]}
      - {id: down, tool: search_flights, kind: error, times: always}
"""


@pytest.fixture
def flights(shop: Shop) -> Shop:
    shop.file("agent.py", AGENT)
    shop.file("cases/flights.fc.yaml", CASES)
    return shop


def test_each_fault_is_a_test_and_the_summary_tells_how_the_model_recovered(flights: Shop) -> None:
    result = flights.run("--fc-model=python:agent:stubborn", "-n2", "--durations=0")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        ["recovered from 3 of 3 faulty results (100.0 % [[]44, 100]): 2 by a repetition, 1 by telling of it"]
    )


def test_who_tells_of_the_failure_is_right_too(flights: Shop) -> None:
    result = flights.run("--fc-model=python:agent:honest")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["recovered from 3 of 3 faulty results*: 3 by telling of it"])


def test_a_result_that_was_invented_is_red_and_the_faulty_one_is_marked(flights: Shop) -> None:
    result = flights.run("--fc-model=python:agent:liar", "-p", "no:randomly")
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [
            "invented_result: The answer says 'F7', which only the sound result would have contained",
            '*search_flights(to: "Oslo") → timeout, on purpose *: it took longer than 30 s',
            "recovered from 0 of 3 faulty results (0.0 %*",
            "  not from those of search_flights: error 1/1, timeout 1/1, truncated 1/1",
        ]
    )


def test_a_call_without_a_sound_result_is_shown_as_such_and_not_as_missing(flights: Shop) -> None:
    result = flights.run("--fc-model=python:agent:liar", "-v", "-k", "timeout")
    result.stdout.fnmatch_lines(
        ['*search_flights  to: "Oslo" * (no sound result)', '*search_flights  (faulty result)  to: "Oslo"']
    )
    result = flights.run("--fc-model=python:agent:liar", "-vv", "-k", "timeout")
    result.stdout.fnmatch_lines(
        [
            '*expected search_flights(to: "Oslo") (no sound result)',
            '*called   search_flights(to: "Oslo") (faulty result)',
        ]
    )


def test_a_fault_that_does_not_come_up_is_not_green(flights: Shop) -> None:
    result = flights.run("--fc-model=python:agent:idle")
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(
        [
            "*no_fault: The faulty result did not reach*",
            "recovered from 0 of 0 faulty results; 3 more did not *",
        ]
    )


def test_faults_are_selected_like_other_tests(flights: Shop) -> None:
    flights.run("--fc-model=python:agent:honest", "-m", "fault").assert_outcomes(passed=3, deselected=1)


def test_accepted_answers_are_judged_again_with_the_faulty_results(flights: Shop) -> None:
    flights.run("--fc-model=python:agent:stubborn", "--fc-accept").assert_outcomes(passed=4)
    again = flights.run("--fc-model=python:agent:stubborn", "--fc-replay")
    again.assert_outcomes(passed=4)
    assert "drifted" not in again.stdout.str()
    flights.file("agent.py", AGENT.replace("def stubborn", "def former").replace("def liar", "def stubborn"))
    result = flights.run("--fc-model=python:agent:stubborn")
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(["3 regressed:"])


def test_the_run_file_and_the_reports_tell_it(flights: Shop) -> None:
    flights.run("--fc-model=python:agent:liar", *(f"--fc-report=report.{kind}" for kind in ("json", "html", "md")))
    text = {kind: (flights.pytester.path / f"report.{kind}").read_text("utf-8") for kind in ("json", "html", "md")}
    results = {each["case"]: each for each in json.loads(text["json"])["results"]["results"]}
    assert results["oslo"]["recoveries"] == []
    assert results["oslo[fault=down.error]"]["recoveries"] == [
        {"name": "down.error", "kind": "error", "tools": ["search_flights"], "how": ""}
    ]
    assert "recovered from 0 of 3 faulty results (0.0 % [0, 56])" in text["html"]
    assert '<td class="text">truncated</td><td>0/1</td><td>0.0 %</td><td>[0, 79]</td>' in text["html"]
    assert "**Faulty results of tools**: recovered from 0 of 3 faulty results" in text["md"]
    shown = fcall(flights.pytester.path, "show", "oslo[fault=timeout]")
    assert "timeout, on purpose → error: it took longer than 30 s" in shown.stdout


def test_the_page_of_a_run_names_calls_with_faulty_results_as_the_terminal_does(flights: Shop) -> None:
    flights.run("--fc-model=python:agent:liar", "-k", "timeout", "--fc-report=report.html")
    text = (flights.pytester.path / "report.html").read_text("utf-8")
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    (portion,) = json.loads(data)["packed"]
    (case,) = json.loads(zlib.decompress(base64.b64decode(portion)))
    rows = [row[:4] for answer in case["answers"] for turn in answer["turns"] for row in turn["rows"]]
    assert rows == [["search_flights", "(no sound result)", "", 1], ["(faulty result)", "search_flights", "", 0]]


def test_a_mistake_names_its_line(flights: Shop) -> None:
    flights.file("cases/flights.fc.yaml", CASES.replace("kind: error", "kind: eror"))
    result = flights.run("--fc-model=python:agent:honest")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*cases/flights.fc.yaml:11*", "*did you mean `error`?*"])


@pytest.mark.parametrize(
    ("model", "gate", "ends"),
    [
        ("stubborn", "recovery >= 60%", "100.0 %  holds: 3 of 3, [[]44, 100]"),
        ("liar", "recovery >= 60%", "0.0 %  does not hold: 0 of 3, [[]0, 56]"),
        ("idle", "recovery >= 0%", "-  inconclusive: 3 did not reach the model"),
        ("stubborn", "recovery[[]truncated] >= 60%", "100.0 %  holds: 1 of 1, [[]21, 100]"),
        ("stubborn", "recovery[[]down, fault] >= 60%", "100.0 %  holds: 1 of 1, [[]21, 100]"),
        ("stubborn", "recovery[[]slow] >= 60%", "-  inconclusive: no result was faulty"),
    ],
)
def test_a_gate_bounds_the_rate_of_recovery(flights: Shop, model: str, gate: str, ends: str) -> None:
    gates = f"--fc-gate={gate.replace('[[]', '[')}"
    result = flights.run(f"--fc-model=python:agent:{model}", gates, "--fc-fail=gates")
    assert result.ret == (0 if "holds:" in ends else 1 if "not hold" in ends else 10)
    result.stdout.fnmatch_lines([f"gate {gate}  {ends}"])


def test_a_fault_without_a_reply_is_no_recovery_and_no_gate_holds(flights: Shop) -> None:
    flights.file("agent.py", AGENT.replace("def idle", "def former") + "\n\ndef idle(request):\n    raise OSError\n")
    result = flights.run("--fc-model=python:agent:idle", "--fc-gate=recovery[timeout]>=0.5", "--fc-fail=gates")
    assert result.ret != 0
    result.stdout.fnmatch_lines(
        [
            "recovered from 0 of 0 faulty results; 3 cases with a fault not judged",
            "gate recovery[[]timeout[]]>=0.5*inconclusive: 1 case with a fault was not judged",
        ]
    )
