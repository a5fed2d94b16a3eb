"""APIBench as a suite: questions that ask for calls of three hubs, or of the user's own hubs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from pytest_fcall.core.case import Case, FaultyCase, Turn
from pytest_fcall.core.extension import About, Part
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Message
from pytest_fcall.suites.apibench.constraints import Constraints, read_constraints
from pytest_fcall.suites.apibench.files import (
    HOW_TO_GET_IT,
    HUBS,
    ApiBenchQuestion,
    HubFiles,
    find_changes,
    hub_files,
    own_hubs,
    question_without_document,
)
from pytest_fcall.suites.apibench.judge import ApiJudge, ChangeJudge, HubRules, scores_of
from pytest_fcall.suites.apibench.prompt import (
    SCRIPT,
    SETTINGS,
    FindDocument,
    answer_form,
    document_finder,
    hub_and_setting,
    published_prompt,
    question_messages,
    with_document,
)
from pytest_fcall.suites.apibench.strict_rule import CheckedArguments, refuse_unknown_arguments
from pytest_fcall.suites.json_files import broken_case, required_path

_CHANGED = "changed"
AskQuestion: TypeAlias = Callable[[str], tuple[Message, ...]]
"""Returns the messages of a question, which may include a document."""

_SETTING_NOTE = "questions with a document of the API data base"
_CHANGED_NOTE = "questions with a document that has changed; the call of the old one is wrong"


class ApiBenchSuite:
    """The questions of each hub, without documents, or with one that a retriever found.

    `checked` names the arguments that distinguish APIs, for APIs of which the data base does not.
    """

    def __init__(self, checked: CheckedArguments = MappingProxyType({})) -> None:
        self._checked = checked

    def about(self, path: Path | None) -> About:
        """Return the parts and the origin of the data."""
        note = "" if path is None or published_prompt("torchhub", path) else f"in our prompt: there is no {SCRIPT}"
        hubs = (*HUBS, *(own_hubs(path) if path else ()))
        parts = [Part(name, _count(name, path), note=note if name in HUBS else "") for name in hubs]
        parts += [Part(f"{name}_{_CHANGED}", note=_CHANGED_NOTE) for name in hubs if path and find_changes(name, path)]
        settings = [Part(f"{name}_{setting}", note=_SETTING_NOTE) for name in HUBS for setting in SETTINGS]
        return About(
            title="APIBench (Gorilla)",
            licence="Apache-2.0",
            origin=HOW_TO_GET_IT,
            place=str(path) if any(part.cases is not None for part in parts) else None,
            parts=(*parts, *settings),
        )

    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Yield the cases of `HUB`, or of `HUB_SETTING` with documents; of all hubs if `part` is empty.

        `HUB_changed` are those whose document has changed.
        """
        folder = required_path(path, "apibench", HOW_TO_GET_IT)
        for name in [part] if part else HUBS:
            read = _changed_cases if name.endswith(f"_{_CHANGED}") else _cases
            yield from read(name, folder, self._checked)

    def plain(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Yield the cases for case files, with all calls of the right domain as answers."""
        for case in self.cases(part, path):
            yield _plain(case) if isinstance(case, Case) else case

    def scores(self, case: Case) -> Mapping[str, Sequence[str]]:
        """Return the scores of the case's part."""
        return {case.category.partition("/")[0]: scores_of(case)}


def _cases(part: str, folder: Path, checked: CheckedArguments) -> Iterator[Case | FaultyCase]:
    name, setting = hub_and_setting(part)
    files = hub_files(name, folder)
    if checked:
        refuse_unknown_arguments(files.apis, checked)
    rules = HubRules(files, checked)
    published = setting in files.question_paths
    document = document_finder("" if published else setting, files)
    ask = _asker(files, folder)
    for question in files.questions_in(setting if published else "0_shot"):
        yield _case(part, question, ask, rules, document)


def _asker(files: HubFiles, folder: Path) -> AskQuestion:
    """The published prompt where the script is there that has it; else ours."""
    if prompt := published_prompt(files.hub.name, folder):
        return lambda question: prompt.messages(question, files.hub.name)
    form = answer_form(files.hub, files.apis)
    return lambda question: question_messages(question, form)


def _changed_cases(part: str, folder: Path, checked: CheckedArguments) -> Iterator[Case | FaultyCase]:
    """The questions whose right API is called otherwise by now, each with its new document."""
    files = hub_files(part.removesuffix(f"_{_CHANGED}"), folder)
    if not files.changes_path.is_file():
        raise ValueError(
            f"no {files.changes_path.name} in {folder}: write one with a line for each change, "
            '{"was": "the call in the data base", "now": "the new call"} (docs: Suites, APIBench)'
        )
    refuse_unknown_arguments(files.apis, checked)
    rules = HubRules(files, checked)
    for each in files.changes.values():
        rules.after_changes.refuse_empty(each)
    ask, asked = _asker(files, folder), False
    for question in files.questions_in("0_shot"):
        id_ = f"{part}_{question.number}"
        if question.api is None:
            yield broken_case(id_, question.location, question.fault)
        elif change := files.changes.get(question.api.call):
            asked = True
            text = with_document(question.text, change.new)
            answer, _ = rules.change_operands(change)
            case = _question_case(id_, question, ask(text), answer, _constraints_of(question))
            yield replace(case, category=f"{part}/{change.former.domain}", judge=ChangeJudge(rules, change))
    if not asked:
        raise ValueError(f"{files.changes_path} changes no API that a question of {files.hub.name} asks for")


def _case(
    part: str, question: ApiBenchQuestion, ask: AskQuestion, rules: HubRules, document: FindDocument
) -> Case | FaultyCase:
    id_ = f"{part}_{question.number}"
    if question.api is None:
        return broken_case(id_, question.location, question.fault)
    right = question.api
    text = with_document(question.text, document(question.text, right))
    constraints = _constraints_of(question)
    case = _question_case(id_, question, ask(text), right.call, constraints)
    return replace(case, category=f"{part}/{right.domain}", judge=ApiJudge(rules, right, constraints))


def _question_case(
    id_: str, question: ApiBenchQuestion, messages: tuple[Message, ...], right: Pattern, constraints: Constraints
) -> Case:
    return Case(
        id=id_,
        location=question.location,
        turns=(Turn(messages, answer=Operator("api_call", right)),),
        tags=constraints.tags,
        proposed_settings={"temperature": 0},
    )


def _constraints_of(question: ApiBenchQuestion) -> Constraints:
    if question.constraints is not None:
        return question.constraints
    return read_constraints(question_without_document(question.text))


def _plain(case: Case) -> Case | FaultyCase:
    (turn,) = case.turns
    match case.judge:
        case ApiJudge() as judge:
            if not judge.right_calls:
                return broken_case(case.id, case.location, "no API of the data base is known to meet its constraints")
            answer = Operator("api_call", judge.right_calls)
        case ChangeJudge(operands=(new, former)):
            answer = Operator("api_call", new, {"was": former})
        case _:
            return case
    return replace(case, turns=(replace(turn, answer=answer),), judge=None)


def _count(name: str, path: Path | None) -> int | None:
    if path is None:
        return None
    try:
        return hub_files(name, path).count("0_shot")
    except (ValueError, OSError):
        return None
