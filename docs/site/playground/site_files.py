"""The files beside the playground's page: Python for browsers, the archive that it unpacks, and the examples."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from playground.archive import HERE, write_archive
from pytest_fcall.decoding.decoders import DECODERS

PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
_LEFT_OUT = ("api_blend_", "bfcl", "gorilla", "nestful", "toolbench")
"""Formats of benchmarks."""


def write_site_files(folder: Path, installed: Path) -> None:
    """Write them into `folder`. `installed` is where npm has put Pyodide."""
    source = installed / "node_modules" / "pyodide"
    if not source.is_dir():
        raise FileNotFoundError(f"{source} is missing: run `make {installed.name}/.ready`, which needs npm")
    (folder / "pyodide").mkdir(parents=True, exist_ok=True)
    for name in PYODIDE:
        shutil.copyfile(source / name, folder / "pyodide" / name)
    write_archive(folder / "playground.zip")
    shown = {"examples": examples(), "decoders": [name for name in DECODERS if not name.startswith(_LEFT_OUT)]}
    (folder / "examples.js").write_text(f"globalThis.playgroundExamples = {json.dumps(shown)};\n", "utf-8")


def examples() -> list[dict[str, str]]:
    """The examples. The title of each is the comment in its first line."""
    found = []
    for path in sorted((HERE / "examples").glob("*.fc.yaml")):
        text = path.read_text("utf-8")
        reply = path.with_name(path.name.replace(".fc.yaml", ".reply.txt")).read_text("utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        found.append({"title": title, "cases": text, "reply": reply, "form": ""})
    return found
