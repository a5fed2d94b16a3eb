from __future__ import annotations

import pytest

from tests.servers import Server

CASES = "defaults: {settings: {max_tokens: 10}}\ncases:\n" + "".join(
    f"  - {{id: c{n}, prompt: Hello {n}, expect: no_call}}\n" for n in range(20)
)
# A reply of the server counts 20 tokens in and 10 out: $0.001.
PRICES = """\
[tool.fcall.prices."openai:exam"]
input = 25
output = 50
"""


@pytest.fixture(autouse=True)
def cases(pytester: pytest.Pytester) -> None:
    pytester.makefile(".fc.yaml", talk=CASES)


def run(pytester: pytest.Pytester, server: Server, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest(f"--fc-model=openai:exam?base_url={server.url}", *arguments)


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_asking_stops_before_the_limit_is_passed(pytester: pytest.Pytester, server: Server, workers: str) -> None:
    pytester.makepyprojecttoml(PRICES)
    told = run(pytester, server, "--fc-max-cost=0.0105", workers)
    assert 0 < len(server.asked) <= 10
    assert told.ret == 10
    told.stdout.fnmatch_lines(["*--fc-max-cost is $0.0105, of which * are left*raise the limit*"])
    assert told.parseoutcomes()["passed"] == len(server.asked)


def test_what_was_paid_for_is_not_paid_again(pytester: pytest.Pytester, server: Server) -> None:
    pytester.makepyprojecttoml(PRICES)
    while run(pytester, server, "--fc-max-cost=0.0105").ret == 10:
        assert len(server.asked) < 21
    assert len(server.asked) == 20


def test_without_a_price_nothing_is_asked(pytester: pytest.Pytester, server: Server) -> None:
    told = run(pytester, server, "--fc-max-cost=1")
    told.stdout.fnmatch_lines(["*--fc-max-cost needs the price of openai:exam, which is unknown: add *"])
    assert (told.ret, server.asked) == (10, [])


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_with_a_price_that_is_none_nothing_is_asked(pytester: pytest.Pytester, server: Server, workers: str) -> None:
    pytester.makepyprojecttoml(PRICES.replace("output = 50", ""))
    told = run(pytester, server, "--fc-max-cost=1", workers)
    told.stderr.fnmatch_lines(['*pyproject.toml, ?tool.fcall.prices."openai:exam"? needs `output`, US dollars *'])
    assert (told.ret, server.asked) == (pytest.ExitCode.USAGE_ERROR, [])


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "much"])
def test_what_is_no_limit_is_a_usage_error(pytester: pytest.Pytester, server: Server, limit: str) -> None:
    told = run(pytester, server, f"--fc-max-cost={limit}")
    assert told.ret == pytest.ExitCode.USAGE_ERROR
    told.stderr.fnmatch_lines([f"*--fc-max-cost: '{limit}' must be *"])
