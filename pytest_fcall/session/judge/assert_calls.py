"""Assertions of plain tests on calls, by the same rules as in case files."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pytest_fcall.cases.expectations import read_expectation
from pytest_fcall.core.case import Case, Location, Turn
from pytest_fcall.core.expectation import Rules, Strings
from pytest_fcall.core.message_text import with_type
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.request import Request
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge as judge_reply
from pytest_fcall.reporting.failure import Failure, failure_text
from pytest_fcall.reporting.side_by_side import equality_lines
from pytest_fcall.session.ask.decoded_reply import AppWire, CallList, DecodedReply, call_list, same

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_fcall.core.extension import Comparator
    from pytest_fcall.core.verdict import Verdict
    from pytest_fcall.session.judge.llm_judge import AskJudge


def assert_calls(
    reply: Reply | AppWire,
    expected: object,
    *,
    strings: Strings = "exact",
    now: datetime | None = None,
    judge: AskJudge | None = None,
) -> Verdict:
    """Assert that a reply made the calls that were expected, judged as in a case file.

    `expected` is what stands behind `expect:` there, in Python: a list of calls such as
    `[{"get_weather": {"city": {"$any": ["Oslo", "OSL"]}}}]`, `"no_call"`, `"any_call"`, or a mapping with
    `calls`, `order`, `extra` … The reply comes from the fixture `fc_model` or from `fc_wire`; of the latter, the calls
    of all replies count. `now` is the clock of `$date`, and `judge` the value of the fixture `fc_judge`, for `$judge`.
    """
    __tracebackhide__ = True
    if not isinstance(reply, Reply):
        if not isinstance(reply, AppWire):
            raise TypeError(_no_reply(reply))
        reply = reply.whole()
    request = reply.request if isinstance(reply, DecodedReply) else Request(())
    calls = Calls(tuple(reply.calls), reply.malformed) if isinstance(reply, DecodedReply) else decode(reply)
    expectation = read_expectation(expected, request.tools)
    rules = Rules(strings=strings, now=now)

    def judging(comparators: Mapping[str, Comparator]) -> Verdict:
        return judge_reply(reply, calls, expectation, MatchContext(request.tools, rules, comparators))

    verdict = judging({}) if judge is None else judge.settle(judging, request.messages)
    if not verdict.valid:
        case = Case(
            id="assert_calls",
            location=Location(""),
            turns=(Turn(request.messages, expectation),),
            tools=request.tools,
            rules=rules,
        )
        raise AssertionError(failure_text(Failure(case, calls, verdict, reply)))
    return verdict


def _no_reply(given: object) -> str:
    if isinstance(given, CallList):  # that an answer could not be read is known of the reply only
        return "assert_calls needs the reply and not its calls: assert_calls(reply, ...)"
    return (
        f"assert_calls needs a reply of fc_model, or fc_wire, and not {'None' if given is None else with_type(given)}"
    )


def explain_unequal(made: CallList, other: object) -> list[str] | None:
    """The text of a failed `reply.calls == [...]`; None where the other side is no list of calls."""
    try:
        expected = call_list(other) if isinstance(other, (list, tuple)) else None
    except TypeError as error:
        return ["reply.calls == ...", str(error)]
    return equality_lines(made, expected, same) if expected is not None else None
