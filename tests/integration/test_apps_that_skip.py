"""Apps that would end the test in pytest's terms: an error of the case, as any other exception of an app."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Shop

CASES = """
cases:
  - {id: one, prompt: Hello, expect: no_call}
  - {id: two, prompt: Thanks, expect: no_call}
"""
MODEL = "--fc-model=python:skipping:answer"


def app(shop: Shop, line: str, *, is_async: bool = False) -> None:
    shop.cases(CASES)
    head = f"{'async ' if is_async else ''}def answer(request):"
    shop.file("skipping.py", f"import unittest\nimport pytest\n\n\n{head}\n    {line}\n")


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    "line",
    [
        "pytest.skip('not today')",
        "pytest.importorskip('nosuchlib', reason='not today')",
        "pytest.xfail('not today')",
        "pytest.fail('not today')",
        "pytest.fail('not today', pytrace=False)",
        "raise unittest.SkipTest('not today')",
    ],
)
def test_an_app_that_ends_the_test_is_an_error_of_the_case(shop: Shop, line: str, is_async: bool) -> None:
    app(shop, line, is_async=is_async)
    result = shop.run(MODEL)
    result.assert_outcomes(errors=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["E *the app ended the test as only a test may, by *: not today", "", "skipping.py:6: *"]
    )
    for own in ("transport.py", "app_loop.py", "apps/python.py"):
        result.stdout.no_fnmatch_line(f"*{own}*")


def test_workers_report_the_error_too(shop: Shop) -> None:
    app(shop, "pytest.skip('not today')")
    result = shop.run(MODEL, "-n2")
    result.assert_outcomes(errors=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    "line", ["nope = pytest.importorskip('nosuchlib')", "pytest.skip('no', allow_module_level=True)"]
)
def test_an_app_whose_module_skips_cannot_be_imported(shop: Shop, line: str) -> None:
    shop.cases(CASES)
    shop.file("skipping.py", f"import pytest\n{line}\n\n\ndef answer(request):\n    return 'hello'\n")
    result = shop.run(MODEL)
    result.assert_outcomes(errors=1, skipped=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*python:skipping:answer: importing skipping fails at skipping.py:2: Skipped: *"])


def test_tools_whose_module_skips_cannot_be_read(shop: Shop) -> None:
    shop.file("tools_of_shop.py", "import pytest\nnope = pytest.importorskip('nosuchlib')\n")
    shop.file("cases/one.fc.yaml", "tools: [{python: tools_of_shop}]\n" + CASES.lstrip())
    result = shop.ask()
    result.assert_outcomes(errors=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*cannot import tools_of_shop: Skipped: *nosuchlib*"])


def test_a_plain_test_fails_with_its_app(shop: Shop) -> None:
    shop.pytester.makeconftest(
        """
        import pytest

        @pytest.fixture
        def fc_model():
            return lambda request: pytest.skip("not today")
        """
    )
    shop.pytester.makepyfile("def test_hello(fc_model):\n    fc_model('hello')\n")
    result = shop.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *the app ended the test as only a test may, by Skipped: not today"])


def test_what_a_conftest_or_a_case_skips_is_skipped(shop: Shop) -> None:
    shop.pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(autouse=True)
        def not_two(request):
            if request.node.name == "two":
                pytest.skip("not two")
        """
    )
    shop.cases(CASES + "  - {id: three, skip: not three, prompt: Hello, expect: no_call}\n")
    result = shop.ask()
    result.assert_outcomes(passed=1, skipped=2)
    assert result.ret == pytest.ExitCode.OK
