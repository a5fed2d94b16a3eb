"""`fcall tools`: lock, list, lint and compare the tools of case files, and show their coverage."""

from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from pytest_fcall.cases.tool_coverage import Coverage, coverage
from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.project import Project, open_project
from pytest_fcall.cli.tools.compare import COMPARE_EXAMPLES, add_compare_options, compare_tools
from pytest_fcall.cli.tools.lint import LintOptions, lint_tools, rules_text, silenced_rule
from pytest_fcall.cli.tools.locks import diff_tools, lock_tools
from pytest_fcall.cli.tools.sources import ProblemList, SourceClient, readable_case_files
from pytest_fcall.core.case import Case
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.schema.lint.rules import RULES
from pytest_fcall.schema.traversal import parameter_path

_ACTIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "lock": (
            "ask agents, MCP servers and URLs for their tools, and write lock files",
            """\
examples:
  fcall tools lock                        all case files here
  fcall tools lock cases/shop.fc.yaml     write cases/shop.tools.lock.json

pytest reads only the lock files: it imports no agent, starts no server and needs no network. Commit them. They hold no
values of headers and environment variables; in the case file, write secrets as ${NAME}.
""",
        ),
        "diff": (
            "ask agents, MCP servers and URLs again, and show what changed since, and which cases are affected",
            "Exit codes: 1, a source changed; 10, none did, but one could not be asked.\n",
        ),
        "list": ("show the tools of case files", "Lock files answer for servers: nothing is started or asked.\n"),
        "coverage": (
            "show the tools, optional arguments and enum values that no case expects",
            "Exit codes: 1, coverage is not complete, or a file cannot be read.\n",
        ),
        "lint": (
            "find what makes tools hard to choose and to fill in",
            f"""\
examples:
  fcall tools lint                                  all case files here
  fcall tools lint shop.tools.yaml tools.json       files of tools
  fcall tools lint --only alike                     one rule
  fcall tools lint --without alike:'search_*'       without a rule, for all tools or for those of these names

{rules_text()}

Lock files answer for servers. Exit codes: 1, something was found, or a file cannot be read.
""",
        ),
        "compare": ("run the same cases with two versions of their tools, and compare the answers", COMPARE_EXAMPLES),
    }
)
"""The summary of each action, and what stands below its options."""
_ASKING = ("lock", "diff", "compare")
"""The actions that ask sources."""


def run(arguments: Sequence[str]) -> int:
    """Do one of the actions for all files."""
    parser = _parser()
    place = [*arguments].index("--") if "--" in arguments else len(arguments)
    for_pytest = arguments[place + 1 :]
    options = parser.parse_args(arguments[:place])
    if for_pytest and options.action != "compare":
        parser.error("options of pytest after -- can only be used with compare")
    project = open_project(parser, options.paths)
    match options.action:
        case "lock":
            return lock_tools(project, SourceClient(options.timeout, project.root))
        case "diff":
            return diff_tools(project, SourceClient(options.timeout, project.root))
        case "lint":
            return lint_tools(project, LintOptions(options.only, options.without, options.all, options.format))
        case "compare":
            return compare_tools(parser, project, options, for_pytest)
        case "coverage":
            return _show_coverage(project)
        case _:
            return list_tools(project)


def _parser() -> ArgumentParser:
    description = "Lock, list, lint and compare the tools of case files, and show their coverage."
    parser = command_parser("tools", description, "`fcall tools ACTION --help` shows the options of an action.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", title="actions")
    for name, (summary, epilog) in _ACTIONS.items():
        action = actions.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=epilog,
            formatter_class=parser.formatter_class,
            allow_abbrev=False,
        )
        action.add_argument("paths", nargs="*", metavar="PATH", help="case files and folders (default: this folder)")
        if name == "lint":
            _add_lint_options(action)
        if name == "compare":
            add_compare_options(action)
        if name in _ASKING:
            action.add_argument(
                "--timeout",
                type=_seconds,
                default=30.0,
                metavar="SECONDS",
                help="time limit for each source (default: 30)",
            )
    return parser


def _add_lint_options(action: ArgumentParser) -> None:
    action.add_argument(
        "--only", action="append", default=[], choices=RULES, metavar="RULE", help="check only this rule"
    )
    action.add_argument(
        "--without",
        action="append",
        default=[],
        type=silenced_rule,
        metavar="RULE[:TOOL]",
        help="leave a rule out, for all tools, or for those whose names match a glob",
    )
    action.add_argument("--all", action="store_true", help="check rules without a measured effect as well")
    action.add_argument("--format", choices=("text", "json"), default="text", help="the output format (default: text)")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds < float("inf"):
        raise ArgumentTypeError("must be a positive number")
    return seconds


def list_tools(project: Project) -> int:
    """Show the tools of each file; 1 where a file or one of its cases cannot be read."""
    problems = ProblemList(project)
    for file in readable_case_files(project, problems):
        tools = {tool.name: tool for case in file.entries if isinstance(case, Case) for tool in case.tools}
        print(f"{safe_line(project.relative(file.path))}: {plural_text(len(tools), 'tool')}")
        for tool in tools.values():
            for line in _tool_lines(tool):
                print(safe_line(line))
    problems.print()
    return 1 if problems.messages else 0


def _tool_lines(tool: Tool) -> Iterator[str]:
    yield f"  {tool.name}({', '.join(_argument_texts(tool))})"
    if description := tool.description.strip():
        yield f"      {description.splitlines()[0]}"
    if tool.source:
        yield f"      from {tool.source}"


def _argument_texts(tool: Tool) -> Iterator[str]:
    """The arguments with their types, required ones first."""
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
        case {"allOf": [only]}:
            return _type_text(only)
        case {"$ref": str(pointer)}:
            return pointer.rpartition("/")[2]
    return "any"


def _show_coverage(project: Project) -> int:
    """Show what no case expects; 1 where there is anything, or a file cannot be read."""
    problems = ProblemList(project)
    files = readable_case_files(project, problems)
    tools = coverage(case for file in files for case in file.entries if isinstance(case, Case))
    for tool in tools:
        for line in _coverage_lines(tool):
            print(safe_line(line))
    for line in _coverage_summary(tools):
        print(line)
    problems.print()
    incomplete = any(not tool.cases or tool.unnamed_arguments or tool.unnamed_values for tool in tools)
    return 1 if problems.messages or incomplete else 0


def _coverage_lines(found: Coverage) -> Iterator[str]:
    if not found.cases:
        yield f"{found.tool.name}: no case expects it"
        return
    left = [f"  {parameter_path(path)}: no case expects it" for path in found.unnamed_arguments]
    left += [
        f"  {parameter_path(path)}: no case expects {', '.join(values)}"
        for path, values in found.unnamed_values.items()
    ]
    if left:
        yield f"{found.tool.name}: expected by {plural_text(found.cases, 'case')}"
        yield from left


def _coverage_summary(found: Sequence[Coverage]) -> Iterator[str]:
    tools = sum(bool(each.cases) for each in found)
    optional = sum(len(each.optional) for each in found)
    arguments = optional - sum(len(each.unnamed_arguments) for each in found)
    values = sum(pair in each.named_values for each in found for pair in each.values)
    all_values = sum(len(each.values) for each in found)
    yield f"{tools} of {plural_text(len(found), 'tool')} expected"
    if optional:
        yield f"{arguments} of {plural_text(optional, 'optional argument')} expected"
    if all_values:
        yield f"{values} of {plural_text(all_values, 'enum value')} expected"
