from __future__ import annotations

import pytest

from tests.servers import Server

CASES = """\
cases:
  - {id: a, prompt: Hello, expect: no_call}
  - {id: b, prompt: Hi, expect: no_call}
  - {id: c, prompt: Hey, expect: no_call, skip: not today}
"""
PRICES = """\
[tool.fcall.prices."openai:exam"]
input = 100
output = 200
"""


@pytest.fixture(autouse=True)
def cases(pytester: pytest.Pytester) -> None:
    pytester.makefile(".fc.yaml", talk=CASES)
    pytester.makepyprojecttoml(PRICES)


def run(pytester: pytest.Pytester, server: Server, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest(f"--fc-model=openai:exam?base_url={server.url}", *arguments)


def test_nothing_is_asked_and_what_would_be_is_listed(pytester: pytest.Pytester, server: Server) -> None:
    told = run(pytester, server, "--fc-dry-run")
    told.stdout.fnmatch_lines(
        [
            "would be sent*requests*input*output*cost",
            "openai:exam*2*",
            "  talk.fc.yaml*2*",
            "    a *1*",
            "    b *1*",
            "fcall: 2 requests would be sent, about * tokens in and 200 out, about $0.0*; nothing was sent",
        ]
    )
    assert told.ret == 0
    assert server.asked == []


def test_what_recordings_answer_is_counted_apart(pytester: pytest.Pytester, server: Server) -> None:
    run(pytester, server, "talk.fc.yaml::a")
    told = run(pytester, server, "--fc-dry-run", "-q")
    told.stdout.fnmatch_lines(["fcall: 1 request would be sent, *, 1 answered by recordings; nothing was sent"])
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("openai:exam?temprature=1", "*`temprature` is not a setting; *; did you mean `temperature`?"),
        ("opnai:exam", "*of kind 'opnai'; *"),
    ],
)
def test_a_model_that_cannot_be_asked_is_told_in_one_line(pytester: pytest.Pytester, model: str, told: str) -> None:
    result = pytester.runpytest("--fc-dry-run", f"--fc-model={model}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {told}"])
    result.stdout.no_fnmatch_line("*nothing was sent*")


def test_what_may_not_be_asked_would_not_be(pytester: pytest.Pytester, server: Server) -> None:
    run(pytester, server, "talk.fc.yaml::a")
    told = run(pytester, server, "--fc-dry-run", "--fc-replay", "-q")
    told.stdout.fnmatch_lines(["fcall: 0 requests would be sent, 1 answered by recordings; nothing was sent"])


def test_with_workers_it_says_how_to_do_without(pytester: pytest.Pytester, server: Server) -> None:
    told = run(pytester, server, "--fc-dry-run", "-n2")
    assert told.ret == pytest.ExitCode.USAGE_ERROR
    told.stderr.fnmatch_lines(["*--fc-dry-run asks nothing and so needs no workers: run it with -n0*"])
