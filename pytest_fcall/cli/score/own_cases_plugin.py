"""The pytest plugin of `fcall score --cases`, in which stored answers stand for a model. Nothing is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from pytest_fcall.backends.apps.answers.answer import reply_of
from pytest_fcall.backends.apps.answers.errors import AnswerError
from pytest_fcall.cli.pytest_run import CaseFilesPlugin
from pytest_fcall.cli.score.stored_answers import StoredAnswer, StoredAnswers
from pytest_fcall.core import Case, FaultyCase, Json, Model, Reply, Request, Unanswered
from pytest_fcall.core.case import uses_judge
from pytest_fcall.plugin.item import CaseItem

KIND: Final = "stored"
"""The kind of the model that the answers stand for."""
_FIXTURE: Final = "fc_model"


class OwnCases(CaseFilesPlugin):
    """Judges the cases that are collected by stored answers, and leaves out those without one."""

    def __init__(self, answers: StoredAnswers) -> None:
        self._answers = answers
        self._by_item: dict[str, StoredAnswer] = {}
        self._running = ""
        """The node id of the case that runs."""
        self._given: Counter[str] = Counter()
        """The number of replies that each case has had."""
        self.rows: list[Mapping[str, Json]] = []
        """The result of each answer."""
        self.unanswered: list[str] = []
        """Cases without an answer."""
        self.undecided: dict[str, list[str]] = {}
        """Cases that an answer alone does not decide, by the reason."""
        self.unused: list[str] = []
        """Right cases that ended before the last reply that is stored."""
        self.unknown: dict[str, str] = {}
        """Ids of answers that belong to no case, or to several, and why they are not judged."""
        self.cases: int | None = None
        """The number of cases; None where pytest did not get as far as the collection."""
        self.problems: list[str] = []
        """Errors of the collection."""

    def pytest_fcall_backends(self) -> Mapping[str, Callable[[Model, Path], _StoredModel]]:
        """Add the kind of model that the answers stand for."""
        return {KIND: lambda *_: _StoredModel(self._next)}

    def _next(self) -> tuple[str, object]:
        """The place of the answer, and its next reply to the case that runs. Raises Unanswered behind the last one."""
        answer, number = self._by_item[self._running], self._given[self._running]
        self._given[self._running] += 1
        if number >= len(answer.replies):
            raise Unanswered(
                f"{answer.place}: the case goes on behind what is stored: store all messages as its `reply`, or all "
                "its replies in order as `replies`"
            )
        return answer.place, answer.replies[number]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what could not be collected."""
        if report.failed:
            self.problems.append(report.longreprtext)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the cases that have an answer. A fixture that replaces the model has no part in judging."""
        found = [item for item in items if isinstance(item, CaseItem)]
        self.cases = len(found)
        by_name = _by_name(found)
        for id_, answer in self._answers.by_id.items():
            owners = by_name.get(id_, [])
            if len(owners) == 1:
                self._by_item[owners[0].nodeid] = answer
            else:
                files = " and ".join(item.context.file.nodeid for item in owners)
                self.unknown[id_] = (
                    f"cases of {files} have this id: write FILE::ID" if owners else "no case has this id"
                )
        kept: list[pytest.Item] = [item for item in found if self._is_judged(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
        if not kept:
            why = "there is no answer that can be judged" if found else "there are no cases"
            pytest.exit(why, returncode=int(pytest.ExitCode.NO_TESTS_COLLECTED))

    def _is_judged(self, item: CaseItem) -> bool:
        if item.nodeid not in self._by_item:
            self.unanswered.append(item.asker.again)
            return False
        if isinstance(item.case, FaultyCase):
            return True
        if reason := _undecided_reason(item.case):
            self.undecided.setdefault(reason, []).append(item.asker.again)
            return False
        item.case = _without_surroundings(item.case)
        item.fixturenames = [name for name in item.fixturenames if name != _FIXTURE]
        return True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, None, None]:
        """Let replies be those to this case."""
        self._running = item.nodeid
        yield

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note what came of the answer. Nobody was asked for it in this run."""
        judged = None
        if isinstance(item, CaseItem) and item.run:
            judged, answers = item.run.judged, item.run.answers.answers
            answers[:] = [answer._replace(asked=False) for answer in answers]
        report = yield
        if isinstance(item, CaseItem) and (call.when == "call" or (call.when == "setup" and not report.passed)):
            row: dict[str, Json] = {"id": item.case.id, "file": item.location[0]}
            if judged is not None and call.when == "call":
                reasons: list[Json] = [
                    {"kind": each.kind, "path": each.path, "message": each.message} for each in judged.verdict.reasons
                ]
                row |= {"valid": judged.verdict.valid, "reasons": reasons}
                if judged.verdict.valid and self._given[item.nodeid] < len(self._by_item[item.nodeid].replies):
                    self.unused.append(item.asker.again)
            elif report.skipped:
                row["skipped"] = call.excinfo.exconly() if call.excinfo else ""
            else:
                row["error"] = str(call.excinfo.value) if call.excinfo else ""
            self.rows.append(row)
        return report


def _by_name(items: list[CaseItem]) -> dict[str, list[CaseItem]]:
    """The cases by their ids, and by their files and ids."""
    found: dict[str, list[CaseItem]] = {}
    for item in items:
        for name in {item.case.id, item.asker.again}:
            found.setdefault(name, []).append(item)
    return found


def _undecided_reason(case: Case) -> str:
    """Why an answer does not decide the case; empty where it does."""
    settings = case.conversation
    if uses_judge(case):
        return "a model judges them (`$judge`)"
    if case.wire is not None:
        return "they expect requests of an app to its models (`wire`)"
    if case.spans is not None:
        return "they expect spans of an app (`spans`)"
    if settings is not None and settings.user is not None:
        return "a simulated user takes part"
    results = (call.result for call in case.expected_calls)
    is_known = not any(turn.state is not None or turn.result is not None for turn in case.turns)
    if not is_known or any(result is not None for result in results):
        return "they expect results of calls, or a state (`result`, `state`)"
    return "they need conversations before them" if case.earlier is not None else ""


def _without_surroundings(case: Case) -> Case:
    """The case without what would be called or loaded beside the model: its environment, and a choice of tools."""
    settings = None if case.conversation is None else replace(case.conversation, environment=None)
    return replace(case, conversation=settings, retrieve=None)


class _StoredModel:
    """Answers from what is stored for the case that runs."""

    settings: Mapping[str, Json] = MappingProxyType({})
    reusable = True
    ahead = False

    def __init__(self, next_reply: Callable[[], tuple[str, object]]) -> None:
        self._next_reply = next_reply

    async def complete(self, request: Request) -> Reply:
        """Give the next reply to the case."""
        place, reply = self._next_reply()
        try:
            return reply_of(reply, request.messages)
        except AnswerError as error:
            raise AnswerError(f"{place}: {error}") from None

    async def close(self) -> None:
        """Close nothing."""
