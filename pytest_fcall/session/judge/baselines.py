"""The baselines of a session: each file is read once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pytest_fcall.core import Model
from pytest_fcall.session.models import parse_model
from pytest_fcall.session.outcomes import SettingError

if TYPE_CHECKING:
    from pytest_fcall.session.settings import BaselineSettings
    from pytest_fcall.tracking.baseline_file import Baseline

FindBaseline: TypeAlias = "Callable[[Path, Model], Baseline | None]"


class Baselines:
    """Finds the baseline that the verdicts on a case file are compared with. Raises SettingError for bad settings."""

    def __init__(self, settings: BaselineSettings, root: Path) -> None:
        self.settings = settings
        self._find = _baseline_finder(settings.against, root)
        self._found: dict[tuple[Path, str], Baseline | None] = {}

    def of(self, case_file: Path, model: Model) -> Baseline | None:
        """The baseline of a case file under a model; None where there is none."""
        key = case_file, model.id
        if key not in self._found:
            self._found[key] = self._find(case_file, model)
        return self._found[key]


def _baseline_finder(against: str, root: Path) -> FindBaseline:
    if against.startswith("git:"):
        return _at_revision(against.removeprefix("git:"), root)
    folder = Path(against) if against else root
    if folder.is_dir():
        return lambda case_file, model: _in_folder(folder.absolute(), root, case_file, model)
    try:
        other = parse_model(against, "--fc-baseline", root)
    except SettingError:
        raise SettingError(f"--fc-baseline: {against!r} is neither a model, nor a folder, nor git:REVISION") from None
    return lambda case_file, _: _in_folder(root, root, case_file, other)


def _in_folder(folder: Path, root: Path, case_file: Path, model: Model) -> Baseline | None:
    from pytest_fcall.tracking.baseline_file import baseline_path, read_baseline

    inside = case_file.is_relative_to(root)
    return read_baseline(baseline_path(folder / case_file.relative_to(root) if inside else case_file, model))


def _at_revision(revision: str, root: Path) -> FindBaseline:
    from pytest_fcall.tracking.baseline_file import baseline_path, parse_baseline
    from pytest_fcall.tracking.measurement import measurement_path, parse_measurement
    from pytest_fcall.tracking.revision import file_at_revision

    def find(case_file: Path, model: Model) -> Baseline | None:
        path = baseline_path(case_file, model)
        content = file_at_revision(revision, path)
        if content is None:
            return None
        measured = parse_measurement(file_at_revision(revision, measurement_path(path)) or b"")
        return replace(parse_baseline(content, path.with_name(f"{revision}:{path.name}")), measured=measured)

    try:
        file_at_revision(revision, root / "any")
    except ValueError as error:
        raise SettingError(f"--fc-baseline: {error}") from None
    return find
