"""A failing case with nothing left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fcall.core import Calls, Case, Message, Reason, Reply, Verdict
from pytest_fcall.core.expectation import chosen
from pytest_fcall.reporting.marks import UNICODE, Marks
from pytest_fcall.reporting.pairing import Pair, paired
from pytest_fcall.reporting.question import content_text, expectation_of, judged_turn, where
from pytest_fcall.reporting.safe import safe, safe_line
from pytest_fcall.reporting.values import shown, shown_arguments

_LIMIT = 20_000
"""How many characters of one text are shown."""


def full_failure_text(
    case: Case,
    calls: Calls,
    verdict: Verdict,
    reply: Reply,
    model: str | None = None,
    *,
    story: Sequence[str] = (),
    since: Sequence[str] = (),
    marks: Marks = UNICODE,
) -> str:
    """Say all that `failure_text` has no room for: messages, every call and reason, notes, text, figures."""
    pairs = paired(chosen(expectation_of(case), verdict.alternative), calls.calls, verdict)
    blocks = (
        ("asked", [line for message in judged_turn(case).messages for line in _message(message)]),
        ("so far", [line.removeprefix("  ") for line in story]),
        ("expected and called", [line for pair in pairs for line in _pair(pair, marks)]),
        ("reasons", [line for reason in verdict.reasons for line in _reason(reason)]),
        ("baseline", [safe_line(line) for line in since]),
        ("official error", [safe_line(verdict.error_type)] if verdict.error_type else []),
        ("raw calls", [f"{shown(raw.name)} {shown(raw.arguments, _LIMIT)}" for raw in reply.tool_calls]),
        ("refusal", safe(reply.refusal or "", _LIMIT).splitlines()),
        ("text", safe(reply.text, _LIMIT).splitlines()),
        ("notes", [safe_line(note) for note in dict.fromkeys((*calls.notes, *verdict.notes))]),
        ("reply", [_figures(reply)]),
    )
    marked = f"{where(case, model)} (judged)" if verdict.judged else where(case, model)
    return "\n".join([marked, *(line for title, lines in blocks for line in _block(title, lines))])


def _block(title: str, lines: list[str]) -> list[str]:
    return [f"  {title}:", *(f"    {line}" for line in lines)] if lines else []


def _message(message: Message) -> list[str]:
    first, *rest = safe(content_text(message.get("content")), _LIMIT).split("\n")
    return [f"{safe_line(str(message.get('role')))}: {first}", *(f"  {line}" for line in rest)]


def _pair(pair: Pair, marks: Marks) -> Iterator[str]:
    mark = marks.wrong if pair.wrong else marks.right
    if pair.expected is not None:
        patterns = pair.expected.arguments
        arguments = "any arguments" if patterns is None else shown_arguments(patterns, _LIMIT)
        yield f"{mark} expected {_call(pair.expected.tool, arguments)}"
    if pair.called is not None:
        yield f"{mark} called   {_call(pair.called.name, shown_arguments(pair.called.arguments, _LIMIT))}"


def _call(name: str, arguments: str) -> str:
    return f"{safe_line(name)}({arguments})"


def _reason(reason: Reason) -> Iterator[str]:
    yield f"{reason.kind} at {safe_line(reason.path)}: {safe_line(reason.message)}"
    if reason.expected is not None:
        yield f"  expected {shown(reason.expected, _LIMIT)}"
    if reason.got is not None:
        yield f"  got      {shown(reason.got, _LIMIT)}"


def _figures(reply: Reply) -> str:
    usage = reply.usage
    figures = {
        "model": reply.engine.get("model"),
        "seconds": reply.seconds and round(reply.seconds, 3),
        "input tokens": usage and usage.input_tokens,
        "output tokens": usage and usage.output_tokens,
    }
    known = [f"{name} {shown(figure)}" for name, figure in figures.items() if figure is not None]
    return ", ".join([f"finish {reply.finish}", *known])
