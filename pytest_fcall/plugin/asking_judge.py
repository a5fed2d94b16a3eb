"""The value of the fixture `fc_judge`: a model that judges in plain tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from pytest_fcall.core import Json, Message, Verdict
from pytest_fcall.core.extension import Undecided
from pytest_fcall.core.operators import MOST_VOTES
from pytest_fcall.matching.opinions import Opinion, question
from pytest_fcall.plugin.answering import answering
from pytest_fcall.plugin.asking import AskModel, asker_of
from pytest_fcall.plugin.judge import HOW_TO_NAME_A_JUDGE, named_judge
from pytest_fcall.plugin.opinions import Judging, Opinions, Point, said_in
from pytest_fcall.plugin.words import fail


@dataclass(frozen=True, slots=True)
class AskJudge:
    """The model that judges. It is false where none was named; asking it then says how to name one."""

    model: AskModel

    def __bool__(self) -> bool:
        return bool(self.model)

    def __call__(self, statement: str, value: Json, *, said: str = "", votes: int = 1) -> Opinion:
        """Ask whether a statement is true of a value; `said` is what the user wanted, if that matters.

        `says` of the opinion is `yes`, `no` or `uncertain`, and `why` is the judge's reason.
        """
        __tracebackhide__ = True
        if not 1 <= votes <= MOST_VOTES:
            fail(f"votes: {votes} is no number from 1 to {MOST_VOTES}")
        try:
            point = Point(question(statement, value, said), votes)
        except Undecided as why:
            return Opinion("uncertain", str(why))
        return self._opinions(said).ask([point])[point]

    def settle(self, judging: Judging, messages: Sequence[Message]) -> Verdict:
        """Judge a reply to these messages by what the judge says."""
        __tracebackhide__ = True
        (verdict,) = self._opinions(said_in(messages)).settle([judging], {})
        return verdict

    def _opinions(self, said: str) -> Opinions:
        __tracebackhide__ = True
        if not self.model:
            fail(HOW_TO_NAME_A_JUDGE)
        return Opinions(self.model, said)


def judge_of_test(request: pytest.FixtureRequest) -> AskJudge:
    """The value of the fixture `fc_judge` for the test that asks for it."""
    config, named = request.config, named_judge(request.config)
    asking = answering(config)
    return AskJudge(AskModel(asking.source(named) if named else None, asking, asker_of(request.node)))
