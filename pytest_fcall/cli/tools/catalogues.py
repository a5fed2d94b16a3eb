"""Case files, and files of tools, read for the tools that are offered together."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_fcall.cases.case_file import read_case_file, read_case_text
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.files import anywhere
from pytest_fcall.cases.yaml.flow_style import write_flow
from pytest_fcall.cli.project import Project
from pytest_fcall.cli.tools.sources import ProblemList
from pytest_fcall.core import Case, Tool


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Tools that are offered together, and the cases that offer them."""

    path: Path
    """The file that names them."""
    tools: tuple[Tool, ...]
    cases: tuple[Case, ...]
    """Empty where the file holds tools alone."""


def catalogues(project: Project, problems: ProblemList) -> Iterator[Catalogue]:
    """The catalogues of each file that can be read. Its faults are added to the problems."""
    for path in project.files:
        is_case_file = not is_tools_file(path)
        try:
            if is_case_file:
                file = read_case_file(path, root=project.root, outside=anywhere(path))
            else:
                text = f"{tools_line(path, path.parent)}\ncases:\n  - {{id: tools, prompt: any, expect: no_call}}\n"
                beside = path.with_name(f"{path.name}.fc.yaml")  # a file cannot include itself
                file = read_case_text(text, beside, root=project.root, outside=anywhere(path))
        except UnreadableFile as unreadable:
            if project.is_meant_as_cases(path, unreadable.fault):
                problems.add_fault(unreadable.fault)
            continue
        for fault in file.faults:
            problems.add_fault(fault)
        offered: dict[tuple[str, ...], tuple[tuple[Tool, ...], list[Case]]] = {}
        for case in file.entries:
            if isinstance(case, Case):
                names = tuple(tool.name for tool in case.tools)
                offered.setdefault(names, (tuple(case.tools), []))[1].append(case)
        for tools, cases in offered.values():
            yield Catalogue(path, tools, tuple(cases) if is_case_file else ())


def is_tools_file(path: Path) -> bool:
    """Whether the file holds tools alone."""
    return path.name.endswith((".tools.yaml", ".tools.yml", ".json"))


def tools_line(path: Path, folder: Path) -> str:
    """The line by which a case file in `folder` takes the tools of this file."""
    name = write_flow(Path(os.path.relpath(path, folder)).as_posix())
    return f"tools: [{{file: {name}}}]" if path.suffix == ".json" else f"include: {name}"
