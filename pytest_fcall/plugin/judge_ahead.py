"""Asking the judge ahead of the tests: what a verdict depends on is asked for once there is an answer to judge."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

import pytest

from pytest_fcall.core import Case
from pytest_fcall.plugin.answering import answering
from pytest_fcall.plugin.conversing import Conversation
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.judge import is_judged, named_judge
from pytest_fcall.plugin.judging import foreseen
from pytest_fcall.plugin.sources import Question

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pytest_fcall.core import Reply

Wanted: TypeAlias = Sequence[Question | Conversation]


class JudgeAhead:
    """Knows the judged items whose answers are under way or there."""

    def __init__(self, config: pytest.Config) -> None:
        named = named_judge(config)
        self._asking = answering(config)
        self._may_ask = named is not None and named.live
        self._waiting: dict[CaseItem, Wanted] = {}

    def expect(self, item: CaseItem, wanted: Wanted) -> None:
        """Know what an item will ask of its model, if a model will judge the answers."""
        if self._may_ask and wanted and isinstance(item.case, Case) and is_judged(item.case):
            self._waiting[item] = wanted

    def ask(self) -> list[Future[Reply]]:
        """Ask about all answers that have come by now. An item none of whose answers will come is let go."""
        begun: list[Future[Reply]] = []
        for item, wanted in [*self._waiting.items()]:
            if any(map(self._asking.is_awaited, wanted)):
                continue
            del self._waiting[item]
            answers = [answer for each in wanted if (answer := self._asking.arrived(each))]
            if len(answers) == len(wanted) and isinstance(item.case, Case):
                # What cannot be asked is for the item itself to say.
                with suppress(pytest.fail.Exception, pytest.skip.Exception):
                    begun += foreseen(item, item.case, answers)
        return begun
