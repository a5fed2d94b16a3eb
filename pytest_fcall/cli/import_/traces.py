"""`fcall import FILE`: traces as case files, for review."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_fcall.cli.counting import count
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.traces.case_files import WrittenFile, write_case_files
from pytest_fcall.traces.extraction import NearDuplicate, extract_drafts
from pytest_fcall.traces.files import trace_files
from pytest_fcall.traces.masking import Masker
from pytest_fcall.traces.record import SkippedEntry

_MOST_PLACES = 3
"""So many places are named of all that something is true of."""


def import_traces(parser: ArgumentParser, options: Namespace) -> int:
    """Write the files; 1 where no case can be made of the traces."""
    source = Path(options.source)
    masker = Masker([_pattern(parser, text) for text in options.mask], usual=not options.no_mask)
    found = extract_drafts(trace_files(source), masker)
    dropped = {twin.case.name for twin in found.twins} if options.near else frozenset()
    cases = [case for case in found.cases if case.name not in dropped]
    unread = list(found.unread)
    written: list[WrittenFile] = []
    try:
        for each in write_case_files(cases, options.out, _file_stem(source)):
            if isinstance(each, SkippedEntry):
                unread.append(each)
            else:
                written.append(each)
                _print_written(each)
    except FileExistsError as error:
        parser.error(f"{error.filename} exists; move it away, or choose another --out")
    if masker.counts:
        print(f"masked: {', '.join(f'{kind} ({number})' for kind, number in masker.counts.items())}")
    if found.equal:
        print(f"left out: {count(found.equal, 'answer')} given before to the same question")
    for line in (*_near_duplicate_lines(found.twins, dropped=options.near), *_left_out_lines(unread)):
        print(safe_line(line), file=sys.stderr)
    return 0 if written else 1


def _pattern(parser: ArgumentParser, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        parser.error(f"--mask: {text!r} is no regular expression: {error}")


def _file_stem(source: Path) -> str:
    """The name of the source, as far as it may be the name of a case file."""
    name = source.resolve().name.removesuffix(".gz").removesuffix(".replies.jsonl")
    name = name.rpartition(".")[0] or name if source.is_file() else name
    name = "" if name == "__fcall__" else name
    return re.sub(r"[^\w.-]+", "_", name).strip("._").removesuffix(".fc")[:80] or "traces"


def _print_written(written: WrittenFile) -> None:
    print(safe_line(f"{written.path}: {count(written.cases, 'case')}"))
    if written.unchecked:
        still = f"{written.unchecked} of them expect nothing yet"
        print(safe_line(f"  {still}; a model's answers are a start: fcall fill {written.path}"))


def _near_duplicate_lines(twins: Sequence[NearDuplicate], *, dropped: bool) -> Iterator[str]:
    for twin in twins[: None if dropped else _MOST_PLACES]:
        yield f"{twin.case.name} is nearly the same as {twin.like}" + (": left out" if dropped else "")
    if not dropped and twins:
        yield f"{count(len(twins), 'case')} nearly the same as others: --near leaves them out"


def _left_out_lines(unread: Sequence[SkippedEntry]) -> Iterator[str]:
    """Each reason once, with the first places that it is true of."""
    places: dict[str, list[str]] = {}
    for each in unread:
        places.setdefault(each.why, []).append(each.place)
    for why, where in places.items():
        more = f" and {len(where) - _MOST_PLACES} more" if len(where) > _MOST_PLACES else ""
        yield f"left out: {why} ({', '.join(where[:_MOST_PLACES])}{more})"
