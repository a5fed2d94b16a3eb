"""`fcall tools lint`: what makes the tools of a catalogue hard to choose and to fill in."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pytest_fcall.cases.tool_coverage import coverage
from pytest_fcall.cli.project import Project
from pytest_fcall.cli.tools.sources import Catalogue, ProblemList, catalogues
from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.message_text import clauses, did_you_mean, plural_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.schema.lint.rules import RULES, ToolFinding, tool_findings
from pytest_fcall.schema.traversal import Path

_EFFECTS: Mapping[str, str] = {
    "fact": "a run would be refused",
    "measured": "models err more often",
    "unmeasured": "not measured",
    "none": "no effect measured",
}


class SilencedRule(NamedTuple):
    """A rule that is left out, and the glob of the tools that it is left out for."""

    rule: str
    tools: str


class LintOptions(NamedTuple):
    """The options of the command line."""

    only: Sequence[str]
    without: Sequence[SilencedRule]
    everything: bool
    format: str


def silenced_rule(text: str) -> SilencedRule:
    """The type of `--without`. Raises ArgumentTypeError."""
    rule, _, tools = text.partition(":")
    if rule not in RULES:
        raise ArgumentTypeError(clauses(f"no rule is called {rule!r}", did_you_mean(rule, RULES)))
    return SilencedRule(rule, tools or "*")


def rules_text() -> str:
    """The rules for `--help`, those that are not checked without being asked for in brackets."""
    width = max(map(len, RULES)) + 2
    lines = ["rules, and what answers of many models say of them (those in brackets only by --all or --only):"]
    for name, rule in RULES.items():
        shown = name if rule.is_default else f"[{name}]"
        lines.append(f"  {shown:{width}}  {rule.summary}: {_EFFECTS[rule.effect]}")
    return "\n".join(lines)


def lint_tools(project: Project, options: LintOptions) -> int:
    """Print the findings; 1 where there are any, or a file cannot be read."""
    problems = ProblemList(project)
    read = list(catalogues(project, problems))
    named = _named_arguments(read)
    found: dict[str, dict[ToolFinding, None]] = {}
    for each in read:
        of_file = found.setdefault(project.relative(each.path), {})  # each once, however many cases offer the tool
        for finding in tool_findings(each.tools, named if each.cases else None):
            if _is_wanted(finding, options):
                of_file[finding] = None
    tools = len({tool.name for each in read for tool in each.tools})
    number = sum(map(len, found.values()))
    if options.format == "json":
        print(json.dumps({"tools": tools, "findings": [*_json(found)]}, indent=2))
    else:
        for path, findings in found.items():
            for finding in findings:
                print("\n".join(map(safe_line, _lines(path, finding))))
        print(f"{plural_text(tools, 'tool')}: {plural_text(number, 'finding') if number else 'nothing found'}")
    if not (tools or problems.messages):
        problems.messages.append("no case offers a tool: nothing was checked")
    problems.print()
    return 1 if problems.messages or number else 0


def _named_arguments(read: Sequence[Catalogue]) -> dict[str, set[Path]]:
    named: dict[str, set[Path]] = {}
    for each in coverage(case for catalogue in read for case in catalogue.cases):
        named.setdefault(each.tool.name, set()).update(each.named_arguments)
    return named


def _is_wanted(finding: ToolFinding, options: LintOptions) -> bool:
    is_checked = options.everything or RULES[finding.rule].is_default
    wanted = finding.rule in options.only if options.only else is_checked
    return wanted and not any(
        each.rule == finding.rule and any(glob_matches(each.tools, name) for name in (finding.tool, finding.other))
        for each in options.without
    )


def _lines(path: str, finding: ToolFinding) -> Iterator[str]:
    where = ".".join(filter(None, (finding.tool, finding.argument)))
    yield f"{path}: {f'{where}: ' if where else ''}{finding.message} ({finding.rule})"
    yield f"  hint: {finding.hint}"


def _json(found: Mapping[str, Iterable[ToolFinding]]) -> Iterator[dict[str, str]]:
    for path, findings in found.items():
        for finding in findings:
            rule = RULES[finding.rule]
            yield {
                "path": path,
                "rule": finding.rule,
                "severity": rule.severity,
                "effect": rule.effect,
                "tool": finding.tool,
                "argument": finding.argument,
                "message": finding.message,
                "hint": finding.hint,
            }
