"""The agentic categories, web search and memory: rows as cases, and the rule that judges the last message."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol

from pytest_fcall.core.case import Case, Location, Turn
from pytest_fcall.core.conversation import CallResult, ConversationSettings, EarlierCases, EnvironmentNeeds, Transcript
from pytest_fcall.core.expectation import Rules
from pytest_fcall.core.operators import Operator
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message, is_strings
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.suites.bfcl.answers import AnswerForm, BfclAnswer, readable_sources
from pytest_fcall.suites.bfcl.cases import messages_of
from pytest_fcall.suites.bfcl.categories import Category
from pytest_fcall.suites.bfcl.function_docs import ClassDocuments, Document, native_tool, read_package_rows
from pytest_fcall.suites.bfcl.multi_turn.conversations import MOST_STEPS, parse_turns, turn_answers
from pytest_fcall.suites.bfcl.prompt import BfclPrompt, answer_format_text, memory_instructions, with_system_text
from pytest_fcall.suites.bfcl.rows import BFCL_PACKAGE, BfclRow
from pytest_fcall.suites.bfcl.wording import HANDLER_WORDING, TEMPERATURE
from pytest_fcall.suites.json_files import BrokenRow, string_field

_IGNORED: Final = re.compile(r"[\,\.\/\-\_\*\^\(\)]")
_MOST_CHARACTERS: Final = 200
_SEARCH: Final = "WebSearchAPI"
_EVERY_KIND: Final[Mapping[str, str]] = MappingProxyType({"filelock": "filelock", "overrides": "overrides"})
_NEEDED: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "kv": {**_EVERY_KIND, "rank_bm25": "rank-bm25"},
        "vector": {**_EVERY_KIND, "faiss": "faiss-cpu", "sentence_transformers": "sentence-transformers"},
        "rec_sum": _EVERY_KIND,
    }
)
"""The modules that a kind of memory imports, with their packages."""
_ENCODER: Final = "all-MiniLM-L6-v2"
_TORCH_MEMORY: Final = 16 << 30
"""The address space that torch reserves; it uses little of it."""
_SLOT: Final = "{memory_content}"
"""The placeholder of the memory's content in the leaderboard's instructions."""
_ENVIRONMENT: Final = "pytest_fcall.suites.bfcl.memory.world:make"
_FOLDER: Final = "memory_prereq_conversation"


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

    def verdict_on_result(self, result: Json, form: AnswerForm) -> Verdict:
        """Judge a stored result: a list of one turn, which is a list of replies."""
        if not isinstance(result, list) or len(result) != 1:
            return _wrong("inference_error", "malformed", "The answer is not a list of one turn")
        turn = result[0]
        return self.verdict([BfclAnswer(form, reply) for reply in turn] if isinstance(turn, list) else [])

    def verdict(self, replies: Sequence[BfclAnswer]) -> Verdict:
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

    def __init__(self, category: Category, folder: Path, prompt: BfclPrompt | None) -> None:
        self._category = category
        self._prompt = prompt
        self._system: Message = {"role": "system", "content": answer_format_text(folder)}
        self._has_scenarios = category.shared_file_name == "memory"
        self._agency: _Agency = (
            _MemoryConversations(category.name, folder, prompt)
            if self._has_scenarios
            else _SearchAgency(category, folder)
        )

    def case(self, row: BfclRow) -> Case:
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


class _MemoryConversations:
    """The tools, instructions and earlier conversations of one kind of memory, by scenario.

    Raises ValueError if the prompts or documents of the package cannot be read.
    """

    def __init__(self, category: str, folder: Path, prompt: BfclPrompt | None) -> None:
        self._category = category
        self._kind = category.removeprefix("memory_")
        self._folder = folder
        self._prompt = prompt
        self._roles, instructions = memory_instructions(folder)
        # rec_sum is one text, which is summarized again and again; the others have a core and an archive.
        self._instruction = instructions["UNIFIED" if self._kind == "rec_sum" else "CORE_ARCHIVAL"]
        self.documents: Sequence[Document] = ClassDocuments(folder).by_turn([f"MemoryAPI_{self._kind}"], {})[0]
        self.tools: tuple[Tool, ...] = tuple(map(native_tool, self.documents))
        self._known: dict[str, EarlierCases] = {}

    def with_instructions(self, messages: Sequence[Message], scenario: str) -> tuple[Message, ...]:
        """Return the messages with the instructions on the model's role and memory before them."""
        return with_system_text(self._instruction.replace("{scenario_setting}", self._role(scenario)), messages)

    def conversation(self, scenario: str) -> ConversationSettings:
        """Return the settings of all conversations of a scenario."""
        setup = {"kind": self._kind, "scenario": scenario}
        return ConversationSettings(
            _ENVIRONMENT, setup, max_steps=MOST_STEPS, unreadable="answers", reuse_results="in_order", needs=self._needs
        )

    def earlier(self, scenario: str) -> EarlierCases:
        """Return the conversations of a scenario. Raises BrokenRow for an unknown scenario or a broken conversation."""
        self._role(scenario)
        if scenario not in self._known:
            self._known[scenario] = EarlierCases(tuple(self._cases(scenario)), _SLOT)
        return self._known[scenario]

    @cached_property
    def _needs(self) -> EnvironmentNeeds:
        return memory_needs(self._kind)

    def _role(self, scenario: str) -> str:
        if scenario not in self._roles:
            raise BrokenRow(f"no scenario {scenario!r:.80}; available: {', '.join(self._roles)}")
        return self._roles[scenario]

    def _cases(self, scenario: str) -> Iterator[Case]:
        path = self._folder / _FOLDER / f"memory_{scenario}.json"
        for number, row in enumerate(read_package_rows(path), 1):
            try:
                yield self._case(row, scenario, Location(str(path), number))
            except BrokenRow as error:
                raise BrokenRow(f"invalid conversation before the question ({path}:{number}): {error}") from None

    def _case(self, row: Mapping[str, Json], scenario: str, location: Location) -> Case:
        first, *later = parse_turns(row.get("question"))
        messages = self.with_instructions(first, scenario)
        if self._prompt is not None:
            messages = self._prompt.messages_with_functions(messages, self.documents)
        return Case(
            id=string_field(row, "id").replace("memory", self._category, 1),
            location=location,
            turns=(Turn(messages), *(Turn(tuple(each)) for each in later)),
            tools=self.tools,
            category=f"{self._category}_prereq",
            proposed_settings={"temperature": TEMPERATURE},
            wording=HANDLER_WORDING,
            conversation=self.conversation(scenario),
            mode="conversation",
            tools_in_messages=self._prompt is not None,
            decoder=None if self._prompt is None else "bfcl",
        )


def memory_needs(kind: str) -> EnvironmentNeeds:
    """Return the needs of a kind of memory. The kind `vector` needs a model that has been downloaded."""
    missing = _missing_packages(kind)
    if kind != "vector":
        return EnvironmentNeeds(missing)
    hub = _hub_folder(os.environ)
    return EnvironmentNeeds(
        missing or _missing_encoder(hub),
        memory=_TORCH_MEMORY,
        folders=(str(hub),),
        variables={"HF_HUB_CACHE": str(hub), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"},
    )


def _missing_packages(kind: str) -> str:
    needed = _NEEDED[kind]
    missing = [name for name in (BFCL_PACKAGE, *needed) if find_spec(name) is None]
    if not missing:
        return ""
    packages = " ".join(needed[name] for name in missing if name in needed)
    commands = ["pip install --no-deps bfcl-eval"] * (BFCL_PACKAGE in missing) + [f"pip install {packages}"] * bool(
        packages
    )
    return (
        f"memory_{kind} needs a class of the package bfcl-eval, but {' and '.join(missing)} cannot be imported: "
        f"{' && '.join(commands)}"
    )


def _missing_encoder(hub: Path) -> str:
    if (hub / f"models--sentence-transformers--{_ENCODER}").is_dir():
        return ""
    fetch = f"from sentence_transformers import SentenceTransformer as Model; Model({_ENCODER!r})"
    return f'memory_vector needs the model {_ENCODER}, which is not in {hub}; download it: python -c "{fetch}"'


def _hub_folder(variables: Mapping[str, str]) -> Path:
    """The folder of downloaded models."""
    if hub := variables.get("HF_HUB_CACHE"):
        return Path(hub).expanduser().absolute()
    cache = variables.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(variables.get("HF_HOME") or f"{cache}/huggingface").expanduser().absolute() / "hub"
