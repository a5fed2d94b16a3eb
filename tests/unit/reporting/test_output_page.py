"""The samples of docs/explanation/output.md come from the functions that print them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.cases.expectations import read_expectation
from pytest_fcall.core import Call, Calls, Case, Fault, Json, Location, Outcome, Reply, Tool, Turn, Usage
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge
from pytest_fcall.reporting.failure import Failure, failure_text, full_failure_text
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.header import AnswerSources, header_lines
from pytest_fcall.reporting.results import Result, Results, Status
from pytest_fcall.reporting.side_by_side import equality_lines
from pytest_fcall.reporting.summary import outcome_lines, sample_lines, summary_lines
from pytest_fcall.reporting.tool_confusion import confusion_lines, mixed_up_lines

PAGE = Path(__file__).parents[3] / "docs/explanation/output.md"
TEXT_BLOCK = re.compile(r"^```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)

WIDTH = 96
"""What fits beside the navigation of a documentation site."""

MODEL = "openai:gpt-5.2"
TOOLS = (
    Tool(
        "get_weather",
        parameters={
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
                "days": {"type": "integer"},
            },
            "required": ["city"],
        },
    ),
)


def failing(
    prompt: str,
    expect: Json,
    *made: tuple[str, Mapping[str, Json]],
    text: str = "",
    write: Callable[..., str] = failure_text,
) -> str:
    calls = Calls(tuple(Call(name, arguments) for name, arguments in made))
    reply = Reply(text, usage=Usage(212, 31), seconds=0.84)
    expectation = read_expectation(expect, TOOLS)
    case = Case(
        "celsius",
        Location("cases/weather.fc.yaml", 14),
        (Turn(({"role": "user", "content": prompt},), expectation),),
        TOOLS,
    )
    verdict = judge(reply, calls, expectation, MatchContext(TOOLS))
    assert not verdict.valid
    if write is failure_text:
        return failure_text(Failure(case, calls, verdict, reply, MODEL), WIDTH)
    return write(Failure(case, calls, verdict, reply, MODEL))


def wrong_argument(write: Callable[..., str] = failure_text) -> str:
    return failing(
        "What is the weather in San Francisco, in celsius?",
        [{"get_weather": {"city": {"$any": ["San Francisco", "SF"]}, "unit": "celsius", "days": 3}}],
        ("get_weather", {"city": "San Francisco", "unit": "fahrenheit", "days": "3"}),
        write=write,
    )


def parallel_calls() -> str:
    cities = ["Oslo", "Rome", "Bern", "Kyiv", "Bonn", "Nice", "Riga", "Lima"]
    return failing(
        f"Weather in {', '.join(cities)}?",
        [{"get_weather": {"city": city, "unit": "celsius"}} for city in cities],
        *(("get_weather", {"city": city, "unit": "celsius"}) for city in cities[:6]),
        ("get_weather", {"city": "Riga (Latvia)", "unit": "celsius"}),
        ("delete_all", {"confirm": True}),
    )


def no_call() -> str:
    return failing(
        "Weather in Oslo?", [{"get_weather": {"city": "Oslo"}}], text="In \x1b[31mwhich\x1b[0m unit?\nPlease say."
    )


def fault() -> str:
    return fault_text(
        Fault(
            "unknown-tool",
            Location("cases/weather.fc.yaml", 15, 9),
            "unknown tool `get_wether`",
            "      - get_wether: {city: Oslo}",
            "did you mean `get_weather`?",
        )
    )


def run(failures: bool) -> Results:
    categories = {"simple": (20, 2), "parallel": (12, 4), "irrelevance": (8, 1)}
    reasons = {
        "simple": (("wrong_value", "calls[0].args.unit"),),
        "parallel": (("wrong_value", "calls[1].args.unit"), ("wrong_type", "calls[1].args.legs[0].day")),
        "irrelevance": (("unexpected_call", "calls[0]"),),
    }
    return Results(
        tuple(
            Result(
                nodeid=f"cases/weather.fc.yaml::{category}_{n}",
                case=f"{category}_{n}",
                model=MODEL,
                status="error" if failures and n == 7 else "failed" if failures and n < wrong else "passed",
                category=category,
                reasons=reasons[category] if failures and n < wrong else (),
                seconds=0.4 + n / 10,
                usage=Usage(200, 30),
                cost=0.0006,
                replayed=not failures,
                asked=int(failures and n != 7),
            )
            for category, (count, wrong) in categories.items()
            for n in range(count)
        ),
        files_without_cases=1 if failures else 0,
        oldest_reply=None if failures else 800_000,
        newest_reply=None if failures else 200_000,
    )


def mistaken() -> list[Result]:
    """Calls of three tools, two of which are taken for each other."""
    change, cancel = "change_booking", "cancel_booking"
    pairs = {(change, change): 7, (change, cancel): 6, (change, ""): 1, (cancel, change): 1, (cancel, cancel): 9}
    pairs |= {("search", "search"): 4, ("search", ""): 2, ("", "search"): 2}
    return [Result("a", "a", MODEL, "failed", called=tuple(pair for pair, n in pairs.items() for _ in range(n)))]


def compared() -> str:
    """Cases that are compared with a baseline."""
    cause = ("the description of get_weather changed",)
    bath = ("6/6 right before, 0/4 now (p = 0.00023)", "calls[0].args.city: 'Bath' → 'Paris'")
    lima = ("6/6 right before, 0/2 now (p = 0.0027, decided at 0.0005)", "calls[0].args.city: 'Lima' → 'Rome'")
    results = [
        compared_case("bath", 18, Outcome.REGRESSED, since=bath, causes=cause),
        compared_case("lima", 13, Outcome.UNDECIDED, since=lima, causes=cause),
        compared_case("wien", 16, Outcome.FIXED, since=("a failure, wrong_value at calls[0].args.city",)),
        compared_case("riga", 12, Outcome.FLAKY, samples=(3, 4), first=(0, 1), before=(11, 13)),
    ]
    return "\n".join([*outcome_lines(results, WIDTH), *sample_lines(results, WIDTH)])


def compared_case(case: str, line: int, outcome: Outcome, **fields: Any) -> Result:
    status: Status = "passed" if outcome is Outcome.FIXED else "xfailed" if outcome is Outcome.FLAKY else "failed"
    return Result(case, case, MODEL, status, file="cases/weather.fc.yaml", line=line, outcome=outcome, **fields)


def unequal() -> str:
    made = [Call("get_weather", {"city": "Oslo", "days": True}), Call("get_time", {"zone": "CET"})]
    written = [Call("get_weather", {"city": "Oslo", "days": 1})]
    return "\n".join(equality_lines(made, written, lambda one, other: repr(one) == repr(other), width=WIDTH))


SAMPLES: list[Callable[[], str]] = [
    lambda: "\n".join(
        header_lines(
            [MODEL, "local:smollm2"],
            origin="command line",
            answering=AnswerSources(live=True, max_age=86_400),
            width=WIDTH,
        )
    ),
    wrong_argument,
    parallel_calls,
    no_call,
    lambda: wrong_argument(full_failure_text),
    fault,
    lambda: "\n".join(summary_lines(run(failures=False), WIDTH)),
    lambda: "\n".join(summary_lines(run(failures=True), WIDTH)),
    lambda: "\n".join(mixed_up_lines(mistaken(), WIDTH)),
    lambda: "\n".join(confusion_lines(mistaken(), WIDTH)),
    compared,
    unequal,
]


def test_the_page_has_as_many_samples_as_there_are() -> None:
    assert len(TEXT_BLOCK.findall(PAGE.read_text(encoding="utf-8"))) == len(SAMPLES)


@pytest.mark.parametrize("number", range(len(SAMPLES)))
def test_a_sample_is_what_is_printed(number: int) -> None:
    assert TEXT_BLOCK.findall(PAGE.read_text(encoding="utf-8"))[number] == SAMPLES[number]()
