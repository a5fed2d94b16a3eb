"""Results as JSON, for other processes and for run files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, overload

from pytest_fcall.core.digests import canonical
from pytest_fcall.core.reply import Usage
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import MOST_ANSWERS, Outcome
from pytest_fcall.reporting.results import (
    AppUsage,
    JudgeUsage,
    MissingReply,
    Result,
    Results,
    Status,
    VariantResult,
    VariantResults,
    Way,
    score_answers_to_json,
    scores_from_json,
    scores_to_json,
)

if TYPE_CHECKING:
    from pytest_fcall.core.injection import AttackResult
    from pytest_fcall.core.result_fault import RecoveryResult

_T = TypeVar("_T")
_LARGEST = 2**63
_INEXACT = 1e-9
"""Shares of floats that add up to 1 may be this much more."""
_STATUSES: Mapping[str, Status] = MappingProxyType({status: status for status in get_args(Status)})
_WAYS: Mapping[str, Way] = MappingProxyType({way: way for way in get_args(Way)})
_TOKENS = "input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"


def result_to_json(result: Result) -> dict[str, Json]:
    """The result as JSON."""
    data: dict[str, Any] = result._asdict()
    data["usage"] = _usage_to_json(result.usage)
    data["judging"] = _judge_usage_to_json(result.judging)
    data["inside"] = [_app_usage_to_json(each) for each in result.inside]
    if result.variants is not None:
        data["variants"] = _variants_to_json(result.variants)
    if result.outcome:
        data["outcome"] = result.outcome.value
    if result.scores:
        data["scores"] = scores_to_json(result.scores)
    if result.attacks:
        data["attacks"] = [_attack_to_json(each) for each in result.attacks]
    if result.recoveries:
        data["recoveries"] = [each._asdict() | {"tools": [*each.tools]} for each in result.recoveries]
    data["score_answers"] = score_answers_to_json(result.scores)
    return data


def result_from_json(data: Mapping[str, Json]) -> Result:
    """Read what `result_to_json` wrote, without fields that this version does not know.

    Raises ValueError with the name of a field that is missing or has the wrong type.
    """
    status = _field(data, "status", str)
    replayed, samples = _field(data, "replayed", bool, default=False), _pair(data, "samples")
    if status not in _STATUSES:
        raise ValueError(f"status: unknown status {status!r}; available: {', '.join(_STATUSES)}")
    return Result(
        nodeid=_field(data, "nodeid", str),
        case=_field(data, "case", str),
        model=_field(data, "model", str),
        status=_STATUSES[status],
        category=_field(data, "category", str, "simple"),
        tags=_texts(data, "tags"),
        reasons=_named_pairs(data, "reasons"),
        seconds=_number(data, "seconds"),
        usage=_usage(data),
        cost=_number(data, "cost"),
        file=_field(data, "file", str, ""),
        line=_field(data, "line", int, 1),
        replayed=replayed,
        asked=_asked(data, status, samples, replayed=replayed),
        no_reply=_field(data, "no_reply", bool, default=False),
        place=_field(data, "place", int, 0),
        outcome=_outcome(data),
        since=_texts(data, "since"),
        causes=_texts(data, "causes"),
        bisected=_texts(data, "bisected"),
        may_be_chance=_field(data, "may_be_chance", bool, default=False),
        samples=samples,
        before=_pair(data, "before"),
        first=_pair(data, "first"),
        suite=_field(data, "suite", str, ""),
        left_out=_texts(data, "left_out"),
        stanza=_stanza(data),
        scores=scores_from_json(data.get("scores", ()), data.get("score_answers", ())),
        judging=_judge_usage(data),
        inside=tuple(_app_usage(_checked(item, "inside", dict)) for item in _list(data, "inside")),
        called=_named_pairs(data, "called"),
        unpriced=_field(data, "unpriced", int, 0),
        remarks=_named_pairs(data, "remarks"),
        way=_WAYS.get(_field(data, "way", str, ""), ""),
        asks_models=_field(data, "asks_models", bool, default=False),
        attacks=tuple(_attack(_checked(item, "attacks", dict)) for item in _list(data, "attacks")),
        recoveries=tuple(_recovery(_checked(item, "recoveries", dict)) for item in _list(data, "recoveries")),
        strength=_weights(data),
        detours=_texts(data, "detours"),
        variants=_variants(data),
    )


class ResultRows(Sequence[Json]):
    """Results as a sequence of JSON, each made when it is asked for: thousands together would take much memory."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = results

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int) -> Json: ...

    @overload
    def __getitem__(self, index: slice) -> ResultRows: ...

    def __getitem__(self, index: int | slice) -> Json:
        if isinstance(index, slice):
            return ResultRows(self._results[index])
        return result_to_json(self._results[index])


def results_to_json(results: Results) -> dict[str, Json]:
    """All results as JSON, with a sequence of rows for `write_run`."""
    return {
        "results": ResultRows(results.results),
        "missing": [[*reply, count] for reply, count in results.missing.items()],
        "missing_excused": results.missing_excused,
        "files_without_cases": results.files_without_cases,
        "unanswered": results.unanswered,
        "not_asked": results.not_asked,
        "oldest_reply": results.oldest_reply,
        "newest_reply": results.newest_reply,
        "undated_replies": results.undated_replies,
        "stale": results.stale,
    }


def results_from_json(data: Mapping[str, Json], rows: Iterable[Json] | None = None) -> Results:
    """Read what `results_to_json` wrote; `rows` replace those in it. Raises ValueError as `result_from_json` does."""
    rows = _list(data, "results") if rows is None else rows
    return Results(
        results=tuple(result_from_json(_checked(row, "results", dict)) for row in rows),
        missing=dict(map(_missing, _field(data, "missing", list, []))),
        missing_excused=_field(data, "missing_excused", bool, default=False),
        files_without_cases=_field(data, "files_without_cases", int, 0),
        unanswered=_field(data, "unanswered", int, 0),
        not_asked=_field(data, "not_asked", int, 0),
        oldest_reply=_number(data, "oldest_reply"),
        newest_reply=_number(data, "newest_reply"),
        undated_replies=_field(data, "undated_replies", bool, default=False),
        stale=_named_pairs(data, "stale"),
    )


def _missing(data: Json) -> tuple[MissingReply, int]:
    match data:
        case [str(model), str(cause), str(command), int(count)]:
            return MissingReply(model, cause, command), count
    raise ValueError("missing: expected a model, a cause, a command and a number")


def _checked(value: Json, name: str, kind: type[_T]) -> _T:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{name}: expected {kind.__name__}, got {type(value).__name__}")
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise ValueError(f"{name}: the number is too large")
    return value


def _field(data: Mapping[str, Json], name: str, kind: type[_T], default: Json = None) -> _T:
    return _checked(data.get(name, default), name, kind)


def _number(data: Mapping[str, Json], name: str) -> float | None:
    value = data.get(name)
    if value is None:
        return None
    try:
        number = float(_checked(value, name, int if isinstance(value, int) else float))
    except OverflowError:
        number = inf
    if not isfinite(number):
        raise ValueError(f"{name}: the number is too large, or is none")
    return number


def _list(data: Mapping[str, Json], name: str) -> Sequence[Json]:
    value = data.get(name, ())
    return _checked(list(value) if isinstance(value, tuple | ResultRows) else value, name, list)


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
    if len(numbers) != 2 or not 0 <= numbers[0] <= numbers[1] or not 0 < numbers[1] <= MOST_ANSWERS:
        raise ValueError(f"{name}: expected [right, asked]")
    return numbers[0], numbers[1]


def _weights(data: Mapping[str, Json]) -> tuple[float, float, float] | None:
    """The weights of mistakes, each a share of all of them."""
    if data.get("strength") is None:
        return None
    weights = [_number({"strength": item}, "strength") for item in _list(data, "strength")]
    known = [weight for weight in weights if weight is not None and 0 <= weight <= 1 + _INEXACT]
    if len(weights) != 3 or len(known) != 3:
        raise ValueError("strength: expected three shares")
    return known[0], known[1], known[2]


def _asked(data: Mapping[str, Json], status: str, samples: tuple[int, int] | None, *, replayed: bool) -> int:
    """The number of answers that were asked for. Earlier versions only wrote whether all were recorded."""
    if data.get("asked") is not None:
        return _field(data, "asked", int)
    answered = not replayed and status not in ("error", "skipped")
    return (samples[1] if samples else 1) if answered else 0


def _stanza(data: Mapping[str, Json]) -> str | None:
    """The text of a stanza. Earlier versions wrote an object in its place."""
    stanza = data.get("stanza")
    if isinstance(stanza, Mapping):
        return canonical(stanza)
    return None if stanza is None else _checked(stanza, "stanza", str)


def _outcome(data: Mapping[str, Json]) -> Outcome | None:
    if data.get("outcome") is None:
        return None
    outcome = _field(data, "outcome", str)
    if outcome not in list(Outcome):
        raise ValueError(f"outcome: unknown outcome {outcome!r}; available: {', '.join(Outcome)}")
    return Outcome(outcome)


def _usage_to_json(usage: Usage | None) -> Json:
    if usage is None:
        return None
    counts: dict[str, Json] = {name: getattr(usage, name) for name in _TOKENS}
    return counts if usage.batched is None else {**counts, "batched": _usage_to_json(usage.batched)}


def _judge_usage_to_json(judging: JudgeUsage | None) -> Json:
    if judging is None:
        return None
    usage = _usage_to_json(judging.usage)
    return {
        "model": judging.model,
        "questions": judging.questions,
        "replayed": judging.replayed,
        "usage": usage,
        "cost": judging.cost,
    }


def _judge_usage(data: Mapping[str, Json]) -> JudgeUsage | None:
    if data.get("judging") is None:
        return None
    judging: Mapping[str, Json] = _field(data, "judging", dict)
    return JudgeUsage(
        model=_field(judging, "model", str),
        questions=_field(judging, "questions", int),
        replayed=_field(judging, "replayed", int, 0),
        usage=_usage(judging),
        cost=_number(judging, "cost"),
    )


def _variants_to_json(variants: VariantResults) -> dict[str, Json]:
    return {
        "first": variants.first,
        "repeated": variants.repeated,
        "tried": [
            [each.relation, each.number, each.right, each.asked, each.reasons, each.difference]
            for each in variants.tried
        ],
        "unfit": variants.unfit,
        "before": variants.before,
        "answers": variants.answers,
        "replayed": variants.replayed,
        "usage": _usage_to_json(variants.usage),
        "cost": variants.cost,
    }


def _variants(data: Mapping[str, Json]) -> VariantResults | None:
    if data.get("variants") is None:
        return None
    variants: Mapping[str, Json] = _field(data, "variants", dict)
    right, asked = (_checked(each, "repeated", int) for each in _pair_of(_list(variants, "repeated"), "repeated"))
    return VariantResults(
        first=_field(variants, "first", bool),
        repeated=(right, asked),
        tried=tuple(map(_variant, _list(variants, "tried"))),
        unfit=_named_pairs(variants, "unfit"),
        before=tuple(map(_answers_before, _list(variants, "before"))),
        answers=_field(variants, "answers", int, 0),
        replayed=_field(variants, "replayed", int, 0),
        usage=_usage(variants),
        cost=_number(variants, "cost"),
    )


def _pair_of(values: Sequence[Json], name: str) -> Sequence[Json]:
    if len(values) != 2:
        raise ValueError(f"{name}: expected [right, asked]")
    return values


def _answers_before(data: Json) -> tuple[str, int, int]:
    match data:
        case [str(relation), int(right), int(asked)] if 0 <= right <= asked <= MOST_ANSWERS and asked:
            return relation, right, asked
    raise ValueError("before: expected a relation, right and asked")


def _variant(data: Json) -> VariantResult:
    match data:
        case [str(relation), int(number), int(right), int(asked), reasons, str(difference)] if (
            0 <= right <= asked <= MOST_ANSWERS
        ):
            return VariantResult(relation, number, right, asked, _named_pairs({"tried": reasons}, "tried"), difference)
    raise ValueError("tried: expected a relation, a number, right, asked, reasons and a difference")


def _app_usage_to_json(inside: AppUsage) -> dict[str, Json]:
    return {
        "model": inside.model,
        "requests": inside.requests,
        "replayed": inside.replayed,
        "usage": _usage_to_json(inside.usage),
        "cost": inside.cost,
    }


def _app_usage(data: Mapping[str, Json]) -> AppUsage:
    return AppUsage(
        model=_field(data, "model", str),
        requests=_field(data, "requests", int),
        replayed=_field(data, "replayed", bool, default=False),
        usage=_usage(data),
        cost=_number(data, "cost"),
    )


def _attack_to_json(attack: AttackResult) -> dict[str, Json]:
    return {"name": attack.name, "form": attack.form, "carriers": [*attack.carriers], "by": attack.by}


def _attack(data: Mapping[str, Json]) -> AttackResult:
    from pytest_fcall.core.injection import AttackResult

    texts = {name: _field(data, name, str, "") for name in ("name", "form", "by")}
    return AttackResult(**texts, carriers=_texts(data, "carriers"))


def _recovery(data: Mapping[str, Json]) -> RecoveryResult:
    from pytest_fcall.core.result_fault import RecoveryResult

    texts = {name: _field(data, name, str, "") for name in ("name", "kind", "how")}
    return RecoveryResult(**texts, tools=_texts(data, "tools"))


def _usage(data: Mapping[str, Json], name: str = "usage") -> Usage | None:
    if data.get(name) is None:
        return None
    usage: Mapping[str, Json] = _field(data, name, dict)
    return Usage(**{each: _whole(usage, each) for each in _TOKENS}, batched=_usage(usage, "batched"))


def _whole(data: Mapping[str, Json], name: str) -> int | None:
    return None if data.get(name) is None else _field(data, name, int)
