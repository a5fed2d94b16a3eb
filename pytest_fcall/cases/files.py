"""Files that a case file names: threads, prompts, pictures."""

from __future__ import annotations

import json
from pathlib import Path

from yaml import Node

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults, SourceFile, UnreadableFile, shown
from pytest_fcall.cases.yaml.reader import MAX_BYTES, read_text, read_yaml
from pytest_fcall.core import Json


def find_file(node: Node, folder: Path, faults: Faults) -> Path | None:
    """The file that a node names, seen from `folder`."""
    name = node_values.word(node, faults, "a path")
    if not name:
        return None
    try:
        path = (folder / name).resolve()
        if path.is_file():
            return path
    except (OSError, ValueError):
        pass
    hint = f"paths are seen from {shown(folder.name or '.')}, the folder of this file"
    faults.add("missing-file", node, f"there is no file {shown(name)}", hint)
    return None


def read_bytes(node: Node, folder: Path, faults: Faults) -> tuple[Path, bytes] | None:
    """The file that a node names and what stands in it; None where it cannot be read."""
    path = find_file(node, folder, faults)
    if path is None:
        return None
    try:
        if path.stat().st_size <= MAX_BYTES:
            return path, path.read_bytes()
    except OSError as error:
        faults.add("bad-file", node, f"{shown(path.name)} cannot be read: {error.strerror}")
        return None
    faults.add("too-large", node, f"{shown(path.name)} is larger than {MAX_BYTES // 2**20} MiB")
    return None


def read_words(node: Node, folder: Path, faults: Faults) -> str:
    """A text in UTF-8 that is not empty, with one line break at its end taken off."""
    found = read_bytes(node, folder, faults)
    if found is None:
        return ""
    path, data = found
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        faults.add("bad-file", node, f"{shown(path.name)} is not UTF-8", "save it as UTF-8")
        return ""
    if not text.strip():
        faults.add("bad-file", node, f"{shown(path.name)} is empty")
    return text.replace("\r\n", "\n").removesuffix("\n")


def read_data(path: Path, node: Node, faults: Faults) -> Json:
    """The value of a JSON or YAML file, told apart by its name. None, with a fault at `node`, where there is none."""
    inner = Faults(SourceFile(path.name))
    data: Json = None
    try:
        source = read_text(path, path.name)
        if path.suffix.lower() == ".json":
            data = json.loads(source.text)
        elif (root := read_yaml(source)) is not None:
            inner = Faults(source)
            data = node_values.value(root, inner)
    except UnreadableFile as error:
        inner.found.append(error.fault)
    except (ValueError, RecursionError) as error:
        faults.add("bad-file", node, f"{shown(path.name)} is no JSON: {error}")
        return None
    for fault in inner.found:
        where = fault.location
        faults.add("bad-file", node, f"{where.path}:{where.line}:{where.column}: {fault.message}", fault.hint)
    if data is None and not inner.found:
        faults.add("bad-file", node, f"{shown(path.name)} is empty")
    return None if inner.found else data
