"""The parts of requests that differ each time: patterns in settings and case files, and keys without these parts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from pytest_fcall.core.digests import digest
from pytest_fcall.session.endings import SettingError

if TYPE_CHECKING:
    from pytest_fcall.backends.recordings.volatile import LeftOut, Volatile
    from pytest_fcall.core.backend import Model
    from pytest_fcall.core.request import Request
    from pytest_fcall.reporting.results import Result
    from pytest_fcall.session.ask.types import Question

VolatilePatterns = Mapping[str, tuple[str, ...]]
"""Patterns by the id or the alias of the model whose requests they are for."""
_OF_ALL = ""
"""Stands for all models where the id or the alias of one is asked for."""
_KEY = "volatile"


def read_volatile(lines: Sequence[str], root: Path) -> VolatilePatterns:
    """The patterns of `fc_volatile`, and those of models in pyproject.toml. Raises SettingError."""
    from pytest_fcall.backends.settings import PYPROJECT, TABLE, project_tables

    try:
        tables = project_tables(root, "models")
    except ValueError as error:
        raise SettingError(str(error)) from None
    found = {_OF_ALL: _checked([line for line in lines if line], "fc_volatile")}
    for name, table in tables.items():
        behind = str(table.get("model", ""))
        place = name if _KEY in table or _KEY not in tables.get(behind, {}) else behind
        if _KEY in tables[place]:
            found[name] = _checked(tables[place][_KEY], f'{PYPROJECT}, [{TABLE}."{place}"]: `{_KEY}`')
    return {name: patterns for name, patterns in found.items() if patterns}


def _checked(given: object, place: str) -> tuple[str, ...]:
    if not (isinstance(given, list) and all(isinstance(each, str) for each in given)):
        raise SettingError(f"{place} must be a list of regular expressions")
    if given:
        from pytest_fcall.core.bounded_text import VolatileError, compiled_pattern

        try:
            for pattern in given:
                compiled_pattern(pattern)
        except VolatileError as error:
            raise SettingError(f"{place}: {error}") from None
    return tuple(given)


def with_file_patterns(volatile: VolatilePatterns, of_file: Sequence[str]) -> VolatilePatterns:
    """The patterns of the project together with those of a case file."""
    return {**volatile, _OF_ALL: (*of_file, *volatile.get(_OF_ALL, ()))} if of_file else volatile


def volatile_patterns(volatile: VolatilePatterns, model: Model) -> tuple[str, ...]:
    """The patterns that count for a model."""
    return tuple(dict.fromkeys(each for name in (_OF_ALL, model.id, model.name) for each in volatile.get(name, ())))


def volatile_of(volatile: VolatilePatterns, model: Model) -> Volatile:
    """The parts of requests to a model, or of an app, that are no part of their keys."""
    from pytest_fcall.backends.recordings.volatile import NOTHING_VOLATILE, Volatile

    patterns = volatile_patterns(volatile, model)
    return Volatile(patterns) if patterns else NOTHING_VOLATILE


class VolatileKeys:
    """The keys of requests to one model in which patterns match.

    Such a request belongs to its case, and requests of a case that differ only in what is left out are numbered in
    the order in which they are first made. So no reply stands for another question than the one that it answered.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._seen: defaultdict[str, list[str]] = defaultdict(list)
        self._lock = Lock()

    def key(self, whole: str, request: Request, case: str, volatile: Volatile) -> tuple[str, LeftOut]:
        """The key of the request whose digest is `whole`, and what it leaves out.

        It is `whole` where no pattern matches. Raises VolatileError.
        """
        from pytest_fcall.core.digests import request_texts

        left, left_out = volatile.left_out(request_texts(request))
        if not left_out:
            return whole, ()
        name = digest([self._model, left, request.sample, case])
        with self._lock:
            seen = self._seen[name]
            if whole not in seen:
                seen.append(whole)
            return digest([name, seen.index(whole)]), left_out


class VolatileNotes:
    """The parts left out of the keys of requests that tests have made, by their node ids."""

    def __init__(self) -> None:
        self._left_out: defaultdict[str, dict[tuple[str, str], None]] = defaultdict(dict)
        self._matched: defaultdict[str, list[str]] = defaultdict(list)

    def note(self, question: Question) -> None:
        """Note what was left out of the key of a question that is asked."""
        if question.left_out:
            nodeid = question.asker.nodeid
            self._left_out[nodeid].update(dict.fromkeys(question.left_out))
            self._matched[nodeid] += dict.fromkeys(pattern for pattern, _ in question.left_out)

    def left_out(self, nodeid: str) -> LeftOut:
        """The patterns that matched, each with the texts."""
        return tuple(self._left_out.get(nodeid, ()))

    def remarks(self, nodeid: str) -> list[tuple[str, str]]:
        """A remark for each pattern and each request in which it matched."""
        return [("volatile", pattern) for pattern in self._matched.get(nodeid, ())]


def idle_remarks(of_file: Iterable[str], remarks: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """A remark for each pattern of a case file that matched in no request of a case, whose other remarks these are."""
    return [("idle", pattern) for pattern in of_file if ("volatile", pattern) not in remarks]


def unused_pattern_lines(
    volatile: VolatilePatterns, models: Iterable[Model], results: Sequence[Result]
) -> Iterator[str]:
    """A line for each pattern that matched in no request of this run, where there were any that it is for."""
    used = {about for result in results for kind, about in result.remarks if kind == "volatile"}
    asking = {result.model for result in results if result.inside or (result.answered and not result.way)}
    named = [model for model in models if model.id in asking]
    for pattern in dict.fromkeys(each for model in named for each in volatile_patterns(volatile, model)):
        if pattern not in used:
            yield f"fc_volatile: {pattern} matched in no request of this run"
    used_in = {(result.file, about) for result in results for kind, about in result.remarks if kind == "volatile"}
    idle = {(result.file, about): None for result in results for kind, about in result.remarks if kind == "idle"}
    for file, pattern in idle:
        if (file, pattern) not in used_in:
            yield f"{file}: `volatile`: {pattern} matched in no request of this run"
