"""Judges that a suite brings along, where its verdicts follow rules of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from pytest_fcall.core.call import Calls
from pytest_fcall.core.fault import Fault
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.transcript import Transcript
from pytest_fcall.core.verdict import Verdict

if TYPE_CHECKING:
    from pytest_fcall.core.case import Case


class Judge(Protocol):
    """Judges a reply to a case. Total: whatever a model says gives a verdict."""

    def __call__(self, case: Case, reply: Reply, calls: Calls) -> Verdict:
        """Judge by the profile of the case's rules.

        `calls` are those that were decoded from the reply. Calls of a baseline are judged again with a reply that
        holds none of them.
        """
        ...


class ConversationJudge(Protocol):
    """Judges a conversation about a case. Total, as Judge is."""

    def __call__(self, case: Case, transcript: Transcript, /) -> Verdict:
        """Judge what was held of it. That of a baseline has the calls of each step, and no reply but the last."""
        ...


def fault_of(case: Case) -> Fault | None:
    """What its judge finds wrong with a case, if it has a method `fault()` to say so.

    It is asked when the case is to run, since checking what is right may take longer than reading it.
    """
    fault: Callable[[], Fault | None] | None = getattr(case.judge, "fault", None)
    return fault() if fault else None
