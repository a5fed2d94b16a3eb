"""The baselines of a session: each file is read once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pytest_fcall.core.backend import Model
from pytest_fcall.core.files import path_from_root
from pytest_fcall.session.endings import CaseError, SettingError
from pytest_fcall.session.models import parse_model
from pytest_fcall.tracking.revision import files_at_revision

if TYPE_CHECKING:
    from pytest_fcall.session.settings import BaselineSettings
    from pytest_fcall.tracking.baseline_content import Baseline

FindBaseline: TypeAlias = "Callable[[Path, Model], Baseline | None]"


class Baselines:
    """Finds the baseline that the verdicts on a case file are compared with. Raises SettingError for bad settings."""

    def __init__(self, settings: BaselineSettings, root: Path) -> None:
        self.settings = settings
        self._find = _baseline_finder(settings.against, root)
        self._found: dict[tuple[Path, str], Baseline | None] = {}

    def of(self, case_file: Path, model: Model) -> Baseline | None:
        """The baseline of a case file under a model; None where there is none.

        Raises CaseError for a file outside of the repository whose revision is wanted.
        """
        key = case_file, model.id
        if key not in self._found:
            self._found[key] = self._find(case_file, model)
        return self._found[key]

    @property
    def is_empty(self) -> bool:
        """Whether no baseline was found so far."""
        return not any(self._found.values())

    def notes(self) -> list[str]:
        """Advice on the files that were read."""
        found = {each.note: None for each in self._found.values() if each and each.note}
        return [*found]


def check_baseline(against: str, root: Path, models: Sequence[Model]) -> None:
    """Raise SettingError where nothing is accepted of what verdicts are to be compared with.

    In another folder, or at a revision, that is one of `models`, or any model where none is named.
    """
    from pytest_fcall.tracking.baseline_file import SUFFIX, accepted_models

    wanted = models
    if against.startswith("git:"):
        files = map(Path, files_at_revision(against.removeprefix("git:"), root))
        known = {file.parent.name for file in files if file.suffix == SUFFIX}
    elif Path(against).is_dir():
        known = {*accepted_models(Path(against))}
    else:
        wanted, known = [parse_model(against, "--fc-baseline", root)], {*accepted_models(root)}
    if known.isdisjoint(model.folder for model in wanted) if wanted else not known:
        whose = ", ".join(model.id for model in wanted) or "any model"
        where = "" if wanted is not models else f" in {against!r}"
        ids = {model.folder: model.id for model in models}
        names = [ids.get(name) or id_of_folder(name) for name in sorted(known)]
        raise SettingError(f"--fc-baseline: nothing is accepted of {whose}{where}; {_known_text(whose, names)}")


def _known_text(wanted: str, names: Sequence[str]) -> str:
    from pytest_fcall.core.message_text import clauses, did_you_mean

    if not names:
        return "`pytest --fc-accept` accepts what is right"
    hint = did_you_mean(wanted, [name for name in names if ":" in name])
    return clauses(f"baselines are there of {', '.join(names[:10])}", hint)


def id_of_folder(name: str) -> str:
    """The id of the model whose folder has this name, as far as the name tells it: it may end in a digest."""
    return name if re.search(r"-[0-9a-f]{6}$", name) else name.replace("-", ":", 1)


def _baseline_finder(against: str, root: Path) -> FindBaseline:
    if against.startswith("git:"):
        return _at_revision(against.removeprefix("git:"), root)
    if not against:
        return _beside
    if Path(against).is_dir():
        return partial(_in_folder, Path(against).absolute(), root)
    try:
        other = parse_model(against, "--fc-baseline", root)
    except SettingError:
        raise SettingError(f"--fc-baseline: {against!r} is neither a model, nor a folder, nor git:REVISION") from None
    return lambda case_file, _: _beside(case_file, other)


def _beside(case_file: Path, model: Model) -> Baseline | None:
    from pytest_fcall.tracking.baseline_file import baseline_path, read_baseline

    return read_baseline(baseline_path(case_file, model))


def _in_folder(folder: Path, root: Path, case_file: Path, model: Model) -> Baseline | None:
    """The baseline that has the place of the case file in another folder; none for a file outside of the root."""
    name = Path(path_from_root(case_file, root))
    return None if name.is_absolute() or name.parts[:1] == ("..",) else _beside(folder / name, model)


def _at_revision(revision: str, root: Path) -> FindBaseline:
    from pytest_fcall.tracking.baseline_content import parse_baseline
    from pytest_fcall.tracking.baseline_file import baseline_path
    from pytest_fcall.tracking.bookkeeping import measurement_path, parse_bookkeeping
    from pytest_fcall.tracking.revision import file_at_revision

    def find(case_file: Path, model: Model) -> Baseline | None:
        try:
            return read(case_file, model)
        except ValueError as error:
            why = f"it is not in the repository of the root folder: {error}"
            raise CaseError(f"--fc-baseline: {path_from_root(case_file, root)} cannot be compared: {why}") from None

    def read(case_file: Path, model: Model) -> Baseline | None:
        path = baseline_path(case_file, model)
        content = file_at_revision(revision, path)
        if content is None:
            return None
        kept = parse_bookkeeping(file_at_revision(revision, measurement_path(path)) or b"")
        return parse_baseline(content, path.with_name(f"{revision}:{path.name}"), kept)

    try:
        file_at_revision(revision, root / "any")
    except ValueError as error:
        raise SettingError(f"--fc-baseline: {error}") from None
    return find
