from __future__ import annotations

import json

import pytest

from tests.integration.command import fcall_here
from tests.integration.conftest import Shop
from tests.integration.exam import Exam, called
from tests.integration.mind import Mind
from tests.servers import Answer, Asked, chat, echo, provider_error

ON_TO_ROME = json.loads(called("Rome"))
"""As the result of a call it has the model, which does as it is told, call for the weather in Rome."""

TWO_STEPS = f"""
cases:
  - id: two_steps
    prompt: '{called("Oslo")}'
    expect:
      - get_weather: {{city: Oslo}}
        returns: {json.dumps(ON_TO_ROME)}
        as: oslo
      - then:
          - get_weather: {{city: {{$from: "oslo.result[0].arguments.city"}}}}
            returns: sunny
    answer: {{$contains: sunny}}
"""


def many(count: int) -> str:
    """As many conversations of two steps, no two of them alike."""
    return "cases:\n" + "".join(
        f"""
  - id: c{number}
    prompt: '{called(f"Town{number}")}'
    expect:
      - get_weather: {{city: Town{number}}}
        returns: {json.dumps(ON_TO_ROME)}
      - then: [{{get_weather: {{city: Rome}}, returns: sunny}}]
    answer: {{$contains: sunny}}
"""
        for number in range(count)
    )


@pytest.fixture
def two_steps(exam: Exam) -> Exam:
    exam.shop.cases(TWO_STEPS, "exam.fc.yaml")
    return exam


@pytest.mark.parametrize("model", ["python:echo:answer", "python:echo:answer_async"])
def test_an_app_is_asked_until_it_stops_calling(shop: Shop, model: str) -> None:
    shop.cases(TWO_STEPS)
    shop.run(f"--fc-model={model}").assert_outcomes(passed=1)


def test_a_server_is_asked_until_its_model_stops_calling(two_steps: Exam) -> None:
    two_steps.run().assert_outcomes(passed=1)
    roles = [[message["role"] for message in asked.json["messages"]] for asked in two_steps.server.asked]
    assert roles == [["user"], ["user", "assistant", "tool"], ["user", "assistant", "tool", "assistant", "tool"]]
    first, second = two_steps.server.asked[2].json["messages"][1:3]
    assert second["tool_call_id"] == first["tool_calls"][0]["id"]


def test_every_step_is_kept_and_replayed(two_steps: Exam) -> None:
    two_steps.run().assert_outcomes(passed=1)
    two_steps.run().assert_outcomes(passed=1)
    two_steps.run("--fc-replay").assert_outcomes(passed=1)
    assert len(two_steps.server.asked) == 3


def test_steps_are_exported_beside_the_case_and_answer_from_there(two_steps: Exam) -> None:
    two_steps.run().assert_outcomes(passed=1)
    assert fcall_here(two_steps.path, "record", "--export").returncode == 0
    (path,) = two_steps.path.rglob("*.replies.jsonl")
    two_steps.path.joinpath(".fcall", "replies.db").unlink()
    two_steps.run("--fc-replay").assert_outcomes(passed=1)
    assert len(two_steps.server.asked) == 3
    assert path.read_text("utf-8").count('"reply"') == 3


def test_a_step_that_is_not_recorded_is_named_with_what_is_new(two_steps: Exam) -> None:
    two_steps.run().assert_outcomes(passed=1)
    two_steps.shop.cases(TWO_STEPS.replace("returns: sunny", "returns: [sunny]"), "exam.fc.yaml")
    result = two_steps.run("--fc-replay")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no recorded reply of openai:exam*", "*sunny*"])


def test_conversations_are_held_at_the_same_time(exam: Exam) -> None:
    exam.shop.cases(many(12), "exam.fc.yaml")
    with exam.answered_from(12):
        exam.run().assert_outcomes(passed=12)
    assert len(exam.server.asked) == 36


def test_conversations_are_held_by_workers(exam: Exam) -> None:
    exam.shop.cases(many(2), "exam.fc.yaml")
    exam.apart("-n", "2").assert_outcomes(passed=2)
    assert len(exam.server.asked) == 6


def test_a_failure_of_the_server_is_an_error_and_nothing_is_asked_twice(two_steps: Exam) -> None:
    def fails_at_the_second_step(asked: Asked) -> Answer:
        return provider_error(400, "no such thing") if len(asked.json["messages"]) == 3 else echo(asked)

    two_steps.server.default = fails_at_the_second_step
    result = two_steps.run()
    result.assert_outcomes(errors=1)
    two_steps.server.default = echo
    two_steps.run().assert_outcomes(passed=1)
    firsts = [asked for asked in two_steps.server.asked if len(asked.json["messages"]) == 1]
    assert len(firsts) == 1


def test_a_failure_shows_what_went_before_and_marks_the_fault(shop: Shop) -> None:
    shop.cases(TWO_STEPS.replace('{$from: "oslo.result[0].arguments.city"}', "Berlin"))
    result = shop.ask()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "wrong_value in calls?1?: `city` is 'Rome', expected 'Berlin'",
            "  user: *Oslo*",
            '    get_weather(city: "Oslo") → *Rome*',
            '  ✗ get_weather(city: "Rome")',
            '*✗   city *"Berlin" *"Rome"',
        ]
    )


def test_the_whole_conversation_is_shown_where_more_is_asked_for(shop: Shop) -> None:
    shop.cases(TWO_STEPS.replace("contains: sunny", "contains: rainy"))
    result = shop.ask("-vv")
    result.stdout.fnmatch_lines(["  so far:", "    user: *", "*sunny*", "    model: You said: sunny"])


def test_each_sample_is_a_conversation_of_its_own(two_steps: Exam) -> None:
    two_steps.run("--fc-samples=3").assert_outcomes(passed=1)
    assert len(two_steps.server.asked) == 9


def test_turns_follow_each_other(exam: Exam) -> None:
    exam.shop.cases(
        f"""
        cases:
          - id: two_turns
            turns:
              - user: '{called("Oslo")}'
                expect: [{{get_weather: {{city: Oslo}}, returns: snow}}]
                answer: {{$contains: snow}}
              - user: Thanks!
                expect: no_call
                answer: {{$contains: Thanks}}
        """,
        "exam.fc.yaml",
    )
    exam.run().assert_outcomes(passed=1)
    assert [message["role"] for message in exam.server.asked[-1].json["messages"]] == [
        *("user", "assistant", "tool", "assistant", "user")
    ]


def test_an_environment_answers_and_its_state_is_judged(shop: Shop) -> None:
    shop.file(
        "weather.py",
        """
        class Station:
            def __init__(self, unit):
                self.unit = unit
                self.asked = []

            def get_weather(self, city):
                self.asked.append(city)
                return f"5 {self.unit}"
        """,
    )
    case = f"""
        cases:
          - id: station
            environment: weather:Station
            setup: {{unit: kelvin}}
            prompt: '{called("Oslo")}'
            expect: [get_weather: {{city: Oslo}}]
            state: {{asked: [Oslo]}}
            result: 5 kelvin
            answer: {{$contains: kelvin}}
        """
    shop.cases(case)
    shop.ask().assert_outcomes(passed=1)
    shop.cases(case.replace("asked: [Oslo]", "asked: [Rome]"))
    result = shop.ask()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["wrong_state: *`state.asked[[]0]` is 'Oslo', expected 'Rome'"])
    shop.cases(case.replace("asked: [Oslo]", "asked: [Rome], unit: celsius"))
    result = shop.ask()
    result.stdout.fnmatch_lines(["  state.asked?0?: 'Rome' → 'Oslo'", "  state.unit: 'celsius' → 'kelvin'"])


def test_an_environment_that_cannot_be_made_is_an_error_in_words(shop: Shop) -> None:
    shop.cases(
        f"""
        cases:
          - id: nowhere
            environment: no_such_module:make
            prompt: '{called("Oslo")}'
            expect: [get_weather: {{city: Oslo}}]
        """
    )
    result = shop.ask()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no_such_module*; modules are looked for in *"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_script_goes_on_talking(shop: Shop) -> None:
    shop.cases(
        f"""
        cases:
          - id: scripted
            prompt: Hello!
            user: {{script: ['{called("Oslo")}', Thanks!]}}
            stubs: {{get_weather: snow}}
            expect: [get_weather: {{city: Oslo}}]
            answer: {{$contains: Thanks}}
        """
    )
    shop.ask().assert_outcomes(passed=1)


def test_a_model_may_play_the_user_and_is_recorded_too(exam: Exam) -> None:
    def play(asked: Asked) -> Answer:
        if asked.json["model"] != "player":
            return echo(asked)
        system, *said = asked.json["messages"]
        assert "the weather in Oslo" in system["content"]
        assert {message["role"] for message in said} <= {"user", "assistant"}
        return chat("DONE" if len(said) > 2 else called("Oslo"))

    exam.server.default = play
    exam.shop.cases(
        f"""
        cases:
          - id: played
            prompt: Hello!
            user: {{goal: the weather in Oslo, model: "{exam.named("player")}"}}
            stubs: {{get_weather: snow}}
            expect: [get_weather: {{city: Oslo}}]
            answer: {{$contains: snow}}
        """,
        "exam.fc.yaml",
    )
    exam.run().assert_outcomes(passed=1)
    asked = len(exam.server.asked)
    exam.run("--fc-replay").assert_outcomes(passed=1)
    assert len(exam.server.asked) == asked == 5


def test_a_conversation_is_compared_with_the_accepted_one(mind: Mind) -> None:
    mind.shop.cases(TWO_STEPS.replace(f"prompt: '{called('Oslo')}'", "prompt: go"), "a.fc.yaml")
    mind.says({"go": json.loads(called("Oslo")), json.dumps(ON_TO_ROME): ON_TO_ROME, "sunny": "It is sunny."})
    mind.run("--fc-accept").assert_outcomes(passed=1)
    assert "two_steps 1.2.1 get_weather" in mind.baseline().read_text("utf-8")  # turn, step and call
    result = mind.run()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*drifted*")
    mind.says({json.dumps(ON_TO_ROME): json.loads(called("Bergen"))})
    result = mind.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*baseline*Rome*Bergen*", "*1 regressed*"])


def test_what_a_later_turn_asks_for_anew_is_no_regression(mind: Mind) -> None:
    mind.shop.cases(TWO_STEPS.replace(f"prompt: '{called('Oslo')}'", "prompt: go"), "a.fc.yaml")
    mind.says({"go": json.loads(called("Oslo")), json.dumps(ON_TO_ROME): ON_TO_ROME, "sunny": "It is sunny."})
    mind.run("--fc-accept").assert_outcomes(passed=1)
    edited = TWO_STEPS.replace(f"prompt: '{called('Oslo')}'", "prompt: go")
    mind.shop.cases(edited.replace('{$from: "oslo.result[0].arguments.city"}', "Berlin"), "a.fc.yaml")
    result = mind.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the case was edited since*"])


def test_what_is_asked_of_a_result_anew_is_no_regression(mind: Mind) -> None:
    mind.cases("a", expect="[{get_weather: {city: Oslo}, returns: snow, result: snow}]")
    mind.run("--fc-accept").assert_outcomes(passed=1)
    mind.cases("a", expect="[{get_weather: {city: Oslo}, returns: snow, result: rain}]")
    result = mind.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the case was edited since*"])


def test_stubs_that_hold_for_a_whole_file_leave_simple_cases_as_they_are(shop: Shop) -> None:
    shop.cases(
        f"""
        defaults: {{stubs: {{get_weather: snow}}}}
        cases:
          - {{id: calls, prompt: '{called("Oslo")}', expect: [get_weather: {{city: Oslo}}]}}
          - {{id: talks, prompt: Hello!, expect: no_call}}
        """
    )
    shop.ask().assert_outcomes(passed=2)


def test_what_an_app_raises_in_a_later_step_is_shown_with_its_own_frames_only(shop: Shop) -> None:
    shop.file(
        "agent.py",
        """
        def answer(request):
            if request.messages[-1]["role"] == "tool":
                raise KeyError("price")
            return [{"name": "get_weather", "arguments": {"city": "Oslo"}}]
        """,
    )
    shop.cases("cases:\n  - {id: a, prompt: x, stubs: {get_weather: 1}, expect: [{get_weather: {city: Oslo}}]}\n")
    result = shop.run("--fc-model=python:agent:answer")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E *KeyError: 'price'", "agent.py:4: KeyError"])
    result.stdout.no_fnmatch_line("*pytest_fcall*dialogue*")


def test_a_reply_that_cannot_be_recorded_concerns_its_own_case_only(shop: Shop) -> None:
    shop.file(
        "agent.py",
        """
        from pytest_fcall import Reply


        def answer(request):
            odd = Reply(text="Hello.", trail=({"role": "assistant", "content": "Hello.", "odd": object()},))
            return odd if request.messages[-1]["content"] == "odd" else "Hello."
        """,
    )
    cases = "".join(f"  - {{id: {name}, prompt: {name}, expect: no_call}}\n" for name in ("odd", "b", "c", "d"))
    shop.cases("cases:\n" + cases)
    result = shop.run("--fc-model=python:agent:answer")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["the reply to case 'odd' is not valid JSON data: *"])


def test_an_app_may_play_the_user(shop: Shop) -> None:
    shop.file(
        "player.py",
        """
        def play(request):
            assert all(message["role"] != "tool" for message in request.messages)
            return "Rome, please." if request.messages[-1]["content"] == "You said: Where?" else "DONE"
        """,
    )
    shop.cases(
        """
        cases:
          - id: a
            prompt: Where?
            user: {goal: "the weather in {Rome}", model: "python:player:play"}
            expect: {calls: [], extra: allow}
            answer: {$contains: Rome}
        """
    )
    shop.ask().assert_outcomes(passed=1)


def test_what_an_app_says_at_last_is_shown_after_its_calls(shop: Shop) -> None:
    shop.file(
        "agent.py",
        """
        def answer(request):
            call = {"id": "a", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
            return [
                *request.messages,
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "a", "content": "snow"},
                {"role": "assistant", "content": "It is sunny."},
            ]
        """,
    )
    shop.cases(
        """
        cases:
          - {id: a, prompt: x, expect: [{get_weather: {city: Oslo}, returns: 1}], answer: {$contains: snow}}
        """
    )
    result = shop.run("--fc-model=python:agent:answer")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*get_weather(city: *Oslo*snow*", "  model: It is sunny."])
