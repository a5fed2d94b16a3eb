"""ToolBench (SambaNova's) as a suite: eight tasks, in which a model writes a program, a command or steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from pytest_fcall.core.case import Case, Condition, Turn, World
from pytest_fcall.core.extension import About, Figure, Part, figure_of
from pytest_fcall.core.fault import FaultyCase
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_files import BrokenRow
from pytest_fcall.suites.toolbench.files import HOW_TO_GET_IT, TASKS, Row, Task, TaskFiles, task_versions
from pytest_fcall.suites.toolbench.judge import ToolBenchJudge, bad_row_fault
from pytest_fcall.suites.toolbench.outcomes import OUTCOMES_FILE, CarryOut, recorded_outcomes, requested_call
from pytest_fcall.suites.toolbench.prompt import STOP_TEXTS, Prompts
from pytest_fcall.suites.toolbench.score import right_answers

_SHOP_STEPS: Final = 25
_TEXT: Final[Json] = {"type": "string"}
_SHOP_TOOLS: Final = (
    Tool("look", "Shows the page."),
    Tool("search", "Searches the shop.", {"type": "object", "properties": {"words": _TEXT}, "required": ["words"]}),
    Tool("click", "Clicks on what is named.", {"type": "object", "properties": {"on": _TEXT}, "required": ["on"]}),
)


@dataclass(frozen=True)
class ToolBenchSuite:
    """The tasks whose folders are there.

    `carry` are functions that carry answers out, by task, where that takes services, sheets or a simulation; they run
    in this process, and what they are given a model wrote. `shop` is the environment of web_shop, as `module:callable`.
    """

    carry: Mapping[str, CarryOut] = field(default_factory=dict)
    shop: str | None = None

    def about(self, path: Path | None) -> About:
        """Tell what there is."""
        found = task_versions(path)
        parts = [
            Part(_part(task, version), sum(1 for _ in files.rows), note=_note(TASKS[task]))
            for task, own in found.items()
            for version, files in own.items()
        ]
        return About(
            title="ToolBench (SambaNova)",
            licence="code: Apache-2.0",
            origin=HOW_TO_GET_IT,
            place=str(path) if found else None,
            parts=tuple(parts or [Part(task.name, note=_note(task)) for task in TASKS.values()]),
        )

    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Read the cases of `TASK` or `TASK_VERSION`, or of all that is there."""
        if path is None:
            raise ValueError(f"the data of the suite toolbench is in no package: {HOW_TO_GET_IT}")
        found = task_versions(path)
        wanted = [
            (TASKS[task], version, files)
            for task, own in found.items()
            for version, files in own.items()
            if part in ("", task, _part(task, version))
        ]
        if not wanted:
            known = f"there is {', '.join(found)}" if found else HOW_TO_GET_IT
            raise ValueError(f"there is no task {part or 'of ToolBench'} in {path}: {known}")
        for task, version, files in wanted:
            yield from self._read(task, version, files)

    def plain(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """The same cases for a case file, as far as nothing must be carried out elsewhere: `$toolbench` judges them."""
        for case in self.cases(part, path):
            judge = case.judge if isinstance(case, Case) else None
            if not isinstance(case, Case) or not isinstance(judge, ToolBenchJudge) or judge.task.needs:
                yield case
                continue
            if fault := judge.fault():
                yield FaultyCase(case.id, case.location, (fault,))
                continue
            operand: dict[str, Pattern] = {"task": judge.task.name, "labels": list(judge.labels)}
            turn = replace(case.turns[0], answer=Operator("toolbench", operand))
            yield replace(case, judge=None, turns=(turn,))

    def scores(self, case: Case) -> Mapping[str, Sequence[str]]:
        """The scores of the case's task."""
        task = next((task for task in TASKS.values() if case.category.startswith(task.name)), None)
        return {case.category: task.scores} if task else {}

    def figures(self, tallies: Mapping[str, tuple[int, int]]) -> Sequence[Figure]:
        """The success rate of each task."""
        return [figure_of("success", [tally], name) for name, tally in tallies.items()]

    def figure_names(self) -> Sequence[str]:
        """There is one."""
        return ("success",)

    def _read(self, task: Task, version: str, files: TaskFiles) -> Iterator[Case | FaultyCase]:
        part = _part(task.name, version)
        carry = self.carry.get(task.name) or recorded_outcomes(files.folder, _answer_key(task))
        reader = _Reader(task, part, files, carry, self.shop)
        for row in files.rows:
            yield reader.case(row)


@dataclass(frozen=True)
class _Reader:
    """Reads the rows of one task."""

    task: Task
    part: str
    files: TaskFiles
    carry: CarryOut | None
    shop: str | None

    @cached_property
    def prompts(self) -> Prompts:
        return Prompts(self.task, self.files)

    def case(self, row: Row) -> Case | FaultyCase:
        """The case of a row; a broken row is a case with a fault."""
        id_ = f"{self.part}_{row.number}"
        try:
            if row.fault:
                return _faulty(id_, row, row.fault)
            return self._visit(id_, row) if self.task.kind == "shop" else self._case(id_, row)
        except BrokenRow as error:
            return _faulty(id_, row, str(error))

    def _case(self, id_: str, row: Row) -> Case:
        data = {**row.data, "case": row.number}
        scene = self.task.kind == "scene"
        query, labels = (
            (_instruction_field(data), ["(a scene)"])
            if scene
            else (_prompt_field(data), right_answers(data, "completion"))
        )
        judge = ToolBenchJudge(self.task, data, labels, self.files.actions, row.place, self.carry)
        here = not self.task.needs or self.carry is not None or data.get("compare_string_only") is True
        return Case(
            id=id_,
            location=row.place,
            turns=(Turn(({"role": "user", "content": self.prompts.prompt(query)},), answer=labels[0]),),
            category=self.part,
            tags=("toolbench",),
            skip=() if here else (Condition(_missing(self.task)),),
            settings={"temperature": 0, "max_tokens": self.task.max_tokens, "stop": [*STOP_TEXTS]},
            tools_in_messages=True,
            judge=judge,
        )

    def _visit(self, id_: str, row: Row) -> Case:
        session = row.data.get("id")
        if not isinstance(session, str | int):
            raise BrokenRow("it needs an `id`")
        told = "Look at the page of the shop, do as it says, and buy what suits best. Stop when it is bought."
        world = World(environment=self.shop, setup={"id": session}, max_steps=_SHOP_STEPS)
        return Case(
            id=id_,
            location=row.place,
            turns=(
                Turn(({"role": "user", "content": told},), state={"done": True, "reward": Operator("ignore", True)}),
            ),
            tools=_SHOP_TOOLS,
            category=self.part,
            tags=("toolbench",),
            skip=() if self.shop else (Condition(_missing(self.task)),),
            settings={"temperature": 0},
            world=world,
            mode="conversation",
        )


def _part(task: str, version: str) -> str:
    return f"{task}_{version}" if version else task


def _note(task: Task) -> str:
    if not task.needs:
        return ""
    return (
        f"takes {task.needs}"
        if task.kind == "shop"
        else f"takes {task.needs}, or {OUTCOMES_FILE} with what answers give"
    )


def _missing(task: Task) -> str:
    how = (
        "hand the suite an environment"
        if task.kind == "shop"
        else f"put what answers give into {OUTCOMES_FILE}, or hand the suite a function that carries them out"
    )
    return f"{task.name} takes {task.needs}: {how} (docs: Suites, ToolBench)"


def _answer_key(task: Task) -> Callable[[str], str]:
    """Answers of the same name come to the same."""
    return (lambda answer: str(requested_call(task.name, answer))) if task.kind == "request" else str.strip


def _prompt_field(data: Mapping[str, Json]) -> str:
    if isinstance(text := data.get("prompt"), str) and text.strip():
        return text.strip()
    raise BrokenRow("it needs a `prompt`")


def _instruction_field(data: Mapping[str, Json]) -> str:
    match data.get("configs"):
        case {"instruction": str(text)} if text.strip():
            return text.strip()
    raise BrokenRow("it needs `configs` with an `instruction`")


def _faulty(id_: str, row: Row, why: str) -> FaultyCase:
    return FaultyCase(id_, row.place, (bad_row_fault(row.place, why),))
