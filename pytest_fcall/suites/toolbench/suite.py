"""ToolBench (SambaNova) as a suite: eight tasks, in which a model writes a program, a command or steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.case import Case, Condition, FaultyCase, Turn
from pytest_fcall.core.conversation import ConversationSettings
from pytest_fcall.core.extension import About, Figure, Part, figure_of
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_files import BrokenRow, FileRow, broken_case, required_path, text_field
from pytest_fcall.suites.toolbench.documents import RANKINGS_FILE, Documents, Rankings, TaskPrompts, read_rankings
from pytest_fcall.suites.toolbench.files import HOW_TO_GET_IT, TASKS, TaskFiles, ToolBenchTask, task_versions
from pytest_fcall.suites.toolbench.judge import STOP_TEXTS, ToolBenchJudge, right_answers
from pytest_fcall.suites.toolbench.outcomes import (
    OUTCOMES_FILE,
    CarryOut,
    recorded_outcomes,
    recorded_visits,
    requested_call,
)

_DENSE: Final = "_dense"
_SHOP_STEPS: Final = 25
_RECORDED_SHOP: Final = "pytest_fcall.suites.toolbench.recorded_shop:RecordedShop"
_SHOP_PROMPT: Final = "Look at the page of the shop, do as it says, and buy what suits best. Stop when it is bought."
_TEXT: Final[Json] = {"type": "string"}
_SHOP_TOOLS: Final = (
    Tool("look", "Shows the page."),
    Tool("search", "Searches the shop.", {"type": "object", "properties": {"words": _TEXT}, "required": ["words"]}),
    Tool("click", "Clicks on what is named.", {"type": "object", "properties": {"on": _TEXT}, "required": ["on"]}),
)


@dataclass(frozen=True)
class ToolBenchSuite:
    """The tasks whose folders exist.

    `carry` has functions by task, which execute answers that need services, sheets or a simulation. They run in this
    process, on text that a model wrote. `shop` is the environment of web_shop, as `module:callable`. `documents` are
    the numbers of documents in prompts, by globs of tasks, in place of the original's.
    """

    carry: Mapping[str, CarryOut] = field(default_factory=dict)
    shop: str | None = None
    documents: Mapping[str, Documents] = field(default_factory=dict)

    def about(self, path: Path | None) -> About:
        """Return the parts and the origin of the data."""
        found = task_versions(path)
        parts = [
            Part(_part(task, version), files.count_rows(), note=_note(TASKS[task]))
            for task, own in found.items()
            for version, files in own.items()
        ]
        parts += [
            Part(f"{_part(task, version)}{_DENSE}", files.count_rows(), note="documents by embeddings")
            for task, own in found.items()
            for version, files in own.items()
            if (files.folder / RANKINGS_FILE).is_file()
        ]
        return About(
            title="ToolBench (SambaNova)",
            licence="code: Apache-2.0",
            origin=HOW_TO_GET_IT,
            place=str(path) if found else None,
            parts=tuple(parts or [Part(task.name, note=_note(task)) for task in TASKS.values()]),
        )

    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Yield the cases of `TASK` or `TASK_VERSION`, or of all tasks; `TASK_dense` has documents by embeddings."""
        folder = required_path(path, "toolbench", HOW_TO_GET_IT)
        found = task_versions(folder)
        part, ranked = part.removesuffix(_DENSE), part.endswith(_DENSE)
        wanted = [
            (TASKS[task], version, files)
            for task, own in found.items()
            for version, files in own.items()
            if part in ("", task, _part(task, version))
        ]
        if not wanted:
            available = f"available: {', '.join(found)}" if found else HOW_TO_GET_IT
            raise ValueError(f"no task {part or 'of ToolBench'} in {folder}; {available}")
        for task, version, files in wanted:
            carry_out = self.carry.get(task.name) or recorded_outcomes(files.folder, _answer_key(task))
            name = f"{_part(task.name, version)}{_DENSE if ranked else ''}"
            reader = _Reader(task, name, files, carry_out, self.shop, self._documents(task))
            if ranked:
                reader = replace(reader, dense=read_rankings(files.folder))
            yield from map(reader.case, files.rows)

    def plain(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Yield the cases for case files. `$toolbench` judges answers to tasks that need nothing else."""
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

    def _documents(self, task: ToolBenchTask) -> Documents:
        """The numbers of documents in the prompts of a task, by the first glob that fits."""
        own = (each for glob, each in self.documents.items() if glob_matches(glob, task.name))
        return next(own, Documents(task.apis, task.examples))

    def scores(self, case: Case) -> Mapping[str, Sequence[str]]:
        """Return the scores of the case's task."""
        task = next((task for task in TASKS.values() if case.category.startswith(task.name)), None)
        return {case.category: task.scores} if task else {}

    def figures(self, tallies: Mapping[str, tuple[int, int]]) -> Sequence[Figure]:
        """Return the success rate of each task."""
        return [figure_of("success", [tally], name) for name, tally in tallies.items()]

    def figure_names(self) -> Sequence[str]:
        """Return the name of the success rate."""
        return ("success",)


@dataclass(frozen=True)
class _Reader:
    """Reads the rows of one task."""

    task: ToolBenchTask
    part: str
    files: TaskFiles
    carry_out: CarryOut | None
    shop: str | None
    documents: Documents
    dense: Rankings | None = None

    @cached_property
    def visits(self) -> Mapping[int | None, Mapping[str, Json]]:
        """The pages of the shop, as far as they are recorded."""
        return recorded_visits(self.files.folder)

    @cached_property
    def prompts(self) -> TaskPrompts:
        return TaskPrompts(self.task, self.files, self.documents, self.dense)

    def case(self, row: FileRow) -> Case | FaultyCase:
        """Return the case of a row, or a faulty one."""
        id_ = f"{self.part}_{row.location.line}"
        try:
            return (self._shop_case if self.task.kind == "shop" else self._case)(id_, row)
        except BrokenRow as error:
            return broken_case(id_, row.location, str(error))

    def _case(self, id_: str, row: FileRow) -> Case:
        data = {**row.record, "case": row.location.line}
        query, labels = (
            (_instruction_field(data), ["(a scene)"])
            if self.task.kind == "scene"
            else (text_field(data, "prompt"), right_answers(data, "completion"))
        )
        judge = ToolBenchJudge(self.task, data, labels, self.files.actions, row.location, self.carry_out)
        judged = not self.task.needs or self.carry_out is not None or data.get("compare_string_only") is True
        return Case(
            id=id_,
            location=row.location,
            turns=(Turn(({"role": "user", "content": self.prompts.prompt(query)},), answer=labels[0]),),
            category=self.part,
            tags=("toolbench",),
            skip=() if judged else (Condition(_missing(self.task)),),
            proposed_settings={"temperature": 0, "max_tokens": self.task.max_tokens, "stop": [*STOP_TEXTS]},
            tools_in_messages=True,
            judge=judge,
        )

    def _shop_case(self, id_: str, row: FileRow) -> Case:
        session = row.record.get("id")
        if not isinstance(session, str | int):
            raise BrokenRow("`id` must be a string or an integer")
        bought: dict[str, Pattern] = {"done": True, "reward": Operator("ignore", True)}
        visits = {**self.visits.get(None, {}), **self.visits.get(row.location.line, {})}
        shop, setup = (self.shop, {}) if self.shop or not visits else (_RECORDED_SHOP, {"visits": visits})
        return Case(
            id=id_,
            location=row.location,
            turns=(Turn(({"role": "user", "content": _SHOP_PROMPT},), state=bought),),
            tools=_SHOP_TOOLS,
            category=self.part,
            tags=("toolbench",),
            skip=() if shop else (Condition(_missing(self.task)),),
            proposed_settings={"temperature": 0},
            conversation=ConversationSettings(environment=shop, setup={"id": session, **setup}, max_steps=_SHOP_STEPS),
            mode="conversation",
        )


def _part(task: str, version: str) -> str:
    return f"{task}_{version}" if version else task


def _note(task: ToolBenchTask) -> str:
    return f"needs {task.needs}, or {OUTCOMES_FILE} with the outcomes of answers" if task.needs else ""


def _missing(task: ToolBenchTask) -> str:
    own = "an environment" if task.kind == "shop" else "a function that executes answers"
    how = f"put the outcomes of answers into {OUTCOMES_FILE}, or give the suite {own}"
    return f"{task.name} needs {task.needs}: {how} (docs: Suites, ToolBench)"


def _answer_key(task: ToolBenchTask) -> Callable[[str], str]:
    """The key of an answer among recorded outcomes; answers with one key have the same outcome."""
    return (lambda answer: str(requested_call(task.name, answer))) if task.kind == "request" else str.strip


def _instruction_field(data: Mapping[str, Json]) -> str:
    match data.get("configs"):
        case {"instruction": str(text)} if text.strip():
            return text.strip()
    raise BrokenRow("`configs` must be an object with an `instruction`")
