"""Apps that sent no request through the proxy: they are reported, and with `fc_inside = required` they are errors."""

from __future__ import annotations

# Each run inside a test forgets the modules that it imported; these are kept, for speed.
import openai
import pytest
from openai.resources import chat, responses  # noqa: F401

from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.conftest import Shop
from tests.integration.exam import called
from tests.servers import Server, provider_error

# What a client imports when it is made would be forgotten, too, and errors would be of classes that nobody knows.
openai.OpenAI(api_key="none").close()

APP = """
import json

import openai

SILENT = ()


def answer(request):
    said = request.messages[-1]["content"]
    if any(city in said for city in SILENT):
        return json.loads(said)
    try:
        with openai.OpenAI(max_retries=0) as client:
            return client.chat.completions.create(model="exam-1", messages=request.messages, tools=request.tools)
    except openai.OpenAIError:
        return json.loads(said)
"""
NAMED = "[pytest]\nfc_model = python:bot:answer\n"
UNSEEN = "1 case in which python:bot:answer sent no request through the proxy, though it is known to call models:"
STORED = "python:bot:answer was not run: its stored answer stands for it, as nothing is recorded inside it"


class Project:
    """Two cases of an app that asks a model for all cities but those that it is silent about."""

    def __init__(self, shop: Shop, server: Server) -> None:
        self.shop = shop
        self.server = server
        self.run = shop.run
        self.silent("()")
        self.configure("")
        shop.cases(
            f"""
            cases:
              - {{id: oslo, prompt: '{called("Oslo")}', expect: [{{get_weather: {{city: Oslo}}}}]}}
              - {{id: rome, prompt: '{called("Rome")}', expect: [{{get_weather: {{city: Rome}}}}]}}
            """
        )

    def silent(self, cities: str) -> None:
        self.shop.file("bot.py", APP.replace("SILENT = ()", f"SILENT = {cities}"))

    def configure(self, line: str) -> None:
        self.shop.file("pytest.ini", f"{NAMED}{line}\n")


@pytest.fixture
def project(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    return Project(shop, server)


@pytest.mark.parametrize("city", [by_night("Oslo"), "Rome"])
def test_a_case_without_a_request_is_told_where_others_have_some(project: Project, city: str) -> None:
    project.silent(f"['{city}']")
    result = project.run("--fc-live")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines([UNSEEN, f"  cases/weather.fc.yaml:* {city.lower()}", "  its client may *required *"])
    shown = fcall_here(project.shop.pytester.path, "show", city.lower()).stdout
    assert "it sent no request through the proxy, though it is known to call models" in shown


@pytest.mark.nightly  # the same as above, in workers
def test_workers_tell_it_together(project: Project) -> None:
    project.silent("['Rome']")
    project.run("--fc-live", "-n2").stdout.fnmatch_lines([UNSEEN, "  cases/weather.fc.yaml:* rome"])


def test_an_app_that_has_asked_before_and_asks_no_more_is_told_and_each_case_is_marked(project: Project) -> None:
    project.run("--fc-live").assert_outcomes(passed=2)
    project.silent("['Oslo', 'Rome']")
    result = project.run("-rP")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["inside the app:", "  it sent no request through the proxy, *", UNSEEN.replace("1 case", "2 cases")]
    )
    project.shop.file("bot.py", APP.replace("    said =", "    return []\n    said ="))
    wrong = project.run()
    wrong.assert_outcomes(failed=2)
    wrong.stdout.fnmatch_lines(["*the app sent no request through the proxy, though it is known to call models*"])


def test_what_a_baseline_has_inside_counts_as_having_asked(project: Project) -> None:
    project.run("--fc-live", "--fc-accept", "-k", "oslo").assert_outcomes(passed=1, deselected=1)
    for path in (project.shop.pytester.path / ".fcall").glob("replies.db*"):
        path.unlink()
    project.silent("['Oslo']")
    project.run("-k", "oslo").stdout.fnmatch_lines([UNSEEN])


def test_an_app_that_never_asks_is_not_told_of(project: Project) -> None:
    project.silent("['Oslo', 'Rome']")
    result = project.run("--fc-live")
    result.assert_outcomes(passed=2)
    assert "through the proxy" not in result.stdout.str()


def test_a_request_that_failed_came_by_way_of_the_proxy(project: Project) -> None:
    project.server.script(provider_error(500, "down"))
    result = project.run("--fc-live")
    result.assert_outcomes(passed=2)
    assert "through the proxy" not in result.stdout.str()


def test_a_stored_answer_never_stands_for_an_app_in_silence(project: Project) -> None:
    project.silent("['Rome']")
    project.run("--fc-live").assert_outcomes(passed=2)
    result = project.run("--fc-replay", "-rP")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["  it was not run: its stored answer stands for it, *", f"1 case in which {STORED}", "fcall: *"]
    )
    assert UNSEEN not in result.stdout.str()


def test_required_makes_both_an_error(project: Project) -> None:
    project.silent("['Rome']")
    project.run("--fc-live").assert_outcomes(passed=2)
    project.configure("fc_inside = required")
    live = project.run("--fc-live")
    live.assert_outcomes(passed=1, errors=1)
    assert live.ret == 1
    live.stdout.fnmatch_lines(["python:bot:answer sent no request through the proxy, and fc_inside = required: *"])
    replayed = project.run("--fc-replay")
    replayed.assert_outcomes(passed=1, errors=1)
    replayed.stdout.fnmatch_lines(["python:bot:answer was not run: nothing that it asks is recorded for this case, *"])


def test_required_counts_for_conversations(project: Project) -> None:
    project.configure("fc_inside = required")
    project.silent("['Oslo']")
    turns = "{{id: {id}, turns: [{{user: '{said}', expect: [{{get_weather: {{city: {city}}}}}]}}]}}"
    one, other = (turns.format(id=city.lower(), said=called(city), city=city) for city in ("Oslo", "Rome"))
    project.shop.cases(f"cases:\n  - {one}\n  - {other}\n")
    project.run("--fc-live").assert_outcomes(passed=1, errors=1)


def test_required_counts_for_apps_behind_an_address(project: Project) -> None:
    project.configure("fc_inside = required")
    result = project.run(f"--fc-model=http:{project.server.url}/chat/completions")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*sent no request through the proxy, and fc_inside = required: *"])


def test_required_needs_the_proxy(project: Project) -> None:
    project.configure("fc_inside = required\nfc_proxy = off")
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*fc_inside = required needs the proxy, and fc_proxy is off"])


def test_ignore_leaves_it_out(project: Project) -> None:
    project.configure("fc_inside = ignore")
    project.silent("['Rome']")
    result = project.run("--fc-live", "-rP")
    result.assert_outcomes(passed=2)
    assert "through the proxy" not in result.stdout.str()


WIRED = """
import openai
import pytest

CITIES = ["Oslo"]

def test_wired(fc_wire):
    for city in CITIES:
        with openai.OpenAI(max_retries=0) as client:
            client.chat.completions.create(model="exam-1", messages=[{"role": "user", "content": city}])
"""


def test_a_test_with_the_fixture_is_told_where_requests_are_recorded_for_it(project: Project) -> None:
    project.shop.file("pytest.ini", "[pytest]\n")
    project.shop.file("test_wired.py", WIRED)
    project.run("--fc-live", "test_wired.py").assert_outcomes(passed=1)
    project.shop.file("test_wired.py", WIRED.replace('["Oslo"]', "[]"))
    told = "test_wired.py::test_wired: its app sent no request through the proxy, though requests are recorded for *"
    for workers in ("-n0", "-n1"):
        result = project.run("test_wired.py", workers)
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines([told])
    project.configure("fc_inside = required")
    required = project.run("test_wired.py")
    required.assert_outcomes(failed=1)
    required.stdout.fnmatch_lines(["the app sent no request through the proxy, and fc_inside = required"])
