"""The Mannheim function calling benchmark as a suite: questions that are answered by functions over tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import Final

from pytest_fcall.conversation.score_formulas import ExpectedPath, closest_path
from pytest_fcall.core.case import Case, FaultyCase, Location, Turn
from pytest_fcall.core.conversation import ConversationSettings
from pytest_fcall.core.expectation import Expectation, ExpectedCall
from pytest_fcall.core.extension import About, Figure, Measured, Part, Table, figure_of
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.reply import Call, Calls, Reply
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, Verdict
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.tool_data import tool_from_data
from pytest_fcall.suites.json_files import BrokenRow, broken_case
from pytest_fcall.suites.mannheim.errors import error_classes
from pytest_fcall.suites.mannheim.files import (
    HOW_TO_GET_IT,
    PUBLISHED_PARTS,
    Files,
    MannheimQuestion,
    QuestionSet,
    Repairs,
    find_folder,
    parse_question,
    read_files,
)
from pytest_fcall.suites.mannheim.score import MannheimScore, score_answer
from pytest_fcall.suites.mannheim.tables import OVERALL, PHASES, SCORES, Accuracies, category_name, phase_name, tables

_SYSTEM: Final = "You are a helpful assistant. Answer briefly."
"""The line of all published configurations."""
_MAX_STEPS: Final = 10


class MannheimSuite:
    """The published runs as parts, each a set of questions with a set of functions."""

    def about(self, path: Path | None) -> About:
        """Return the parts, the origin of the data, and the repairs of its faults."""
        folder = find_folder(path)
        parts = read_files(path).parts if folder else {}
        listed = [Part(name, len(part.questions)) for name, part in parts.items()] or [
            Part(name) for name in PUBLISHED_PARTS
        ]
        return About(
            title="Mannheim function calling benchmark",
            licence="Apache-2.0 by its own account",
            origin=HOW_TO_GET_IT,
            place=str(folder) if folder else None,
            parts=tuple(listed),
            mended=tuple(self.repairs(path)) if folder else (),
        )

    def repairs(self, path: Path | None) -> Iterator[str]:
        """Yield a line for every repair of the data."""
        files = read_files(path)
        for name, part in files.parts.items():
            reader = _Reader(part, files, path)
            for _ in reader.cases():
                pass
            yield from (f"{name}: {line}" for line in reader.repairs.log)

    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Yield the cases of a part, or of all parts."""
        files = read_files(path)
        if part and part not in files.parts:
            raise ValueError(f"no part {part!r} in suite mannheim; available: {', '.join(files.parts)}")
        for name in [part] if part else files.parts:
            yield from _Reader(files.parts[name], files, path).cases()

    def plain(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Yield the cases for case files, judged by their expectations alone."""
        for case in self.cases(part, path):
            yield replace(case, judge=None) if isinstance(case, Case) else case

    def scores(self, case: Case) -> Mapping[str, Sequence[str]]:
        """Return the three accuracies for the suite, the part and its category, and for both over the two domains."""
        part, _, category = case.category.partition("/")
        phase = phase_name(part)
        return dict.fromkeys(("mannheim", part, case.category, phase, f"{phase}/{category}"), SCORES)

    def tables(self, measured: Sequence[Measured]) -> Iterator[Table]:
        """Yield the publication's tables of the phases that were asked."""
        by_tag: dict[str, dict[str, Measured]] = {}
        for each in measured:
            by_tag.setdefault(each.tag, {})[each.score] = each
        found: dict[tuple[str, str], Accuracies] = {}
        for tag, scored in by_tag.items():
            phase, _, category = tag.partition("/")
            if phase in PHASES and scored.keys() >= set(SCORES):
                shares = [scored[score].value for score in SCORES]
                found[phase, category or OVERALL] = Accuracies(scored["answer_accuracy"].cases, shares)
        yield from tables(found)

    def figures(self, tallies: Mapping[str, tuple[int, int]]) -> Sequence[Figure]:
        """Return the share of wholly right questions of each part: functions, parameters and answer."""
        parts = dict.fromkeys(category.partition("/")[0] for category in tallies)
        return [
            figure_of("all_right", [tallies[each] for each in tallies if each.partition("/")[0] == part], part)
            for part in parts
        ]

    def figure_names(self) -> Sequence[str]:
        """Return the name of the share of wholly right questions."""
        return ("all_right",)


class _Reader:
    """Reads the questions of one part. Its cases share tools."""

    def __init__(self, part: QuestionSet, files: Files, path: Path | None) -> None:
        self._part = part
        self._location = Location(str(files.questions_path))
        self._conversation = ConversationSettings(
            environment="pytest_fcall.suites.mannheim.world:make",
            setup={"folder": str(Path(path or "").absolute()), "domain": part.domain},
            max_steps=_MAX_STEPS,
            reuse_results="always",
        )
        try:
            self.repairs = Repairs.of([tool_from_data(_stripped(each)) for each in part.functions])
        except SchemaError as error:
            raise ValueError(f"invalid functions in the part {part.name}: {error}") from None

    def cases(self) -> Iterator[Case | FaultyCase]:
        """Yield all cases. They get their tools at the end, since each may add one."""
        read = [self._read(number, row) for number, row in enumerate(self._part.questions, 1)]
        tools = tuple(self.repairs.tools.values())
        for case in read:
            yield replace(case, tools=tools) if isinstance(case, Case) else case

    def _read(self, number: int, row: Json) -> Case | FaultyCase:
        try:
            return self._case(parse_question(row))
        except BrokenRow as error:
            return broken_case(f"{self._part.name}_{number}", self._location, f"question {number}: {error}")

    def _case(self, question: MannheimQuestion) -> Case:
        repaired = [[self.repairs.repaired(question.id, call) for call in path] for path in question.paths]
        paths = [[call for call, _ in path] for path in repaired]
        alternatives = [self._expectation(path) for path in repaired]
        expect = alternatives[0] if len(alternatives) == 1 else Expectation("any_of", alternatives=tuple(alternatives))
        category = category_name(question.category)
        messages = ({"role": "system", "content": _SYSTEM}, {"role": "user", "content": question.text})
        return Case(
            id=f"{self._part.name}_{question.id}",
            location=self._location,
            turns=(Turn(messages, expect, answer=_answer(question)),),
            category=f"{self._part.name}/{category}",
            tags=("mannheim",),
            proposed_settings={"temperature": 0},
            conversation=self._conversation,
            mode="conversation",
            judge=MannheimJudge(paths, question.answer, question.ordered, question.paths),
        )

    def _expectation(self, path: Sequence[tuple[Call, Sequence[str]]]) -> Expectation:
        calls = tuple(_expected(call, free) for call, free in path)
        if not calls:
            return Expectation("no_call")
        return Expectation(stages=(calls,), order="any" if self._part.in_any_order else "strict", parallel="free")


def _expected(call: Call, free: Sequence[str]) -> ExpectedCall:
    """The expectation of a call. Further arguments may be anything."""
    arguments: dict[str, Pattern] = {name: _loose(value) for name, value in call.arguments.items()}
    return ExpectedCall(call.name, arguments | dict.fromkeys(free, Operator("ignore", True)), open=True)


def _loose(value: Json) -> Pattern:
    """The pattern of a value: numbers equal to two decimals, lists in any order."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Operator("approx", value, {"round": 2})
    return Operator("unordered", [_loose(item) for item in value]) if isinstance(value, list) else value


def _answer(question: MannheimQuestion) -> Operator:
    values: dict[str, Pattern] = {
        name: Operator("ordered", value) if name in question.ordered and isinstance(value, list) else value
        for name, value in question.answer.items()
    }
    return Operator("json", values, {"in": "text", "lists": "any_order", "round": 2})


def _stripped(function: Json) -> Json:
    name = function.get("name") if isinstance(function, Mapping) else None
    return {**function, "name": name.strip()} if isinstance(function, Mapping) and isinstance(name, str) else function


class MannheimJudge:
    """Judges one case by all calls of the conversation, and by its last message.

    `published` are the right paths with the faults of the data, which are those of the published figures; `paths`
    have them repaired.
    """

    def __init__(
        self,
        paths: Sequence[ExpectedPath],
        answer: Mapping[str, Json],
        ordered: AbstractSet[str],
        published: Sequence[ExpectedPath] | None = None,
    ) -> None:
        self.paths = paths
        self.answer = answer
        self.ordered = ordered
        self.published = paths if published is None else published

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:
        """Judge a conversation. The scores are those of the original rules in every profile."""
        score = score_answer(calls.calls, self.published, reply.text, self.answer, self.ordered)
        if case.rules.profile == "strict":
            verdict = judge_turn(reply, calls, case.turns[0], MatchContext(case.tools, case.rules))
        else:
            reasons = tuple(self._original(case, reply, calls, score))
            verdict = Verdict(not reasons, reasons, notes=calls.notes)
        notes = () if verdict.valid else tuple(self._likely_errors(case, reply, calls, score))
        return replace(verdict, notes=(*verdict.notes, *notes), scores=score.accuracies())

    def _likely_errors(self, case: Case, reply: Reply, calls: Calls, score: MannheimScore) -> Iterator[str]:
        """A note with the classes of errors in the publication."""
        turn = case.turns[0]
        if turn.answer is None:  # a baseline without answers
            return
        question = str(turn.messages[-1].get("content"))
        if found := error_classes(question, calls.calls, self.published, score, reply.text, self.answer):
            yield f"Likely, in the publication's classes of errors: {', '.join(found)}."

    def _original(self, case: Case, reply: Reply, calls: Calls, score: MannheimScore) -> Iterator[Reason]:
        path = closest_path(calls.calls, self.published)
        functions, parameters = score.functions, score.parameters
        if functions.grade != "Correct":
            message = f"functions are {functions.grade.lower()}: {functions.right} of {functions.total}"
            yield Reason("wrong_tool", "calls", message, [call.name for call in path], [c.name for c in calls.calls])
        if parameters.grade != "Correct":
            message = f"parameters are {parameters.grade.lower()}: {parameters.right} of {parameters.total}"
            yield Reason("wrong_value", "calls", message, [dict(call.arguments) for call in path])
        if case.turns[0].answer is None:  # a baseline without answers
            return
        if score.answer != "Correct":
            yield Reason("wrong_answer", "answer", "the answer is incorrect", dict(self.answer), reply.text)
