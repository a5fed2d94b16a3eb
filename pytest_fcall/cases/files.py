"""Files that a case file names: messages, prompts, pictures, data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from errno import EFBIG
from pathlib import Path
from typing import NamedTuple

from yaml import Node

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults, SourceFile, UnreadableFile, quote
from pytest_fcall.cases.file_names import is_read_as_id
from pytest_fcall.cases.yaml.reader import read_text, read_yaml
from pytest_fcall.core.case import Fault
from pytest_fcall.core.files import check_regular, read_regular
from pytest_fcall.core.json_data import read_json
from pytest_fcall.core.values import Json


def display_path(path: Path, root: Path) -> str:
    """A path for messages: relative to the root folder if it is inside."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def path_fault(path: Path, root: Path) -> Fault | None:
    """The fault of a case file's path by which its cases cannot be run, or that cannot be shown; None for most."""
    written = display_path(path, root)
    if is_read_as_id(written):
        message = "pytest cannot be given this path: it takes `[` and `::` for the beginning of an id"
    elif not written.isprintable():
        message = "the path has characters that cannot be shown"
    else:
        return None
    return SourceFile(written).fault("bad-path", None, message, "rename the file or its folder")


class Reach(NamedTuple):
    """The folders that hold all files which a case file may name: what it names goes to a model."""

    root: Path
    outside: tuple[Path, ...]
    """Files and folders elsewhere that are allowed all the same."""

    @classmethod
    def of(cls, case_file: Path, root: Path, outside: Iterable[Path] = ()) -> Reach:
        """The reach of a case file: the root folder and what is allowed; its own folder, where it lies elsewhere."""
        inside = case_file.is_relative_to(root) or _real(case_file).is_relative_to(_real(root))
        return cls(root, (*outside, *(() if inside else (case_file.parent,))))

    def includes(self, path: Path) -> bool:
        """Whether a file may be named. All links are followed."""
        return any(_real(path).is_relative_to(_real(allowed)) for allowed in (self.root, *self.outside))


def anywhere(path: Path) -> tuple[Path]:
    """All of the disk, which is allowed where a person says it, or no model is asked."""
    return (Path(path.absolute().anchor),)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))  # `Path.resolve` raises an error of its own for loops


def check_reach(path: Path, node: Node, reach: Reach, faults: Faults) -> bool:
    """Whether a path that a node names may be read. Adds a fault if it may not."""
    if reach.includes(path):
        return True
    message = f"{quote(node.value)} is {_real(path)}, which is outside of the root folder {reach.root}"
    hint = "move it there, or allow its folder in the configuration of pytest: fc_outside = FOLDER"
    faults.add("outside-root", node, message, hint)
    return False


def find_file(
    node: Node, folder: Path, reach: Reach, faults: Faults, other: Callable[[Path], Path] | None = None
) -> Path | None:
    """The path of the file that a node names, relative to `folder`, all links followed; or of the other one for it.

    None, with a fault, if there is none, if it is no regular file, or if it may not be read.
    """
    name = node_values.word(node, faults, "a path")
    if not name:
        return None
    try:
        path = _real(folder / name)
        if not check_reach(path, node, reach, faults):
            return None
        path = other(path) if other else path
        check_regular(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        hint = f"paths are relative to {quote(folder.name or '.')}, the folder of this file"
        faults.add("missing-file", node, f"there is no file {quote(name)}", hint)
        return None
    except OSError as error:
        faults.add("bad-file", node, f"{quote(name)} cannot be read: {error.strerror}")
        return None
    return path


def read_bytes(node: Node, folder: Path, reach: Reach, faults: Faults) -> tuple[Path, bytes] | None:
    """The path and the content of the file that a node names; None, with a fault, if it cannot be read."""
    path = find_file(node, folder, reach, faults)
    if path is None:
        return None
    try:
        return path, read_regular(path)
    except OSError as error:
        code = "too-large" if error.errno == EFBIG else "bad-file"
        faults.add(code, node, f"{quote(path.name)} cannot be read: {error.strerror}")
        return None


def read_string(node: Node, folder: Path, reach: Reach, faults: Faults) -> str:
    """The text of a UTF-8 file that is not empty, without the line break at its end."""
    found = read_bytes(node, folder, reach, faults)
    if found is None:
        return ""
    path, data = found
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        faults.add("bad-file", node, f"{quote(path.name)} is not UTF-8", "save it as UTF-8")
        return ""
    if not text.strip():
        faults.add("bad-file", node, f"{quote(path.name)} is empty")
    return text.replace("\r\n", "\n").removesuffix("\n")


def read_data(path: Path, node: Node, faults: Faults) -> Json:
    """The value of a JSON file (by its suffix) or a YAML file; None, with a fault at `node`, if it has none."""
    inner = Faults(SourceFile(path.name))
    data: Json = None
    try:
        source = read_text(path, path.name)
        if path.suffix.lower() == ".json":
            data = read_json(source.text)
        elif (root := read_yaml(source)) is not None:
            inner = Faults(source)
            data = node_values.value(root, inner)
    except UnreadableFile as error:
        inner.append(error.fault)
    except ValueError as error:
        faults.add("bad-file", node, f"{quote(path.name)} is {error}")
        return None
    for fault in inner:
        where = fault.location
        faults.add("bad-file", node, f"{where.path}:{where.line}:{where.column}: {fault.message}", fault.hint)
    if data is None and not inner:
        faults.add("bad-file", node, f"{quote(path.name)} is empty")
    return None if inner else data
