"""Runs in files and folders: those of a project, and those that another machine wrote."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from pathlib import Path
from typing import NamedTuple, overload
from urllib.parse import quote

from pytest_fcall.core.files import MOST_KEPT_BYTES, read_regular
from pytest_fcall.core.json_data import read_json
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.values import Json
from pytest_fcall.reporting.answer_lines import is_asked, origin_text
from pytest_fcall.reporting.history import HistoryChange, KeptRun, RunHistory, key_of
from pytest_fcall.reporting.result_json import results_from_json
from pytest_fcall.reporting.results import Results
from pytest_fcall.tracking.run_changes import RunChanges
from pytest_fcall.tracking.run_file import RunFile, RunFileError, read_run_by_rows


class RunFiles(NamedTuple):
    """Whole runs, oldest first, and what is not among them."""

    runs: Sequence[Run]
    unread: Sequence[str]
    """The faults of files that cannot be read."""
    left_out: Sequence[str]
    """Other things that are left out, in sentences."""


def find_runs(paths: Iterable[Path], number: int) -> RunFiles:
    """The newest runs, so many, in these files, and in all files of these folders and of those in them.

    A run that is there twice counts once. Of parts of runs nothing is known that holds for the whole.
    """
    search = _Search()
    runs = nlargest(number, search.runs(paths), key=lambda run: (run.file.started, run.file.id))
    return RunFiles(runs[::-1], search.unread, [*search.left_out()])


class _Search:
    """Other files that are found on the way to runs."""

    def __init__(self) -> None:
        self.unread: list[str] = []
        self._others = 0
        """JSON in folders that is nothing of ours."""
        self._parts: Counter[str] = Counter()
        self._seen: set[str] = set()

    def runs(self, paths: Iterable[Path]) -> Iterator[Run]:
        for path in paths:
            for file in _json_files(path) if path.is_dir() else [path]:
                try:
                    run = load_run(file)
                except RunFileError as error:
                    if path != file and _is_other(file):
                        self._others += 1
                    else:
                        self.unread.append(str(error))
                else:
                    if self._is_new_and_whole(run):
                        yield run

    def _is_new_and_whole(self, run: Run) -> bool:
        """Whether the run counts; why not is counted."""
        if run.file.id in self._seen:
            return False
        self._seen.add(run.file.id)
        part = "shard" if run.file.shard else "run that was broken off" if run.file.broken_off else ""
        if not part and not any(result.answered for result in run.results.results):
            part = "run without an answer"
        self._parts[part] += 1
        return not part

    def left_out(self) -> Iterator[str]:
        for part, title in (
            ("shard", "`fcall merge` puts those of a run together"),
            ("run that was broken off", "it covers a part of its cases"),
            ("run without an answer", "there is nothing to compare"),
        ):
            if count := self._parts[part]:
                yield f"{_plural(count, part)} left out: {title}"
        if self._others:
            yield f"{plural_text(self._others, 'JSON file')} passed over: no runs"


def _plural(count: int, noun: str) -> str:
    first, _, rest = noun.partition(" ")
    return f"{plural_text(count, first)}{f' {rest}' if rest else ''}"


def _json_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.json") if not path.is_dir())


def _is_other(path: Path) -> bool:
    """Whether a file is JSON, and does not say that it is a run."""
    try:
        found: Json = read_json(read_regular(path, MOST_KEPT_BYTES))
    except (OSError, ValueError):
        return False
    return not (isinstance(found, dict) and "fcall_run" in found)


def history_of(files: RunFiles, page: Path, *, by_category: bool) -> RunHistory:
    """The data of runs for the page at `page`, with the changes between runs and the reports beside them."""
    changes = RunChanges()
    runs = [_kept(run, changes, page) for run in files.runs]
    return RunHistory(runs, by_category, (*files.unread, *files.left_out))


def _kept(run: Run, changes: RunChanges, page: Path) -> KeptRun:
    file, results = run.file, run.results.results
    found = changes.add((key_of(each), each.stanza) for each in results)
    return KeptRun(
        file.id,
        file.started,
        results,
        origin_text(run.results),
        is_asked(run.results),
        [HistoryChange(*each) for each in found],
        file.provenance,
        str(run.path),
        _report_beside(run.path, page),
    )


def _report_beside(path: Path, page: Path) -> str:
    """The address of the page of the same name beside a run, or of the only page in a folder with one run; or none."""
    folder = path.absolute().parent
    named = folder / f"{path.stem}.html"
    pages = [each for each in folder.glob("*.html") if each != page.absolute()]
    others = [each for each in folder.glob("*.json") if each.name != path.name]
    found = named if named in pages else pages[0] if len(pages) == 1 and not others else None
    if found is None:
        return ""
    try:
        return quote(
            Path(os.path.relpath(found, page.absolute().parent)).as_posix(), safe="/", errors="surrogateescape"
        )
    except ValueError:  # on another drive
        return ""


@dataclass(frozen=True, slots=True)
class Run:
    """A run file and its results."""

    path: Path
    file: RunFile
    """Its rows are read anew whenever they are gone through: few readers need them beside the results."""
    results: Results


class _Rows(Sequence[Json]):
    """The rows of a run file."""

    def __init__(self, path: Path, number: int) -> None:
        self._path = path
        self._number = number

    def __len__(self) -> int:
        return self._number

    def __iter__(self) -> Iterator[Json]:
        return read_run_by_rows(self._path)[1]

    @overload
    def __getitem__(self, place: int) -> Json: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Json]: ...
    def __getitem__(self, place: int | slice) -> Json:
        return [*self][place]


def load_run(path: Path) -> Run:
    """The run in a file. Raises RunFileError."""
    file, rows = read_run_by_rows(path)
    try:
        results = results_from_json(file.results, rows)
    except RunFileError:
        raise
    except ValueError as error:
        raise RunFileError(f"{path}: not a run file: {error}") from None
    figures = {**file.results, "results": _Rows(path, len(results.results))}
    return Run(path, file._replace(results=figures), results)
