"""ACEBench as a suite, with a part for every category in each language, but for the tasks of agents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.case import Case, Fault, FaultyCase, Turn
from pytest_fcall.core.expectation import Expectation, ExpectedCall, Profile, Rules
from pytest_fcall.core.extension import About, Figure, Part
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.reply import Call, Calls, Reply
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.matching.bfcl.official_case import Ruling
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge_turn
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.tool_data import tool_from_data
from pytest_fcall.schema.tool_schema import tool_schema
from pytest_fcall.suites.acebench.categories import GROUPS, PARTS, QuestionCategory, parts_of
from pytest_fcall.suites.acebench.files import (
    HOW_TO_GET_IT,
    AceBenchPrompt,
    AceBenchQuestion,
    count_questions,
    find_questions,
    read_questions,
)
from pytest_fcall.suites.acebench.rule import MARKS, UNREADABLE, judge_answer, judge_decoded, without_number
from pytest_fcall.suites.acebench.scores import COLUMNS, AceBenchTallies, figures
from pytest_fcall.suites.json_files import broken_case, required_path

SETTINGS: Final[Mapping[str, Json]] = MappingProxyType({"temperature": 0.7, "max_tokens": 1200})
"""The settings that the original sends by default."""
_KINDS: Final[Mapping[str, ReasonKind]] = MappingProxyType(
    {
        UNREADABLE: "malformed",
        "wrong functions number": "wrong_count",
        "function_mismatch": "wrong_tool",
        "simple_function_checker": "wrong_tool",
        "wrong_function_name": "wrong_tool",
        "lack_args": "missing_argument",
        "addition_args": "unexpected_argument",
        "type_error": "wrong_type",
        "error_detection": "wrong_answer",
        "error_correction": "wrong_answer",
    }
)
"""The kinds of original error types, without what follows a colon; all others are about a value."""
_PLACES: Final[Mapping[ReasonKind, str]] = MappingProxyType({"malformed": "reply", "wrong_answer": "answer"})


class AceBenchSuite:
    """Questions in the prompts of the original; answers are calls in its notation, or a problem named in its words."""

    def about(self, path: Path | None) -> About:
        """Return the parts and the origin of the data."""
        parts = [Part(name, count_questions(language, category, path)) for name, (language, category) in PARTS.items()]
        found = any(find_questions(language, category, path) for language, category in PARTS.values())
        return About(
            title="ACEBench",
            licence="MIT",
            origin=HOW_TO_GET_IT,
            place=str(path) if found else None,
            parts=tuple(parts),
            groups=GROUPS,
        )

    def profile(self) -> Profile:
        """Return the default profile, that of the original rule."""
        return "original"

    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Yield the cases of a part, a group, or of all. The prompt holds the functions."""
        folder = required_path(path, "acebench", HOW_TO_GET_IT)
        for name in parts_of(part):
            prompt = AceBenchPrompt(*PARTS[name], folder)
            yield from _read(name, folder, prompt.messages)

    def plain(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Yield the cases for case files: the question alone, with the functions as tools."""
        for name in parts_of(part):
            yield from map(_plain, _read(name, path, _question_messages))

    def case_figures(self, tallies: AceBenchTallies) -> Sequence[Figure]:
        """Return the original's scores for each language."""
        return figures(tallies)

    def figure_names(self) -> Sequence[str]:
        """Return the names of the scores."""
        return COLUMNS


def _read(
    part: str, path: Path | None, messages_of: Callable[[AceBenchQuestion], tuple[Message, ...]]
) -> Iterator[Case | FaultyCase]:
    language, category = PARTS[part]
    for question in read_questions(language, category, path):
        if isinstance(question, FaultyCase):
            yield question
            continue
        try:
            case = case_of(category, question)
            yield replace(case, turns=(replace(case.turns[0], messages=messages_of(question)),), category=part)
        except SchemaError as error:
            yield broken_case(question.id, question.location, f"`function`: {error}")
        except RecursionError:
            yield broken_case(question.id, question.location, "nested too deeply")


def case_of(category: QuestionCategory, question: AceBenchQuestion) -> Case:
    """Return the case of a question, without its messages. Raises SchemaError if its functions are no tools."""
    is_problem = category.kind == "problem"
    right = [] if is_problem else _right_calls(question)
    answer = _named_problem(category, question.truth) if is_problem else None
    return Case(
        id=question.id,
        location=question.location,
        turns=(Turn((), _expectation(right), answer=answer),),
        tools=tuple(tools_of(question.functions, chain.from_iterable(right))),
        rules=Rules("original", strings="relaxed"),
        category=category.name,
        tags=("acebench",),
        proposed_settings=SETTINGS,
        decoder="python",
        tools_in_messages=True,
        judge=_AceJudge(category, question),
    )


def _plain(case: Case | FaultyCase) -> Case | FaultyCase:
    """The case without its judge. Words that only the original's prompt asks for are in no answer."""
    if isinstance(case, FaultyCase):
        return case
    if case.turns[0].answer is not None:
        message = "its answer names a problem in words that only the prompt of the original asks for"
        return FaultyCase(case.id, case.location, (Fault("unsayable", case.location, message),))
    rules = case.rules._replace(profile="strict")
    return replace(case, rules=rules, tools_in_messages=False, decoder=None, judge=None)


def _question_messages(question: AceBenchQuestion) -> tuple[Message, ...]:
    known = question.time or question.profile
    user: Message = {"role": "user", "content": question.text}
    return ({"role": "system", "content": known}, user) if known else (user,)


def _right_calls(question: AceBenchQuestion) -> list[list[Call]]:
    """The alternatives. Several calls of one function have numbers at its name, which has one of its own at times."""
    offered = {function.get("name") for function in question.functions}
    alternatives = question.truth if isinstance(question.truth, list) else [question.truth]
    return [
        [
            Call(name if name in offered else without_number(name), arguments)
            for name, arguments in (each.items() if isinstance(each, Mapping) else ())
            if isinstance(arguments, Mapping)
        ]
        for each in alternatives
    ]


def _expectation(right: Sequence[Sequence[Call]]) -> Expectation:
    """The expectation of the profile `strict`."""
    alternatives = tuple(
        Expectation(stages=(tuple(ExpectedCall(call.name, call.arguments) for call in calls),), parallel="free")
        for calls in right
        if calls
    )
    if not alternatives:
        return Expectation("no_call")
    return alternatives[0] if len(alternatives) == 1 else Expectation("any_of", alternatives=alternatives)


def _named_problem(category: QuestionCategory, truth: Json) -> Pattern:
    """The texts that an answer must hold: of wrong values only they are named, of missing ones the function, too."""
    named = [*truth.items()] if isinstance(truth, Mapping) else []
    values = [value for _, items in named for value in (items if isinstance(items, list) else [])]
    names = [name for name, _ in named] if category.name == "special_incomplete" else []
    return Operator("all", [Operator("contains", text) for text in (MARKS[category.name], *names, *values)])


@dataclass(frozen=True, slots=True)
class _AceJudge:
    """Judges the answers to one question."""

    category: QuestionCategory
    question: AceBenchQuestion

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:
        """Judge a reply. Text is read as the original reads it; calls of a baseline have been read."""
        (turn,) = case.turns
        if case.rules.profile == "strict":
            return judge_turn(reply, calls, turn, MatchContext(case.tools, case.rules))
        if self.category.kind == "problem" and turn.answer is None:  # a baseline without answers
            return Verdict(True, notes=calls.notes)
        return _verdict_of(self._ruling(reply, calls), calls)

    def _ruling(self, reply: Reply, calls: Calls) -> Ruling:
        functions, truth = self.question.functions, self.question.truth
        if self.category.kind == "problem" or reply.decoder is not None:
            return judge_answer(self.category, functions, truth, reply.text)
        return judge_decoded(functions, truth, [{call.name: dict(call.arguments)} for call in calls.calls])


def _verdict_of(ruling: Ruling, calls: Calls) -> Verdict:
    if ruling.valid:
        return Verdict(True, notes=calls.notes)
    kind = _KINDS.get((ruling.error_type or "").partition(":")[0], "wrong_value")
    reasons = tuple(Reason(kind, _PLACES.get(kind, "calls"), f"{message}.") for message in ruling.errors)
    return Verdict(False, reasons, notes=calls.notes, error_type=ruling.error_type)


def tools_of(functions: Sequence[Mapping[str, Json]], right: Iterable[Call]) -> Iterator[Tool]:
    """Yield functions as tools. Raises SchemaError.

    A parameter may be anything if its schema forbids a right value, and may be missing if a right call lacks it.
    """
    calls = [*right]
    for function in functions:
        tool = _tool(function)
        for call in calls:
            if call.name == tool.name:
                tool = _fitting(tool, call)
        yield tool


def _tool(function: Mapping[str, Json]) -> Tool:
    """A function as a tool. Of some, the schema has another name."""
    schema = next((function[key] for key in ("parameters", "arguments", "_arguments") if key in function), None)
    return tool_from_data(
        {"name": function.get("name"), "description": function.get("description"), "parameters": schema}
    )


def _fitting(tool: Tool, call: Call) -> Tool:
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    if not isinstance(properties, Mapping):
        return tool
    schema, arguments = tool_schema(tool), call.arguments
    free = {key for key in arguments.keys() & properties.keys() if schema.check_at((key,), arguments[key])}
    needed = [key for key in required if key in arguments] if isinstance(required, list) else []
    freed = {key: {} if key in free else each for key, each in properties.items()}
    return replace(tool, parameters={**tool.parameters, "properties": freed, "required": needed})
