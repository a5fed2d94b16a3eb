"""The result of each case, and all results of a run: plain data. `reporting.result_json` reads and writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from pytest_fcall.core import Json, Outcome, Usage

_MOST: Final = 1e15
"""More than anybody counts, and little enough for sums to be exact."""


@dataclass(frozen=True, slots=True)
class CaseScore:
    """What a case adds to a score that a tag asks for: nothing where no reply came."""

    tag: str
    score: str
    numbers: tuple[float, ...] = ()


def scores_from_json(data: Json) -> tuple[CaseScore, ...]:
    """Read what `scores_to_json` gave; ValueError where it is no such thing."""
    match data:
        case [*scores]:
            return tuple(map(_case_score, scores))
    raise ValueError("scores: expected a list")


def scores_to_json(scores: Sequence[CaseScore]) -> list[Json]:
    """Give the scores as what JSON can say."""
    return [[each.tag, each.score, [*each.numbers]] for each in scores]


def _case_score(data: Json) -> CaseScore:
    match data:
        case [str(tag), str(score), [*numbers]]:
            return CaseScore(tag, score, tuple(map(_number, numbers)))
    raise ValueError("scores: expected a tag, a score and numbers")


def _number(data: Json) -> float:
    match data:
        case bool():
            pass
        case int() | float() if 0 <= data <= _MOST:
            return data
    raise ValueError("scores: expected numbers from 0 on")


Status: TypeAlias = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]


@dataclass(frozen=True, slots=True)
class JudgeUsage:
    """What was asked of the model that judges, for one case. It is no part of what the case itself took."""

    model: str
    questions: int
    usage: Usage | None = None
    cost: float | None = None
    """In US dollars."""


@dataclass(frozen=True, slots=True)
class AppUsage:
    """What an app asked of one model, for one case: all that was asked now, or all that recordings answered."""

    model: str
    requests: int
    replayed: bool = False
    usage: Usage | None = None
    cost: float | None = None
    """In US dollars."""


@dataclass(frozen=True, slots=True)
class Result:
    """One case, asked of one model.

    `reasons` are (kind, path) of each Reason. What nobody measured is None, never zero.
    """

    nodeid: str
    case: str
    model: str
    status: Status
    category: str = "simple"
    tags: tuple[str, ...] = ()
    reasons: tuple[tuple[str, str], ...] = ()
    seconds: float | None = None
    usage: Usage | None = None
    cost: float | None = None
    """In US dollars."""
    file: str = ""
    line: int = 1
    replayed: bool = False
    """Whether the reply came from a recording."""
    no_reply: bool = False
    """Whether no reply came, or is recorded: whatever the status, it says nothing about the model or the case."""
    place: int = 0
    """Where the case stands among all cases of the run, whether or not this part of it has them."""
    outcome: Outcome | None = None
    """What the verdict means against the baseline; None where there is none."""
    since: tuple[str, ...] = ()
    """What changed since the baseline was accepted, in words."""
    samples: tuple[int, int] | None = None
    """How many answers were right, and how many there were; None where one was asked for."""
    before: tuple[int, int] | None = None
    """The same when the baseline was accepted; 0 or 1 of 1 where one was asked for, None without a baseline."""
    most: int | None = None
    """How many answers there could have been at most, where no more were asked for than it took."""
    suite: str = ""
    """The public benchmark that the case belongs to, if any."""
    left_out: tuple[str, ...] = ()
    """Expected tools that were not offered, since retrieval did not find them."""
    stanza: Mapping[str, Json] | None = None
    """What a baseline would keep of it, as `tracking.stanza` says it in JSON."""
    scores: tuple[CaseScore, ...] = ()
    """What it adds to the scores that are asked for."""
    judging: JudgeUsage | None = None
    """None where no model had a say in the verdict."""
    inside: tuple[AppUsage, ...] = ()
    """What an app asked of models; its `usage` and `cost` are all of that."""
    called: tuple[tuple[str, str], ...] = ()
    """Each expected tool with the one that was called for it; no name stands for none."""

    @property
    def right(self) -> bool:
        """Whether the model answered and the answer was right."""
        return self.status in ("passed", "xpassed")

    @property
    def flaky(self) -> bool:
        """Whether some answers to it are right, and others are not."""
        return self.samples is not None and 0 < self.samples[0] < self.samples[1]

    @property
    def new_cost(self) -> float | None:
        """What this run has spent on it, in US dollars; None where it has spent nothing that is known."""
        if not self.inside:
            return None if self.replayed else self.cost
        known = [each.cost for each in self.inside if each.cost is not None and not each.replayed]
        return sum(known) if known else None

    @property
    def answered(self) -> bool:
        """Whether there was an answer to judge. Errors and skipped cases say nothing about the model."""
        return self.status not in ("error", "skipped")


@dataclass(frozen=True, slots=True)
class Results:
    """All results of a run, and what happened beside them."""

    results: tuple[Result, ...] = ()
    missing_recordings: int = 0
    """Cases skipped or in error because no reply was recorded for them."""
    files_without_cases: int = 0
    """YAML files where case files are looked for, without `cases:` in them."""
    unanswered: int = 0
    """Cases in error because no reply came: for want of a server, a network, a key or money."""
    oldest_reply: float | None = None
    """Seconds since the oldest reply was recorded that a run used again which could have asked."""
