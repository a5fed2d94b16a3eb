"""APIBench as a suite: questions to write calls of three hubs for, or of a hub of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from pytest_fcall.core.case import Case, Turn
from pytest_fcall.core.extension import About, Part
from pytest_fcall.core.fault import Fault, FaultyCase
from pytest_fcall.core.pattern import Operator
from pytest_fcall.suites.apibench.checked import CheckedArguments, refuse_unknown
from pytest_fcall.suites.apibench.constraints import tags_of
from pytest_fcall.suites.apibench.data_base import Api
from pytest_fcall.suites.apibench.files import HOW_TO_GET_IT, HubFiles, Question, hub_files, own_hubs
from pytest_fcall.suites.apibench.hubs import HUBS
from pytest_fcall.suites.apibench.judging import ApiJudge, Rules, scores_by
from pytest_fcall.suites.apibench.prompt import asked_in, bm25_of, form_of, oracle_of, told, with_document

Document: TypeAlias = Callable[[str, Api], Api | None]
"""Gives the document for a question, for which an API is right."""

SETTINGS = ("bm25", "gpt_index", "oracle")
_SETTING_NOTE = "questions with a document of the API data base"


class ApiBenchSuite:
    """The questions of each hub, without documents or with one that a retriever found.

    `checked` says which arguments tell APIs apart, where the data base does not.
    """

    def __init__(self, checked: CheckedArguments = MappingProxyType({})) -> None:
        self._checked = checked

    def about(self, path: Path | None) -> About:
        """Tell what there is."""
        parts = [Part(name, _count(name, path)) for name in (*HUBS, *(own_hubs(path) if path else ()))]
        settings = [Part(f"{name}_{setting}", note=_SETTING_NOTE) for name in HUBS for setting in SETTINGS]
        return About(
            title="APIBench (Gorilla)",
            licence="Apache-2.0",
            origin=HOW_TO_GET_IT,
            place=str(path) if any(part.cases is not None for part in parts) else None,
            parts=(*parts, *settings),
        )

    def cases(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """Read the cases of `HUB`, or of `HUB_SETTING` with documents; of all hubs where `part` is empty."""
        if path is None:
            raise ValueError(f"the data of the suite apibench is in no package: {HOW_TO_GET_IT}")
        for name in [part] if part else HUBS:
            yield from _cases(name, path, self._checked)

    def plain(self, part: str, path: Path | None) -> Iterator[Case | FaultyCase]:
        """The same cases with all that is right in them: each call of the right domain."""
        for case in self.cases(part, path):
            yield _plain(case) if isinstance(case, Case) else case

    def scores(self, case: Case) -> Mapping[str, Sequence[str]]:
        """The shares of each kind of answer, part by part."""
        return {case.category.partition("/")[0]: scores_by(case)}


def _cases(part: str, folder: Path, checked: CheckedArguments) -> Iterator[Case | FaultyCase]:
    name, setting = _hub_and_setting(part)
    files = hub_files(name, folder)
    if checked:
        refuse_unknown(files.apis, checked)
    rules = Rules(files, checked)
    published = setting in files.questions
    document = _no_document if published or not setting else _documents(setting, files)
    form = form_of(files.hub, files.apis)
    for question in files.asked(setting if published else "0_shot"):
        yield _case(part, question, form, rules, document)


def _hub_and_setting(part: str) -> tuple[str, str]:
    setting = next((each for each in SETTINGS if part.endswith(f"_{each}")), "")
    return part.removesuffix(f"_{setting}") if setting else part, setting


def _documents(setting: str, files: HubFiles) -> Document:
    """Make documents for a setting that was not published, or is of a hub of one's own."""
    apis = files.apis
    if setting == "oracle":
        return lambda question, right: apis[oracle_of(apis, right).top(question, 1)[0]] if apis else None
    if setting == "bm25":
        retriever = bm25_of(apis)
        return lambda question, _: apis[retriever.top(question, 1)[0]] if apis else None
    raise ValueError(
        f"the questions of {files.hub.name} with documents by embeddings are not there: {HOW_TO_GET_IT}; "
        "or write them with pytest_fcall.suites.apibench.embedded.write_questions"
    )


def _no_document(_: str, __: Api) -> None:
    return None


def _case(part: str, question: Question, form: str, rules: Rules, document: Document) -> Case | FaultyCase:
    id_ = f"{part}_{question.number}"
    if question.api is None:
        fault = Fault("bad-row", question.place, f"this row of the suite cannot be read: {question.fault}")
        return FaultyCase(id_, question.place, (fault,))
    right = question.api
    text = with_document(question.text, document(question.text, right))
    answer = Operator("api_call", right.call)
    return Case(
        id=id_,
        location=question.place,
        turns=(Turn(told(text, form), answer=answer),),
        category=f"{part}/{right.domain}",
        tags=tags_of(asked_in(question.text)),
        judge=ApiJudge(rules, right),
    )


def _plain(case: Case) -> Case:
    if not isinstance(case.judge, ApiJudge):
        return case
    (turn,) = case.turns
    answer = Operator("api_call", case.judge.right_calls)
    return replace(case, turns=(replace(turn, answer=answer),), judge=None)


def _count(name: str, path: Path | None) -> int | None:
    if path is None:
        return None
    try:
        return sum(1 for _ in hub_files(name, path).asked("0_shot"))
    except (ValueError, OSError):
        return None
