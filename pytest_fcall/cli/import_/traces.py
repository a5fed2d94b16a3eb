"""`fcall import FILE`: traces as case files, for review."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_fcall.cli.safe_output import machine_secrets
from pytest_fcall.core.message_text import list_text, plural_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.traces.case_files import NamedDraft, WrittenFile, write_case_files
from pytest_fcall.traces.extraction import Extraction
from pytest_fcall.traces.files import trace_files
from pytest_fcall.traces.masking import Masker
from pytest_fcall.traces.record import SkippedEntry

_MOST_NAMED = 3
"""The most places that are named for one reason, and the most near duplicates that are named."""


def import_traces(parser: ArgumentParser, options: Namespace) -> int:
    """Write the files; 1 where no case can be made of the traces."""
    source = Path(options.source)
    patterns = [_pattern(parser, text) for text in options.mask]
    masker = Masker(patterns, usual=not options.no_mask, known=machine_secrets().values)
    extraction = Extraction(trace_files(source), masker)
    near: list[tuple[str, str]] = []
    skipped: list[SkippedEntry] = []
    any_written = False
    try:
        cases = _wanted(extraction.cases(), near, drop_near=options.near)
        for each in write_case_files(cases, options.out, _file_stem(source)):
            if isinstance(each, SkippedEntry):
                skipped.append(each)
            else:
                any_written = True
                _print_written(each)
    except FileExistsError as error:
        parser.error(f"{error.filename} exists: move it away, or choose another folder with --out")
    skipped = [*extraction.skipped, *skipped]
    if masker.counts:
        print(f"masked: {', '.join(f'{kind} ({number})' for kind, number in masker.counts.items())}")
    if extraction.repeated_answers:
        print(f"left out: {plural_text(extraction.repeated_answers, 'repeated answer')} to the same question")
    if not (any_written or skipped):
        print(safe_line(f"no case: {source} holds no question and answer of a model"), file=sys.stderr)
    for line in (*_near_duplicate_lines(near, dropped=options.near), *_left_out_lines(skipped)):
        print(safe_line(line), file=sys.stderr)
    return 0 if any_written else 1


def _wanted(cases: Iterable[NamedDraft], near: list[tuple[str, str]], *, drop_near: bool) -> Iterator[NamedDraft]:
    """The cases that are to be written. The names of near duplicates, and of what they repeat, are added to `near`."""
    for case in cases:
        if case.earlier:
            near.append((case.name, case.earlier))
        if not (case.earlier and drop_near):
            yield case


def _pattern(parser: ArgumentParser, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        parser.error(f"--mask: invalid regular expression {text!r}: {error}")


def _file_stem(source: Path) -> str:
    """The name of the source, reduced to a valid name of a case file."""
    name = source.resolve().name.removesuffix(".gz").removesuffix(".replies.jsonl")
    name = name.rpartition(".")[0] or name if source.is_file() else name
    name = "" if name == "__fcall__" else name
    return re.sub(r"[^\w.-]+", "_", name).strip("._").removesuffix(".fc")[:80] or "traces"


def _print_written(written: WrittenFile) -> None:
    print(safe_line(f"{written.path}: {plural_text(written.cases, 'case')}"))
    if without := written.without_expectation:
        print(safe_line(f"  {without} of them without an expectation; to add one: fcall fill {written.path}"))


def _near_duplicate_lines(near: Sequence[tuple[str, str]], *, dropped: bool) -> Iterator[str]:
    for name, earlier_name in near[: None if dropped else _MOST_NAMED]:
        yield f"{name} is nearly the same as {earlier_name}" + (": left out" if dropped else "")
    if near and not dropped:
        yield f"{plural_text(len(near), 'near duplicate')}: --near leaves them out"


def _left_out_lines(skipped: Sequence[SkippedEntry]) -> Iterator[str]:
    """Each reason once, with the first places that it applies to."""
    places: dict[str, list[str]] = {}
    for each in skipped:
        places.setdefault(each.reason, []).append(each.place)
    for reason, own in places.items():
        yield f"left out: {reason} ({list_text(own, _MOST_NAMED)})"
