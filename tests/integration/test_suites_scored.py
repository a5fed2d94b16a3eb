"""Suites with environments, judges and scores of their own: Mannheim, ToolBench and API-BLEND."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from pytest_fcall.tracking.run_file import run_paths
from tests.integration.command import fcall
from tests.integration.conftest import Shop
from tests.unit.suites.mannheim.data import BEST, BY_ANN, OFFERED, write, write_tables

FAN = """
import json


def answer(request):
    question = next(each["content"] for each in request.messages if each["role"] == "user")
    last = request.messages[-1]
    if "Q1" in question and last["role"] == "tool":
        return f"They are {[row['release_name'] for row in json.loads(last['content'])]}.".replace(
            "They are ", "{'albums': ").replace("].", "]}")
    if "Q1" in question:
        return [{"name": "albums_by_artist_1", "arguments": {"artist_name": "Ann"}}]
    if last["role"] == "tool":
        return "{'album': 'Three'}"
    return [{"name": "top_rated_albums", "arguments": {"n": 1}}]
"""
HOME = 'API.set_location("Oslo")\\nAPI.set_buy_or_rent("buy")\\nAPI.search()'
AGENT = f"""
from itertools import cycle

TURNS = cycle(['{HOME}', '{HOME}'.replace("Oslo", "Rome")])


def agent(request):
    return next(TURNS)


def right(request):
    return '{HOME}'


def planner(request):
    if "Joy" in request.messages[-1]["content"]:
        return 'SEND_MESSAGE(RECIPIENT = "Joy")'
    return "{{}}"


def shopper(request):
    said = [each["content"] for each in request.messages if each["role"] == "tool"]
    if len(said) < 2:
        return [["look"], ["click", "tea"]][len(said)] and [
            {{"name": "click" if said else "look", "arguments": {{"on": "tea"}} if said else {{}}}}
        ]
    return "bought"
"""
SHOP = """
class Session:
    def __init__(self, id):
        self.done, self.reward, self.page = False, 0.0, f"shop {id}: buy tea"

    def look(self):
        return self.page

    def click(self, on):
        self.done, self.reward = True, 0.5 if on == "tea" else 0.0
        return "Thank you."


def make(id):
    return Session(id)
"""


@pytest.fixture
def fans(shop: Shop) -> Shop:
    shop.pytester.makepyfile(fan=FAN)
    write_tables(write(shop.pytester.path / "music", [BY_ANN, BEST], [*OFFERED, OFFERED[0]]))
    return shop


def mannheim(shop: Shop, *options: str) -> pytest.RunResult:
    return shop.run("--fc-suite=mannheim", "--fc-suite-path=music", "--fc-model=python:fan:answer", *options)


def test_questions_over_tables_are_conversations_with_three_accuracies(fans: Shop) -> None:
    result = mannheim(fans)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*all_right[[]music_single[]] *50.00 %*",
            "table 4, single *questions *function *paper *",
            "Selection * 1 *100.00 *100 *",
            "Overall *2 of 97 *",
            "*mannheim *function_accuracy *2  1.0000*",
            "*parameter_accuracy *2  1.0000*",
            "*answer_accuracy *2  0.5000*",
            "*music_single/Selection *",
        ]
    )


def test_a_quiet_run_ends_in_the_scores_of_its_suites(fans: Shop) -> None:
    noted = "*Likely, in the publication's classes of errors: query misinterpretation."
    mannheim(fans, "-vv").stdout.fnmatch_lines([noted])
    mannheim(fans, "-q").stdout.fnmatch_lines(["mannheim: all_right[[]music_single[]] 50.00 %", "fcall: *1/2 right*"])


def test_missing_tables_are_told(fans: Shop) -> None:
    shutil.rmtree(fans.pytester.path / "music" / "src" / "data")
    result = mannheim(fans, "--fc-record=off")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*no albums_1.csv in *src/data*"])


def test_a_recorded_run_is_judged_without_tables(fans: Shop) -> None:
    first = mannheim(fans)
    shutil.rmtree(fans.pytester.path / "music" / "src" / "data")
    again = mannheim(fans)
    assert first.parseoutcomes() == again.parseoutcomes() == {"passed": 1, "failed": 1}


@pytest.mark.nightly  # as programs are, below
def test_imported_questions_are_judged_alike(fans: Shop) -> None:
    done = fcall(fans.pytester.path, "import", "mannheim", "--path", "music", "--out", "taken")
    assert done.returncode == 0, done.stderr
    fans.run("--fc-model=python:fan:answer", "taken").assert_outcomes(passed=1, failed=1)


def test_what_is_mended_is_listed(fans: Shop) -> None:
    done = fcall(fans.pytester.path, "suites", "mannheim", "--path", "music")
    assert "corrected: music_single: the function `albums_by_artist_1` is offered once, not twice" in done.stdout


@pytest.fixture
def tasks(shop: Shop) -> Shop:
    shop.pytester.makepyfile(agents=AGENT, webshop=SHOP)
    row = {"prompt": "Buy in Oslo.", "completion": [HOME.replace("\\n", "\n")]}
    shop.file("tools/data/home_search/v0/test.jsonl", json.dumps(row))
    return shop


def test_several_runs_count_each_answer_once(tasks: Shop) -> None:
    result = tasks.run(
        "--fc-suite=toolbench",
        "--fc-suite-path=tools",
        "--fc-model=python:agents:agent",
        "--fc-samples=4",
    )
    result.stdout.fnmatch_lines(
        [
            "*score *n *value *std *runs*",
            "*home_search_v0 *state_f1 *1  0.8750  0.1443 *4",
            "*success_rate *1  0.5000  0.5774 *4",
            "*executability *1  1.0000  0.0000 *4",
        ]
    )


def test_a_label_that_cannot_be_carried_out_is_an_error_before_anybody_is_asked(tasks: Shop) -> None:
    tasks.file("tools/data/home_search/v0/test.jsonl", '{"prompt": "Buy.", "completion": ["API.fly()"]}')
    tasks.file("cases/home.fc.yaml", "{suite: toolbench, path: ../tools}")
    result = tasks.run("cases", "--fc-model=python:agents:nobody")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*test.jsonl:1:*invalid row: a label cannot be executed:*"])
    assert "unknown function API.fly" in fcall(tasks.pytester.path, "lint", "cases").stdout


def test_imported_programs_are_judged_alike(tasks: Shop) -> None:
    done = fcall(tasks.pytester.path, "import", "toolbench", "--path", "tools", "--out", "taken")
    assert done.returncode == 0, done.stderr
    tasks.run("--fc-model=python:agents:right", "taken").assert_outcomes(passed=1)


def test_a_shop_is_visited_with_an_environment_of_ones_own(tasks: Shop) -> None:
    tasks.file("tools/data/web_shop/v0/test.jsonl", '{"id": 7}')
    tasks.pytester.makeconftest(
        """
        from pytest_fcall.suites.toolbench.suite import ToolBenchSuite


        def pytest_fcall_suites(config):
            return {"tools": ToolBenchSuite(shop="webshop:make")}
        """
    )
    result = tasks.run("--fc-suite=tools:web_shop", "--fc-suite-path=tools", "--fc-model=python:agents:shopper")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*web_shop_v0 *reward *1  0.5000*"])


def test_a_shop_is_visited_as_it_is_recorded(tasks: Shop) -> None:
    tasks.file("tools/data/web_shop/v0/test.jsonl", '{"id": 7}')
    shown = [{"answer": "", "gives": {"page": "tea"}}, {"answer": "click[TEA]", "gives": {"reward": 0.5, "done": True}}]
    tasks.file("tools/data/web_shop/v0/outcomes.jsonl", "\n".join(map(json.dumps, shown)))
    options = ("--fc-suite=toolbench:web_shop", "--fc-suite-path=tools", "--fc-model=python:agents:shopper")
    result = tasks.run(*options)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*web_shop_v0 *reward *1  0.5000*"])
    tasks.file("tools/data/web_shop/v0/outcomes.jsonl", json.dumps(shown[0]))
    result = tasks.run(*options)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no outcome is recorded for click[[]tea]*"])


def test_the_number_of_documents_stands_in_the_configuration_or_on_the_command_line(tasks: Shop) -> None:
    for number in range(3):
        tasks.file(f"tools/data/home_search/v0/functions/{number}", f"document {number}")
    tasks.pytester.makeconftest("def answer(request): return request.messages[-1]['content']")
    tasks.pytester.makeini("[pytest]\nfc_toolbench_documents = home_search=1,0\n")
    options = ("--fc-suite=toolbench", "--fc-suite-path=tools", "--fc-model=python:conftest:answer")
    for given, count in (((), 1), (("--fc-toolbench-documents=*=2,1",), 2)):
        asked = tasks.run(*options, *given, "-vv").stdout.str()
        assert len(set(re.findall(r"document \d", asked))) == count, asked
    result = tasks.run(*options, "--fc-toolbench-documents=2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: fc_toolbench_documents: expected TASK=APIS,EXAMPLES*"])


def blend(tasks: Shop, *options: str) -> pytest.RunResult:
    tasks.file(
        "sets/seq_topv2.json", json.dumps([{"input": "Write to Joy", "apis": ['SEND_MESSAGE(RECIPIENT = "Joy")']}])
    )
    tasks.file("sets/seq_sgd.json", json.dumps([{"input": "A taxi", "output": "Taxi(to = Oslo)"}] * 3))
    return tasks.run("--fc-suite=api_blend", "--fc-suite-path=sets", "--fc-model=python:agents:planner", *options)


def test_scores_of_data_sets_are_averaged_by_their_sizes(tasks: Shop) -> None:
    result = blend(tasks)
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(["*weighted_api_f1 *25.00 %*", "*seq_sgd *api_f1 *3  0.0000*", "*seq_topv2 *1.0000*"])


def test_shares_together_tell_the_averages_and_judge_gates_on_them(tasks: Shop) -> None:
    for number in (1, 2):
        blend(tasks, "--fc-gate=weighted_api_f1>=25% and api_f1[seq_sgd]<=0", f"--fc-shard={number}/2")
    shares = [str(path) for path in run_paths(tasks.pytester.path) if "of" in path.stem]
    done = fcall(tasks.pytester.path, "merge", *shares)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^weighted_api_f1 +25\.00 %$", done.stdout, re.MULTILINE)
    assert re.search(r"^gate weighted_api_f1>=25% +25\.0 % +holds$", done.stdout, re.MULTILINE)
    assert re.search(r"^gate api_f1\[seq_sgd\]<=0 +0\.0 % +holds$", done.stdout, re.MULTILINE)
