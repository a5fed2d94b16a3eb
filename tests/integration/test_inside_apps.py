"""What an app asks of models is recorded, tied to its case, and given back offline."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

# Each run inside a test forgets the modules that it imported; these are kept, for speed.
import openai
import pytest
from openai.resources import chat, responses  # noqa: F401

from pytest_fcall.backends.recordings.file import bookkeeping_path
from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.conftest import Shop
from tests.integration.exam import age_replies, assert_errors, called
from tests.servers import Server, provider_error

AGENT = '''
import json
from pathlib import Path

import openai

PROMPT = "You know the weather."


def answer(request):
    """Ask the model for calls, and then once more for words."""
    with openai.OpenAI(max_retries=0) as client:
        messages = [{"role": "system", "content": PROMPT}, *request.messages]
        first = client.chat.completions.create(model="exam-1", messages=messages, tools=request.tools)
        message = first.choices[0].message
        calls = [vars(each.function) for each in message.tool_calls or ()]
        client.chat.completions.create(model="exam-1", messages=[*messages, {"role": "user", "content": "Well?"}])
    return calls


def careless(request):
    """Swallow whatever goes wrong."""
    try:
        return answer(request)
    except openai.OpenAIError:
        return "Sorry."


async def answer_async(request):
    async with openai.AsyncOpenAI(max_retries=0) as client:
        reply = await client.chat.completions.create(model="exam-1", messages=request.messages, tools=request.tools)
    return reply


def thoughtless(request):
    return json.loads(request.messages[-1]["content"])
'''


# What a client imports when it is made would be forgotten, too, and errors would be of classes that nobody knows.
openai.OpenAI(api_key="none").close()


class Agent:
    """A project whose app asks a model on a server."""

    def __init__(self, shop: Shop, server: Server) -> None:
        self.shop = shop
        self.server = server
        self.path: Path = shop.pytester.path
        shop.file("agent.py", AGENT)
        shop.cases(
            f"""
            cases:
              - {{id: oslo, prompt: '{called("Oslo")}', expect: [{{get_weather: {{city: Oslo}}}}]}}
              - {{id: rome, prompt: '{called("Rome")}', expect: [{{get_weather: {{city: Rome}}}}]}}
            """
        )

    def run(self, *args: str, app: str = "answer") -> pytest.RunResult:
        return self.shop.run(f"--fc-model=python:agent:{app}", *args)

    def change(self, old: str, new: str) -> None:
        path = self.path / "agent.py"
        path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")


@pytest.fixture
def agent(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> Agent:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    return Agent(shop, server)


def test_what_an_app_asks_is_asked_once_and_replayed_without_server_or_key(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.run().assert_outcomes(passed=2)
    assert len(agent.server.asked) == 4
    agent.run().assert_outcomes(passed=2)
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY")
    agent.run("--fc-replay").assert_outcomes(passed=2)
    assert len(agent.server.asked) == 4
    assert not any(name in os.environ for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL"))


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_in_ci_what_an_app_asked_more_than_a_day_ago_is_asked_again(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    agent.run().assert_outcomes(passed=2)
    age_replies(agent.path, oslo=0.5, rome=3)
    monkeypatch.setenv("CI", "true")
    agent.run("--fc-replay", workers).stdout.fnmatch_lines(["fcall: *, all 2 replayed (12 hours to 3 days old)"])
    agent.run(workers).stdout.fnmatch_lines(
        [
            "       called live; replies of its models recorded in the last 24 h are reused",
            "python:agent:answer sent 4 requests to openai:exam-1, *, 2 replayed",
            "fcall: *, 1 asked, 1 replayed (12 hours old)",
        ]
    )
    assert len(agent.server.asked) == 6


def test_a_replay_never_says_that_it_asked(agent: Agent) -> None:
    agent.run().assert_outcomes(passed=2)
    agent.change("def answer(request):", "def unused(request):")
    agent.change("def thoughtless(request):", "def answer(request):")
    agent.run("--fc-replay").stdout.fnmatch_lines(["fcall: *from recordings only", "fcall: *, all 2 replayed"])


def test_the_variables_are_set_once_for_all_cases_and_are_as_they_were_after_the_run(agent: Agent) -> None:
    agent.shop.file(
        "conftest.py",
        """
        import os

        seen = []

        def pytest_runtest_logreport(report):
            if report.when == "call":
                seen.append(os.environ["OPENAI_BASE_URL"])

        def pytest_sessionfinish():
            assert len(seen) == 2
            assert len(set(seen)) == 1
            assert "127.0.0.1" in seen[0] and seen[0].endswith("/OPENAI_BASE_URL/v1")
        """,
    )
    before = dict(os.environ)
    agent.run().assert_outcomes(passed=2)
    assert {name: os.environ.get(name) for name in before if name.endswith(("_URL", "_KEY"))} == {
        name: value for name, value in before.items() if name.endswith(("_URL", "_KEY"))
    }


def test_a_plain_test_among_the_cases_finds_the_variables_as_they_are_without_the_proxy(agent: Agent) -> None:
    agent.shop.file(
        "test_between.py",
        f"""
        import os

        def test_own_address(fc_model):
            assert os.environ["OPENAI_BASE_URL"] == {agent.server.url!r}
            fc_model('{called("Bergen")}')
            assert os.environ["OPENAI_BASE_URL"] == {agent.server.url!r}
        """,
    )
    cases = agent.path / "cases" / "weather.fc.yaml"
    (agent.path / "zoo.fc.yaml").write_text(cases.read_text("utf-8"), "utf-8")
    agent.run().assert_outcomes(passed=5)


def test_a_judge_that_is_asked_between_cases_is_not_asked_through_the_proxy(agent: Agent) -> None:
    agent.shop.cases(
        f"""
        cases:
          - {{id: oslo, prompt: '{called("Oslo")}', expect: [{{get_weather: {{city: Oslo}}}}]}}
          - {{id: rome, prompt: '{called("Rome")}', expect: [{{get_weather: {{city: {{$judge: a city}}}}}}]}}
        """
    )
    result = agent.run("--fc-judge=openai:exam-1")
    result.stdout.fnmatch_lines(["wrong_value: *its answer is neither yes nor no: 'You said: {*\"statement*"])
    assert len(agent.server.asked) == 5


@pytest.mark.nightly  # as where requests of one test run together
def test_an_async_app_is_replayed_too(agent: Agent) -> None:
    agent.run(app="answer_async").assert_outcomes(passed=2)
    agent.run("--fc-replay", app="answer_async").assert_outcomes(passed=2)
    assert len(agent.server.asked) == 2


def test_a_failure_is_replayed_and_asked_for_again_where_somebody_may_be_asked(agent: Agent) -> None:
    agent.server.script(provider_error(404, "no such model"))
    first = agent.run("-k", "oslo", app="careless")
    replayed = agent.run("--fc-replay", "-k", "oslo", app="careless")
    assert first.parseoutcomes() == replayed.parseoutcomes() == {"failed": 1, "deselected": 1}
    agent.run("-k", "oslo", app="careless").assert_outcomes(passed=1, deselected=1)
    agent.run("--fc-replay", "-k", "oslo", app="careless").assert_outcomes(passed=1, deselected=1)


def test_a_case_in_another_file_says_where_its_requests_are_recorded(agent: Agent) -> None:
    agent.run().assert_outcomes(passed=2)
    text = (agent.path / "cases/weather.fc.yaml").read_text("utf-8")
    agent.shop.file("cases/moved.fc.yaml", text.replace("expect:", "wire: {count: 2}, expect:"))
    result = agent.run("--fc-replay", "cases/moved.fc.yaml", "-k", "oslo")
    result.assert_outcomes(errors=1, deselected=1)
    assert_errors(
        result,
        "the requests that python:agent:answer sends to models for this case are not recorded; to ask the model: "
        'pytest --fc-model=python:agent:answer "cases/moved.fc.yaml::oslo"',
        "the case oslo of cases/weather.fc.yaml has the same question, and a recording",
    )


def test_a_changed_prompt_inside_the_app_is_found_and_named(agent: Agent) -> None:
    agent.run().assert_outcomes(passed=2)
    agent.change("You know the weather.", "You are a poet.")
    result = agent.run("--fc-replay", "-k", "oslo")
    result.assert_outcomes(errors=1)
    assert_errors(
        result,
        "python:agent:answer: request 1 to exam-1 is not recorded",
        "the prompt changed (system message):",
        "  - You know the weather.",
        "  + You are a poet.",
        'record it: pytest --fc-model=python:agent:answer "cases/weather.fc.yaml::oslo"',
    )


def test_an_app_that_swallows_the_error_does_not_hide_what_is_missing(agent: Agent) -> None:
    agent.run(app="careless").assert_outcomes(passed=2)
    agent.change("You know the weather.", "You are a poet.")
    result = agent.run("--fc-replay", app="careless")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*request 1 to exam-1 is not recorded"])


@pytest.mark.nightly  # as where it is told what it cost
def test_a_changed_request_is_asked_anew_and_the_others_are_not(agent: Agent) -> None:
    agent.run().assert_outcomes(passed=2)
    agent.change('"content": "Well?"', '"content": "And?"')
    agent.run().assert_outcomes(passed=2)
    assert [asked.json["messages"][-1]["content"] for asked in agent.server.asked[4:]] == ["And?", "And?"]


@pytest.mark.nightly  # or no changed prompt would be found
def test_the_code_of_the_app_runs_on_replay(agent: Agent) -> None:
    agent.run().assert_outcomes(passed=2)
    agent.change("return calls", "return calls * 2")
    agent.run("--fc-replay").assert_outcomes(failed=2)


def test_record_all_asks_again_and_record_off_keeps_nothing(agent: Agent) -> None:
    agent.run("--fc-record=off").assert_outcomes(passed=2)
    assert not (agent.path / ".fcall" / "replies.db").exists()
    agent.run().assert_outcomes(passed=2)
    agent.run("--fc-record=all").assert_outcomes(passed=2)
    assert len(agent.server.asked) == 12


def test_recordings_travel_through_version_control(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    agent.run().assert_outcomes(passed=2)
    exported = fcall_here(agent.path, "record", "--export")
    assert exported.returncode == 0, exported.stderr
    (inside,) = agent.path.glob("cases/__fcall__/wire-*/weather.fc.yaml.replies.jsonl")
    lines = [json.loads(line) for line in inside.read_text("utf-8").splitlines()]
    assert lines[0] == {"fcall": "replies", "model": "wire:python:agent:answer", "version": 2}
    assert [line["case"] for line in lines if "case" in line] == ["oslo", "oslo", "rome", "rome"]
    recorded = bookkeeping_path(inside)
    wires = [line["wire"] for line in map(json.loads, recorded.read_text("utf-8").splitlines()) if "wire" in line]
    assert [wire["status"] for wire in wires] == [200] * 4
    assert "very-secret" not in inside.read_text("utf-8") + recorded.read_text("utf-8")
    (agent.path / ".fcall" / "replies.db").unlink()
    agent.run("--fc-replay").assert_outcomes(passed=2)


def recorded_inside(agent: Agent) -> dict[Path, bytes]:
    """The exported files, with what the app asked and what it answered."""
    done = fcall_here(agent.path, "record", "--export")
    assert done.returncode == 0, done.stderr
    return {path: path.read_bytes() for path in agent.path.glob("cases/__fcall__/*/*.jsonl")}


@pytest.mark.nightly  # as recordings travel
def test_exported_imported_and_exported_again_are_the_same_bytes(agent: Agent) -> None:
    agent.run("--fc-samples=2").assert_outcomes(passed=2)
    exported = recorded_inside(agent)
    assert len(exported) == 2 * 2
    (agent.path / ".fcall" / "replies.db").unlink()
    assert "8 replies, 8 new" in fcall_here(agent.path, "record", "--load").stdout
    assert "8 replies, 0 new" in fcall_here(agent.path, "record", "--load").stdout
    for path in exported:
        path.unlink()
    agent.run("--fc-replay", "--fc-samples=2").assert_outcomes(passed=2)
    assert recorded_inside(agent) == exported


def test_what_an_app_asks_no_more_is_not_exported_any_more(agent: Agent) -> None:
    agent.run().assert_outcomes(passed=2)
    before = recorded_inside(agent)
    agent.change("You know the weather.", "You are a poet.")
    agent.run().assert_outcomes(passed=2)
    after = recorded_inside(agent)
    (path,) = (path for path in after if path.parent.name.startswith("wire-") and path.name.endswith(".replies.jsonl"))
    old, new = ({*kept[path].splitlines()} for kept in (before, after))
    assert old - new == {b'{"system": "You know the weather."}'}
    assert new - old == {b'{"system": "You are a poet."}'}
    assert b"You know the weather." not in b"".join(after.values())


def test_an_app_that_asks_no_model_is_replayed_from_what_it_answered(agent: Agent) -> None:
    agent.run(app="thoughtless").assert_outcomes(passed=2)
    agent.change("return json.loads", "raise OSError or json.loads")
    agent.run("--fc-replay", app="thoughtless").assert_outcomes(passed=2)


@pytest.mark.nightly  # a Python from its very start, for speed alone
def test_an_app_that_asks_no_model_loads_nothing_for_it(agent: Agent) -> None:
    agent.shop.file(
        "conftest.py",
        """
        import sys

        def pytest_unconfigure(config):
            print("loaded:", [name for name in ("aiohttp", "openai", "jmespath") if name in sys.modules])
        """,
    )
    result = agent.shop.pytester.run(sys.executable, "-m", "pytest", "--fc-model=python:echo:answer")
    result.stdout.fnmatch_lines(["loaded: []"])


def test_off_leaves_the_app_alone(agent: Agent) -> None:
    agent.shop.file("pytest.ini", "[pytest]\nfc_proxy = off\n")
    agent.run().assert_outcomes(passed=2)
    agent.run().assert_outcomes(passed=2)
    assert len(agent.server.asked) == 8


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("fc_proxy = maybe", "fc_proxy: 'maybe' is none of on, always, off"),
        ("fc_proxy_variables = 7=x", "fc_proxy_variables: '7' is not a variable name*"),
        ("fc_proxy_variables = A_BASE_URL=nowhere", "fc_proxy_variables: A_BASE_URL has no valid URL*"),
    ],
)
def test_what_cannot_be_read_in_the_configuration_is_told(agent: Agent, written: str, told: str) -> None:
    agent.shop.file("pytest.ini", f"[pytest]\n{written}\n")
    agent.run().stderr.fnmatch_lines([f"*{told}"])


def test_a_variable_of_another_name_can_lead_to_the_proxy(agent: Agent) -> None:
    agent.shop.file("pytest.ini", f"[pytest]\nfc_proxy_variables = SHOP_LLM={agent.server.url}\n")
    agent.change("openai.OpenAI(", "openai.OpenAI(base_url=__import__('os').environ['SHOP_LLM'], ")
    agent.run().assert_outcomes(passed=2)
    agent.run("--fc-replay").assert_outcomes(passed=2)
    assert len(agent.server.asked) == 4


@pytest.mark.nightly  # as late requests of samples are told apart
def test_each_sample_has_replies_of_its_own(agent: Agent) -> None:
    agent.run("--fc-samples=3", "-k", "oslo").assert_outcomes(passed=1)
    assert len(agent.server.asked) == 6
    agent.run("--fc-samples=3", "-k", "oslo", "--fc-replay").assert_outcomes(passed=1)


@pytest.mark.usefixtures("asyncio_plugin")
def test_requests_of_one_test_that_run_together_belong_to_it(agent: Agent) -> None:
    agent.shop.file(
        "test_together.py",
        """
        import asyncio
        import json

        import pytest

        @pytest.mark.asyncio
        async def test_both(fc_model):
            prompts = [json.dumps([{"name": "f", "arguments": {"n": n}}]) for n in range(5)]
            replies = await asyncio.gather(*(fc_model.ask(prompt, [{"name": "f"}]) for prompt in prompts))
            assert [reply.calls[0].arguments for reply in replies] == [{"n": n} for n in range(5)]
        """,
    )
    agent.run("test_together.py", app="answer_async").assert_outcomes(passed=1)
    agent.run("test_together.py", "--fc-replay", app="answer_async").assert_outcomes(passed=1)
    assert len(agent.server.asked) == 5


WIRE = """
cases:
  - id: oslo
    prompt: '{prompt}'
    expect: [{{get_weather: {{city: Oslo}}}}]
    wire: {wire}
"""
RIGHT = "{calls: [get_weather: {city: Oslo}], count: 2, tools: [get_weather], models: [exam-1], tokens: {$lt: 100}}"


WRONG = {
    "{count: 1}": "wrong_count: `wire.count`*",
    "{calls: [get_weather: {city: Rome}]}": "wrong_value: inside the app: *city*",
    "{calls: no_call}": "unexpected_call: inside the app: *",
    "{tokens: {$lt: 10}}": "wrong_value: `wire.tokens`*",
    "{cost: {$lt: 1}}": "wrong_value: wire.cost is unknown: *price*",
}


def test_what_went_over_the_wire_is_judged(agent: Agent) -> None:
    agent.shop.cases(WIRE.format(prompt=called("Oslo"), wire=RIGHT))
    agent.run().assert_outcomes(passed=1)
    agent.run("--fc-replay").assert_outcomes(passed=1)
    for wire, told in WRONG.items():
        agent.shop.cases(WIRE.format(prompt=called("Oslo"), wire=wire))
        result = agent.run("--fc-replay")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines([f"*{told}"])


def test_a_price_of_the_project_counts_for_what_an_app_asks(agent: Agent) -> None:
    agent.shop.file("pyproject.toml", '[tool.fcall.prices."openai:exam-1"]\ninput = 1\noutput = 1\n')
    agent.shop.cases(WIRE.format(prompt=called("Oslo"), wire="{cost: {$lt: 0.00007}}"))
    agent.run().assert_outcomes(passed=1)
    agent.shop.cases(WIRE.format(prompt=called("Oslo"), wire="{cost: {$lt: 0.00005}}"))
    agent.run().assert_outcomes(failed=1)


def test_the_wire_is_judged_over_all_turns(agent: Agent) -> None:
    turns = """
        cases:
          - id: twice
            turns:
              - {{user: '{oslo}', expect: [{{get_weather: {{city: Oslo}}, returns: 7}}]}}
            wire: {{count: {count}}}
        """
    agent.shop.cases(turns.format(oslo=called("Oslo"), count="{$ge: 2}"))
    agent.run(app="answer_async").assert_outcomes(passed=1)
    agent.run("--fc-replay", app="answer_async").assert_outcomes(passed=1)


def test_a_model_that_is_asked_itself_has_no_wire(agent: Agent) -> None:
    agent.shop.cases(WIRE.format(prompt=called("Oslo"), wire="{count: 7}"))
    agent.shop.run("--fc-model=openai:exam-1").assert_outcomes(passed=1)


def test_without_the_proxy_the_wire_cannot_be_judged(agent: Agent) -> None:
    agent.shop.file("pytest.ini", "[pytest]\nfc_proxy = off\n")
    agent.shop.cases(WIRE.format(prompt=called("Oslo"), wire="{count: 2}"))
    agent.run().stdout.fnmatch_lines(["*`wire` needs the proxy, and fc_proxy is off*"])


def test_a_change_on_the_wire_is_told_beside_what_was_accepted(agent: Agent) -> None:
    agent.run("--fc-accept").assert_outcomes(passed=2)
    baseline = next((agent.path / "cases" / "__fcall__").glob("python*/*.accepted"))
    assert " wire 2 " in baseline.read_text("utf-8")
    assert "system" not in baseline.read_text("utf-8")
    agent.change('"content": "Well?"', '"content": "And?"')
    result = agent.run("-k", "oslo")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "1 ok, but the app sent other requests to its models:",
            "  cases/weather.fc.yaml:* oslo: request 2: the prompt changed",
            "not in the baseline: 1 with other requests of the app; *",
        ]
    )
    agent.change("return calls", "return []")
    result = agent.run("-k", "oslo")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*baseline of *is gone*", "*inside the app: request 2: the prompt changed"])


def test_a_failure_on_the_wire_can_be_accepted_and_no_other_one_with_it(agent: Agent) -> None:
    wire = "{count: 1, tokens: {$lt: 100}}"
    agent.shop.cases(WIRE.format(prompt=called("Oslo"), wire=wire))
    agent.run("--fc-accept=all").assert_outcomes(failed=1)
    agent.run("--fc-replay").assert_outcomes(xfailed=1)
    agent.shop.cases(WIRE.format(prompt=called("Oslo"), wire=wire.replace("100", "10")))
    result = agent.run("--fc-replay")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*baseline of *: a failure, wrong_count at wire.count"])
    agent.shop.cases(WIRE.format(prompt=called("Oslo"), wire="{count: 2}"))
    agent.run("--fc-replay").assert_outcomes(passed=1)
