from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import dropwhile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pytest_fcall.conversation.named_scores import SCORES
from tests.integration.command import fcall_here, python
from tests.integration.conftest import ECHO, Shop
from tests.integration.mind import Mind
from tests.suite_tools import WITHOUT_TOOLS

Call = tuple[str, Mapping[str, object]]

PROPERTIES = json.dumps({name: {} for name in ("n", "m", "g", "z", "a", "recipient", "date")})
TOOLS = "tools:\n" + "".join(
    f"  - {{name: {name}, parameters: {{type: object, properties: {PROPERTIES}}}}}\n" for name in "fghX"
)

BLEND = "blend: api_f1, api_f1(sample), parameter_f1, parameter_f1(sample), lcs_f1"


def exam(*cases: tuple[str, list[Call], str]) -> str:
    """A case file: each case has an id, which is its tag, too, the calls that are made, and what is expected."""
    return TOOLS + "cases:\n" + "".join(map(written, cases))


def written(case: tuple[str, list[Call], str]) -> str:
    name, made, expect = case
    said = json.dumps([{"name": tool, "arguments": arguments} for tool, arguments in made])
    return f"  - id: {name}\n    tags: [{name}, mannheim, blend]\n    prompt: '{said}'\n    expect: {expect}\n"


def scores(result: pytest.RunResult) -> dict[tuple[str, str], str]:
    """What the summary says of each score of a tag: how many cases, and the value."""
    found: dict[tuple[str, str], str] = {}
    rows = dropwhile(lambda line: line.split()[:4] != ["model", "tag", "score", "n"], result.outlines)
    tag = ""
    for row in list(rows)[1:]:
        words = row.split()
        at = max((place for place, word in enumerate(words) if word in SCORES), default=-1)
        if at < 0:
            break
        names, score, (cases, value, *_) = words[:at], words[at], words[at + 1 :]
        tag = next((name for name in names if not name.startswith("python:")), tag)
        found[tag, score] = f"{cases} {value}"
    return found


BOTH = "[{f: {n: 1}}, {g: {m: 2}}]"
F, G, H = ("f", {"n": 1}), ("g", {"m": 2}), ("h", {"z": 0})


GRADED: dict[str, tuple[list[Call], str, str, str]] = {
    "rounded": ([("f", {"n": 5.001})], "[{f: {n: 5}}]", "1.0000", "1.0000"),
    "off": ([("f", {"n": 5.01})], "[{f: {n: 5}}]", "1.0000", "0.0000"),
    "text": ([("f", {"n": "5"})], "[{f: {n: 5}}]", "1.0000", "0.0000"),
    "bool": ([("f", {"n": True})], "[{f: {n: 1}}]", "1.0000", "1.0000"),
    "list": ([("f", {"g": ["b", "a"]})], "[{f: {g: [a, b]}}]", "1.0000", "1.0000"),
    "short_list": ([("f", {"g": ["a"]})], "[{f: {g: [a, b]}}]", "1.0000", "0.0000"),
    "further": ([("f", {"n": 5, "m": 1})], "[{f: {n: 5}}]", "1.0000", "1.0000"),
    "lacking": ([("f", {"n": 5})], "[{f: {n: 5, m: 1}}]", "1.0000", "0.5000"),
    "first": ([F], BOTH, "0.5000", "0.5000"),
    "second": ([G], BOTH, "0.5000", "-"),
    "backwards": ([G, F], BOTH, "0.5000", "-"),
    "too_many": ([G, F], "[{f: {n: 1}}]", "1.0000", "1.0000"),
    "gap": ([F, H, G], BOTH, "0.5000", "0.0000"),
    "other_path": ([("h", {"z": 1})], "{any_of: [{calls: [{f: {n: 1}}]}, {calls: [{h: {z: 1}}]}]}", "1.0000", "1.0000"),
    "best_path": ([("f", {"n": 2})], "{any_of: [{calls: [{f: {n: 1}}]}, {calls: [{f: {n: 2}}]}]}", "1.0000", "1.0000"),
    "met": ([("f", {"n": 7})], "[{f: {n: {$gt: 5}}}]", "1.0000", "1.0000"),
    "unmet": ([("f", {"n": 3})], "[{f: {n: {$gt: 5}}}]", "1.0000", "0.0000"),
    "silent": ([], BOTH, "0.0000", "0.0000"),
}


def test_calls_are_scored_as_in_mannheim(shop: Shop) -> None:
    shop.file("cases/m.fc.yaml", exam(*((name, made, expect) for name, (made, expect, *_) in GRADED.items())))
    found = scores(shop.ask(*(f"--fc-score={name}: function_accuracy, parameter_accuracy" for name in GRADED)))
    told = {name: (found[name, "function_accuracy"], found[name, "parameter_accuracy"]) for name in GRADED}
    assert told == {name: (f"1 {functions}", f"1 {parameters}") for name, (*_, functions, parameters) in GRADED.items()}


SEND, REMIND = ("f", {"recipient": "Joy"}), ("g", {"date": "tonight"})
GOLD = "[{f: {recipient: Joy}}, {g: {date: tonight}}]"


def test_calls_are_scored_as_in_api_blend(shop: Shop) -> None:
    shop.file(
        "cases/b.fc.yaml",
        exam(
            ("exact", [SEND, REMIND], GOLD),
            ("swapped", [REMIND, SEND], GOLD),
            ("first", [SEND], GOLD),
            ("extra", [SEND, REMIND, ("X", {})], GOLD),
            ("value", [SEND, ("g", {"date": "today"})], GOLD),
            ("misplaced", [SEND, ("g", {"recipient": "Joy"})], GOLD),
            ("again", [("f", {})], "[{f: {}}, {f: {}}]"),
            ("empty", [], GOLD),
        ),
    )
    names = ["exact", "swapped", "first", "extra", "value", "misplaced", "again", "empty"]
    shop.pytester.makeini(
        "[pytest]\nfc_scores =\n" + "".join(f"    {name}: api_f1, parameter_f1, lcs_f1\n" for name in names)
    )
    found = scores(shop.ask())
    assert {name: [found[name, score] for score in ("api_f1", "parameter_f1", "lcs_f1")] for name in names} == {
        "exact": ["1 1.0000", "1 1.0000", "1 1.0000"],
        "swapped": ["1 1.0000", "1 1.0000", "1 0.5000"],
        "first": ["1 0.6667", "1 0.6667", "1 0.6667"],
        "extra": ["1 0.8000", "1 1.0000", "1 0.8000"],
        "value": ["1 1.0000", "1 0.5000", "1 1.0000"],
        "misplaced": ["1 1.0000", "1 0.5000", "1 1.0000"],
        "again": ["1 0.6667", "1 1.0000", "1 0.6667"],
        "empty": ["1 0.0000", "1 0.0000", "1 0.0000"],
    }


TWO = exam(("pair", [SEND, REMIND], GOLD), ("other", [("h", {"a": 1})], "[{X: {a: 1}}]"))
OF_TWO = {
    ("blend", "api_f1"): "2 0.6667",
    ("blend", "api_f1(sample)"): "2 0.5000",
    ("blend", "parameter_f1"): "2 0.6667",
    ("blend", "parameter_f1(sample)"): "2 0.5000",
    ("blend", "lcs_f1"): "2 0.5000",
}


@pytest.fixture
def two(shop: Shop) -> Shop:
    shop.file("cases/two.fc.yaml", TWO)
    shop.pytester.makeini(f"[pytest]\nfc_scores = {BLEND}\n")
    return shop


def test_many_cases_are_counted_together_or_averaged(two: Shop) -> None:
    assert scores(two.ask()) == OF_TWO


@pytest.mark.nightly  # test_suite_apibench has scores of workers
def test_workers_send_what_their_cases_add(two: Shop) -> None:
    result = two.pytester.runpytest_subprocess("--fc-model=python:echo:answer", "-n", "2")
    assert scores(result) == OF_TWO


def test_shares_are_merged_to_the_scores_of_one_run(two: Shop) -> None:
    for number in (1, 2):
        two.ask(f"--fc-shard={number}/2")
    runs = sorted(map(str, two.pytester.path.glob(".fcall/runs/*of2.json")))
    done = fcall_here(two.pytester.path, "merge", *runs)
    for (_, score), told in OF_TWO.items():
        assert f"{score} {told}" in " ".join(done.stdout.split())


def test_a_run_keeps_what_each_case_adds(two: Shop) -> None:
    two.ask()
    (path,) = two.pytester.path.glob(".fcall/runs/*.json")
    pair, other = json.loads(path.read_text("utf-8"))["results"]["results"]
    assert pair["scores"][:2] == [["blend", "api_f1", [2, 2, 2]], ["blend", "api_f1(sample)", [1, 1]]]
    assert other["scores"][:2] == [["blend", "api_f1", [0, 1, 1]], ["blend", "api_f1(sample)", [0, 1]]]


RENAMED = "[{**each, 'name': each['name'].replace('h', 'X')} for each in echo(request)]"


def test_two_runs_are_compared_by_their_scores(two: Shop) -> None:
    two.ask()
    two.file("echo.py", f"{ECHO}\n\necho = answer\n\n\ndef answer(request):\n    return {RENAMED}\n")
    two.ask("--fc-score=*: executability")
    told = [" ".join(line.split()) for line in fcall_here(two.pytester.path, "compare").stdout.splitlines()]
    start = told.index("model tag score n before now change")
    assert told[start + 1 : start + 6] == [
        "python:echo:answer blend api_f1 2 0.6667 1.0000 +0.3333",
        "api_f1(sample) 2 0.5000 1.0000 +0.5000",
        "parameter_f1 2 0.6667 1.0000 +0.3333",
        "parameter_f1(sample) 2 0.5000 1.0000 +0.5000",
        "lcs_f1 2 0.5000 1.0000 +0.5000",
    ]
    assert "executability" not in " ".join(told)


def test_junit_has_the_scores_of_each_case(two: Shop) -> None:
    two.ask("--junitxml=junit.xml")
    cases = ET.parse(two.pytester.path / "junit.xml").iter("testcase")
    properties = [{each.get("name"): each.get("value") for each in case.iter("property")} for case in cases]
    assert [each["fcall_parameter_f1(sample)"] for each in properties] == ["1.0000", "0.0000"]


def test_only_the_tags_that_ask_are_scored(two: Shop) -> None:
    found = scores(two.ask("-o", "fc_scores=", "--fc-score=other: api_f1", "--fc-score=*:lcs,executability"))
    assert found == {("*", "lcs"): "2 0.5000", ("*", "executability"): "2 1.0000", ("other", "api_f1"): "1 0.0000"}


def test_what_is_told_on_a_line_of_its_own_is_left_out_where_quiet(two: Shop) -> None:
    two.ask("-q").stdout.no_fnmatch_line("*api_f1*")


def test_a_case_without_a_reply_is_counted_apart(two: Shop) -> None:
    result = two.run("--fc-model=python:echo:down")
    table = [line.split() for line in result.outlines if "api_f1 " in line or "no reply" in line]
    assert table == [
        ["model", "tag", "score", "n", "value", "no", "reply"],
        ["python:echo:down", "blend", "api_f1", "-", "-", "2"],
    ]


def test_an_answer_that_cannot_be_read_counts_as_wrong(two: Shop) -> None:
    result = two.run("--fc-model=python:echo:answer", "-k", "pair", "-o", "fc_scores=", "--fc-score=pair:api_f1,lcs")
    assert scores(result) == {("pair", "api_f1"): "1 1.0000", ("pair", "lcs"): "1 1.0000"}
    two.file("cases/two.fc.yaml", TWO.replace("prompt: '[", "prompt: '{"))
    result = two.run("--fc-model=python:echo:answer", "-o", "fc_scores=", "--fc-score=pair: api_f1, function_accuracy")
    assert scores(result) == {("pair", "api_f1"): "1 0.0000", ("pair", "function_accuracy"): "1 0.0000"}


def test_a_case_that_is_skipped_by_intention_is_lacking_nowhere(two: Shop) -> None:
    two.file("cases/two.fc.yaml", TWO.replace("id: other", "id: other\n    skip: not today"))
    assert scores(two.ask())["blend", "api_f1"] == "1 1.0000"


def test_a_tag_that_no_case_has_is_told(two: Shop) -> None:
    told = "--fc-score: no case of this run has the tag `blent`; did you mean `blend`?"
    assert told in two.ask("--fc-score=blent: api_f1").outlines
    assert told in two.ask("--fc-score=blent: api_f1", "-q").outlines
    two.ask("--fc-score=*: api_f1", "--fc-score=pair: lcs").stdout.no_fnmatch_line("*no case of this run*")


def test_a_case_that_is_asked_several_times_counts_once_with_the_mean(mind: Mind) -> None:
    mind.cases("a", "b")
    mind.says_in_turn("a", [{"name": "get_weather", "arguments": {"city": "Oslo"}}], "No idea.")
    found = scores(mind.run("--fc-samples=2", "--fc-score=*: api_f1(sample), function_accuracy"))
    assert found == {("*", "api_f1(sample)"): "2 0.7500", ("*", "function_accuracy"): "2 0.7500"}


def test_answers_are_scored_over_the_cases_that_expect_one(shop: Shop) -> None:
    shop.file(
        "cases/a.fc.yaml",
        "cases:\n"
        "  - {id: right, prompt: Oslo, answer: {$contains: Oslo}}\n"
        "  - {id: wrong, prompt: Rome, answer: {$contains: Oslo}}\n"
        "  - {id: silent, prompt: Rome, expect: no_call}\n",
    )
    assert scores(shop.ask("--fc-score=*: answer_accuracy")) == {("*", "answer_accuracy"): "2 0.5000"}


def test_a_whole_conversation_is_one_path(shop: Shop) -> None:
    went_on = json.dumps([{"name": "get_weather", "arguments": {"city": "Rome"}}])
    shop.cases(
        f"""
        cases:
          - id: two_steps
            prompt: '[{{"name": "get_weather", "arguments": {{"city": "Oslo"}}}}]'
            expect:
              - get_weather: {{city: Oslo}}
                returns: {went_on}
                as: first
              - then:
                  - get_weather: {{city: {{$from: "first.result[0].arguments.city"}}}}
                    returns: sunny
              - then:
                  - get_weather: {{city: Paris}}
        """
    )
    found = scores(shop.ask("--fc-score=*: function_accuracy, parameter_f1, lcs_f1, executability"))
    assert found == {
        ("*", "function_accuracy"): "1 0.6667",
        ("*", "parameter_f1"): "1 0.8000",
        ("*", "lcs_f1"): "1 0.8000",
        ("*", "executability"): "1 1.0000",
    }


HOMES = '''
class Search:
    """Look for homes."""

    def __init__(self) -> None:
        self.criteria: dict[str, object] = {}

    def set(self, name: str, value: object) -> str:
        """Set a criterion."""
        if name == "boat":
            raise ValueError("no boats")
        self.criteria[name] = value
        return "set"
'''

AGENT = """
import json


def answer(request):
    last = request.messages[-1]
    return json.loads(last["content"]) if last["role"] == "user" else "Done."
"""

CRITERIA = {"location": "Cape Coral", "deal": "buy", "types": "a, b", "low": 707000, "high": 1457000, "room": 0}


def search(name: str, criteria: Mapping[str, object]) -> str:
    calls = [{"name": "set", "arguments": {"name": key, "value": value}} for key, value in criteria.items()]
    said, state = json.dumps(calls), json.dumps({"criteria": CRITERIA})
    return f"  - {{id: {name}, tags: [{name}], prompt: '{said}', environment: homes:Search, state: {state}}}\n"


def test_states_are_scored_as_in_toolbench(shop: Shop) -> None:
    shop.file("homes.py", HOMES)
    shop.file("agent.py", AGENT)
    less = {key: value for key, value in CRITERIA.items() if key != "deal"}
    searches = {
        "same": {**CRITERIA, "low": 707000.0},
        "less": less,
        "wrong": {**CRITERIA, "low": "707000"},
        "extra": {**CRITERIA, "garden": "large"},
        "crash": {**CRITERIA, "boat": 1},
        "empty": {},
    }
    cases = "".join(search(name, criteria) for name, criteria in searches.items())
    shop.file("cases/homes.fc.yaml", "tools: [{python: homes:Search.set}]\ncases:\n" + cases)
    wanted = "state_f1, state_precision, state_recall, executability"
    result = shop.run("--fc-model=python:agent:answer", *(f"--fc-score={name}: {wanted}" for name in searches))
    found = scores(result)
    told = {name: [found[name, score].split()[1] for score in wanted.split(", ")] for name in searches}
    assert told == {
        "same": ["1.0000", "1.0000", "1.0000", "1.0000"],
        "less": ["0.9091", "1.0000", "0.8333", "1.0000"],
        "wrong": ["0.8333", "0.8333", "0.8333", "1.0000"],
        "extra": ["0.9231", "0.8571", "1.0000", "1.0000"],
        "crash": ["1.0000", "1.0000", "1.0000", "0.0000"],
        "empty": ["0.0000", "0.0000", "0.0000", "1.0000"],
    }


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("smoke: api_f2", "there is no score 'api_f2'; did you mean `api_f1`?"),
        ("smoke: lcs_f1(corpus)", "there is no score 'lcs_f1(corpus)'; did you mean *"),
        ("smoke: bleu", "there is no score 'bleu'; there are function_accuracy, *, unparsable, *, parsing_errors"),
        ("smoke", "'smoke' names no scores; write a tag and its scores, such as 'smoke: api_f1, lcs_f1'"),
        (": api_f1", "': api_f1' names no scores; *"),
        ("smoke: api_f1,", "'smoke: api_f1,' names no scores; *"),
    ],
)
def test_what_is_no_score_is_told_even_where_no_case_runs(shop: Shop, line: str, said: str) -> None:
    shop.file("test_plain.py", "def test_nothing(): pass\n")
    for arguments, where in (([f"--fc-score={line}"], "--fc-score"), (["-o", f"fc_scores={line}"], "fc_scores")):
        result = shop.run("test_plain.py", *arguments)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"ERROR: {where}: {said}"])


@pytest.mark.nightly  # two Pythons from their very start, for speed alone
def test_nothing_is_imported_where_no_score_is_asked_for(two: Shop) -> None:
    two.file(
        "conftest.py",
        """
        import sys

        def pytest_unconfigure():
            rooms = [f"pytest_fcall.{name}" for name in ("conversation.named_scores", "session.result.scores")]
            print("LOADED", [name for name in rooms if name in sys.modules])
        """,
    )
    whole = ("-m", "pytest", "-p", "no:cacheprovider", "--fc-model=python:echo:answer")
    asked = python(two.pytester.path, *whole, PYTEST_ADDOPTS=WITHOUT_TOOLS)
    assert "LOADED ['pytest_fcall.conversation.named_scores', 'pytest_fcall.session.result.scores']" in asked.stdout
    Path(two.pytester.path, "pytest.ini").unlink(missing_ok=True)
    Path(two.pytester.path, "tox.ini").unlink(missing_ok=True)
    assert "LOADED []" in python(two.pytester.path, *whole, PYTEST_ADDOPTS=WITHOUT_TOOLS).stdout
