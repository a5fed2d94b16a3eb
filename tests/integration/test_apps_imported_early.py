"""An app whose client is made when its module is imported asks through the proxy like any other."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

# Each run inside a test forgets the modules that it imported; these are kept, for speed.
import openai
import pytest
from openai.resources import chat, responses  # noqa: F401

from tests.by_night import by_night
from tests.integration.command import fcall
from tests.integration.conftest import Shop
from tests.integration.exam import called
from tests.servers import Answer, Server

# What a client imports when it is made would be forgotten, too, and errors would be of classes that nobody knows.
openai.OpenAI(api_key="none").close()

INCONCLUSIVE = 10
APP = '''
import openai

client = openai.OpenAI(max_retries=0, default_headers={"Connection": "close"})
PROMPT = "You know the weather."


def answer(request):
    """Ask by a client that was made when this module was imported."""
    messages = [{"role": "system", "content": PROMPT}, *request.messages]
    return client.chat.completions.create(model="exam-1", messages=messages, tools=request.tools)


def tell(said):
    reply = client.chat.completions.create(model="exam-1", messages=[{"role": "user", "content": said}])
    return reply.choices[0].message.content


def get_weather(city: str) -> str:
    """Current weather of a city."""
    return "sunny"
'''
CASES = f"""
tools: [{{python: "bot:get_weather"}}]
cases:
  - {{id: oslo, prompt: '{called("Oslo")}', expect: [{{get_weather: {{city: Oslo}}}}]}}
  - {{id: rome, prompt: '{called("Rome")}', expect: [{{get_weather: {{city: Rome}}}}]}}
"""
IMPORTED_BY = {
    "conftest": ("conftest.py", "import bot\n"),
    "test": ("test_plain.py", "import bot\n\ndef test_nothing():\n    assert bot.client\n"),
    "tools": ("nothing.txt", ""),
}
CONFTEST_OF_HEADER = """
import os

found = os.environ["OPENAI_BASE_URL"]

def pytest_report_header():
    return f"leads to {found}"
"""
VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")


def variables() -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in VARIABLES}


class Project:
    """A project that names its app in its configuration."""

    def __init__(self, shop: Shop, server: Server) -> None:
        self.shop = shop
        self.server = server
        shop.file("bot.py", APP)
        shop.file("cases/weather.fc.yaml", CASES)
        shop.file("pytest.ini", "[pytest]\nfc_model = python:bot:answer\n")

    def run(self, *args: str) -> pytest.RunResult:
        """Run, and hold that the variables are as before then."""
        before = variables()
        result = self.shop.run(*args)
        assert variables() == before
        return result

    def change(self, old: str, new: str) -> None:
        self.shop.file("bot.py", APP.replace(old, new))


@pytest.fixture(autouse=True)
def closed_clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the clients that modules of apps make and never close: their connections are left to nobody."""
    made: list[openai.OpenAI] = []
    make = openai.OpenAI.__init__

    def noted(client: openai.OpenAI, *args: Any, **kwargs: Any) -> None:
        make(client, *args, **kwargs)
        made.append(client)

    monkeypatch.setattr(openai.OpenAI, "__init__", noted)
    yield
    for client in made:
        client.close()


@pytest.fixture
def project(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    return Project(shop, server)


@pytest.mark.parametrize("by", ["conftest", *map(by_night, ("test", "tools"))])
def test_what_it_asks_is_recorded_and_replayed_and_plain_pytest_asks_nobody(
    project: Project, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    project.shop.file(*IMPORTED_BY[by])
    passed = 2 + (by == "test")
    project.run("--fc-live").assert_outcomes(passed=passed)
    assert len(project.server.asked) == 2
    monkeypatch.delenv("OPENAI_API_KEY")
    project.run("--fc-replay").assert_outcomes(passed=passed)
    project.run().assert_outcomes(passed=passed)
    project.change("return client", "raise ValueError or client")
    project.run("--fc-replay", "cases").assert_outcomes(errors=2)
    project.change("You know the weather.", "You are a poet.")
    assert project.run().ret == INCONCLUSIVE
    assert len(project.server.asked) == 2


def test_workers_lead_their_apps_to_proxies_of_their_own(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.shop.file("conftest.py", "import bot\n")
    project.run("--fc-live", "-n2").assert_outcomes(passed=2)
    assert len(project.server.asked) == 2
    monkeypatch.delenv("OPENAI_API_KEY")
    project.run("-n1").assert_outcomes(passed=2)
    assert len(project.server.asked) == 2


@pytest.mark.parametrize(
    "args",
    [["--fc-model=python:bot:answer", "-k", "oslo"], ["--fc-live", "cases/weather.fc.yaml::oslo[python:bot:answer]"]],
    ids=["option", "id"],
)
def test_on_the_command_line_the_app_is_named_early_enough(project: Project, args: list[str]) -> None:
    project.shop.file("pytest.ini", "[pytest]\n")
    project.shop.file("conftest.py", "import bot\n")
    result = project.run(*args)
    assert result.parseoutcomes()["passed"] == 1
    assert "sent 1 request to openai:exam-1" in result.stdout.str()


def test_an_entry_of_the_project_may_name_the_app(project: Project) -> None:
    project.shop.file("pyproject.toml", '[tool.fcall.models.shop]\nmodel = "python:bot:answer"\n')
    project.shop.file("pytest.ini", "[pytest]\nfc_model = shop\n")
    project.shop.file("conftest.py", CONFTEST_OF_HEADER)
    project.run("--collect-only").stdout.fnmatch_lines(["leads to http://127.0.0.1:*/OPENAI_BASE_URL/v1"])


@pytest.mark.parametrize("ini", ["fc_model = openai:exam-1", "fc_proxy = off\nfc_model = python:bot:answer", ""])
def test_a_run_without_an_app_behind_the_proxy_changes_no_variable(project: Project, ini: str) -> None:
    project.shop.file("pytest.ini", f"[pytest]\n{ini}\n")
    project.shop.file("conftest.py", f"import os\nassert os.environ['OPENAI_BASE_URL'] == {project.server.url!r}\n")
    project.shop.file("test_plain.py", "def test_nothing():\n    pass\n")
    project.run("test_plain.py").assert_outcomes(passed=1)


@pytest.mark.nightly  # test_other_plugins holds that it imports nothing at all
def test_a_run_that_names_no_model_imports_nothing_for_it(project: Project) -> None:
    project.shop.file("pytest.ini", "[pytest]\n")
    project.shop.file(
        "test_plain.py",
        """
        import sys

        def test_nothing():
            assert not [name for name in sys.modules if name.startswith("pytest_fcall.session.ask")]
        """,
    )
    project.shop.pytester.run(sys.executable, "-m", "pytest", "test_plain.py").assert_outcomes(passed=1)


def test_a_key_that_is_missing_is_replaced_only_where_nobody_may_be_asked(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    project.shop.file("conftest.py", "import bot\n")
    assert project.run("--fc-live").ret == pytest.ExitCode.USAGE_ERROR
    assert project.run().ret == INCONCLUSIVE
    project.run("--collect-only", "-q").stdout.fnmatch_lines(["2 tests collected*"])


@pytest.mark.parametrize(
    "line", ["OPENAI_BASE_URL={}", "export OPENAI_BASE_URL = '{}'  # ours", 'OPENAI_BASE_URL="{}"']
)
def test_an_address_in_a_file_of_variables_is_that_of_the_provider(
    project: Project, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL")
    project.shop.file(".env", f"# keys\nOTHER=1\n{line.format(project.server.url)}\nOPENAI_BASE_URL_2=http://x\n")
    project.shop.file("conftest.py", "import bot\n")
    project.run("--fc-live").assert_outcomes(passed=2)
    assert len(project.server.asked) == 2


FIXTURE = """
import bot
import pytest

@pytest.fixture
def fc_model(fc_model):
    return fc_model or bot.answer
"""


def test_a_fixture_of_the_first_conftest_file_may_put_the_app_in_place(project: Project) -> None:
    project.shop.file("pytest.ini", "[pytest]\n")
    project.shop.file("conftest.py", FIXTURE)
    project.run().assert_outcomes(passed=2)
    project.run("--fc-replay").assert_outcomes(passed=2)
    assert len(project.server.asked) == 2
    project.change("return client", "raise ValueError or client")
    project.run("--fc-replay").assert_outcomes(errors=2)


PLAIN = """
import os

import bot
import pytest


def test_by_the_client_of_the_import():
    assert bot.tell("hello") == "You said: hello"


def test_with_the_variables_as_they_are(monkeypatch):
    assert os.environ["OPENAI_BASE_URL"] == {url!r}
    assert "ANTHROPIC_BASE_URL" not in os.environ
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert bot.tell("again") == "You said: again"


def test_with_the_fixture(fc_wire):
    assert bot.tell("wired") == "You said: wired"
    assert [reply.text for reply in fc_wire.replies] == ["You said: wired"]
"""


def test_a_plain_test_beside_cases_asks_as_if_there_were_no_proxy_unless_it_has_the_fixture(project: Project) -> None:
    project.shop.file("test_plain.py", PLAIN.format(url=project.server.url))
    project.run("--fc-live").assert_outcomes(passed=5)
    assert len(project.server.asked) == 5
    assert {asked.headers["authorization"] for asked in project.server.asked} == {"Bearer sk-very-secret"}
    project.run().assert_outcomes(passed=5)
    assert len(project.server.asked) == 7


def test_a_plain_test_without_cases_asks_so_too(project: Project) -> None:
    project.shop.file("test_plain.py", PLAIN.format(url=project.server.url))
    project.run("--fc-live", "test_plain.py").assert_outcomes(passed=3)


def test_a_plain_test_asks_nobody_in_a_replay_and_says_why(project: Project) -> None:
    project.shop.file("test_plain.py", PLAIN.format(url=project.server.url))
    project.run("--fc-live").assert_outcomes(passed=5)
    asked = len(project.server.asked)
    result = project.run("--fc-replay")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(["*this request comes from a test without the fixture fc_wire, and --fc-replay *"])
    assert len(project.server.asked) == asked


def test_a_key_that_is_none_is_sent_to_nobody(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    project.shop.file("test_plain.py", PLAIN.format(url=project.server.url))
    result = project.run("test_plain.py")
    result.assert_outcomes(failed=2, skipped=1)
    result.stdout.fnmatch_lines(["*pytest-fcall: no key is set. *"])
    assert project.server.asked == []


ASKS_AT_IMPORT = """
import bot
import openai

try:
    said = bot.tell("hello")
except openai.BadRequestError as error:
    said = error.message

def pytest_report_header():
    return said
"""


def test_what_is_asked_at_import_is_asked_where_models_may_be_and_nowhere_else(project: Project) -> None:
    project.shop.file("conftest.py", ASKS_AT_IMPORT)
    project.run("--fc-live").stdout.fnmatch_lines(["You said: hello"])
    assert len(project.server.asked) == 3
    for args in ([], ["--fc-replay"]):
        project.run(*args).stdout.fnmatch_lines(["*pytest-fcall: this request belongs to no case: none is running*"])
    assert len(project.server.asked) == 3


def test_a_stream_reaches_a_plain_test_as_it_is(project: Project) -> None:
    piece = 'data: {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": %s}\n\n'
    said = piece % '[{"index": 0, "delta": {"role": "assistant", "content": "Hi"}, "finish_reason": null}]'
    project.server.script(Answer((said + "data: [DONE]\n\n").encode(), headers={"content-type": "text/event-stream"}))
    project.shop.file(
        "test_plain.py",
        """
        import bot

        def test_stream():
            asked = [{"role": "user", "content": "hello"}]
            stream = bot.client.chat.completions.create(model="exam-1", messages=asked, stream=True)
            assert [chunk.choices[0].delta.content for chunk in stream] == ["Hi"]
        """,
    )
    project.run("test_plain.py").assert_outcomes(passed=1)


def test_a_broken_connection_to_the_provider_is_one_for_a_plain_test(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    project.shop.file(
        "test_plain.py",
        """
        import bot
        import openai
        import pytest

        def test_down():
            with pytest.raises(openai.APIConnectionError):
                bot.tell("hello")
        """,
    )
    project.run("test_plain.py").assert_outcomes(passed=1)


def test_a_fixture_that_makes_the_client_finds_the_proxy_from_the_first_case_on(project: Project) -> None:
    project.shop.file("bot.py", APP.replace("client = openai.OpenAI(", "client = None or dict("))
    project.shop.file(
        "conftest.py",
        """
        import bot
        import openai
        import pytest

        @pytest.fixture(scope="session", autouse=True)
        def client():
            with openai.OpenAI(max_retries=0) as bot.client:
                yield
        """,
    )
    project.run("--fc-live").assert_outcomes(passed=2)
    project.run("--fc-replay").assert_outcomes(passed=2)
    assert len(project.server.asked) == 2


def test_a_fixture_that_sets_another_address_for_a_case_decides_where_requests_go(project: Project) -> None:
    project.shop.file(
        "conftest.py",
        f"""
        import bot
        import pytest

        @pytest.fixture(autouse=True)
        def address(monkeypatch):
            monkeypatch.setenv("OPENAI_BASE_URL", "{project.server.url}")
        """,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        project.run("--fc-live").assert_outcomes(passed=2)
        project.run("--fc-replay").assert_outcomes(passed=2)
    assert len(project.server.asked) == 2


def test_a_model_of_ours_beside_the_app_is_asked_at_its_own_address(project: Project) -> None:
    project.shop.file("conftest.py", "import bot\n")
    project.shop.file("pytest.ini", "[pytest]\nfc_model =\n    openai:exam-1\n    python:bot:answer\n")
    project.run("--fc-live", "--fc-judge=openai:exam-1").assert_outcomes(passed=4)
    assert len(project.server.asked) == 4


def test_always_lets_a_client_of_the_import_be_recorded_where_no_app_is_named(project: Project) -> None:
    wired = "import bot\n\ndef test_wired(fc_wire):\n    assert bot.tell('hi')\n    assert len(fc_wire.replies) == 1\n"
    project.shop.file("test_wired.py", wired)
    project.shop.file("pytest.ini", "[pytest]\n")
    project.run("--fc-live", "test_wired.py").assert_outcomes(failed=1)
    project.shop.file("pytest.ini", "[pytest]\nfc_proxy = always\n")
    project.run("--fc-live", "test_wired.py").assert_outcomes(passed=1)
    asked = len(project.server.asked)
    project.run("test_wired.py").assert_outcomes(passed=1)
    project.run("--fc-replay", "test_wired.py").assert_outcomes(passed=1)
    assert len(project.server.asked) == asked


@pytest.mark.parametrize(
    "command",
    [
        ("lint", "cases"),
        ("score", "--cases", "cases", "answers.jsonl"),
        ("score", "--cases", "cases", "answers.jsonl", "--format=json"),
    ],
    ids=["lint", "score", "score-json"],
)
def test_a_command_that_asks_nobody_needs_no_key(shop: Shop, command: tuple[str, ...]) -> None:
    shop.file("bot.py", APP)
    shop.file("conftest.py", "import bot\n")
    shop.file("cases/weather.fc.yaml", CASES)
    reply = '[{"name": "get_weather", "arguments": {"city": "%s"}}]'
    lines = [f'{{"id": "{city.lower()}", "reply": {reply % city}}}\n' for city in ("Oslo", "Rome")]
    shop.file("answers.jsonl", "".join(lines))
    done = fcall(shop.pytester.path, *command, OPENAI_API_KEY="")
    assert done.returncode == 0, done.stdout + done.stderr


def test_variables_that_cannot_be_used_are_named_before_anything_is_imported(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    shop.file("bot.py", APP)
    shop.file("conftest.py", "import bot\n")
    shop.file("cases/weather.fc.yaml", CASES)
    result = shop.run("-o", "fc_model=python:bot:answer", "-o", "fc_proxy_variables=a b")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: fc_proxy_variables: 'a b' is not a variable name*"])


TOOLS = """
import openai

client = openai.OpenAI()


def get_weather(city: str) -> str:
    \"\"\"Tell the weather.\"\"\"
"""
TOOL_CASES = "tools: [{python: shop_tools}]\ncases: [{id: hello, prompt: Hello, expect: no_call}]"


def test_tools_of_a_module_that_makes_a_client_need_no_key(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    project.shop.file("shop_tools.py", TOOLS)
    project.shop.file("cases/weather.fc.yaml", TOOL_CASES)
    project.shop.file("pytest.ini", "[pytest]\n")
    project.run(f"--fc-model=http:{project.server.url}/chat/completions").assert_outcomes(passed=1)


def test_a_client_of_tools_without_a_key_asks_nobody_for_an_app(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The app uses the client that was made where its tools were read."""
    monkeypatch.delenv("OPENAI_API_KEY")
    project.shop.file("shop_tools.py", TOOLS)
    project.shop.file("cases/weather.fc.yaml", TOOL_CASES)
    ask = "client.chat.completions.create(model='exam-1', messages=list(request.messages))"
    project.shop.file("bot.py", f"from shop_tools import client\n\ndef answer(request):\n    return {ask}\n")
    result = project.run("--fc-live")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no key is set. So that a client could be made at import*"])
    assert project.server.asked == []
