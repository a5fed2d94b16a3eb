"""All that users write or call by name, a line each: what is in the list of a version must stay."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest_fcall
from pytest_fcall import hookspecs
from tests.integration.command import fcall_here, run_pytest
from tests.pages import ROOT

NAMES = "public.txt"


def public_names() -> list[str]:
    """The public names of this version, sorted."""
    of_python = {*_of_python(), *_of_pages(), *_of_hooks()}
    return sorted({*of_python, *_of_pytest(), *_of_commands(), *_of_case_files(), *_of_run_files()})


def _of_python() -> Iterator[str]:
    for name in vars(pytest_fcall)["__all__"]:
        value = getattr(pytest_fcall, name)
        yield f"python {name}"
        if not (inspect.isclass(value) and issubclass(value, Exception)):
            yield from _parameters(f"python {name}", value)
        if inspect.isclass(value):
            for member, found in _own_members(value).items():
                if not member.startswith("_"):
                    yield f"python {name}.{member}"
                    if inspect.isfunction(found):
                        yield from _parameters(f"python {name}.{member}", found)


_IMPORT = re.compile(r"^from (pytest_fcall\.[\w.]+) import (.+)$|`(pytest_fcall\.[\w.]+)\.(\w+)\(", re.MULTILINE)


def _of_pages() -> Iterator[str]:
    """What the documentation imports from modules inside the package."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for imported, names, called, function in _IMPORT.findall(page.read_text("utf-8")):
            for name in names.split(", ") if names else [function]:
                getattr(import_module(imported or called), name)
                yield f"python {imported or called}.{name}"


def _own_members(of: type) -> dict[str, object]:
    """The members that classes of ours define."""
    ours = (each for each in reversed(of.__mro__) if each.__module__.startswith("pytest_fcall"))
    return {name: value for each in ours for name, value in vars(each).items()}


def _parameters(name: str, value: Callable[..., object]) -> Iterator[str]:
    """Parameters by name; of those with a default it counts that they may be left out."""
    for parameter in inspect.signature(value).parameters.values():
        if parameter.name != "self":
            optional = " may be left out" if parameter.default is not parameter.empty else ""
            yield f"{name}({parameter.name}){optional}"


def _of_hooks() -> Iterator[str]:
    for name, hook in inspect.getmembers(hookspecs, inspect.isfunction):
        if name.startswith("pytest_fcall_"):
            yield from (f"hook {name}({parameter})" for parameter in inspect.signature(hook).parameters)


def _of_pytest() -> Iterator[str]:
    with TemporaryDirectory() as folder:
        said = run_pytest(Path(folder), "--help", COLUMNS="200").stdout
        fixtures = run_pytest(Path(folder), "--fixtures", "-q").stdout
    for line in said.splitlines():
        words = line.strip().split()
        if words and words[0].startswith("--fc-"):
            yield f"option {words[0].partition('=')[0].rstrip(',')}"
        elif words and words[0].startswith("fc_"):
            yield f"setting {words[0]}"
    yield from (f"fixture {line.split()[0]}" for line in fixtures.splitlines() if line.startswith("fc_"))


def _of_commands() -> Iterator[str]:
    from pytest_fcall.cli import COMMANDS

    for command in COMMANDS:
        yield f"command {command}"
        said = fcall_here(ROOT, command, "--help", COLUMNS="200").stdout
        for line in said.splitlines():
            if line.strip().startswith("-"):
                words = (word.strip(",") for word in line.split("  ")[1].split() if word.startswith("-"))
                yield from (f"command {command} {word.partition('=')[0]}" for word in words)


def _of_case_files() -> Iterator[str]:
    yield from (f"case file {path}" for path in _keys(_schema()))


def _of_run_files() -> Iterator[str]:
    yield from (f"run file {path}" for path in _keys(_schema("run")))


def _schema(*arguments: str) -> Any:
    return json.loads(fcall_here(ROOT, "schema", *arguments).stdout)


def _keys(schema: Any, definition: str = "") -> Iterator[str]:
    """The keys and the listed values in a JSON Schema, each behind the definition that it stands in."""
    if isinstance(schema, list):
        for each in schema:
            yield from _keys(each, definition)
    if not isinstance(schema, Mapping):
        return
    for name, inner in schema.get("$defs", {}).items():
        yield from _keys(inner, name)
    for name, inner in schema.get("properties", {}).items():
        place = f"{definition}.{name}" if definition else name
        yield place
        yield from _keys(inner, place)
    for value in schema.get("enum", ()):
        yield f"{definition} = {json.dumps(value)}"
    for name, inner in schema.items():
        if name not in ("$defs", "properties", "enum", "default", "examples", "const"):
            yield from _keys(inner, definition)
