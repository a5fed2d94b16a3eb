"""Things with another name than before, seen at the end of a run: cases, files, tools, models and so on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_fcall.cases.case import plan_request
from pytest_fcall.core.backend import Model
from pytest_fcall.core.case import Case
from pytest_fcall.core.files import case_file_of, shared_path
from pytest_fcall.reporting.results import Result
from pytest_fcall.session.judge.baselines import Baselines, id_of_folder
from pytest_fcall.session.result.leftovers import Stale
from pytest_fcall.tracking.acceptance import DamagedBaseline, read_stanzas
from pytest_fcall.tracking.baseline_content import UnreadableStanza
from pytest_fcall.tracking.baseline_file import SUFFIX
from pytest_fcall.tracking.question_digests import (
    EXPECTATION,
    PROMPT,
    SETTINGS,
    TOOL_PREFIX,
    question_digests,
    renamed_tools,
)
from pytest_fcall.tracking.renaming import renamed_parameters
from pytest_fcall.tracking.stanza import Stanza, parse_stanza

if TYPE_CHECKING:
    from pytest_fcall.backends.store.address import StorePlace


class _Place(NamedTuple):
    """A case and its file, whose path is relative to the root."""

    file: str
    case: str


class _KnownStanzas:
    """Accepted stanzas; each file is read once. A damaged one has none: its cases have said so."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._found: dict[Path, Mapping[str, Stanza]] = {}

    def of(self, path: Path) -> Mapping[str, Stanza]:
        if path not in self._found:
            try:
                self._found[path] = read_stanzas(path)
            except (DamagedBaseline, OSError):
                self._found[path] = {}
        return self._found[path]


def _readable(stanzas: Mapping[str, Stanza], case: str) -> Stanza | None:
    """The accepted answer to a case; None where none is, or where it cannot be read, as the case has said."""
    try:
        return stanzas.get(case)
    except UnreadableStanza:
        return None


def renamed_tool_lines(baselines: Baselines, results: Iterable[Result], root: Path) -> Iterator[str]:
    """A line with a command for each tool that is gone while an equal one has come.

    Of each file and model one case is looked at, since its cases have mostly the same tools.
    """
    if baselines.settings.against:  # the baselines that were read are not those of the models
        return
    first = {(result.file, result.model): result for result in reversed([*results]) if result.outcome and result.stanza}
    renamed: dict[str, str] = {}
    for (file, model), result in first.items():
        baseline = baselines.of(root / file, Model.by_id(model))
        before = _readable(baseline.stanzas, result.case) if baseline else None
        if before is not None:
            renamed |= renamed_tools(before.digests, parse_stanza(result.stanza or "").digests)
    for old, new in renamed.items():
        yield f"the tool {old} is gone and {new} is the same: `fcall mv --tool {old} {new}`"


def renamed_parameter_lines(baselines: Baselines, cases: Iterable[tuple[Path, Model, Case]]) -> list[str]:
    """A line with a command for each parameter of a tool that is gone while one with an equal schema has come.

    `cases` are those of the run, with their files and models. Of each file and model one case is looked at, and only
    where its tools have changed, all accepted calls.
    """
    if baselines.settings.against:  # the baselines that were read are not those of the models
        return []
    lines: dict[str, None] = {}
    seen: set[tuple[Path, str]] = set()
    for path, model, case in cases:
        baseline = None if (path, model.id) in seen else baselines.of(path, model)
        accepted = _readable(baseline.stanzas, case.id) if baseline else None
        if baseline is None or accepted is None:
            continue
        seen.add((path, model.id))
        request = plan_request(case)
        before, now = accepted.digests, question_digests(request)
        changed = [tool for tool in request.tools if before.get(key := TOOL_PREFIX + tool.name, now[key]) != now[key]]
        stanzas = (_readable(baseline.stanzas, each) for each in baseline.stanzas) if changed else ()
        for rename in renamed_parameters(filter(None, stanzas), changed):
            tool, old, new = rename.parameter_of, rename.old, rename.new
            command = f"fcall mv --parameter {tool}.{old} {new}"
            lines[f"the parameter {old} of {tool} is gone and {new} is the same: `{command}`"] = None
    return [*lines]


def renamed_model_line(
    root: Path, store: StorePlace, folder: str, model: Model, cases: Sequence[tuple[Path, Case]]
) -> str:
    """A line with a command, where the folder of another model holds answers to all of these cases; else nothing.

    What models are set to may differ, and is left out of the comparison.
    """
    known = _KnownStanzas(root)
    paths = dict.fromkeys(shared_path(path, folder, SUFFIX) for path, _ in cases)
    for (path, case), now in ((each, question_digests(plan_request(each[1]))) for each in cases):
        before = _readable(known.of(shared_path(path, folder, SUFFIX)), case.id)
        if before is None or _without_settings(before.digests) != _without_settings(now):
            return ""
    old = _model_of(folder, paths, store)
    if old is None:
        return ""
    same = f"{model.id} has nothing accepted, and {old} has answers to all of its cases"
    return f"{same}; if it is the same under another name: `fcall mv --model {old} {model.id}`"


def _without_settings(digests: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in digests.items() if name not in (SETTINGS, EXPECTATION)}


def _model_of(folder: str, baselines: Iterable[Path], place: StorePlace) -> str | None:
    """The id of the model that has this folder: as recordings tell it, or the name; None where neither does."""
    from pytest_fcall.backends.recordings.file import SUFFIX as REPLIES_SUFFIX
    from pytest_fcall.backends.recordings.file import read_recordings
    from pytest_fcall.backends.store import ReplyStore, StoreError

    def candidates() -> Iterator[str | None]:
        yield from (read_recordings(path.with_suffix(REPLIES_SUFFIX)).model for path in baselines)
        with suppress(StoreError), closing(ReplyStore(place)) as store:
            yield from (model for model, _ in store.files())
        yield id_of_folder(folder)

    return next((id_ for id_ in candidates() if id_ and Model.by_id(id_).folder == folder), None)


def moved_case_lines(stale: Sequence[Stale], cases: Iterable[tuple[str, Case]], root: Path) -> list[str]:
    """A line with a command for each case and each case file that is gone while an equal one has come.

    `cases` are those of the run, each with the path of its file from the root.
    """
    known = _KnownStanzas(root)
    asking: dict[str, set[_Place]] = {}
    for file, case in cases:
        prompt = question_digests(plan_request(case)).get(PROMPT, "")
        asking.setdefault(prompt, set()).add(_Place(file, case.id))
    moved: dict[_Place, _Place] = {}
    left = set()
    for path, gone in stale:
        baseline = Path(path)
        file = case_file_of(baseline, SUFFIX).as_posix()
        accepted = {id_: _readable(known.of(root / path), id_) for id_ in gone}
        prompts = {id_: stanza.digests.get(PROMPT, "") if stanza else "" for id_, stanza in accepted.items()}
        for id_, prompt in prompts.items():
            come = [place for place in asking.get(prompt, ()) if not _is_accepted(place, baseline.parent.name, known)]
            if prompt and len(come) == 1 and [*prompts.values()].count(prompt) == 1:
                moved[_Place(file, id_)] = come[0]
            else:
                left.add(file)
    return [*_move_lines(moved, left, root)]


def _is_accepted(place: _Place, model_folder: str, known: _KnownStanzas) -> bool:
    file = Path(place.file)
    return place.case in known.of(shared_path(known.root / file, model_folder, SUFFIX))


def _move_lines(moved: Mapping[_Place, _Place], left: set[str], root: Path) -> Iterator[str]:
    """A line for each file all of whose cases are in one other, and for each other case."""
    targets: dict[str, set[str]] = {}
    for old, new in moved.items():
        targets.setdefault(old.file, set()).add(new.file)
    whole = {
        file: next(iter(new))
        for file, new in targets.items()
        if len(new) == 1 and file not in left and not (root / file).exists()
    }
    yield from (f"{old} is gone and {new} asks the same: `fcall mv {old} {new}`" for old, new in whole.items())
    for old, new in moved.items():
        if old.file in whole and old.case == new.case:
            continue
        to = new.case if new.file == old.file else f"{new.file}::{new.case}"
        yield f"{old.case} is gone and {new.case} asks the same: `fcall mv {old.file}::{old.case} {to}`"
