"""The multi-turn categories: rows as conversations, and the verdicts on them of the checker's process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeGuard

from pytest_fcall.conversation.execution.limits import CallLimits
from pytest_fcall.core.case import Case, Turn, with_case_decoder
from pytest_fcall.core.conversation import CallResult, ConversationSettings, Step, Transcript, TranscriptTurn
from pytest_fcall.core.expectation import Rules
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.values import Json, Message, is_strings
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.suites.bfcl.answers import AnswerForm, BfclAnswer, readable_sources
from pytest_fcall.suites.bfcl.call_process import CallProcess
from pytest_fcall.suites.bfcl.categories import Category
from pytest_fcall.suites.bfcl.function_docs import ClassDocuments, Document, NativeTools
from pytest_fcall.suites.bfcl.judge import answer_of_reply
from pytest_fcall.suites.bfcl.prompt import BfclPrompt, more_functions_text
from pytest_fcall.suites.bfcl.rows import BFCL_PACKAGE, BfclRow
from pytest_fcall.suites.bfcl.wording import HANDLER_WORDING, TEMPERATURE
from pytest_fcall.suites.json_files import BrokenRow

_ENVIRONMENT: Final = "pytest_fcall.suites.bfcl.multi_turn.world:make"
MOST_STEPS: Final = 21
"""The official limit is twenty, and is checked after one more step."""
_CHECKER: Final = "pytest_fcall.suites.bfcl.multi_turn.world:make_checker"
_STATE_MISMATCH: Final = "instance_state_mismatch"


class MultiTurnReader:
    """Reads the rows of one category. Their cases share tools, and the process that judges.

    Raises ValueError if the official classes are not installed.
    """

    def __init__(self, category: Category, folder: Path, prompt: BfclPrompt | None) -> None:
        _check_installed()
        self._category = category
        self._folder = folder
        self._prompt = prompt
        self._documents = ClassDocuments(folder)
        self._tools = NativeTools()
        self._checker = CheckerProcess()

    def case(self, row: BfclRow) -> Case:
        """Return the case of a row. Raises BrokenRow."""
        truth = parse_truth(row.data)
        held_back = _names_by_turn(row.data.get("missed_function", {}))
        first, *later = self._documents.by_turn(truth.classes, held_back)
        new = dict(zip(map(int, held_back), later, strict=True))
        turns = self._turns(parse_turns(row.data.get("question")), first, new)
        case = Case(
            id=row.id,
            location=row.location,
            turns=tuple(turns),
            tools=tuple(map(self._tools, [*first, *(document for each in later for document in each)])),
            rules=Rules("bfcl", "relaxed"),
            category=self._category.name,
            proposed_settings={"temperature": TEMPERATURE},
            wording=HANDLER_WORDING,
            conversation=ConversationSettings(_ENVIRONMENT, truth.setup, max_steps=MOST_STEPS, unreadable="answers"),
            mode="conversation",
            conversation_judge=MultiTurnJudge(row.data, truth, self._checker),
        )
        return case if self._prompt is None else replace(case, tools_in_messages=True, decoder="bfcl")

    def _turns(
        self, questions: Sequence[Sequence[Message]], first: Sequence[Document], new: Mapping[int, Sequence[Document]]
    ) -> list[Turn]:
        offered = [*first]
        turns = []
        for number, messages in enumerate(questions):
            offered += new.get(number, ())
            sent = self._new_functions_messages(new[number]) if number in new else tuple(messages)
            tools = tuple(map(self._tools, offered)) if number in new or not number else None
            turns.append(Turn(sent, tools=tools))
        if self._prompt is not None and turns:
            messages = self._prompt.messages_with_functions(turns[0].messages, first)
            turns[0] = replace(turns[0], messages=messages)
        return turns

    def _new_functions_messages(self, new: Sequence[Document]) -> tuple[Message, ...]:
        """The user message of a turn with new functions. In prompt mode it holds them, as Python writes them."""
        text = self._more_functions if self._prompt is None else f"{[*new]}\n{self._more_functions}"
        return ({"role": "user", "content": text},)

    @cached_property
    def _more_functions(self) -> str:
        return more_functions_text(self._folder)


def parse_truth(row: Mapping[str, Json]) -> ConversationTruth:
    """Return the truth of a row. Raises BrokenRow."""
    classes, config, calls = row.get("involved_classes"), row.get("initial_config", {}), row.get("ground_truth")
    if not is_strings(classes):
        raise BrokenRow("`involved_classes` must be a list of names")
    if not isinstance(config, Mapping) or not all(isinstance(each, Mapping) for each in config.values()):
        raise BrokenRow("`initial_config` must be an object of objects")
    turns = [turn for turn in calls if is_strings(turn)] if isinstance(calls, list) else []
    if not isinstance(calls, list) or len(turns) < len(calls):
        raise BrokenRow("`ground_truth` must be a list of turns, each a list of calls")
    return ConversationTruth(classes, config, "long_context" in str(row.get("category")), turns)


def _check_installed() -> None:
    if missing := [name for name in (BFCL_PACKAGE, "mpmath") if find_spec(name) is None]:
        raise ValueError(
            f"the multi-turn categories need classes of the package bfcl-eval, but {' and '.join(missing)} cannot be "
            "imported: pip install --no-deps bfcl-eval mpmath"
        )


def parse_turns(question: Json) -> Sequence[Sequence[Message]]:
    """Return the messages of each turn, one turn at least. Raises BrokenRow."""
    turns = [turn for turn in question if _is_messages(turn)] if isinstance(question, list) else []
    if not isinstance(question, list) or not turns or len(turns) < len(question):
        raise BrokenRow("`question` must be a list of turns, each a list of messages")
    return turns


def _is_messages(turn: Json) -> TypeGuard[list[Message]]:
    return isinstance(turn, list) and all(isinstance(message, Mapping) for message in turn)


def _names_by_turn(held_back: Json) -> Mapping[str, Sequence[str]]:
    items = held_back.items() if isinstance(held_back, Mapping) else ()
    named = {turn: names for turn, names in items if turn.isdecimal() and is_strings(names)}
    if not isinstance(held_back, Mapping) or len(named) < len(held_back):
        raise BrokenRow("`missed_function` must be an object with a list of names for each turn")
    return named


@dataclass(frozen=True, slots=True)
class ConversationTruth:
    """The official classes of a case, their initial states, and the right calls."""

    classes: Sequence[str]
    config: Mapping[str, Json]
    long_context: bool
    calls: Sequence[Sequence[str]]
    """The right calls of each turn, as source."""

    @property
    def setup(self) -> dict[str, Json]:
        """The arguments that make the instances."""
        return {"classes": self.classes, "config": self.config, "long_context": self.long_context}


class CheckerProcess:
    """The checker in a process of its own. Each question gets new instances."""

    def __init__(self) -> None:
        self._process = CallProcess(_CHECKER, CallLimits(seconds=30.0, result=16 << 20))

    def ask(self, truth: ConversationTruth, turns: Sequence[Sequence[Sequence[str]]]) -> CallResult:
        """Check the calls of a model, as source, by turn and reply.

        Returns the checker's answer, or the error of the checker or its process. Raises EnvironmentFailed without
        classes.
        """
        return self._process.call("check", {**truth.setup, "turns": turns, "truth": truth.calls})


@dataclass(frozen=True, slots=True)
class MultiTurnJudge:
    """Judges conversations of one case, by the same rule in all profiles."""

    row: Mapping[str, Json]
    truth: ConversationTruth
    checker: CheckerProcess

    def __call__(self, case: Case, transcript: Transcript) -> Verdict:
        """Judge a conversation."""
        return self.verdict([turn_answers(case, held) for held in transcript.turns])

    def verdict_on_result(self, result: Json, form: AnswerForm) -> Verdict:
        """Judge a stored result: a list of turns, each a list of replies. Any other turn has no replies."""
        if not isinstance(result, list):
            reason = Reason("malformed", "reply", "The answer is not a list of turns, each a list of replies")
            return Verdict(False, (reason,), error_type="multi_turn:inference_error")
        turns = [turn if isinstance(turn, list) else [] for turn in result]
        return self.verdict([[BfclAnswer(form, reply) for reply in turn] for turn in turns])

    def verdict(self, turns: Sequence[Sequence[BfclAnswer]]) -> Verdict:
        """Judge the answers of each turn."""
        expected = len(self.truth.calls)
        if len(turns) != expected:
            message = f"The conversation ended after {len(turns)} of {expected} turns"
            return _wrong(
                "force_terminated", len(turns), [Reason("step_limit", "steps", message, expected, len(turns))]
            )
        sources = [[calls for answer in turn if (calls := readable_sources(answer))] for turn in turns]
        return _verdict_of(self.checker.ask(self.truth, sources), len(turns))


def turn_answers(case: Case, held: TranscriptTurn) -> list[BfclAnswer]:
    """Return the answers of a turn, reply by reply."""
    return [*(_answer(case, step) for step in held.steps), *(BfclAnswer("fc", text) for text in closing_texts(held))]


def closing_texts(held: TranscriptTurn) -> list[str]:
    """Return the final text of an app that executed its calls itself; this text is not a step of its own."""
    return [step.reply.text for step in held.steps[-1:] if step.reply.trail and step.calls.calls]


def _answer(case: Case, step: Step) -> BfclAnswer:
    """The answer of a step. Without a reply, as in a baseline, or with that of an app, the calls are the answer."""
    if step.reply.trail or not step.request.messages:
        return answer_of_reply(Reply("" if step.calls.calls else step.reply.text), step.calls)
    return answer_of_reply(with_case_decoder(case, step.reply), step.calls)


def _verdict_of(checked: CallResult, count: int) -> Verdict:
    if checked.error is not None:
        reason = Reason("malformed", "reply", f"The official checker failed: {checked.error}")
        return Verdict(False, (reason,), error_type=f"case_error:{_exception_name(checked.error)}")
    match checked.value:
        case {"error_type": str(error_type), "turn": int(number), "found": list(found)}:
            missing = Reason("no_call", "calls", "No call was made in this turn; calls were expected")
            return _wrong(error_type, number, [_reason(error_type, each) for each in found] or [missing])
    return Verdict(True, turns=(Verdict(True),) * count)


def _wrong(error_type: str, number: int, reasons: Sequence[Reason]) -> Verdict:
    """The verdict on a conversation that is right before turn `number`."""
    error = f"multi_turn:{error_type}"
    turn = Verdict(False, tuple(reasons), error_type=error)
    in_turn = tuple(replace(reason, path=f"turns[{number}].{reason.path}") for reason in reasons)
    return Verdict(False, in_turn, error_type=error, turns=(*(Verdict(True),) * number, turn))


def _reason(error_type: str, found: Mapping[str, str]) -> Reason:
    kind: ReasonKind = "wrong_state" if error_type == _STATE_MISMATCH else "wrong_result"
    wanted = found.get("wanted", "")
    if kind == "wrong_result":
        return Reason(kind, "calls", f"No call in this turn returned {wanted}", wanted)
    where, got = found.get("where", ""), found.get("got", "")
    return Reason(kind, f"state.{where}", f"`{where}` is {got}; the right calls make it {wanted}", wanted, got)


def _exception_name(error: str) -> str:
    """The name of the exception that an error begins with; Timeout or Killed if the process ended."""
    name = error.partition(":")[0]
    return name if name.isidentifier() else "Timeout" if "longer than" in error else "Killed"
