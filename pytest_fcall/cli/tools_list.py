"""`fcall tools list`: what case files offer to the model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from pytest_fcall.cli.counting import count
from pytest_fcall.cli.project import Project
from pytest_fcall.cli.sourced import Problems, read_files
from pytest_fcall.core import Case, Json, Tool
from pytest_fcall.reporting import safe_line


def list_tools(project: Project) -> int:
    """Show the tools of each file; 1 where a file, or a case of it, cannot be read."""
    problems = Problems()
    for found in read_files(project, problems):
        tools = {tool.name: tool for case in found.entries if isinstance(case, Case) for tool in case.tools}
        print(f"{safe_line(project.shown(found.path))}: {count(len(tools), 'tool')}")
        for tool in tools.values():
            for line in _lines(tool):
                print(safe_line(line))
    problems.tell()
    return 1 if problems.told else 0


def _lines(tool: Tool) -> Iterator[str]:
    yield f"  {tool.name}({', '.join(_arguments(tool))})"
    if described := tool.description.strip():
        yield f"      {described.splitlines()[0]}"
    if tool.source:
        yield f"      from {tool.source}"


def _arguments(tool: Tool) -> Iterator[str]:
    """Those that must be given first."""
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    if not isinstance(properties, Mapping):
        return
    needed = required if isinstance(required, list | tuple) else ()
    for name in sorted(properties, key=lambda name: name not in needed):
        yield f"{name}{'' if name in needed else '?'}: {_type(properties[name])}"


def _type(schema: Json) -> str:
    match schema:
        case {"enum": list(values)}:
            return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
        case {"type": str(name)}:
            return name
        case {"type": list(names)}:
            return " | ".join(map(str, names))
        case {"anyOf": list(choices)} | {"oneOf": list(choices)}:
            return " | ".join(dict.fromkeys(map(_type, choices)))
    return "any"
