"""`fcall fill`: the calls that a model makes become expectations of cases without one, for review."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.cases.case_text import (
    ExpectationText,
    MissingExpectation,
    fill_gaps,
    find_gaps,
    find_unfillable_cases,
    has_cases,
)
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.files import anywhere
from pytest_fcall.cases.yaml.reader import read_text
from pytest_fcall.cases.yaml.values import mark_literal, write_flow, write_flow_key
from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.core.case import FaultyCase
from pytest_fcall.core.conversation import CallResult, ConversationSettings, TranscriptTurn
from pytest_fcall.core.files import replace_file
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.reply import Call, Calls, Reply
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.safe_text import safe_line

if TYPE_CHECKING:
    from pytest_fcall.cli.answer_reader import AnswerCollector
    from pytest_fcall.session.judge.samples import CaseAnswers

_REVIEW_MARK = "# review"
_ANY_EXPECTATION = "{any_of: [any_call, no_call]}"
_UNSPECIFIED_RESULT = CallResult({"ok": True})
"""The result of a call that the case does not define."""

_EXAMPLES = """\
examples:
  fcall fill cases/shop.fc.yaml --fc-model=openai:gpt-5.2      ask this model
  fcall fill cases/shop.fc.yaml                                ask the configured model, or use its recordings

Adds `expect:` to cases and turns without an expectation; comments and layout stay. What the model calls need not be
right: review each expectation that is marked `# review`. Turns are filled from a conversation, so `stubs:` or
`environment:` must define the results of calls. Cases that cannot be filled, such as rows of a matrix, are listed with
the reason.
"""


def run(arguments: Sequence[str]) -> int:
    """Fill the file; 1 where a case without an expectation remains."""
    parser = _parser()
    options = parser.parse_args(arguments)
    path: Path = options.file.absolute()
    if not path.is_file():
        parser.error(f"no such file: {options.file}")
    try:
        source = read_text(path, str(options.file))
        gaps, unfilled, any_case = find_gaps(source), find_unfillable_cases(source), has_cases(source)
    except UnreadableFile as unreadable:
        parser.error(fault_text(unreadable.fault, Path.cwd()))
    if not any_case:
        parser.error(f"no cases in {options.file}: write one below `cases:`, with an id and a prompt")
    if not (gaps or unfilled):
        print("every case of this file has an expectation already")
        return 0
    if gaps:
        collector, output = _ask_model(path, source.text, gaps, options.fc_model)
        if not (collector.answers or collector.failures):
            print(output, file=sys.stderr)
            return 1
        unfilled |= _write_expectations(path, source.text, gaps, collector)
    by_reason: dict[str, list[str]] = {}
    for name, reason in unfilled.items():
        by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        print(safe_line(f"not filled: {', '.join(names)}: {reason}"), file=sys.stderr)
    return 1 if unfilled else 0


def _parser() -> ArgumentParser:
    parser = command_parser("fill", "Write the calls that a model makes into cases without an expectation.", _EXAMPLES)
    parser.add_argument("file", type=Path, metavar="FILE", help="a case file")
    parser.add_argument("--fc-model", metavar="KIND:NAME", help="the model (default: the configured one)")
    return parser


def _ask_model(
    path: Path, text: str, gaps: Sequence[MissingExpectation], model: str | None
) -> tuple[AnswerCollector, str]:
    """Run the cases with an expectation that any answer meets. Returns the answers and the output of pytest."""
    from pytest_fcall.cli.answer_reader import AnswerCollector
    from pytest_fcall.cli.pytest_run import run_pytest

    runnable = fill_gaps(text, gaps, {gap.name: _ANY_EXPECTATION for gap in gaps}, _REVIEW_MARK)
    collector = AnswerCollector(path, runnable, frozenset(gap.id for gap in gaps))
    named = [f"--fc-model={model}"] if model else []
    _, output = run_pytest(["-o", "fc_runs=0", "--fc-vary=off", *named, str(path)], collector)
    return collector, output


def _write_expectations(
    path: Path, text: str, gaps: Sequence[MissingExpectation], collector: AnswerCollector
) -> dict[str, str]:
    """Fill the gaps in the file. Returns the reasons why others are not filled, by their names."""
    unfilled: dict[str, str] = {}
    filled: dict[str, ExpectationText] = {}
    for gap in gaps:
        try:
            filled[gap.name] = _expectation(gap, gaps, unfilled, collector)
        except _NothingToExpect as reason:
            unfilled[gap.name] = str(reason)
    faults = _faults(path, fill_gaps(text, gaps, filled, _REVIEW_MARK), {gap.id for gap in gaps if gap.name in filled})
    unfilled |= {gap.name: faults[gap.id] for gap in gaps if gap.id in faults and gap.name in filled}
    filled = {name: expectation for name, expectation in filled.items() if name not in unfilled}
    if filled:
        replace_file(path, [fill_gaps(text, gaps, filled, _REVIEW_MARK).encode()])
    turns = sum(gap.turn is not None for gap in gaps if gap.name in filled)
    counts = [plural_text(number, noun) for number, noun in ((len(filled) - turns, "case"), (turns, "turn")) if number]
    summary = f"{' and '.join(counts)} filled, to be reviewed" if counts else "nothing filled"
    print(safe_line(f"{path.name}: {summary}"))
    return unfilled


def _expectation(
    gap: MissingExpectation, gaps: Sequence[MissingExpectation], unfilled: Collection[str], collector: AnswerCollector
) -> ExpectationText:
    before = next((each for each in gaps if each.id == gap.id and each.name in unfilled), None)
    if before is not None:
        raise _NothingToExpect(f"the turn before it was not filled: {before.name}")
    if gap.id not in collector.answers:
        raise _NothingToExpect(collector.failures.get(gap.id, "the model was not asked"))
    return expectation_of(collector.answers[gap.id], gap.turn)


def _faults(path: Path, text: str, names: Collection[str]) -> dict[str, str]:
    """The faults of the filled cases, by id: a model may make calls that the schema of the tool forbids."""
    entries = read_case_text(text, path, root=path.parent, outside=anywhere(path)).entries
    return {
        entry.id: f"the model's call does not fit its tool: {entry.faults[0].message}"
        for entry in entries
        if isinstance(entry, FaultyCase) and entry.id in names
    }


class _NothingToExpect(ValueError):
    """No expectation can be made of an answer. The text says why."""


def expectation_of(answers: CaseAnswers, turn: int | None) -> ExpectationText:
    """The calls in the answer to a case, or in one turn of it. Raises _NothingToExpect."""
    first = answers.judged[0]
    transcript = first.answer.transcript
    if transcript is None:
        _check_reply(first.reply, first.calls)
        return _expectation_text([first.calls.calls])
    if len(transcript.turns) <= (turn or 0):
        raise _NothingToExpect("the conversation ended before this turn: fill or correct the turns before it")
    held = transcript.turns[turn or 0]
    for step in held.steps:
        _check_reply(step.reply, step.calls)
    if held.end != "answered":
        raise _NothingToExpect("the conversation did not end within the step limit; `max_steps:` raises it")
    if (call := next(_unspecified_calls(held, answers.case.conversation or ConversationSettings()), None)) is not None:
        raise _NothingToExpect(
            f"the result of {call.name} is not defined, so the answers after it mean nothing: define it under "
            "`stubs:`, or expect the call here with `returns:`"
        )
    return _expectation_text([step.calls.calls for step in held.steps])


def _check_reply(reply: Reply, calls: Calls) -> None:
    if calls.malformed is not None:
        raise _NothingToExpect(calls.malformed)
    if reply.refusal or reply.finish in ("length", "refusal", "content_filter"):
        raise _NothingToExpect(f"the model gave no answer: {reply.refusal or reply.finish}")


def _unspecified_calls(turn: TranscriptTurn, settings: ConversationSettings) -> Iterator[Call]:
    """The calls whose results the case does not define."""
    if settings.environment is None:
        for step in turn.steps:
            for call, result in zip(step.calls.calls, step.results, strict=False):
                if call.name not in settings.stubs and result == _UNSPECIFIED_RESULT:
                    yield call


def _expectation_text(steps: Iterable[Sequence[Call]]) -> ExpectationText:
    lines = [
        [f"{write_flow_key(call.name)}: {write_flow(mark_literal(call.arguments))}" for call in calls]
        for calls in steps
        if calls
    ]
    return lines or "no_call"
