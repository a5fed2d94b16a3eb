"""The agentic categories, web search and memory: their rows as cases, and the rule that judges the last message."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from pytest_fcall.core.case import Case, EarlierCases, Turn, World
from pytest_fcall.core.conversation import CallResult, Transcript
from pytest_fcall.core.expectation import Rules
from pytest_fcall.core.operators import Operator
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.suites.bfcl.answers import Answer, Form
from pytest_fcall.suites.bfcl.call_sources import readable_sources
from pytest_fcall.suites.bfcl.cases import messages_of
from pytest_fcall.suites.bfcl.categories import Category
from pytest_fcall.suites.bfcl.function_docs import ClassDocuments, Document, native_tool
from pytest_fcall.suites.bfcl.memory.conversations import MemoryConversations
from pytest_fcall.suites.bfcl.multi_turn.cases import MOST_STEPS
from pytest_fcall.suites.bfcl.multi_turn.judge import turn_answers
from pytest_fcall.suites.bfcl.prompt import Prompt, answer_format_text
from pytest_fcall.suites.bfcl.row_fields import text_field
from pytest_fcall.suites.bfcl.rows import Row
from pytest_fcall.suites.json_files import BrokenRow

_LEFT_OUT: Final = re.compile(r"[\,\.\/\-\_\*\^\(\)]")
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class AgenticJudge:
    """Judges conversations about one question."""

    row: Mapping[str, Json]
    answers: Sequence[str]
    """Those that are right."""

    def __call__(self, case: Case, transcript: Transcript) -> Verdict:
        """Judge what was held."""
        verdict = self.verdict([answer for held in transcript.turns for answer in turn_answers(case, held)])
        told = "" if verdict.valid or not case.earlier else _earlier_failure(case.earlier.cases, transcript.earlier)
        return replace(verdict, reasons=tuple(_with_note(told, each) for each in verdict.reasons)) if told else verdict

    def verdict(self, replies: Sequence[Answer]) -> Verdict:
        """Judge the last reply that is no call, or cannot be read as one."""
        last = next((reply.said for reply in reversed(replies) if not readable_sources(reply)), None)
        if not last:
            return _wrong("no_last_message", "no_call", "No reply is a message to the user")
        said = _message_text(last)
        if any(_mentions(said, answer) for answer in self.answers):
            return Verdict(True)
        wanted = " or ".join(map(repr, self.answers))
        message = f"The last message mentions no answer that is right: {wanted:.{_LONGEST}}"
        return _wrong("answer_not_found", "wrong_answer", message, [*self.answers], said[:_LONGEST])

    def verdict_on(self, result: Json, form: Form) -> Verdict:
        """Judge a result as a file has it: a list of one turn, which is a list of replies."""
        if not isinstance(result, list) or len(result) != 1:
            return _wrong("inference_error", "malformed", "The answer is not a list of one turn")
        turn = result[0]
        return self.verdict([Answer(form, said) for said in turn] if isinstance(turn, list) else [])


def agentic_judge_of(row: Mapping[str, Json]) -> AgenticJudge:
    """Who judges a row's question; BrokenRow where nothing says what is right."""
    answers = row.get("ground_truth")
    texts = [answer for answer in answers if isinstance(answer, str)] if isinstance(answers, list) else []
    if not isinstance(answers, list) or len(texts) < len(answers):
        raise BrokenRow("`ground_truth` is not a list of texts")
    return AgenticJudge(row, texts)


def _earlier_failure(cases: Sequence[Case], earlier: Sequence[Transcript]) -> str:
    """What went wrong before the question was asked, so that the answer could not be known."""
    cut = [case.id for case, held in zip(cases, earlier, strict=False) if held.turns[-1].end == "step_limit"]
    if cut:
        return f"{' and '.join(cut)}, held before it, was cut off at the limit of steps"
    results = [result for held in earlier for step in held.steps for result in step.results]
    if earlier and not any(map(_succeeded, results)):
        made = f"none of {len(results)} calls went well" if results else "no tool was called"
        return f"in the conversations before it {made}, so that nothing is remembered"
    return ""


def _succeeded(result: CallResult) -> bool:
    """The official classes tell what is wrong in a text."""
    return result.error is None and not str(result.value).startswith(('{"error"', "Error during execution"))


def _with_note(told: str, reason: Reason) -> Reason:
    return replace(reason, message=f"{reason.message}; {told}")


def _mentions(said: str, answer: str) -> bool:
    return re.search(rf"\b{re.escape(_normal_text(answer))}\b", _normal_text(said)) is not None


def _normal_text(text: str) -> str:
    return _LEFT_OUT.sub("", text).lower().replace("'", '"')


def _message_text(said: object) -> str:
    """Of calls that cannot be read the first counts, as Python writes it."""
    first = said[0] if isinstance(said, list) else said
    return first if isinstance(first, str) else str(first)


def _wrong(error_type: str, kind: ReasonKind, message: str, expected: Json = None, got: Json = None) -> Verdict:
    reason = Reason(kind, "answer", message, expected, got)
    return Verdict(False, (reason,), error_type=f"agentic:{error_type}")


_SEARCH = "WebSearchAPI"


class _Agency(Protocol):
    """What agents of one kind have, and how they come to what they are asked for."""

    documents: Sequence[Document]
    tools: tuple[Tool, ...]

    def instructed(self, messages: Sequence[Message], scenario: str) -> tuple[Message, ...]:
        """The messages with what agents are told before them."""
        ...

    def world(self, scenario: str) -> World:
        """What stands behind their tools."""
        ...

    def earlier(self, scenario: str) -> EarlierCases | None:
        """What is held before."""
        ...


class _SearchAgency:
    """Nobody searches here. An app that searches by itself can be asked, and what it finds is kept.

    Whoever calls the tools for it hears what was found for the same call, and else that nothing is known.
    """

    def __init__(self, category: Category, folder: Path) -> None:
        self._category = category.name
        self.documents: Sequence[Document] = ClassDocuments(folder).of([_SEARCH], {})[0]
        self.tools: tuple[Tool, ...] = tuple(map(native_tool, self.documents))

    def instructed(self, messages: Sequence[Message], _scenario: str) -> tuple[Message, ...]:
        return tuple(messages)

    def world(self, _scenario: str) -> World:
        # Searches of one category find less than those of the other.
        setup = {"searches": self._category}
        return World(None, setup, unmatched="error", max_steps=MOST_STEPS, unreadable="answers", kept="for_ever")

    def earlier(self, _scenario: str) -> None:
        return None


class AgenticReader:
    """Reads the rows of one category."""

    def __init__(self, category: Category, folder: Path, prompt: Prompt | None) -> None:
        self._category = category
        self._prompt = prompt
        self._system: Message = {"role": "system", "content": answer_format_text(folder)}
        self._has_scenarios = category.shared == "memory"
        self._agency: _Agency = (
            MemoryConversations(category.name, folder, prompt)
            if self._has_scenarios
            else _SearchAgency(category, folder)
        )

    def case(self, row: Row) -> Case:
        """The case of a row; BrokenRow says what is wrong with it."""
        scenario = text_field(row.data, "scenario") if self._has_scenarios else ""
        agency = self._agency
        messages = agency.instructed((self._system, *messages_of(row.data.get("question"))), scenario)
        judge = agentic_judge_of(row.data)
        # For people, scores and baselines; the judge has a rule of its own.
        answer = Operator("any", [Operator("contains", answer) for answer in judge.answers])
        case = Case(
            id=row.id,
            location=row.place,
            turns=(Turn(messages, answer=answer),),
            tools=agency.tools,
            rules=Rules("bfcl", "relaxed"),
            category=self._category.name,
            world=agency.world(scenario),
            mode="conversation",
            earlier=agency.earlier(scenario),
            conversation_judge=judge,
        )
        if self._prompt is None:
            return case
        told = self._prompt.told(messages, agency.documents)
        return replace(case, turns=(Turn(told, answer=answer),), tools_in_messages=True, decoder="bfcl")
