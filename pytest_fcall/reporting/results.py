"""The results of cases and runs as plain data. `reporting.result_json` reads and writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from pytest_fcall.core.reply import Usage
from pytest_fcall.core.secrets import LEFT_OUT
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Outcome

if TYPE_CHECKING:
    from pytest_fcall.core.injection import AttackResult
    from pytest_fcall.core.result_fault import RecoveryResult

_MOST: Final = 1e15
"""The largest number of a score: sums of such numbers are exact."""


class CaseScore(NamedTuple):
    """The numbers that a case adds to a score of a tag; none without a reply."""

    tag: str
    score: str
    numbers: tuple[float, ...] = ()
    answers: tuple[tuple[float, ...], ...] = ()
    """Of several answers the numbers of each, in their order; their means are in `numbers`."""


def scores_from_json(data: Json, answers: Json = ()) -> tuple[CaseScore, ...]:
    """Read what `scores_to_json` and `score_answers_to_json` wrote. Raises ValueError for anything else."""
    several = {(tag, score): numbers for tag, score, numbers in map(_score_answers, _scores(answers))}
    scores = map(_case_score, _scores(data))
    return tuple(each._replace(answers=several.get((each.tag, each.score), ())) for each in scores)


def _scores(data: Json) -> Sequence[Json]:
    if isinstance(data, Sequence) and not isinstance(data, str):
        return data
    raise ValueError("scores: expected a list")


def scores_to_json(scores: Sequence[CaseScore]) -> list[Json]:
    """The scores as JSON."""
    return [[each.tag, each.score, [*each.numbers]] for each in scores]


def score_answers_to_json(scores: Sequence[CaseScore]) -> list[Json]:
    """The numbers of each answer, of the scores that have several, as JSON."""
    return [[each.tag, each.score, [[*numbers] for numbers in each.answers]] for each in scores if each.answers]


def _score_answers(data: Json) -> tuple[str, str, tuple[tuple[float, ...], ...]]:
    match data:
        case [str(tag), str(score), [*answers]] if all(isinstance(each, list) for each in answers):
            return tag, score, tuple(tuple(map(_number, each)) for each in answers if isinstance(each, list))
    raise ValueError("score_answers: expected a tag, a score and lists of numbers")


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
    raise ValueError("scores: expected numbers of at least 0")


Status: TypeAlias = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
Way: TypeAlias = Literal["", "proxy", "unseen", "stored"]
"""The way to an app's answer: it asked by way of the proxy, or nothing came that way; or it was not run, and its stored
answer stands for it. Empty for what is no app, and where nobody can know."""


class JudgeUsage(NamedTuple):
    """The questions to the judge model for one case. Their cost is not part of that of the case."""

    model: str
    questions: int
    usage: Usage | None = None
    cost: float | None = None
    """In US dollars."""
    replayed: int = 0
    """The number of questions that recordings answered."""


class AppUsage(NamedTuple):
    """The requests of an app to one model for one case: either the new ones, or those that recordings answered."""

    model: str
    requests: int
    replayed: bool = False
    usage: Usage | None = None
    cost: float | None = None
    """In US dollars."""


class VariantResult(NamedTuple):
    """The verdicts on one variant of a case."""

    relation: str
    number: int
    """Its number among the variants of the relation, from 1."""
    right: int
    asked: int
    reasons: tuple[tuple[str, str], ...] = ()
    """Kind and path of each reason against it."""
    difference: str = ""
    """The difference of the variant from the case, where their verdicts differ."""

    @property
    def name(self) -> str:
        """The name of the variant: `typos-2`."""
        return f"{self.relation}-{self.number}"


class VariantResults(NamedTuple):
    """The verdicts on the variants of a case, beside those on the case itself."""

    first: bool
    """Whether the first answer to the case itself is right."""
    repeated: tuple[int, int]
    """The numbers of right answers, and of all, to the case itself that were asked for beside the first."""
    tried: tuple[VariantResult, ...] = ()
    unfit: tuple[tuple[str, str], ...] = ()
    """Relations that make no variant of the case, with the reasons."""
    before: tuple[tuple[str, int, int], ...] = ()
    """Relations, with the numbers of right answers and of all when the baseline was accepted."""
    answers: int = 0
    """The number of answers beside those that the case has anyway."""
    replayed: int = 0
    """Those of them that recordings gave."""
    usage: Usage | None = None
    cost: float | None = None
    """In US dollars; no part of the cost of the case."""

    @property
    def flipped(self) -> list[VariantResult]:
        """The variants whose verdict is another than that of the first answer to the case."""
        return [each for each in self.tried if (each.right < each.asked if self.first else each.right > 0)]


class Result(NamedTuple):
    """The result of one case with one model.

    `reasons` are kind and path of each Reason. A figure that was not measured is None, never zero.
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
    """Whether all answers came from recordings."""
    asked: int = 0
    """The number of answers that the model gave, in whole or in part, in this run."""
    no_reply: bool = False
    """Whether there was no reply, so that the result does not count for the model."""
    place: int = 0
    """The position of the case among all cases of the run, including those of other shards."""
    outcome: Outcome | None = None
    """The verdict compared with the baseline; None without one."""
    since: tuple[str, ...] = ()
    """The changes of the answer since the baseline was accepted, a line each."""
    causes: tuple[str, ...] = ()
    """The changes of the question, and of what answers it, a line each."""
    bisected: tuple[str, ...] = ()
    """The edits of the question that made it fail, as a search found them, a cause a line; or why it found none."""
    may_be_chance: bool = False
    """Whether it counts as regressed although chance may explain it, since the model was not asked again."""
    samples: tuple[int, int] | None = None
    """The numbers of right answers and of all answers; None if one was asked for."""
    before: tuple[int, int] | None = None
    """The same numbers of the baseline; (0, 1) or (1, 1) if one answer was asked for, None without a baseline."""
    first: tuple[int, int] | None = None
    """The numbers of `samples` before the case was asked again, since it seemed to have regressed."""
    suite: str = ""
    """The public benchmark that the case belongs to, if any."""
    left_out: tuple[str, ...] = ()
    """Expected tools that retrieval did not offer."""
    stanza: str | None = None
    """The stanza of a baseline for it, as the JSON text of `tracking.stanza`: few runs read it, and all keep it."""
    scores: tuple[CaseScore, ...] = ()
    """The numbers that it adds to scores."""
    judging: JudgeUsage | None = None
    """None if no judge model was asked."""
    inside: tuple[AppUsage, ...] = ()
    """The requests of an app to its models; `usage` and `cost` are their sums."""
    called: tuple[tuple[str, str], ...] = ()
    """Each expected tool with the one called for it; an empty name stands for none."""
    unpriced: int = 0
    """The requests that may be billed although there was no reply; what they cost is unknown."""
    remarks: tuple[tuple[str, str], ...] = ()
    """Remarks on unusual requests, each once: of an app `unread` and a path, or `broken` and what was wrong; of
    all `volatile` and the pattern of what is no part of the key; and `idle` and a pattern of the file that matched in
    none of them."""
    way: Way = ""
    asks_models: bool = False
    """Whether an app that sent no request through the proxy is known to have sent some before."""
    attacks: tuple[AttackResult, ...] = ()
    """The result of the attack on the case, for each answer."""
    recoveries: tuple[RecoveryResult, ...] = ()
    """The result of the fault in the case's tool results, for each answer."""
    strength: tuple[float, float, float] | None = None
    """The weights of mistakes that the case notices, that pass, and of which only a run decides; None if unknown."""
    detours: tuple[str, ...] = ()
    """The connections of the app to providers that went around the proxy, each host and place once."""
    variants: VariantResults | None = None
    """None where no relation varies the case."""

    @property
    def found_causes(self) -> tuple[str, ...]:
        """All that is known of its causes, what a search for guilty edits found first."""
        return (*(f"bisected: {line}" for line in self.bisected), *self.causes)

    @property
    def right(self) -> bool:
        """Whether the model answered and the answer was right."""
        return self.status in ("passed", "xpassed")

    @property
    def has_forbidden_call(self) -> bool:
        """Whether a forbidden call was made, in an answer to the case or to a variant of it."""
        return any(kind == "forbidden_call" for kind, _ in self.reasons)

    @property
    def reason_texts(self) -> list[str]:
        """Each reason as `wrong_value at calls[0].args.city`."""
        return [f"{kind} at {path}" if path else kind for kind, path in self.reasons]

    @property
    def flaky(self) -> bool:
        """Whether some of its answers are right and others wrong."""
        return self.outcome is Outcome.FLAKY or (self.samples is not None and 0 < self.samples[0] < self.samples[1])

    @property
    def replays(self) -> int:
        """The number of answers that came from recordings."""
        answers = self.samples[1] if self.samples else 1
        return max(answers - self.asked, 0) if self.replayed or self.asked else 0

    @property
    def new_cost(self) -> float | None:
        """The cost of new requests in this run, in US dollars; None if unknown."""
        if not self.inside:
            return None if self.replayed else self.cost
        known = [each.cost for each in self.inside if each.cost is not None and not each.replayed]
        return sum(known) if known else None

    @property
    def answered(self) -> bool:
        """Whether there was an answer to judge, unlike for errors and skipped cases."""
        return self.status not in ("error", "skipped")


def lacks_secret(result: Result) -> bool:
    """Whether a secret was left out of the answer, so that nothing may be compared with it."""
    return result.stanza is not None and LEFT_OUT in result.stanza


class MissingReply(NamedTuple):
    """The reason why there is no recorded reply to a case, where its model may not be asked."""

    model: str
    cause: str
    """The differences from what was recorded, in lines."""
    command: str
    """The command that asks for what is missing."""


@dataclass(frozen=True, slots=True)
class Results:
    """All results of a run, and counts of what is not in them."""

    results: tuple[Result, ...] = ()
    missing: Mapping[MissingReply, int] = field(default_factory=dict)
    """The reasons why cases and tests have no recorded reply, each with their number."""
    missing_excused: bool = False
    """Whether the settings say that such cases do not make the run inconclusive."""
    files_without_cases: int = 0
    """YAML files without `cases:` among the collected ones."""
    unanswered: int = 0
    """Cases without a reply because the model gave none, as without a server, network, key or credit."""
    not_asked: int = 0
    """Those among them that were skipped, since their model had failed others for a reason that lasts."""
    oldest_reply: float | None = None
    """Age in seconds of the oldest recorded reply that was used, when the run began."""
    newest_reply: float | None = None
    """The same of the newest one."""
    undated_replies: bool = False
    """Whether recorded replies were used that do not say when they were recorded."""
    stale: tuple[tuple[str, str], ...] = ()
    """Accepted answers of cases that are in no case file any more: the path of the baseline, and the case."""


def results_with_outcome(results: Iterable[Result], outcome: Outcome) -> list[Result]:
    """The results with this outcome."""
    return [result for result in results if result.outcome is outcome]
