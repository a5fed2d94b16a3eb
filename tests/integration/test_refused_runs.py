"""A run that cannot be what was asked for is one usage error before its first test, and not an error a case."""

from __future__ import annotations

import shutil

import pytest

from tests.integration.conftest import QUIET, Shop
from tests.integration.exam import Exam
from tests.integration.test_recorded_replies import MODEL, record

NO_KEY = "openai:exam: the variable OPENAI_API_KEY is not set; export OPENAI_API_KEY=…, or name another variable *"


def assert_refused(result: pytest.RunResult, message: str) -> None:
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.stderr.str().count("ERROR: ") == 1
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    result.stdout.no_fnmatch_line("*tool calls*")
    for outcome in ("passed", "error", "skipped"):
        result.stdout.no_fnmatch_line(f"*[0-9] {outcome}*")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("python:ehco:answer", "python:ehco:answer: no module 'ehco'; searched in *; did you mean `echo`?"),
        ("python:shop.agnet:answer", "python:shop.agnet:answer: no module 'shop.agnet'; *; did you mean `shop.agent`?"),
        ("python:echo.agent:answer", "python:echo.agent:answer: no module 'echo.agent'; searched in *"),
        ("python:echo", "python:echo: write python:module:function, such as python:shop.agent:answer"),
        (
            "python:echo:answer?timeout=1&foo=bar",
            "python:echo:answer, after the question mark: `timeout` is not a setting; available: volatile",
        ),
        ("openai:exam", NO_KEY),
        ("openai:exam?colour=red", "openai:exam, after the question mark: `colour` is not a setting; available: *"),
        ("openai:exam?decoder=herms", "openai:exam: no decoder is named 'herms'; did you mean `hermes`[?]"),
        ("local:tiny?decoder=herms", "local:tiny: no decoder is named 'herms'; did you mean `hermes`[?]"),
        ("local:nowhere/at-all", "local:nowhere/at-all: the weights of nowhere/at-all are not on this machine; *"),
    ],
)
@pytest.mark.usefixtures("exam")
def test_a_model_that_cannot_be_asked_is_refused(weather: Shop, model: str, message: str) -> None:
    weather.file("shop/__init__.py", "raise RuntimeError('nobody imports this')\n")
    weather.file("shop/agent.py", "")
    assert_refused(weather.run(f"--fc-model={model}"), f"--fc-model: {message}")


@pytest.mark.usefixtures("exam")
def test_what_is_not_installed_is_refused(weather: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "any_llm", None)
    monkeypatch.setattr("pytest_fcall.backends.any.backend.find_spec", lambda _: None)
    message = '--fc-model: any:anthropic/claude: any-llm is not installed: pip install "pytest-fcall[[]any[]]"'
    assert_refused(weather.run("--fc-model=any:anthropic/claude"), message)


@pytest.mark.parametrize("live", [True, False])
def test_the_setting_is_named_where_the_configuration_names_the_model(weather: Shop, *, live: bool) -> None:
    weather.file("pytest.ini", "[pytest]\nfc_model = python:ehco:answer\n")
    assert_refused(weather.run(*(["--fc-live"] if live else [])), "fc_model: python:ehco:answer: no module 'ehco'; *")


def test_a_decoder_that_no_plugin_adds_is_refused_before_anything_is_asked(weather: Shop, exam: Exam) -> None:
    weather.file(
        "pyproject.toml", f'[tool.fcall.models."openai:exam"]\nbase_url = "{exam.server.url}"\ndecoder = "shouted"\n'
    )
    message = "--fc-model: openai:exam: no decoder is named 'shouted'; available: *"
    assert_refused(weather.run("--fc-model=openai:exam"), message)
    assert exam.asked() == []
    weather.file(
        "conftest.py",
        """
        from pytest_fcall.decoding.json_calls import decode

        def pytest_fcall_decoders(config):
            return {"shouted": decode}
        """,
    )
    assert "no decoder is named" not in weather.run("--fc-model=openai:exam").stdout.str()
    assert exam.asked() != []


def test_a_setting_that_an_app_in_python_cannot_have_is_refused(weather: Shop) -> None:
    weather.file("pyproject.toml", '[tool.fcall.models."python:echo:answer"]\ntemperature = 0\n')
    place = '--fc-model: pyproject.toml, [[]tool.fcall.models."python:echo:answer"]'
    assert_refused(weather.ask(), f"{place}: `temperature` is not a setting; available: volatile")


def test_an_app_in_python_may_have_a_name_of_the_projects_own(weather: Shop) -> None:
    weather.file("pyproject.toml", '[tool.fcall.models.loud]\nmodel = "python:echo:answer"\n')
    weather.run("--fc-model=loud").assert_outcomes(passed=1, failed=1)


def test_a_table_that_nobody_reads_is_refused(weather: Shop) -> None:
    weather.file("pyproject.toml", '[tool.fcall.model.qwen]\nmodel = "openai:Qwen/Qwen3-8B"\n')
    fault = "there is no table [[]tool.fcall.model]; available: models, prices; did you mean `models`[?]"
    assert_refused(weather.ask(), f"pyproject.toml: {fault}")
    weather.run().stdout.fnmatch_lines([f"*pyproject.toml: {fault}"])
    weather.file("pyproject.toml", '[tool.fcall]\nfc_model = ["python:echo:answer"]\n')
    place = "pyproject.toml, [[]tool.fcall]"
    assert_refused(weather.ask(), f"{place}: `fc_model` belongs under [[]tool.pytest.ini_options]")


@pytest.mark.usefixtures("exam")
def test_workers_refuse_it_once(weather: Shop) -> None:
    result = weather.pytester.runpytest_subprocess(*QUIET, "-n2", "--fc-model=openai:exam")
    assert_refused(result, f"--fc-model: {NO_KEY}")


def test_one_of_several_models_is_enough(weather: Shop) -> None:
    result = weather.run("--fc-model=python:echo:answer", "--fc-model=python:ehco:answer")
    assert_refused(result, "--fc-model: python:ehco:answer: no module 'ehco'; *")


@pytest.mark.usefixtures("exam")
def test_a_model_whose_recordings_answer_needs_no_key(weather: Shop) -> None:
    path = weather.pytester.path / "cases/weather.fc.yaml"
    record(path, weather.pytester.path, MODEL)
    weather.run("--fc-model=local:tiny").assert_outcomes(passed=1, failed=1)
    path.write_text(path.read_text("utf-8").replace("fahrenheit\n", "other\n    system: New.\n", 1), "utf-8")
    assert_refused(weather.run("--fc-model=local:tiny"), "--fc-model: local:tiny: the weights of tiny are not on *")


@pytest.mark.usefixtures("exam")
def test_nothing_is_missed_where_nothing_is_asked(weather: Shop) -> None:
    weather.file("pytest.ini", "[pytest]\nfc_model = openai:exam\n")
    weather.run().assert_outcomes(skipped=2)
    weather.run("--fc-live", "-k", "neither").assert_outcomes(deselected=2)
    weather.run("--fc-live", "--collect-only").assert_outcomes()


def test_a_model_of_a_fixture_stands_in_for_the_named_one(weather: Shop) -> None:
    weather.pytester.makeconftest("import echo, pytest\n@pytest.fixture\ndef fc_model(): return echo.answer\n")
    weather.run("--fc-model=python:ehco:answer").assert_outcomes(passed=1, failed=1)


def test_a_module_beside_a_conftest_file_of_a_folder_is_found(shop: Shop) -> None:
    shop.cases("cases: [{id: hello, prompt: hello, expect: no_call}]")
    shop.file("cases/conftest.py", "")
    shop.file("cases/beside.py", "def answer(request): return 'Hello!'\n")
    shop.run("--fc-model=python:beside:answer").assert_outcomes(passed=1)


def test_a_module_that_fails_is_said_once(weather: Shop) -> None:
    weather.file("broken.py", "import no_such_library\n")
    result = weather.run("--fc-model=python:broken:answer")
    assert result.ret == 1
    result.assert_outcomes(errors=1, skipped=1)


def test_a_baseline_of_nothing_is_refused_with_the_nearest(weather: Shop) -> None:
    weather.ask("--fc-accept")
    assert_refused(
        weather.ask("--fc-baseline=python:echo:answre"),
        "--fc-baseline: nothing is accepted of python:echo:answre; baselines are there of python:echo:answer; "
        "did you mean `python:echo:answer`?",
    )
    shutil.rmtree(weather.pytester.path / "cases/__fcall__")
    assert_refused(
        weather.ask("--fc-baseline=openai:gpt-5.2"),
        "--fc-baseline: nothing is accepted of openai:gpt-5.2; `pytest --fc-accept` accepts what is right",
    )


def test_a_baseline_that_is_there_is_compared_with(weather: Shop) -> None:
    weather.ask("--fc-accept")
    result = weather.ask("--fc-baseline=python:echo:answer")
    assert result.ret == 1
    result.assert_outcomes(passed=1, failed=1)


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_folder_without_a_baseline_is_refused(weather: Shop, workers: str) -> None:
    weather.file("copy/cases/other.txt", "")
    result = weather.ask("--fc-baseline=copy", workers)
    assert_refused(
        result, "--fc-baseline: nothing is accepted of python:echo:answer in 'copy'; `pytest --fc-accept` accepts *"
    )


def test_a_folder_without_a_case_is_refused(weather: Shop) -> None:
    weather.file("empty/notes.txt", "")
    message = "--fc-model: there is no case in empty; case files are [*].fc.yaml anywhere, and YAML files that *"
    assert_refused(weather.ask("empty"), message)
    assert_refused(weather.ask("cases", "empty"), message)
    arguments = [*QUIET, "-n2", "--fc-model=python:echo:answer", "empty"]
    assert_refused(weather.pytester.runpytest_subprocess(*arguments), message)


def test_what_looks_like_a_case_file_there_is_named(weather: Shop) -> None:
    weather.cases("cases: [{id: hello, prompt: hello, expect: no_call}]", "../evals/extra.yaml")
    message = "--fc-model: there is no case in evals; evals/extra.yaml looks like a case file: name it evals/extra.fc.*"
    assert_refused(weather.ask("evals"), message)


def test_a_run_that_was_narrowed_or_asks_in_plain_tests_is_not_refused(weather: Shop) -> None:
    weather.file("plain/test_it.py", "def test_it(fc_model): assert fc_model('hello').text\n")
    weather.ask("plain").assert_outcomes(passed=1)
    weather.ask("cases", "plain").assert_outcomes(passed=2, failed=1)
    assert weather.ask("cases", "-k", "nothing").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_model_of_the_configuration_says_nothing_about_folders(weather: Shop) -> None:
    weather.file("pytest.ini", "[pytest]\naddopts = --fc-model=python:echo:answer\n")
    weather.file("empty/notes.txt", "")
    assert weather.run("empty").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_an_exam_of_a_server_is_not_refused(exam: Exam) -> None:
    exam.cities("Oslo")
    assert exam.run().ret == 0
