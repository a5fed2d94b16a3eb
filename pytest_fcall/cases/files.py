"""Files that a case file names: threads, prompts, pictures."""

from __future__ import annotations

import json
from pathlib import Path

from yaml import Node

from pytest_fcall.cases import fields
from pytest_fcall.cases.faults import Faults, Source, UnreadableFile, shown
from pytest_fcall.cases.yaml_reader import MAX_BYTES, read_text, read_yaml
from pytest_fcall.core import Json


def find_file(node: Node, folder: Path, faults: Faults) -> Path | None:
    """The file that a node names, seen from `folder`."""
    name = fields.text(node, faults, "a path")
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


class Files:
    """Reads files once each. What cannot be read is a fault at the node that names it."""

    def __init__(self) -> None:
        self._read: dict[Path, bytes] = {}

    def binary(self, node: Node, folder: Path, faults: Faults) -> tuple[Path | None, bytes]:
        """A file's bytes, with its path; None where it cannot be read."""
        path = find_file(node, folder, faults)
        if path is None:
            return None, b""
        try:
            if path not in self._read:
                if path.stat().st_size > MAX_BYTES:
                    faults.add("too-large", node, f"{shown(path.name)} is larger than {MAX_BYTES // 2**20} MiB")
                    return None, b""
                self._read[path] = path.read_bytes()
        except OSError as error:
            faults.add("bad-file", node, f"{shown(path.name)} cannot be read: {error.strerror}")
            return None, b""
        return path, self._read[path]

    def text(self, node: Node, folder: Path, faults: Faults) -> str:
        """A text in UTF-8, with one line break at its end taken off."""
        path, data = self.binary(node, folder, faults)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            faults.add("bad-file", node, f"{shown(node.value)} is not UTF-8", "save it as UTF-8")
            return ""
        if path and not text.strip():
            faults.add("bad-file", node, f"{shown(node.value)} is empty")
        return text.replace("\r\n", "\n").removesuffix("\n")


def read_data(path: Path, node: Node, faults: Faults) -> Json:
    """The value of a JSON or YAML file, told apart by its name. What is wrong in it is a fault at `node`."""
    try:
        source = read_text(path, path.name)
        if path.suffix.lower() == ".json":
            data: Json = json.loads(source.text)
            return data
        inner = Faults(source)
        root = read_yaml(source)
        data = None if root is None else fields.value(root, inner)
    except UnreadableFile as error:
        inner = Faults(Source(path.name))
        inner.found.append(error.fault)
        data = None
    except (ValueError, RecursionError) as error:
        faults.add("bad-file", node, f"{shown(path.name)} is no JSON: {error}")
        return None
    for fault in inner.found:
        where = fault.location
        faults.add("bad-file", node, f"{where.path}:{where.line}:{where.column}: {fault.message}", fault.hint)
    return data
