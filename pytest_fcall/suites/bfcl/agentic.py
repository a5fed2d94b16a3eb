"""The agentic categories, web search and memory: rows as cases, and the rule that judges the last message."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from pytest_fcall.core.case import Case, Turn
from pytest_fcall.core.conversation import CallResult, ConversationSettings, EarlierCases, Transcript
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
from pytest_fcall.suites.bfcl.rows import Row
from pytest_fcall.suites.bfcl.wording import HANDLER_WORDING, TEMPERATURE
from pytest_fcall.suites.json_files import BrokenRow, is_strings, string_field

_IGNORED: Final = re.compile(r"[\,\.\/\-\_\*\^\(\)]")
_MOST_CHARACTERS: Final = 200
_SEARCH: Final = "WebSearchAPI"


@dataclass(frozen=True, slots=True)
class AgenticJudge:
    """Judges conversations about one question by their last message."""

    row: Mapping[str, Json]
    answers: Sequence[str]
    """The right answers, one of which must be mentioned."""

    def __call__(self, case: Case, transcript: Transcript) -> Verdict:
        """Judge a conversation."""
        verdict = self.verdict([answer for held in transcript.turns for answer in turn_answers(case, held)])
        if verdict.valid or not case.earlier:
            return verdict
        note = _earlier_failure(case.earlier.cases, transcript.earlier)
        noted = tuple(replace(reason, message=f"{reason.message}; {note}") for reason in verdict.reasons)
        return replace(verdict, reasons=noted) if note else verdict

    def verdict_on_result(self, result: Json, form: Form) -> Verdict:
        """Judge a stored result: a list of one turn, which is a list of replies."""
        if not isinstance(result, list) or len(result) != 1:
            return _wrong("inference_error", "malformed", "The answer is not a list of one turn")
        turn = result[0]
        return self.verdict([Answer(form, reply) for reply in turn] if isinstance(turn, list) else [])

    def verdict(self, replies: Sequence[Answer]) -> Verdict:
        """Judge the last reply without readable calls."""
        last = next((reply.content for reply in reversed(replies) if not readable_sources(reply)), None)
        if not last:
            return _wrong("no_last_message", "no_call", "No reply is a message to the user")
        message = _message_text(last)
        if any(_mentions(message, answer) for answer in self.answers):
            return Verdict(True)
        wanted = " or ".join(map(repr, self.answers))
        why = f"The last message mentions none of the right answers: {wanted:.{_MOST_CHARACTERS}}"
        return _wrong("answer_not_found", "wrong_answer", why, [*self.answers], message[:_MOST_CHARACTERS])


def agentic_judge_of(row: Mapping[str, Json]) -> AgenticJudge:
    """Return the judge of a row. Raises BrokenRow for a row without right answers."""
    answers = row.get("ground_truth")
    if not is_strings(answers):
        raise BrokenRow("`ground_truth` must be a list of strings")
    return AgenticJudge(row, answers)


def _earlier_failure(cases: Sequence[Case], earlier: Sequence[Transcript]) -> str:
    """The failure of the earlier conversations that kept the model from knowing the answer, if there is one."""
    cut = [case.id for case, held in zip(cases, earlier, strict=False) if held.turns[-1].end == "step_limit"]
    if cut:
        return f"the earlier conversation {' and '.join(cut)} was cut off at the step limit"
    results = [result for held in earlier for step in held.steps for result in step.results]
    if earlier and not any(map(_succeeded, results)):
        failure = f"all {len(results)} calls failed" if results else "no tool was called"
        return f"in the earlier conversations {failure}, so the memory is empty"
    return ""


def _succeeded(result: CallResult) -> bool:
    """Whether a call succeeded. The official classes return their errors as text."""
    return result.error is None and not str(result.value).startswith(('{"error"', "Error during execution"))


def _mentions(message: str, answer: str) -> bool:
    return re.search(rf"\b{re.escape(_normal_text(answer))}\b", _normal_text(message)) is not None


def _normal_text(text: str) -> str:
    return _IGNORED.sub("", text).lower().replace("'", '"')


def _message_text(content: object) -> str:
    """The text of a message. Of unreadable calls, the first counts, as Python writes it."""
    first = content[0] if isinstance(content, list) else content
    return first if isinstance(first, str) else str(first)


def _wrong(error_type: str, kind: ReasonKind, message: str, expected: Json = None, got: Json = None) -> Verdict:
    reason = Reason(kind, "answer", message, expected, got)
    return Verdict(False, (reason,), error_type=f"agentic:{error_type}")


class _Agency(Protocol):
    """The tools, instructions and earlier conversations of one kind of agent, by scenario."""

    documents: Sequence[Document]
    tools: tuple[Tool, ...]

    def with_instructions(self, messages: Sequence[Message], scenario: str) -> tuple[Message, ...]:
        """Return the messages with the instructions of the agent before them."""
        ...

    def conversation(self, scenario: str) -> ConversationSettings:
        """Return the settings of a conversation about a scenario."""
        ...

    def earlier(self, scenario: str) -> EarlierCases | None:
        """Return the conversations before the question."""
        ...


class _SearchAgency:
    """Web search. The tools do not search: they return the results that an app with a search of its own recorded.

    A call without a recorded result gets an error.
    """

    def __init__(self, category: Category, folder: Path) -> None:
        self._category = category.name
        self.documents: Sequence[Document] = ClassDocuments(folder).by_turn([_SEARCH], {})[0]
        self.tools: tuple[Tool, ...] = tuple(map(native_tool, self.documents))

    def with_instructions(self, messages: Sequence[Message], _scenario: str) -> tuple[Message, ...]:
        return tuple(messages)

    def conversation(self, _scenario: str) -> ConversationSettings:
        # The two categories have different results for the same call.
        setup = {"searches": self._category}
        return ConversationSettings(
            None, setup, unmatched="error", max_steps=MOST_STEPS, unreadable="answers", reuse_results="always"
        )

    def earlier(self, _scenario: str) -> None:
        return None


class AgenticReader:
    """Reads the rows of one category."""

    def __init__(self, category: Category, folder: Path, prompt: Prompt | None) -> None:
        self._category = category
        self._prompt = prompt
        self._system: Message = {"role": "system", "content": answer_format_text(folder)}
        self._has_scenarios = category.shared_file_name == "memory"
        self._agency: _Agency = (
            MemoryConversations(category.name, folder, prompt)
            if self._has_scenarios
            else _SearchAgency(category, folder)
        )

    def case(self, row: Row) -> Case:
        """Return the case of a row. Raises BrokenRow."""
        scenario = string_field(row.data, "scenario") if self._has_scenarios else ""
        agency = self._agency
        messages = agency.with_instructions((self._system, *messages_of(row.data.get("question"))), scenario)
        judge = agentic_judge_of(row.data)
        # For reports, scores and baselines; the judge has a rule of its own.
        answer = Operator("any", [Operator("contains", answer) for answer in judge.answers])
        case = Case(
            id=row.id,
            location=row.location,
            turns=(Turn(messages, answer=answer),),
            tools=agency.tools,
            rules=Rules("bfcl", "relaxed"),
            category=self._category.name,
            proposed_settings={"temperature": TEMPERATURE},
            wording=HANDLER_WORDING,
            conversation=agency.conversation(scenario),
            mode="conversation",
            earlier=agency.earlier(scenario),
            conversation_judge=judge,
        )
        if self._prompt is None:
            return case
        prompted = self._prompt.messages_with_functions(messages, agency.documents)
        return replace(case, turns=(Turn(prompted, answer=answer),), tools_in_messages=True, decoder="bfcl")
