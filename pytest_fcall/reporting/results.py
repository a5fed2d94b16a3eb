"""What became of each case: plain data that travels between processes as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias, TypeVar, cast, get_args

from pytest_fcall.core import Json, Outcome, Usage
from pytest_fcall.reporting.scored import Scored, scores_from_json, scores_to_json

Status: TypeAlias = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]

_T = TypeVar("_T")
_TOKENS = tuple(field.name for field in fields(Usage))


@dataclass(frozen=True, slots=True)
class Judging:
    """What was asked of the model that judges, for one case. It is no part of what the case itself took."""

    model: str
    questions: int
    usage: Usage | None = None
    cost: float | None = None
    """In US dollars."""


@dataclass(frozen=True, slots=True)
class Inside:
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
    scores: tuple[Scored, ...] = ()
    """What it adds to the scores that are asked for."""
    judging: Judging | None = None
    """None where no model had a say in the verdict."""
    inside: tuple[Inside, ...] = ()
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


_NAMES = tuple(field.name for field in fields(Result))


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


def result_to_json(result: Result) -> dict[str, Json]:
    """Give the result as what JSON can say."""
    data = {name: getattr(result, name) for name in _NAMES}
    data["usage"] = _usage_to_json(result.usage)
    data["judging"] = _judging_to_json(result.judging)
    data["inside"] = [_inside_to_json(each) for each in result.inside]
    if result.outcome:
        data["outcome"] = result.outcome.value
    if result.scores:
        data["scores"] = scores_to_json(result.scores)
    return data


def result_from_json(data: Mapping[str, Json]) -> Result:
    """Read what `result_to_json` gave; fields that this version does not know are left out.

    A field that is missing or of the wrong type is a ValueError that names it.
    """
    status = _field(data, "status", str)
    if status not in get_args(Status):
        raise ValueError(f"status: {status!r} is none of {', '.join(get_args(Status))}")
    return Result(
        nodeid=_field(data, "nodeid", str),
        case=_field(data, "case", str),
        model=_field(data, "model", str),
        status=cast("Status", status),
        category=_field(data, "category", str, "simple"),
        tags=_texts(data, "tags"),
        reasons=_named_pairs(data, "reasons"),
        seconds=_number(data, "seconds"),
        usage=_usage(data),
        cost=_number(data, "cost"),
        file=_field(data, "file", str, ""),
        line=_field(data, "line", int, 1),
        replayed=_field(data, "replayed", bool, default=False),
        no_reply=_field(data, "no_reply", bool, default=False),
        place=_field(data, "place", int, 0),
        outcome=_outcome(data),
        since=_texts(data, "since"),
        samples=_pair(data, "samples"),
        before=_pair(data, "before"),
        most=_whole(data, "most"),
        suite=_field(data, "suite", str, ""),
        left_out=_texts(data, "left_out"),
        stanza=None if data.get("stanza") is None else _field(data, "stanza", dict),
        scores=scores_from_json(data.get("scores", ())),
        judging=_judging(data),
        inside=tuple(_inside(_checked(item, "inside", dict)) for item in _list(data, "inside")),
        called=_named_pairs(data, "called"),
    )


def results_to_json(results: Results) -> dict[str, Json]:
    """Give all results as what JSON can say."""
    return {
        "results": [result_to_json(result) for result in results.results],
        "missing_recordings": results.missing_recordings,
        "files_without_cases": results.files_without_cases,
        "unanswered": results.unanswered,
        "oldest_reply": results.oldest_reply,
    }


def results_from_json(data: Mapping[str, Json]) -> Results:
    """Read what `results_to_json` gave, on the terms of `result_from_json`."""
    return Results(
        results=tuple(result_from_json(_checked(item, "results", dict)) for item in _list(data, "results")),
        missing_recordings=_field(data, "missing_recordings", int, 0),
        files_without_cases=_field(data, "files_without_cases", int, 0),
        unanswered=_field(data, "unanswered", int, 0),
        oldest_reply=_number(data, "oldest_reply"),
    )


def _checked(value: Json, name: str, kind: type[_T]) -> _T:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{name}: expected {kind.__name__}, got {type(value).__name__}")
    return value


def _field(data: Mapping[str, Json], name: str, kind: type[_T], default: Json = None) -> _T:
    return _checked(data.get(name, default), name, kind)


def _number(data: Mapping[str, Json], name: str) -> float | None:
    value = data.get(name)
    return None if value is None else float(_checked(value, name, int if isinstance(value, int) else float))


def _list(data: Mapping[str, Json], name: str) -> Sequence[Json]:
    value = data.get(name, ())
    return _checked(list(value) if isinstance(value, tuple) else value, name, list)


def _texts(data: Mapping[str, Json], name: str) -> tuple[str, ...]:
    return tuple(_checked(item, name, str) for item in _list(data, name))


def _named_pairs(data: Mapping[str, Json], name: str) -> tuple[tuple[str, str], ...]:
    pairs = [_texts({name: item}, name) for item in _list(data, name)]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"{name}: expected pairs")
    return tuple((first, second) for first, second in pairs)


def _pair(data: Mapping[str, Json], name: str) -> tuple[int, int] | None:
    if data.get(name) is None:
        return None
    numbers = [_checked(item, name, int) for item in _list(data, name)]
    if len(numbers) != 2 or not 0 <= numbers[0] <= numbers[1] or numbers[1] == 0:
        raise ValueError(f"{name}: expected how many of how many")
    return numbers[0], numbers[1]


def _outcome(data: Mapping[str, Json]) -> Outcome | None:
    if data.get("outcome") is None:
        return None
    outcome = _field(data, "outcome", str)
    if outcome not in list(Outcome):
        raise ValueError(f"outcome: {outcome!r} is none of {', '.join(Outcome)}")
    return Outcome(outcome)


def _usage_to_json(usage: Usage | None) -> Json:
    return None if usage is None else {name: getattr(usage, name) for name in _TOKENS}


def _judging_to_json(judging: Judging | None) -> Json:
    if judging is None:
        return None
    usage = _usage_to_json(judging.usage)
    return {"model": judging.model, "questions": judging.questions, "usage": usage, "cost": judging.cost}


def _judging(data: Mapping[str, Json]) -> Judging | None:
    if data.get("judging") is None:
        return None
    judging: Mapping[str, Json] = _field(data, "judging", dict)
    return Judging(
        model=_field(judging, "model", str),
        questions=_field(judging, "questions", int),
        usage=_usage(judging),
        cost=_number(judging, "cost"),
    )


def _inside_to_json(inside: Inside) -> dict[str, Json]:
    return {
        "model": inside.model,
        "requests": inside.requests,
        "replayed": inside.replayed,
        "usage": _usage_to_json(inside.usage),
        "cost": inside.cost,
    }


def _inside(data: Mapping[str, Json]) -> Inside:
    return Inside(
        model=_field(data, "model", str),
        requests=_field(data, "requests", int),
        replayed=_field(data, "replayed", bool, default=False),
        usage=_usage(data),
        cost=_number(data, "cost"),
    )


def _usage(data: Mapping[str, Json]) -> Usage | None:
    if data.get("usage") is None:
        return None
    usage = _field(data, "usage", dict)
    return Usage(**{name: _whole(usage, name) for name in _TOKENS})


def _whole(data: Mapping[str, Json], name: str) -> int | None:
    return None if data.get(name) is None else _field(data, name, int)
