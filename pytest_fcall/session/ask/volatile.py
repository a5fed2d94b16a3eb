"""What differs each time in requests of an app: the patterns of the project, and those of its models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.session.outcomes import SettingError

if TYPE_CHECKING:
    from pytest_fcall.core import Model
    from pytest_fcall.reporting.results import Result
    from pytest_fcall.session.settings import Settings

OF_ALL = ""
"""Stands for all models where the id or the alias of one is asked for."""
_KEY = "volatile"


def read_volatile(lines: Sequence[str], root: Path) -> dict[str, tuple[str, ...]]:
    """The patterns of `fc_volatile`, and those of models in pyproject.toml, by id or alias. Raises SettingError."""
    from pytest_fcall.backends.settings import PYPROJECT, TABLE, project_tables

    try:
        tables = project_tables(root, "models")
    except ValueError:  # whoever reads the settings of a model says so
        tables = {}
    found = {OF_ALL: _checked([line for line in lines if line], "fc_volatile")}
    for name, table in tables.items():
        if _KEY in table:
            found[name] = _checked(table[_KEY], f'{PYPROJECT}, [{TABLE}."{name}"]: `{_KEY}`')
    return {name: patterns for name, patterns in found.items() if patterns}


def _checked(given: object, place: str) -> tuple[str, ...]:
    if not (isinstance(given, list) and all(isinstance(each, str) for each in given)):
        raise SettingError(f"{place} must be a list of regular expressions")
    if given:
        from pytest_fcall.backends.recordings.volatile import Volatile, VolatileError

        try:
            Volatile(given)
        except VolatileError as error:
            raise SettingError(f"{place}: {error}") from None
    return tuple(given)


def volatile_patterns(volatile: Mapping[str, tuple[str, ...]], model: Model) -> tuple[str, ...]:
    """The patterns that count for an app."""
    return tuple(dict.fromkeys(each for name in (OF_ALL, model.id, model.name) for each in volatile.get(name, ())))


def unused_pattern_lines(settings: Settings, results: Sequence[Result]) -> Iterator[str]:
    """A line for each pattern that matched in no request of this run, where apps sent any."""
    if not settings.volatile:
        return
    asking = {result.model for result in results if result.inside}
    used = {about for result in results for kind, about in result.remarks if kind == "volatile"}
    models = [each.model for each in settings.models if each.model.id in asking]
    for pattern in dict.fromkeys(each for model in models for each in volatile_patterns(settings.volatile, model)):
        if pattern not in used:
            yield f"fc_volatile: {pattern} matched in no request of this run"
