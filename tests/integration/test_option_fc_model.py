"""`--fc-model`: the model to test."""

from __future__ import annotations

import pytest

from tests.by_night import by_night
from tests.integration.conftest import Shop


def test_a_case_is_an_item_that_passes_or_fails_by_what_the_model_calls(weather: Shop) -> None:
    result = weather.ask("-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["cases/weather.fc.yaml::celsius PASSED*", "cases/weather.fc.yaml::fahrenheit FAILED*"])
    assert result.ret == 1


def test_the_header_says_which_model_is_asked_and_who_named_it(weather: Shop) -> None:
    weather.ask().stdout.fnmatch_lines(["*fcall: *python:echo:answer*command line*"])


def test_an_async_app_is_awaited(weather: Shop) -> None:
    weather.run("--fc-model=python:echo:answer_async").assert_outcomes(passed=1, failed=1)


def test_several_models_sit_the_same_exam_one_after_the_other(weather: Shop) -> None:
    result = weather.run("--fc-model=python:echo:answer", "--fc-model=python:echo:answer_async", "-v")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "cases/weather.fc.yaml::celsius?python:echo:answer? PASSED*",
            "cases/weather.fc.yaml::fahrenheit?python:echo:answer? FAILED*",
            "cases/weather.fc.yaml::celsius?python:echo:answer_async? PASSED*",
            "cases/weather.fc.yaml::fahrenheit?python:echo:answer_async? FAILED*",
        ]
    )


def test_an_id_that_was_printed_can_be_pasted_back(weather: Shop) -> None:
    models = ["--fc-model=python:echo:answer", "--fc-model=python:echo:answer_async"]
    weather.run(*models, "cases/weather.fc.yaml::celsius[python:echo:answer_async]").assert_outcomes(passed=1)


@pytest.mark.parametrize("option", ["--fc-model=python:echo:answer_async", "--fc-live"])
def test_an_id_that_several_models_gave_a_case_means_it_under_one_model_too(weather: Shop, option: str) -> None:
    result = weather.run(option, "cases/weather.fc.yaml::celsius[python:echo:answer_async]", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["fcall: python:echo:answer_async (command line)*", "*answer_async? PASSED*"])


def test_an_id_alone_asks_nobody(weather: Shop) -> None:
    result = weather.run("cases/weather.fc.yaml::celsius[openai:exam]")
    result.assert_outcomes(skipped=1)
    assert result.ret == 10


def test_an_id_of_another_model_than_the_one_that_is_asked_is_a_usage_error(weather: Shop) -> None:
    id_ = "cases/weather.fc.yaml::celsius[python:echo:answer]"
    result = weather.run("--fc-model=python:echo:answer_async", id_)
    told = f"ERROR: {id_} is a case of the model python:echo:answer, and --fc-model names python:echo:answer_async: *"
    result.stderr.fnmatch_lines([told.replace("[", "[[]")])


def test_a_plain_test_may_have_rows_that_look_like_models(weather: Shop) -> None:
    weather.pytester.makepyfile(
        """
        import pytest


        @pytest.mark.parametrize("row", ["openai:x"])
        def test_row(row):
            pass


        def test_model(fc_model):
            assert fc_model("Hi").text is not None
        """
    )
    (name,) = [path.name for path in weather.pytester.path.glob("test_*.py")]
    ids = [f"{name}::test_row[openai:x]", f"{name}::test_model[python:echo:answer]"]
    weather.run("--fc-model=python:echo:answer", *ids).assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("bert", "*--fc-model: 'bert' is not the name of a model; write KIND:NAME, such as * or openai:NAME"),
        ("gpt-5.2", "*'gpt-5.2' is not the name of a model; *; did you mean `openai:gpt-5.2`?"),
        ("anthropic/claude-haiku-4-5", "*; did you mean `any:anthropic/claude-haiku-4-5`?"),
        ("gemini:gemini-2.5-flash", "*no model of kind 'gemini'; *; did you mean `any:gemini/gemini-2.5-flash`?"),
        ("vertex_ai/gemini-2.5-pro", "*; did you mean `any:vertexai/gemini-2.5-pro`?"),
        ("ollama:qwen3:8b", "*; did you mean `openai:qwen3:8b?base_url=http://127.0.0.1:11434/v1`?"),
        ("shop.agent:run", "*is not the name of a model; write KIND:NAME, *; did you mean `python:shop.agent:run`?"),
        ("echo:answer", "*no model of kind 'echo'; the kinds are *; did you mean `python:echo:answer`?"),
        ("gorila", "*'gorila' is not the name of a model; write KIND:NAME, *; did you mean `local:gorilla`?"),
        ("http://[::1]:8/chat", "*in full, such as *; did you mean `http:http://[[]::1]:8/chat`?"),
        ("https://shop.test/chat", "*no model of kind 'https'; *; did you mean `http:https://shop.test/chat`?"),
        ("python:", "*is not the name of a model*"),
        (":x", "*is not the name of a model*"),
        (
            "python:echo:answer?nonsense",
            "ERROR: --fc-model: the question mark of 'python:echo:answer' *key=value*",
        ),
        ("openai:exam?seed=1&top_p=1&seed=2", "*--fc-model: `seed` is given more than once after the question mark *"),
        ("python:\udcff", "*'python:\\udcff' is not the name of a model*"),
        ("python:\0", "*'python:\\x00' is not the name of a model*"),
    ],
)
def test_what_is_no_model_is_a_usage_error_before_anything_runs(weather: Shop, model: str, message: str) -> None:
    result = weather.run(f"--fc-model={model}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_a_model_named_twice_is_a_usage_error(weather: Shop) -> None:
    result = weather.run("--fc-model=python:echo:answer", "--fc-model=python:echo:answer")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*python:echo:answer is named twice*"])


def test_without_any_model_each_case_says_the_three_ways_to_name_one(weather: Shop) -> None:
    result = weather.run()
    result.assert_outcomes(errors=2)
    ways = ["*--fc-model=KIND:NAME*", "*fc_model = KIND:NAME", "*fixture `fc_model` in conftest.py"]
    result.stdout.fnmatch_lines(["no model is named. Name one", *ways, "*and so for 1 more test"])
    result.stdout.fnmatch_lines(["no model is named. Name one", "*for the same reason as *"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("echo:nothing", "*echo has no 'nothing'"),
        ("echo:anwser", "*echo has no 'anwser'; did you mean `answer`?"),
        ("echo:json", "*json is of type module, which cannot be called*"),
    ],
)
def test_an_app_that_cannot_be_found_says_so_in_one_line(weather: Shop, name: str, message: str) -> None:
    result = weather.run(f"--fc-model=python:{name}", "--tb=long")
    result.assert_outcomes(errors=1, skipped=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines([message])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("def answer(messages, tools)", "answer() missing 1 required positional argument: 'tools'"),
        ("def answer()", "answer() takes 0 positional arguments but 1 was given"),
        ("async def answer(*, request)", "answer() takes 0 positional arguments but 1 was given"),
    ],
)
def test_a_function_with_other_parameters_says_what_it_is_called_with(
    weather: Shop, function: str, reason: str
) -> None:
    weather.pytester.makepyfile(odd=f"{function}:\n    return []\n")
    result = weather.run("--fc-model=python:odd:answer", "--tb=long")
    result.assert_outcomes(errors=1, skipped=1)
    result.stdout.fnmatch_lines([f"python:odd:answer: {reason}; an app is called with one argument, the request, *"])
    result.stdout.no_fnmatch_line("*pytest_fcall/*")


def test_a_call_with_wrong_arguments_inside_an_app_is_the_apps_own_error(weather: Shop) -> None:
    weather.pytester.makepyfile(odd="def answer(request):\n    return answer()\n")
    result = weather.run("--fc-model=python:odd:answer")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["odd.py:2: TypeError"])


def test_what_the_app_raises_is_an_error_with_the_apps_own_traceback(weather: Shop) -> None:
    result = weather.run("--fc-model=python:echo:down")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*the shop is closed*", "echo.py:*: ConnectionError"])
    result.stdout.no_fnmatch_line("*asyncio/*")
    result.stdout.no_fnmatch_line("*pytest_fcall/*")


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            "return object()",
            ["python:odd:answer: the app returned a value of type object; allowed: text, *"],
        ),
        ("return {'result': 1}", ["python:odd:answer: the app returned a dict with 'result'; *"]),
        ("raise SystemExit('no licence')", ["*raise SystemExit*", "odd.py:2: SystemExit"]),
        by_night("return answer(request)", ["*RecursionError*"]),
    ],
)
def test_an_app_that_misbehaves_is_an_error_without_our_frames(weather: Shop, body: str, lines: list[str]) -> None:
    weather.pytester.makepyfile(odd=f"def answer(request):\n    {body}\n")
    result = weather.run("--fc-model=python:odd:answer")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(lines)
    result.stdout.no_fnmatch_line("*pytest_fcall/*")


def test_hostile_names_arguments_and_text_are_shown_safely(weather: Shop) -> None:
    weather.pytester.makepyfile(
        odd="""
        def answer(request):
            name = "get_weather" + chr(27) + "[2J"
            return [{"name": name, "arguments": {"city": chr(0x202E) + "A" * 1_000_000}}, {"name": 5, "arguments": "{"}]
        """
    )
    result = weather.run("--fc-model=python:odd:answer")
    result.assert_outcomes(failed=2)
    printed = result.stdout.str()
    assert "\x1b" not in printed
    assert "\u202e" not in printed
    assert len(printed) < 10_000


def test_a_misspelt_entry_of_the_project_is_suggested(weather: Shop) -> None:
    weather.file("pyproject.toml", '[tool.fcall.models.nodes]\nmodel = "http:http://localhost:1/chat"\n')
    weather.run("--fc-model=nodee").stderr.fnmatch_lines(
        ["*'nodee' is not the name of a model; write *; did you mean `nodes`?"]
    )
