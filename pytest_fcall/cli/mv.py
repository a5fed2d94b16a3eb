"""`fcall mv`: what is kept follows a case, a case file, a tool, a parameter or a model to its new name."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from glob import escape
from pathlib import Path

from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.recordings.file import SUFFIX as RECORDINGS_SUFFIX
from pytest_fcall.backends.recordings.file import read_recordings, recordings_paths
from pytest_fcall.backends.recordings.renaming import KeyInputs, follow, rekeyed_recording, renamed_recording
from pytest_fcall.backends.store import ReplyStore, StoreError
from pytest_fcall.cases.case import plan_request
from pytest_fcall.cases.case_file import read_case_file
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.files import anywhere
from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.project import root_of
from pytest_fcall.core.backend import Model
from pytest_fcall.core.case import Case
from pytest_fcall.core.files import case_file_of, path_from_root, refuse_link_out, shared_folders, shared_path
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.schema.sources.lock_file import lock_path
from pytest_fcall.schema.tool_names import ToolRename
from pytest_fcall.tracking.acceptance import DamagedBaseline, read_stanzas
from pytest_fcall.tracking.baseline_file import SUFFIX, contracts_below
from pytest_fcall.tracking.question_digests import EXPECTATION, expectation_digest, question_digests
from pytest_fcall.tracking.renaming import change_stanzas, move_case, renamed_stanza
from pytest_fcall.variants.kept_texts import move_texts, texts_path

_EXAMPLES = """\
examples:
  fcall mv oslo bergen                                  a case has a new id
  fcall mv cases/weather.fc.yaml::oslo bergen           a case of this file only
  fcall mv cases/a.fc.yaml::oslo cases/b.fc.yaml::oslo  a case has moved to another file
  fcall mv cases/weather.fc.yaml cases/climate.fc.yaml  a case file has a new name or folder
  fcall mv --tool get_weather forecast                  a tool has a new name
  fcall mv --parameter get_weather.city place           a parameter of a tool has a new name
  fcall mv --model python:shop:answer python:desk:answer  a model has a new name

What is accepted and measured follows, under all models, and so do recorded replies. Case files and code are not
changed: rename there first. What an app asked its models stays as it was recorded, and is asked again.
"""


def run(arguments: Sequence[str]) -> int:
    """Rename; 1 where the old name does not exist, or the new one does."""
    options = _parser().parse_args(arguments)
    from pytest_fcall.cli.configuration import configured_store

    root = root_of([Path.cwd()])
    try:
        with closing(ReplyStore(configured_store(root))) as store:
            lines = list(_renamed(options, root, store))
    except (_RenameRefused, StoreError) as refused:
        print(f"fcall mv: {safe_line(str(refused))}", file=sys.stderr)
        return 1
    except DamagedBaseline as damaged:
        print("\n".join(fault_text(fault, root) for fault in damaged.faults), file=sys.stderr)
        return 1
    print(*map(safe_line, lines), sep="\n")
    return 0


def _parser() -> ArgumentParser:
    parser = command_parser("mv", "Have what is kept follow a new name.", _EXAMPLES)
    what = parser.add_mutually_exclusive_group()
    for name, summary in (
        ("tool", "OLD and NEW are names of a tool"),
        ("parameter", "OLD is TOOL.PARAMETER, and NEW the parameter"),
        ("model", "OLD and NEW are models, as --fc-model names them"),
    ):
        what.add_argument(f"--{name}", dest="what", action="store_const", const=name, help=summary)
    parser.add_argument("old", metavar="OLD", help="the old id of a case, or FILE::ID, or the old path of a case file")
    parser.add_argument("new", metavar="NEW", help="the new id or path")
    return parser


class _RenameRefused(Exception):
    """Nothing is renamed. The text says why."""


def _renamed(options: Namespace, root: Path, store: ReplyStore) -> Iterator[str]:
    """Rename, and say what was; the whole is refused before anything is."""
    old, new = options.old, options.new
    match options.what:
        case "tool":
            return _rename_tool(root, store, ToolRename(old, new))
        case "parameter":
            tool, dot, parameter = old.rpartition(".")
            if not dot:
                raise _RenameRefused(f"{old!r} names no parameter: write TOOL.PARAMETER")
            return _rename_tool(root, store, ToolRename(parameter, new.removeprefix(f"{tool}."), tool))
        case "model":
            return _rename_model(root, store, old, new)
    if old.endswith((".yaml", ".yml")) and "::" not in old:
        return _move_file(root, store, Path(old).absolute(), Path(new).absolute())
    return _move_case(root, store, *_split(old), *_split(new))


def _split(name: str) -> tuple[str, str]:
    file, _, case = name.rpartition("::")
    return file, case


def _move_case(root: Path, store: ReplyStore, file: str, old: str, new_file: str, new: str) -> Iterator[str]:
    """Rename or move a case in all baselines or, where one of them does not allow it, in none."""
    paths = [path for path in _baselines(root, file) if old in read_stanzas(path)]
    if not paths:
        raise _RenameRefused(f"no baseline holds a case {old!r}" + (f" of {file}" if file else ""))
    if len(files := sorted({path_from_root(case_file_of(path, SUFFIX), root) for path in paths})) > 1:
        raise _RenameRefused(f"{old!r} is in {' and '.join(files)}: choose one by FILE::{old}")
    before = case_file_of(paths[0], SUFFIX)
    after = Path(new_file).absolute() if new_file else before
    targets = {path: shared_path(after, path.parent.name, SUFFIX) for path in paths}
    if taken := [target for target in targets.values() if new in read_stanzas(target)]:
        raise _RenameRefused(f"{path_from_root(taken[0], root)} holds a case {new!r} already")
    for path, target in targets.items():
        move_case(path, old, target, new)
        yield f"{path_from_root(path, root)}: renamed {old} to {new}" + (
            "" if path == target else f" in {path_from_root(target, root)}"
        )
    for path in _recording_files(before):
        target = shared_path(after, path.parent.name, RECORDINGS_SUFFIX)
        if (model := read_recordings(path).model) is not None:
            asked = (
                KeyInputs(model, f"{path_from_root(before, root)}::{old}"),
                KeyInputs(model, f"{path_from_root(after, root)}::{new}"),
            )
            change = partial(_of_case, case=old, new=new, asked=asked)
            yield from _followed(path_from_root(target, root), follow(path, target, Model.by_id(model), change)[0])
    store.move(path_from_root(before, root), path_from_root(after, root), old, new)
    if move_texts(texts_path(before), old, texts_path(after), new):
        yield f"{path_from_root(texts_path(after), root)}: texts of variants renamed"


def _of_case(entry: Recording, case: str, new: str, asked: tuple[KeyInputs, KeyInputs]) -> Recording | None:
    moved = rekeyed_recording(entry, *asked) if entry.case == case else None
    return moved and moved._replace(case=new)


def _recording_files(case_file: Path) -> list[Path]:
    """The recordings of a case file, of all models."""
    return sorted((case_file.parent / "__fcall__").glob(f"*/{escape(case_file.name)}{RECORDINGS_SUFFIX}"))


def _baselines(root: Path, file: str = "") -> list[Path]:
    """The baselines of a case file, or all."""
    case_file = Path(file).absolute()
    return [path for path in sorted(contracts_below(root)) if not file or case_file_of(path, SUFFIX) == case_file]


def _move_file(root: Path, store: ReplyStore, old: Path, new: Path) -> Iterator[str]:
    """Move what is kept of a case file, all or nothing."""
    if new.suffix not in (".yaml", ".yml"):
        raise _RenameRefused(f"{new.name}: the name of a case file must end in .yaml or .yml")
    kept = sorted(path for path in (old.parent / "__fcall__").glob("*/*") if path.name.startswith(f"{old.name}."))
    moves = {path: shared_path(new, path.parent.name, path.name.removeprefix(old.name)) for path in kept}
    if texts_path(old).exists():
        moves[texts_path(old)] = texts_path(new)
    if lock_path(old).exists() and lock_path(old) != lock_path(new):
        moves[lock_path(old)] = lock_path(new)
    if not moves:
        raise _RenameRefused(f"{path_from_root(old, root)} has no baselines, recordings or locks")
    if taken := [path for path in moves.values() if path.exists()]:
        raise _RenameRefused(f"{path_from_root(taken[0], root)} exists already")
    yield from _moved(moves, root)
    names = path_from_root(old, root), path_from_root(new, root)
    for path in _recording_files(new):
        if (model := read_recordings(path).model) is not None:
            follow(path, path, Model.by_id(model), partial(_of_file, model=model, names=names))
    store.move(path_from_root(old, root), path_from_root(new, root))


def _of_file(entry: Recording, model: str, names: tuple[str, str]) -> Recording | None:
    old, new = (KeyInputs(model, f"{name}::{entry.case}") for name in names)
    return rekeyed_recording(entry, old, new)


def _moved(moves: dict[Path, Path], root: Path) -> Iterator[str]:
    for path, target in moves.items():
        for each in (path, target):
            refuse_link_out(each)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
        yield f"renamed {path_from_root(path, root)} to {path_from_root(target, root)}"


def _rename_model(root: Path, store: ReplyStore, old: str, new: str) -> Iterator[str]:
    """Move what is kept of a model to another name."""
    before, after = Model.by_id(old), Model.by_id(new)
    recorded = tuple(path.name.removeprefix("-") for path in recordings_paths(root / "-", before))
    kept = [path for folder in shared_folders(root) for path in sorted((folder / before.folder).glob("*"))]
    moves = {path: path.parents[1] / after.folder / path.name for path in kept}
    if not moves:
        raise _RenameRefused(f"nothing is kept of a model {old!r}")
    if taken := [path for path in moves.values() if path.exists()]:
        raise _RenameRefused(f"{path_from_root(taken[0], root)} exists already")
    yield from _moved({path: target for path, target in moves.items() if not path.name.endswith(recorded)}, root)
    rekey = partial(rekeyed_recording, old=KeyInputs(old, ""), new=KeyInputs(new, ""))
    for path, target in moves.items():
        if path.name.endswith(recorded[0]):
            yield from _followed(path_from_root(target, root), *follow(path, target, after, rekey))
    for file in dict.fromkeys(file for _, file in store.files(old)):
        changed = [rekey(each.entry) for each in store.replies(old, file)]
        for entry in filter(None, changed):
            store.put(new, file, entry)


def _rename_tool(root: Path, store: ReplyStore, rename: ToolRename) -> Iterator[str]:
    """Rename a tool or a parameter in all that is kept."""
    baselines = _baselines(root)
    for path in baselines:
        read_stanzas(path)  # a damaged one is found before anything is written
    lines = []
    for path in baselines:
        today = _digests_today(case_file_of(path, SUFFIX), root)
        if count := change_stanzas(path, partial(renamed_stanza, rename=rename, today=today)):
            lines.append(f"{path_from_root(path, root)}: {plural_text(count, 'case')} changed")
    lines += _rename_in_recordings(root, store, rename)
    if not lines:
        raise _RenameRefused(f"nothing that is kept names {rename.old!r}")
    yield from lines


def _rename_in_recordings(root: Path, store: ReplyStore, rename: ToolRename) -> Iterator[str]:
    for path in (path for folder in shared_folders(root) for path in sorted(folder.glob(f"*/*{RECORDINGS_SUFFIX}"))):
        if (model := read_recordings(path).model) is not None:
            change = partial(renamed_recording, model=model, rename=rename)
            yield from _followed(path_from_root(path, root), *follow(path, path, Model.by_id(model), change))
    for model, file in store.files():
        for each in [*store.replies(model, file)]:
            renamed = renamed_recording(each.entry, model, rename)
            if renamed is not None and renamed != each.entry:
                store.put(model, file, renamed)


def _followed(name: str, followed: int, left: int = 0) -> Iterator[str]:
    if followed:
        stayed = f", {left} as they were" if left else ""
        yield f"{name}: {plural_text(followed, 'recording')} renamed{stayed}"


def _digests_today(case_file: Path, root: Path) -> dict[str, dict[str, str]]:
    """The digests of the tools and expectations of the cases, as far as the file can be read without a run."""
    sys.path[:0] = [str(root)] if str(root) not in sys.path else []
    try:
        entries = read_case_file(case_file, root=root, outside=anywhere(root)).entries
    except UnreadableFile:
        return {}
    return {
        case.id: {**question_digests(plan_request(case)), EXPECTATION: expectation_digest(case)}
        for case in entries
        if isinstance(case, Case)
    }
