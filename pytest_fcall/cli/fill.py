"""`fcall fill`: cases and turns that expect nothing yet get the calls that a model made, for review."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.missing_expectations import (
    ExpectationText,
    Gap,
    fill_gaps,
    find_gaps,
    find_unfillable_cases,
    has_cases,
)
from pytest_fcall.cases.yaml.flow_style import mark_literal, write_flow, write_flow_key
from pytest_fcall.cases.yaml.reader import read_text
from pytest_fcall.cli.counting import count
from pytest_fcall.core import Call, CallResult, Calls, FaultyCase, HeldTurn, Reply, World
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.safe_text import safe_line

if TYPE_CHECKING:
    from pytest_fcall.cli.fill_run import FillRun
    from pytest_fcall.session.judge.samples import CaseAnswers


_UNSPECIFIED_RESULT = CallResult({"ok": True})
"""What a call gives where the case says nothing of it."""


class NothingToExpect(ValueError):
    """There is nothing that could be expected. The text says why."""


def expectation_of(asked: CaseAnswers, turn: int | None) -> ExpectationText:
    """What was called in the answer to a case, or in one turn of it. Raises NotToExpect."""
    first = asked.judged[0]
    transcript = first.answer.transcript
    if transcript is None:
        _check_reply(first.reply, first.calls)
        return _expectation_lines([first.calls.calls])
    if len(transcript.turns) <= (turn or 0):
        raise NothingToExpect("the conversation ended before it: fill what comes first, or mend what is expected there")
    held = transcript.turns[turn or 0]
    for step in held.steps:
        _check_reply(step.reply, step.calls)
    if held.end != "answered":
        raise NothingToExpect("the conversation did not come to an end in it; `max_steps:` allows more")
    if (silent := next(_unspecified_calls(held, asked.case.world or World()), None)) is not None:
        raise NothingToExpect(
            f"nothing says what {silent.name} gives, so that what the model did next says nothing: put it under "
            "`stubs:`, or expect the call here, with `returns:`"
        )
    return _expectation_lines([step.calls.calls for step in held.steps])


def _check_reply(reply: Reply, calls: Calls) -> None:
    if calls.malformed is not None:
        raise NothingToExpect(calls.malformed)
    if reply.refusal or reply.finish in ("length", "refusal", "content_filter"):
        raise NothingToExpect(f"the model gave no answer: {reply.refusal or reply.finish}")


def _unspecified_calls(held: HeldTurn, world: World) -> Iterator[Call]:
    if world.environment is None:
        for step in held.steps:
            for call, result in zip(step.calls.calls, step.results, strict=False):
                if call.name not in world.stubs and result == _UNSPECIFIED_RESULT:
                    yield call


def _expectation_lines(steps: Iterable[Sequence[Call]]) -> ExpectationText:
    lines = [
        [f"{write_flow_key(call.name)}: {write_flow(mark_literal(call.arguments))}" for call in calls]
        for calls in steps
        if calls
    ]
    return lines or "no_call"


_REVIEW_MARK = "# review"
_ANY_EXPECTATION = "{any_of: [any_call, no_call]}"
_EXAMPLES = """\
examples:
  fcall fill cases/shop.fc.yaml --fc-model=openai:gpt-5.2      ask, and write down what is called
  fcall fill cases/shop.fc.yaml                                ask the configured model, or take its recordings

Cases and turns without `expect:` and the like get one; comments and layout stay. What is written is what the model
did, which need not be right: each is marked `# review`. Turns are filled from a conversation in which `stubs:` or
`environment:` say what calls give. What is left, such as the rows of a matrix, is told with the reason.
"""


def run(arguments: Sequence[str]) -> int:
    """Fill the file; 1 where a case that expects nothing is left."""
    parser = _parser()
    options = parser.parse_args(arguments)
    path: Path = options.file.absolute()
    if not path.is_file():
        parser.error(f"there is no file {options.file}")
    try:
        source = read_text(path, str(options.file))
        gaps, left, any_case = find_gaps(source), find_unfillable_cases(source), has_cases(source)
    except UnreadableFile as unreadable:
        parser.error(fault_text(unreadable.fault, Path.cwd()))
    if not any_case:
        parser.error(f"there is no case in {options.file}: write one below `cases:`, with an id and a prompt")
    if not (gaps or left):
        print("every case of this file expects something already")
        return 0
    if gaps:
        filling, said = _ask_model(path, source.text, gaps, options.fc_model)
        if not (filling.answers or filling.failed):
            print(said, file=sys.stderr)
            return 1
        left |= _write_expectations(path, source.text, gaps, filling)
    for why, names in _by_reason(left).items():
        print(safe_line(f"left: {', '.join(names)}: {why}"), file=sys.stderr)
    return 1 if left else 0


def _by_reason(left: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for name, why in left.items():
        found.setdefault(why, []).append(name)
    return found


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall fill",
        description="Write down what a model calls, in cases that expect nothing yet.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a case file")
    parser.add_argument("--fc-model", metavar="KIND:NAME", help="the model (default: that of the configuration)")
    return parser


def _ask_model(path: Path, text: str, gaps: Sequence[Gap], model: str | None) -> tuple[FillRun, str]:
    """Have pytest ask: conftest files and plugins have their part in it."""
    import pytest

    from pytest_fcall.cli.fill_run import FillRun

    anything = {gap.name: _ANY_EXPECTATION for gap in gaps}
    filling = FillRun(path, fill_gaps(text, gaps, anything, _REVIEW_MARK), frozenset(gap.id for gap in gaps))
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        quiet = ("-q", "--no-header", "--capture=no", "--assert=plain", "-p", "no:cacheprovider", "-o", "fc_runs=0")
        pytest.main([*quiet, *([f"--fc-model={model}"] if model else []), str(path)], plugins=[filling])
    return filling, said.getvalue().strip()


def _write_expectations(path: Path, text: str, gaps: Sequence[Gap], filling: FillRun) -> dict[str, str]:
    """Write what can be expected, and say why not of what cannot."""
    left: dict[str, str] = {}
    said: dict[str, ExpectationText] = {}
    for gap in gaps:
        try:
            _check_gaps_before(gap, left, gaps)
            said[gap.name] = expectation_of(_answer_to(filling, gap), gap.turn)
        except NothingToExpect as why:
            left[gap.name] = str(why)
    faults = _faults(path, fill_gaps(text, gaps, said, _REVIEW_MARK), {gap.id for gap in gaps if gap.name in said})
    left |= {gap.name: faults[gap.id] for gap in gaps if gap.id in faults and gap.name in said}
    said = {name: each for name, each in said.items() if name not in left}
    if said:
        _replace(path, fill_gaps(text, gaps, said, _REVIEW_MARK))
    turns = sum(gap.turn is not None for gap in gaps if gap.name in said)
    filled_in = [count(number, what) for number, what in ((len(said) - turns, "case"), (turns, "turn")) if number]
    print(
        safe_line(
            f"{path.name}: {' and '.join(filled_in)} filled, to be reviewed" if said else f"{path.name}: nothing filled"
        )
    )
    return left


def _check_gaps_before(gap: Gap, left: Collection[str], gaps: Sequence[Gap]) -> None:
    before = next((each for each in gaps if each.id == gap.id and each.name in left), None)
    if before is not None:
        raise NothingToExpect(f"what it goes on from is left, too: {before.name}")


def _answer_to(filling: FillRun, gap: Gap) -> CaseAnswers:
    if gap.id not in filling.answers:
        raise NothingToExpect(filling.failed.get(gap.id, "it was not asked"))
    return filling.answers[gap.id]


def _faults(path: Path, text: str, names: Collection[str]) -> dict[str, str]:
    """What is wrong with the cases as they would stand there: a model may call what its tool's schema forbids."""
    entries = read_case_text(text, path, root=path.parent).entries
    return {
        entry.id: f"the model's call is none to expect: {entry.faults[0].message}"
        for entry in entries
        if isinstance(entry, FaultyCase) and entry.id in names
    }


def _replace(path: Path, text: str) -> None:
    """Write the file whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8", newline="")
        draft.chmod(path.stat().st_mode)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
