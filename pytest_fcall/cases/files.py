"""Files that a case file names: messages, prompts, pictures, data."""

from __future__ import annotations

from pathlib import Path

from yaml import Node

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults, SourceFile, UnreadableFile, quoted
from pytest_fcall.cases.yaml.reader import MAX_BYTES, read_text, read_yaml
from pytest_fcall.core import Json
from pytest_fcall.core.json_reading import read_json


def display_path(path: Path, root: Path) -> str:
    """A path for messages: relative to the root folder if it is inside."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def find_file(node: Node, folder: Path, faults: Faults) -> Path | None:
    """The path of the file that a node names, relative to `folder`; None, with a fault, if there is none."""
    name = node_values.word(node, faults, "a path")
    if not name:
        return None
    try:
        path = (folder / name).resolve()
        if path.is_file():
            return path
    except (OSError, ValueError):
        pass
    hint = f"paths are relative to {quoted(folder.name or '.')}, the folder of this file"
    faults.add("missing-file", node, f"there is no file {quoted(name)}", hint)
    return None


def read_bytes(node: Node, folder: Path, faults: Faults) -> tuple[Path, bytes] | None:
    """The path and the content of the file that a node names; None, with a fault, if it cannot be read."""
    path = find_file(node, folder, faults)
    if path is None:
        return None
    try:
        if path.stat().st_size <= MAX_BYTES:
            return path, path.read_bytes()
    except OSError as error:
        faults.add("bad-file", node, f"{quoted(path.name)} cannot be read: {error.strerror}")
        return None
    faults.add("too-large", node, f"{quoted(path.name)} is larger than {MAX_BYTES // 2**20} MiB")
    return None


def read_string(node: Node, folder: Path, faults: Faults) -> str:
    """The text of a UTF-8 file that is not empty, without the line break at its end."""
    found = read_bytes(node, folder, faults)
    if found is None:
        return ""
    path, data = found
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        faults.add("bad-file", node, f"{quoted(path.name)} is not UTF-8", "save it as UTF-8")
        return ""
    if not text.strip():
        faults.add("bad-file", node, f"{quoted(path.name)} is empty")
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
        faults.add("bad-file", node, f"{quoted(path.name)} is {error}")
        return None
    for fault in inner:
        where = fault.location
        faults.add("bad-file", node, f"{where.path}:{where.line}:{where.column}: {fault.message}", fault.hint)
    if data is None and not inner:
        faults.add("bad-file", node, f"{quoted(path.name)} is empty")
    return None if inner else data
