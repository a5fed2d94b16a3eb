"""`fcall tools`: lock, compare, list and cover the tools of case files."""

from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Iterator, Mapping, Sequence

from pytest_fcall.cases.tool_coverage import Coverage, coverage
from pytest_fcall.cli.counting import count
from pytest_fcall.cli.project import Project, open_project
from pytest_fcall.cli.tools.locks import diff_tools, lock_tools
from pytest_fcall.cli.tools.sources import ProblemList, SourceClient, readable_case_files
from pytest_fcall.core import Case, Json, Tool
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.schema.traversal import Path


def list_tools(project: Project) -> int:
    """Show the tools of each file; 1 where a file, or a case of it, cannot be read."""
    problems = ProblemList()
    for found in readable_case_files(project, problems):
        tools = {tool.name: tool for case in found.entries if isinstance(case, Case) for tool in case.tools}
        print(f"{safe_line(project.shown(found.path))}: {count(len(tools), 'tool')}")
        for tool in tools.values():
            for line in _tool_lines(tool):
                print(safe_line(line))
    problems.tell()
    return 1 if problems.told else 0


def _tool_lines(tool: Tool) -> Iterator[str]:
    yield f"  {tool.name}({', '.join(_argument_texts(tool))})"
    if described := tool.description.strip():
        yield f"      {described.splitlines()[0]}"
    if tool.source:
        yield f"      from {tool.source}"


def _argument_texts(tool: Tool) -> Iterator[str]:
    """Those that must be given first."""
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    if not isinstance(properties, Mapping):
        return
    needed = required if isinstance(required, list | tuple) else ()
    for name in sorted(properties, key=lambda name: name not in needed):
        yield f"{name}{'' if name in needed else '?'}: {_type_text(properties[name])}"


def _type_text(schema: Json) -> str:
    match schema:
        case {"enum": list(values)}:
            return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
        case {"type": str(name)}:
            return name
        case {"type": list(names)}:
            return " | ".join(map(str, names))
        case {"anyOf": list(choices)} | {"oneOf": list(choices)}:
            return " | ".join(dict.fromkeys(map(_type_text, choices)))
    return "any"


def show_coverage(project: Project) -> int:
    """Tell of each tool what is not named; 1 where something is not, or a file cannot be read."""
    problems = ProblemList()
    files = readable_case_files(project, problems)
    found = coverage(case for file in files for case in file.entries if isinstance(case, Case))
    for each in found:
        for line in _coverage_lines(each):
            print(safe_line(line))
    for line in _coverage_summary(found):
        print(line)
    problems.tell()
    return (
        1
        if problems.told or any(not each.cases or each.unnamed_arguments or each.unnamed_values for each in found)
        else 0
    )


def _coverage_lines(found: Coverage) -> Iterator[str]:
    if not found.cases:
        yield f"{found.tool.name}: no case expects it"
        return
    left = [f"  {_path_text(path)}: no case names it" for path in found.unnamed_arguments]
    left += [
        f"  {_path_text(path)}: no case names {', '.join(values)}" for path, values in found.unnamed_values.items()
    ]
    if left:
        yield f"{found.tool.name}: expected by {count(found.cases, 'case')}"
        yield from left


def _coverage_summary(found: Sequence[Coverage]) -> Iterator[str]:
    named = sum(bool(each.cases) for each in found)
    optional = sum(len(each.optional) for each in found)
    arguments = optional - sum(len(each.unnamed_arguments) for each in found)
    told = sum(pair in each.named_values for each in found for pair in each.values)
    values = sum(len(each.values) for each in found)
    yield f"{named} of {count(len(found), 'tool')} expected"
    if optional:
        yield f"{arguments} of {count(optional, 'optional argument')} named"
    if values:
        yield f"{told} of {count(values, 'value')} of enums named"


def _path_text(path: Path) -> str:
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


_HELP = """\
actions:
  lock   ask MCP servers and addresses for their tools, and keep the answers beside the case files
  diff   ask again, and say what changed since then and which cases it touches
  list   show the tools that case files offer to the model
  coverage
         show the tools, optional arguments and values of enums that no case names

examples:
  fcall tools lock cases/shop.fc.yaml     write cases/shop.tools.lock.json
  fcall tools diff                        1 if any source changed, 10 if none did but one could not be asked
  fcall tools list cases/shop.fc.yaml
  fcall tools coverage cases              1 if there is something that no case names

pytest reads the lock files alone: it starts no server and needs no network. Commit them. They hold no values of
headers and environment variables; in the case file write secrets as ${NAME}.
"""


def run(arguments: Sequence[str]) -> int:
    """Do one of the actions for all files."""
    parser = _parser()
    options = parser.parse_args(arguments)
    project = open_project(parser, options.paths)
    match options.action:
        case "lock":
            return lock_tools(project, SourceClient(options.timeout))
        case "diff":
            return diff_tools(project, SourceClient(options.timeout))
        case "coverage":
            return show_coverage(project)
        case _:
            return list_tools(project)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall tools",
        description="Lock, compare, list and cover the tools of case files.",
        epilog=_HELP,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "action", choices=("lock", "diff", "list", "coverage"), metavar="ACTION", help="lock, diff, list or coverage"
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="case files and folders (default: this folder)")
    parser.add_argument(
        "--timeout", type=_seconds, default=30.0, metavar="SECONDS", help="patience with each source (default: 30)"
    )
    return parser


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds < float("inf"):
        raise ArgumentTypeError("must be a number above 0")
    return seconds
