"""The fixture `fc_model`: in plain tests, and overridden in a conftest file."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Shop

PLAIN = '''
from pytest_fcall import assert_calls

PARIS = '[{"name": "get_weather", "arguments": {"city": "Paris"}}]'

def get_weather(city: str, unit: str = "celsius") -> str:
    """Current weather of a city."""

def test_calls(fc_model):
    reply = fc_model(PARIS, tools=[get_weather])
    assert reply.calls == [{"get_weather": {"city": "Paris"}}]
    assert_calls(reply, [{"get_weather": {"city": {"$any": ["Paris", "Lyon"]}}}])

def test_text(fc_model):
    reply = fc_model("hello")
    assert reply.text == "You said: hello"
    assert reply.calls == []
    assert_calls(reply, "no_call")
'''


def test_a_plain_test_asks_the_same_model_and_judges_by_the_same_rules(shop: Shop) -> None:
    shop.file("test_plain.py", PLAIN)
    shop.ask().assert_outcomes(passed=2)


def test_a_plain_test_runs_once_for_each_model(shop: Shop) -> None:
    shop.file("test_plain.py", PLAIN)
    result = shop.run("--fc-model=python:echo:answer", "--fc-model=python:echo:answer_async", "-v")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["test_plain.py::test_calls?python:echo:answer_async? PASSED*"])


@pytest.mark.parametrize("named", ["nonsense", "python:echo:answer?token"])
def test_a_name_that_a_fixture_gives_and_that_is_none_is_told_in_a_line(shop: Shop, named: str) -> None:
    shop.file("test_plain.py", PLAIN)
    shop.pytester.makeconftest(f"import pytest\n@pytest.fixture\ndef fc_model(): return {named!r}\n")
    result = shop.run("--tb=long")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["the fixture fc_model: *"])
    result.stdout.no_fnmatch_line("*plugin/*.py*")
    result.stdout.no_fnmatch_line("*token*")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("5", "a prompt must be a text, or a list of messages such as *"),
        ("[5]", "a prompt must be a text, or a list of messages such as *"),
        ("'x', seed=object()", "python:echo:answer: the request cannot be sent: *object is not JSON serializable"),
        ("'x', top_p=float('nan')", "python:echo:answer: the request cannot be sent: *not JSON compliant*"),
    ],
)
def test_what_cannot_be_asked_is_told_in_words(shop: Shop, asked: str, told: str) -> None:
    shop.file("test_plain.py", f"def test_it(fc_model):\n    fc_model({asked})\n")
    result = shop.ask("--tb=long")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([told])
    result.stdout.no_fnmatch_line("*plugin/*.py*")


@pytest.mark.usefixtures("asyncio_plugin")
def test_an_async_test_awaits_the_model(shop: Shop) -> None:
    shop.file(
        "test_plain.py",
        """
        import pytest

        @pytest.mark.asyncio
        async def test_text(fc_model):
            reply = await fc_model.ask("hello")
            assert reply.text == "You said: hello"
        """,
    )
    shop.run("--fc-model=python:echo:answer_async").assert_outcomes(passed=1)


@pytest.mark.usefixtures("asyncio_plugin")
def test_an_async_test_that_forgets_to_await_is_told(shop: Shop) -> None:
    shop.file(
        "test_plain.py",
        """
        import pytest

        @pytest.mark.asyncio
        async def test_text(fc_model):
            fc_model("hello")
        """,
    )
    result = shop.ask()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*write `await fc_model.ask*"])


def test_unequal_calls_are_shown_with_the_argument_that_differs(shop: Shop) -> None:
    shop.file(
        "test_plain.py",
        """
        def test_calls(fc_model):
            reply = fc_model('[{"name": "get_weather", "arguments": {"city": "Paris", "days": 1}}]')
            assert reply.calls == [{"get_weather": {"city": "Paris", "days": True}}]
        """,
    )
    result = shop.ask()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*days*1*True*"])


def test_a_failed_assert_calls_reads_like_a_failed_case(shop: Shop) -> None:
    shop.file(
        "test_plain.py",
        """
        from pytest_fcall import assert_calls

        def test_calls(fc_model):
            reply = fc_model('[{"name": "get_weather", "arguments": {"city": "Rome"}}]', tools=[
                {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}])
            assert_calls(reply, [{"get_weather": {"city": "Paris"}}])
        """,
    )
    result = shop.ask()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*Paris*Rome*"])
    result.stdout.no_fnmatch_line("*asserting.py*")


ONE_TOOL = """
from pytest_fcall import assert_calls

def get_weather(city: str):
    "Weather of a city."

def test_it(fc_model):
    made = '[{"name": "get_weather", "arguments": {"city": "Oslo"}}]'
    reply = fc_model(made, tools=[get_weather])
"""


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("assert_calls(reply.calls, [])", "TypeError: assert_calls needs the reply and not its calls: *(reply, ...)"),
        (
            "assert_calls('text', [])",
            "TypeError: assert_calls needs a reply of fc_model, or fc_wire, and not the * 'text'",
        ),
        (
            "assert_calls(None, 'no_call')",
            "TypeError: assert_calls needs a reply of fc_model, or fc_wire, and not None",
        ),
        (
            "fc_model('x', tools=get_weather)",
            "TypeError: tools must be a list, such as tools=[[]get_weather], and not *",
        ),
        ("fc_model('x', tools='get_weather')", "TypeError: tools must be a list, * and not the string 'get_weather'"),
        ("fc_model('x', tools={'name': 'f'})", "TypeError: tools must be a list, * and not an object"),
        (
            "fc_model('x', tools=['get_weather'])",
            "*SchemaError: a tool must be a function, * not the string 'get_weather'",
        ),
        ("assert_calls(reply, [{'get_wether': {}}])", "*: there is no tool `get_wether` (did you mean `get_weather`?)"),
        ("assert_calls(reply, {'$contain': 'x'})", "*: `expect` has no key `$contain` *"),
        ("assert_calls(reply, {'get_weather': {}})", "*: calls must be a list (write `[[]{…}]`, or *"),
        (
            "assert_calls(reply, ['ping'])",
            "*: a call must be a mapping, not a string (write `{ping: {}}` for no arguments)",
        ),
        (
            "assert_calls(reply, ['no_call'])",
            "*: a call must be a mapping, not a string (write `no_call` without a list)",
        ),
    ],
)
def test_a_mistake_in_a_plain_test_is_one_sentence_at_its_line(shop: Shop, line: str, told: str) -> None:
    shop.file("test_plain.py", f"{ONE_TOOL}    {line}\n")
    result = shop.ask("--tb=long")
    result.assert_outcomes(failed=1)
    said = [each for each in result.outlines if each.startswith("E  ")]
    assert len(said) == 1
    result.stdout.fnmatch_lines([f">       {line.replace('[', '[[]')}", f"E       {told}", "test_plain.py:10: *"])
    result.stdout.no_fnmatch_line("*pytest_fcall/*.py*")


@pytest.mark.parametrize(
    "body",
    [
        "import echo; return echo.answer",
        "return 'python:echo:answer'",
        "return fc_model or __import__('echo').answer",
    ],
)
def test_a_conftest_file_can_put_the_teams_own_app_in_place(weather: Shop, body: str) -> None:
    weather.pytester.makeconftest(
        f"""
        import pytest

        @pytest.fixture
        def fc_model(fc_model):
            {body}
        """
    )
    weather.run().assert_outcomes(passed=1, failed=1)


def test_an_override_that_gives_something_else_says_what_it_may_give(weather: Shop) -> None:
    weather.pytester.makeconftest("import pytest\n@pytest.fixture\ndef fc_model(): return 17\n")
    result = weather.run()
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*the fixture fc_model gave a value of type int; it may give a function, KIND:NAME*"])


def test_an_override_that_gives_none_is_told(weather: Shop) -> None:
    weather.pytester.makeconftest("import pytest\n@pytest.fixture\ndef fc_model(): return None\n")
    weather.file("test_plain.py", "def test_it(fc_model):\n    assert not fc_model\n    fc_model('hello')\n")
    told = "the fixture fc_model gave None; it may give a function, KIND:NAME, a backend, *"
    result = weather.run()
    result.assert_outcomes(errors=2, failed=1)
    result.stdout.fnmatch_lines([told])
    result.stdout.no_fnmatch_line("*no model is named*")


def test_without_a_model_asking_says_how_to_name_one(shop: Shop) -> None:
    shop.file("test_plain.py", "def test_it(fc_model):\n    assert not fc_model\n    fc_model('hello')\n")
    result = shop.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no model is named*"])
