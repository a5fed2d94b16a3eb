"""The account of a case as text: question, tools, answer, verdict and cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType

from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Message
from pytest_fcall.core.verdict import Outcome
from pytest_fcall.reporting.account import Account, AccountAnswer, AskedStep
from pytest_fcall.reporting.app_lines import way_remarks
from pytest_fcall.reporting.number_text import cost_text, seconds_text
from pytest_fcall.reporting.results import Result, Status
from pytest_fcall.reporting.safe_text import safe, safe_line, whole_line
from pytest_fcall.reporting.statistics import token_count
from pytest_fcall.reporting.terminal import Marks, titled_blocks
from pytest_fcall.reporting.transcript import content_text
from pytest_fcall.reporting.value_text import arguments_text, call_text, value_text

_MOST = 20_000
"""The longest text that is shown, in characters."""
_BRIEF = 200

_VERDICTS: Mapping[Status, str] = MappingProxyType(
    {"passed": "right", "xpassed": "right", "failed": "wrong", "xfailed": "wrong"}
)


def account_lines(account: Account, result: Result, marks: Marks) -> list[str]:
    """Everything about a case: of several answers the one that stands for all, then all of them in brief."""
    answer = account.answers[account.shown] if account.shown < len(account.answers) else None
    blocks = (
        *(_dialogue(answer, marks, is_answered=not account.error) if answer else ()),
        ("tools", [", ".join(map(safe_line, account.tools))] if account.tools else []),
        ("settings", [arguments_text(account.settings)] if account.settings else []),
        ("inside the app", [*(_inside_lines(answer.inside, marks) if answer else ()), *way_remarks(result)]),
        ("left out of keys", [f"{safe_line(text[:_BRIEF])} ({safe_line(each)})" for each, text in account.left_out]),
        ("why", safe(account.error, _MOST).splitlines()),
        ("reasons", [*_reason_lines(answer.reasons)] if answer else []),
        ("notes", [safe_line(note) for note in answer.notes] if answer else []),
        ("all answers", answers_in_brief(account.answers, marks) if len(account.answers) > 1 else []),
        ("since the baseline", [whole_line(line) for line in (*result.since, *result.found_causes)]),
        ("figures", [figures] if (figures := ", ".join(_figures(result))) else []),
    )
    heading = f"{safe_line(result.file)}:{result.line} {safe_line(result.case)} ({safe_line(result.model)})"
    return [f"{heading}: {verdict_text(result)}", *titled_blocks(blocks)]


def verdict_text(result: Result) -> str:
    """`right`, `wrong, regressed`, `wrong, 3 of 5 answers right`, `error`."""
    parts = [_VERDICTS.get(result.status, result.status)]
    if result.outcome not in (None, Outcome.OK):
        parts.append(str(result.outcome))
    if result.samples:
        parts.append(f"{result.samples[0]} of {plural_text(result.samples[1], 'answer')} right")
    return ", ".join(parts)


def question_lines(account: Account) -> list[str]:
    """The messages of the case."""
    steps = account.answers[account.shown].steps if account.answers else ()
    return [line for step in steps for line in _messages(step.messages)]


def passed_text(account: Account, result: Result, marks: Marks) -> str:
    """The question and the answer of a case that is right; of several answers, all in brief, too."""
    answer = account.answers[account.shown]
    inside = [*_inside_lines(answer.inside, marks), *way_remarks(result)]
    blocks = [*_dialogue(answer, marks), ("inside the app", inside)]
    if len(account.answers) > 1:
        blocks.append(("all answers", answers_in_brief(account.answers, marks)))
    return "\n".join(line.removeprefix("  ") for line in titled_blocks(blocks)) + "\n"


def _dialogue(answer: AccountAnswer, marks: Marks, *, is_answered: bool = True) -> Iterator[tuple[str, list[str]]]:
    if len(answer.steps) == 1:
        (step,) = answer.steps
        yield "asked", [*_messages(step.messages)]
        yield "answered", [*_reply_lines(step, marks)] if is_answered else []
        return
    lines: list[str] = []
    for step in answer.steps:
        lines += _messages(step.messages)
        lines += (f"  {line}" for line in _reply_lines(step, marks))
    yield "said", lines


def message_text(message: Message, limit: int) -> tuple[str, str]:
    """The role of a message, and its text or what it has instead."""
    role, text = message.get("role"), content_text(message.get("content"))
    if role is None:  # an item of OpenAI's Responses, such as the result of a call
        role = message.get("type")
        text = value_text({name: value for name, value in message.items() if name != "type"}, limit)
    elif not text and (calls := message.get("tool_calls")):
        text = value_text(calls, limit)
    return safe_line(str(role)), safe(text, limit)


def _messages(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        role, text = message_text(message, _MOST)
        first, *rest = text.split("\n")
        yield f"{role}: {first}"
        yield from (f"  {line}" for line in rest)


def _reply_lines(step: AskedStep, marks: Marks) -> Iterator[str]:
    for call, result in zip_longest(step.calls, step.results[: len(step.calls)]):
        yield f"{call_text(call, _MOST)}{_result_text(result)}"
    if text := step.text.strip():
        yield from (f"text: {text}" if first else f"  {text}" for first, text in _numbered(safe(text, _MOST)))
    if step.remark:
        yield safe_line(step.remark)
    if not (step.calls or text or step.remark) and step.messages:
        yield f"{marks.cut} nothing"


def _numbered(text: str) -> Iterator[tuple[bool, str]]:
    yield from ((number == 0, line) for number, line in enumerate(text.split("\n")))


def _result_text(result: CallResult | None) -> str:
    if result is None:
        return ""
    faulty = f" → {safe_line(result.fault)}, on purpose" if result.fault else ""
    given = value_text(result.value) if result.error is None else f"error: {safe_line(result.error)}"
    return f"{faulty} → {given}"


def _inside_lines(inside: Sequence[AskedStep], marks: Marks) -> Iterator[str]:
    for number, step in enumerate(inside, start=1):
        yield f"request {number} to {safe_line(step.model)}:" if step.model else f"request {number}:"
        yield from (f"  {line}" for line in (*_messages(step.messages), *_reply_lines(step, marks)))


def _reason_lines(reasons: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    for kind, path, message in reasons:
        yield f"{safe_line(kind)} at {safe_line(path)}" + (f": {safe_line(message)}" if message else "")


def answers_in_brief(answers: Iterable[AccountAnswer], marks: Marks) -> list[str]:
    """A line for each answer, with a mark of its verdict."""
    found = list[str]()
    for answer in answers:
        calls = [call for step in answer.steps for call in step.calls]
        text = answer.steps[-1].text if answer.steps else ""
        found.append(f"{marks.right if answer.valid else marks.wrong} {brief_answer(calls, text)}")
    return found


def brief_answer(calls: Sequence[Call], text: str = "") -> str:
    """An answer on one line."""
    return "; ".join(call_text(call, _BRIEF) for call in calls) or (value_text(text, _BRIEF) if text else "no call")


def _figures(result: Result) -> Iterator[str]:
    if result.answered and (result.asked or result.replays):
        yield "replayed" if result.replayed else "asked"
    if cost := cost_text(result.cost, result.unpriced):
        yield cost
    if (tokens := token_count(result.usage)) is not None:
        yield plural_text(tokens, "token")
    if seconds := seconds_text(result.seconds):
        yield seconds
    if judging := result.judging:
        asked = f"{safe_line(judging.model)} judged {plural_text(judging.questions, 'question')}"
        yield " for ".join(filter(None, (asked, cost_text(judging.cost))))
