"""`fc_judge` in plain tests."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Shop

JUDGE = '''
import json


def judge(request):
    """Take short values for polite ones."""
    asked = json.loads(request.messages[-1]["content"])
    told = f"{asked['user']} / {len(asked['value'])}"
    return json.dumps({"answer": "yes" if len(asked["value"]) < 10 else "no", "reason": told})
'''
NAMED = "--fc-judge=python:fair:judge"


@pytest.fixture
def fair(shop: Shop) -> Shop:
    shop.file("fair.py", JUDGE)
    return shop


def test_it_says_yes_or_no_and_why(fair: Shop) -> None:
    fair.file(
        "test_plain.py",
        """
        def test_it(fc_judge):
            assert fc_judge
            found = fc_judge("is polite", "please", said="Hi", votes=3)
            assert (found.says, found.why) == ("yes", "Hi / 6")
            assert fc_judge("is polite", "get out of here").says == "no"
            assert fc_judge("is polite", "x" * 100_000).says == "uncertain"
        """,
    )
    fair.run(NAMED).assert_outcomes(passed=1)


CALLS = """
        from pytest_fcall import assert_calls

        def test_calls(fc_model, fc_judge):
            reply = fc_model('[{{"name": "get_weather", "arguments": {{"city": "{city}"}}}}]')
            verdict = assert_calls(reply, [{{"get_weather": {{"city": {{"$judge": "is short"}}}}}}], judge=fc_judge)
            assert verdict.judged
        """


def test_assert_calls_asks_it_for_judge(fair: Shop) -> None:
    fair.file("test_plain.py", CALLS.format(city="Oslo"))
    fair.ask(NAMED).assert_outcomes(passed=1)


def test_what_it_says_no_to_fails_the_test_and_is_marked(fair: Shop) -> None:
    fair.file("test_plain.py", CALLS.format(city="Llanfairpwll"))
    result = fair.ask(NAMED)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*`city`: 'is short' is not true of it, says the judge: * / 12 (judged)"])


def test_without_one_the_test_is_told_how_to_name_it(fair: Shop) -> None:
    fair.file(
        "test_plain.py",
        """
        def test_none(fc_judge):
            assert not fc_judge
            fc_judge("is polite", "please")
        """,
    )
    result = fair.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*`$judge` needs a model that judges, and none is named. Name one with --fc-judge=*"])


def test_votes_that_are_none_are_told(fair: Shop) -> None:
    fair.file("test_plain.py", "def test_none(fc_judge):\n    fc_judge('is polite', 'please', votes=0)\n")
    result = fair.run(NAMED)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*votes: 0 must be from 1 to 25"])


def test_assert_calls_without_it_says_that_nobody_judges(fair: Shop) -> None:
    fair.file("test_plain.py", CALLS.format(city="Oslo").replace(", judge=fc_judge", ""))
    result = fair.ask(NAMED)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*`city` cannot be judged: `$judge` needs a judge model: set `--fc-judge`."])
