"""The data of the view of a case: the question, the answers, and what changed since one was accepted.

The calls of an answer stand beside those that were expected and those that were accepted.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pytest_fcall.core.expectation import Expectation, chosen_alternative
from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.core.result_fault import RecoveryResult
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.reporting.account import (
    AcceptedAccount,
    Account,
    AccountAnswer,
    AnsweredTurn,
    AskedStep,
    ExpectedTurn,
)
from pytest_fcall.reporting.account_text import message_text
from pytest_fcall.reporting.call_pairs import (
    CallPair,
    argument_names,
    argument_texts,
    call_index,
    pair_calls,
    wrong_places,
)
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe, safe_line
from pytest_fcall.reporting.value_text import call_text, value_text
from pytest_fcall.reporting.word_diff import marked_changes

if TYPE_CHECKING:
    from pytest_fcall.core.conversation import CallResult

_LONGEST: Final = 50_000
"""Of longer texts the middle is left out."""
_LONGEST_VALUE: Final = 5_000
_SYSTEM: Final = ("system", "developer")
_WITHOUT_CALLS: Final = {"no_call": "no call", "any_call": "any call"}


def detail_of(result: Result, report: Report) -> dict[str, Json]:
    """Everything about a result that its row does not say."""
    account = report.accounts.get(result.nodeid)
    found: dict[str, Json] = {
        "since": [safe(line, _LONGEST) for line in result.since],
        "causes": [safe(line, _LONGEST) for line in result.found_causes],
        **(_account(account, report) if account else {"lost": True}),
    }
    return {name: value for name, value in found.items() if value}


def _account(account: Account, report: Report) -> dict[str, Json]:
    offered = report.offered.get(account.offered)
    return {
        "error": safe(account.error, _LONGEST),
        "offered": account.offered if offered else "",
        "tools": [] if offered else [safe_line(tool) for tool in account.tools],
        "settings": [[safe_line(name), value_text(value, _LONGEST_VALUE)] for name, value in account.settings.items()],
        "shown": account.shown,
        "answers": [_answer(account, answer) for answer in account.answers],
        **(_accepted(account.accepted, account, offered or ()) if account.accepted else {}),
    }


def _accepted(accepted: AcceptedAccount, account: Account, offered: Sequence[Tool]) -> dict[str, Json]:
    """The date and verdict of the accepted answer, and the changes in the question since then."""
    return {
        "accepted": [safe_line(accepted.date), int(accepted.valid)],
        "system": [] if accepted.system is None else _changes(accepted.system, _text(account, is_system=True)),
        "prompt": [] if accepted.prompt is None else _changes(accepted.prompt, _text(account, is_system=False)),
        "changed": {
            safe_line(tool.name): _changes(definition_text(_kept_tool(tool.name, former)), definition_text(tool))
            for tool in offered
            if isinstance(former := accepted.tools.get(tool.name), Mapping)
        },
    }


@lru_cache(maxsize=256)
def _changes(old: str, new: str) -> list[Json]:
    """The changed words. Most cases share their system prompt and their tools."""
    return [[sign, safe(text, _LONGEST)] for sign, text in marked_changes(old, new)]


def _text(account: Account, *, is_system: bool) -> str:
    """The text of the system prompt, or of the messages behind it."""
    messages = account.answers[0].steps[0].messages if account.answers and account.answers[0].steps else ()
    return "\n".join(str(each.get("content")) for each in messages if (each.get("role") in _SYSTEM) is is_system)


def _kept_tool(name: str, kept: Mapping[str, Json]) -> Tool:
    parameters = kept.get("parameters")
    return Tool(name, str(kept.get("description") or ""), parameters if isinstance(parameters, Mapping) else {})


def definition_text(tool: Tool) -> str:
    """The description and the parameters of a tool."""
    try:
        parameters = json.dumps(tool.parameters, indent=2, ensure_ascii=False, default=str)
    except RecursionError:
        parameters = value_text(tool.parameters)
    return f"{tool.description}\n\n{parameters}".lstrip()


def _answer(account: Account, answer: AccountAnswer) -> dict[str, Json]:
    turns = compared_turns(account, answer)
    found: dict[str, Json] = {
        "right": answer.valid,
        "reasons": [[safe_line(kind), safe_line(path), safe(text, _LONGEST)] for kind, path, text in answer.reasons],
        "notes": [safe(note, _LONGEST) for note in answer.notes],
        "turns": [turn_data(turn, is_valid=answer.valid) for turn in turns],
        "wrong": [index for turn in turns for index in turn.wrong],
        "steps": [_step(step) for step in answer.steps],
        "inside": [_step(step) for step in answer.inside],
    }
    return {name: value for name, value in found.items() if value or name == "right"}


def _result(result: CallResult) -> list[Json]:
    """The label of a result (an error, a fault on purpose, or none), and its text."""
    faulty = f"{safe_line(result.fault)}, on purpose" if result.fault else ""
    if result.error is not None:
        return [f"error ({faulty})" if faulty else "error", safe(result.error, _LONGEST)]
    return [faulty, value_text(result.value, _LONGEST)]


def _step(step: AskedStep) -> dict[str, Json]:
    found: dict[str, Json] = {
        "model": safe_line(step.model),
        "messages": [[*message_text(message, _LONGEST)] for message in step.messages],
        "calls": [call_text(call, _LONGEST_VALUE) for call in step.calls],
        "results": [_result(each) for each in step.results],
        "text": safe(step.text, _LONGEST),
        "remark": safe(step.remark, _LONGEST),
    }
    return {name: value for name, value in found.items() if value}


class ComparedTurn:
    """One turn of an answer, with what was expected and accepted of it."""

    def __init__(self, account: Account, answer: AccountAnswer, place: int, start: int) -> None:
        turn = answer.turns[place] if answer.turns else AnsweredTurn(_count(answer))
        several = len(answer.turns) > 1
        self.start = start
        """The number of calls before."""
        self.calls = [call for step in answer.steps for call in step.calls][start : start + turn.calls]
        own = _expected_turn(account, place if several else None)
        prefix = f"turns[{place}]." if several else ""
        reasons = [
            Reason(_kind(kind), path.removeprefix(prefix), message)
            for kind, path, message in answer.reasons
            if path.startswith(prefix)
        ]
        self.expected = own.calls and chosen_alternative(own.calls, turn.alternative)
        self.text = own.answer
        recovery = _recovery(answer)
        pairs = turn.pairs or (() if recovery else _in_order(self.expected, self.calls))
        verdict = Verdict(answer.valid, tuple(reasons), tuple(pairs), recovery=recovery)
        self.pairs = pair_calls(self.expected or Expectation(), self.calls, verdict)
        self.reasons = reasons
        self.accepted = _accepted_calls(account, place, several=several)

    @property
    def expects_no_call(self) -> bool:
        """Whether any call is wrong."""
        return self.expected is not None and self.expected.kind == "no_call"

    @property
    def wrong(self) -> Iterator[int]:
        """The numbers of wrong calls among all of the answer."""
        found = {index for reason in self.reasons if (index := call_index(reason)) is not None}
        return (self.start + index for index in sorted(found))


def compared_turns(account: Account, answer: AccountAnswer) -> list[ComparedTurn]:
    """The turns of an answer."""
    start, found = 0, []
    for place in range(max(len(answer.turns), 1)):
        found.append(ComparedTurn(account, answer, place, start))
        start += len(found[-1].calls)
    return found


def turn_data(turn: ComparedTurn, *, is_valid: bool) -> dict[str, Json]:
    """The turn as the script of the page reads it: rows of calls, each with a row for each argument."""
    accepted, left = _paired_accepted(turn.pairs, turn.accepted or ())
    rows = [
        *(_pair_data(pair, call, turn, is_valid=is_valid) for pair, call in zip(turn.pairs, accepted, strict=True)),
        *(_accepted_only(call) for call in left),
    ]
    kind = turn.expected.kind if turn.expected else ""
    found: dict[str, Json] = {
        "rows": rows,
        "said": _WITHOUT_CALLS.get(kind, ""),
        "text": "" if turn.text is None else value_text(turn.text, _LONGEST_VALUE),
        "known": turn.expected is not None,
    }
    return {name: value for name, value in found.items() if value}


def _pair_data(pair: CallPair, accepted: Call | None, turn: ComparedTurn, *, is_valid: bool) -> list[Json]:
    """Names of the tools, whether something is wrong, and the arguments."""
    is_wrong = not is_valid and (pair.is_wrong or turn.expects_no_call)
    wrong = {place.argument: place.path_below for place in wrong_places(pair)} if is_wrong else {}
    names = dict.fromkeys((*argument_names(pair), *(accepted.arguments if accepted else ())))
    return [
        _expected_name(pair, turn, is_wrong=is_wrong),
        _called_name(pair),
        safe_line(accepted.name) if accepted else "",
        int(is_wrong),
        [_argument_data(pair, name, accepted, wrong) for name in names],
        _note(pair, wrong),
    ]


def _expected_name(pair: CallPair, turn: ComparedTurn, *, is_wrong: bool) -> str:
    if pair.expected:
        return safe_line(pair.expected.tool)
    if turn.expected is None:
        return ""
    return "(not expected)" if is_wrong else pair.allowed_text


def _called_name(pair: CallPair) -> str:
    """The name of the called tool. Without a call the script of the page says that there is none."""
    if pair.called:
        return safe_line(pair.called.name)
    return pair.not_called_text if pair.lacks_sound_result else ""


def _note(pair: CallPair, wrong: dict[str, str]) -> str:
    """The part of an expected call beside its arguments: that any are right, how often it may come, and its result."""
    notes = []
    if pair.expected:
        if pair.expected.arguments is None:
            notes.append("any arguments")
        if pair.expected.times != (1, 1):
            least, most = pair.expected.times
            notes.append(f"{least} times" if least == most else f"{least} to {most or 'any number of'} times")
        if pair.expected.result is not None:
            notes.append(f"result {value_text(pair.expected.result, _LONGEST_VALUE)}")
    return ", ".join(notes) + (" (the result is wrong)" if "" in wrong else "")


def _argument_data(pair: CallPair, name: str, accepted: Call | None, wrong: dict[str, str]) -> list[Json]:
    expected, called = argument_texts(pair, name, _LONGEST_VALUE)
    if pair.expected is None:
        expected = ""
    elif name not in (pair.expected.arguments or ()) and name in wrong:
        expected = "(not expected)"
    was = "" if accepted is None else "(left out)"
    if accepted and name in accepted.arguments:
        was = value_text(accepted.arguments[name], _LONGEST_VALUE)
    row: list[Json] = [safe_line(name), expected, called if pair.called else "", 0 if was == called else was]
    return [*row, safe_line(wrong[name]) or 1] if name in wrong else row


def _accepted_only(call: Call) -> list[Json]:
    rows: list[Json] = [
        [safe_line(name), "", "", value_text(value, _LONGEST_VALUE)] for name, value in call.arguments.items()
    ]
    return ["", "", safe_line(call.name), 0, rows, ""]


def _paired_accepted(pairs: Sequence[CallPair], accepted: Sequence[Call]) -> tuple[list[Call | None], list[Call]]:
    """For each pair an accepted call: the same, or else one of the same tool; and the accepted calls that are left."""
    found: list[Call | None] = [None] * len(pairs)
    waiting = dict(enumerate(accepted))
    names: Sequence[tuple[Callable[[Call], str], Callable[[CallPair], str]]] = (
        (call_text, lambda pair: call_text(pair.called) if pair.called else ""),
        (lambda call: call.name, lambda pair: pair.called.name if pair.called else ""),
        (lambda call: call.name, lambda pair: pair.expected.tool if pair.expected else ""),
    )
    for name_of, wanted in names:
        queues: defaultdict[str, deque[int]] = defaultdict(deque)
        for number, call in waiting.items():
            queues[name_of(call)].append(number)
        for place, pair in enumerate(pairs):
            if found[place] is None and (queue := queues.get(wanted(pair))):
                found[place] = waiting.pop(queue.popleft())
    return found, [*waiting.values()]


def _expected_turn(account: Account, place: int | None) -> ExpectedTurn:
    """The expectation of a turn; where the answer was judged as a whole, of the last turn that expects something."""
    if place is None:
        found = [turn for turn in account.expected if turn.calls is not None or turn.answer is not None]
        return found[-1] if found else ExpectedTurn()
    return account.expected[place] if place < len(account.expected) else ExpectedTurn()


def _accepted_calls(account: Account, place: int, *, several: bool) -> Sequence[Call] | None:
    accepted = account.accepted
    if accepted is None or not several:
        return accepted and accepted.calls
    start = sum(accepted.turns[:place])
    return accepted.calls[start : start + accepted.turns[place]] if place < len(accepted.turns) else ()


def _in_order(expected: Expectation | None, calls: Sequence[Call]) -> list[tuple[int, int]]:
    """Pairs where the verdict has none, such as that of a suite's own judge: in order, by the names of the tools."""
    waiting: defaultdict[str, deque[int]] = defaultdict(deque)
    for number, call in enumerate(calls):
        waiting[call.name].append(number)
    wanted = expected.calls if expected else ()
    return [(place, waiting[each.tool].popleft()) for place, each in enumerate(wanted) if waiting.get(each.tool)]


def _recovery(answer: AccountAnswer) -> RecoveryResult | None:
    """The faults that the answer met, by its results; None where none is faulty."""
    faults = {
        call.name: result.fault
        for step in answer.steps
        for call, result in zip(step.calls, step.results, strict=False)
        if result.fault
    }
    kind = next(iter(faults.values()), "")
    return RecoveryResult(kind, kind, tuple(faults)) if faults else None


def _count(answer: AccountAnswer) -> int:
    return sum(len(step.calls) for step in answer.steps)


def _kind(kind: str) -> ReasonKind:
    return kind  # type: ignore[return-value]  # a later version may know more
