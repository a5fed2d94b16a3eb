"""The Result of a case, from its answers, verdict and comparison with the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pytest_fcall.core.case import Case, FaultyCase
from pytest_fcall.core.reply import known_sum, total_usage
from pytest_fcall.core.verdict import Outcome, reason_pairs
from pytest_fcall.reporting.results import AppUsage, CaseScore, JudgeUsage, Result, Status, VariantResults, Way
from pytest_fcall.session.ask.types import most_notable_way
from pytest_fcall.session.ask.volatile import idle_remarks

if TYPE_CHECKING:
    from pytest_fcall.core.app import AppExchange
    from pytest_fcall.core.injection import AttackResult
    from pytest_fcall.core.reply import Usage
    from pytest_fcall.core.result_fault import RecoveryResult
    from pytest_fcall.session.ask.types import Answer
    from pytest_fcall.session.case_run import CaseRun, JudgedCase
    from pytest_fcall.session.judge.samples import CaseAnswers, JudgedAnswer
    from pytest_fcall.session.session import Session


class CaseItemFacts(NamedTuple):
    """A case in its run: the node id, the place of its file, the model, and its number among all cases."""

    nodeid: str
    file: str
    line: int
    model: str
    place: int
    volatile: tuple[str, ...]
    """Patterns of its file: what of requests is no part of their keys."""


def result_of(
    session: Session,
    case: Case | FaultyCase,
    facts: CaseItemFacts,
    status: Status,
    run: CaseRun | None,
    *,
    no_reply: bool,
) -> Result:
    """The result of a case that ended with this status. `run` is None where the case was not asked."""
    answers = run.answers if run and run.is_complete else None
    judged = run.judged if run else None
    asked = answers.asked if answers else 0
    inside = app_usage(answers.answers) if answers else ()
    way = app_way(session, answers)
    remarks = session.replies.remarks(facts.nodeid)
    idle = idle_remarks(facts.volatile, remarks)
    comparison = judged.comparison if judged else None
    outcome = comparison.outcome if comparison else None
    attacks = _attacks(judged) if judged and isinstance(case, Case) and case.injection else ()
    recoveries = _recoveries(judged) if judged and isinstance(case, Case) and case.result_fault else ()
    changed = attacks or recoveries
    return Result(
        nodeid=facts.nodeid,
        case=case.id,
        model=facts.model,
        status=status,
        category=case.category if isinstance(case, Case) else "faulty",
        tags=case.tags,
        suite=case.suite if isinstance(case, Case) else "",
        reasons=_reasons(run, judged) if run and judged else (),
        seconds=answers.seconds if answers else None,
        usage=total_usage(each.usage for each in inside) if inside else answers.usage if answers else None,
        file=facts.file,
        line=facts.line,
        replayed=answers is not None and asked == 0,
        asked=asked,
        no_reply=no_reply,
        place=facts.place,
        outcome=_outcome(outcome, status),
        since=comparison.since if comparison else (),
        causes=comparison.changed if comparison else (),
        may_be_chance=comparison.may_be_chance if comparison else False,
        stanza=comparison.text() if comparison else None,
        samples=_samples(judged) if judged else None,
        before=comparison.before if comparison else None,
        first=_first(judged) if judged else None,
        left_out=_missed_by_retrieval(run) if run and answers else (),
        judging=_judge_usage(run) if run else None,
        inside=inside,
        called=tuple(_tool_pairs(answers.case, judged.result.shown)) if answers and judged and not changed else (),
        scores=_scores(session, case, run, counts=status != "skipped" or no_reply),
        unpriced=session.replies.unpriced(facts.nodeid),
        remarks=(*remarks, *idle) if inside or (answers and not way) else remarks,
        way=way,
        asks_models=way in ("unseen", "stored") and run is not None and run.asks_models,
        attacks=attacks,
        recoveries=recoveries,
        detours=tuple(dict.fromkeys(detour for each in answers.answers for detour in each.detours)) if answers else (),
        variants=_variants(run) if run and run.variants and judged else None,
    )


def _variants(run: CaseRun) -> VariantResults | None:
    from pytest_fcall.session.result.fragility import variant_results

    return variant_results(run)


def _reasons(run: CaseRun, judged: JudgedCase) -> tuple[tuple[str, str], ...]:
    """Kind and path of each reason against the case, and of forbidden calls in a variant of it."""
    found: list[tuple[str, str]] = [*reason_pairs(judged.verdict)]
    if run.variants and (forbidden := run.variants.forbidden):
        varied, answer = forbidden
        found += [
            (reason.kind, f"{varied.variant.name}.{reason.path}")
            for reason in answer.verdict.reasons
            if reason.kind == "forbidden_call"
        ]
    return tuple(found)


def app_way(session: Session, answers: CaseAnswers | None) -> Way:
    """The way in which an app came to its answers, as far as the settings want it reported."""
    way = most_notable_way(answers.answers) if answers else ""
    return "" if way == "unseen" and session.settings.inside == "ignore" else way


def _outcome(outcome: Outcome | None, status: Status) -> Outcome | None:
    """The outcome; a failure that a mark or the case itself expects is a known one."""
    if outcome is None or status != "xfailed" or outcome is Outcome.FLAKY:
        return outcome
    return Outcome.KNOWN_FAILURE


def _first(judged: JudgedCase) -> tuple[int, int] | None:
    rate = judged.result.first
    return (rate.right, rate.asked) if rate else None


def _samples(judged: JudgedCase) -> tuple[int, int] | None:
    """The number of right answers, and of all; None where one was asked for in any case."""
    if len(judged.result.all) == 1:
        return None
    right, asked = judged.result.rate
    return right, asked


def app_usage(answers: Iterable[Answer]) -> tuple[AppUsage, ...]:
    """The requests that apps sent on the way to these answers, by model; new and replayed ones apart.

    Requests without usage stand by themselves, so that no sum looks complete that is not.
    """
    groups: dict[tuple[str, bool, bool], list[AppExchange]] = {}
    for answer in answers:
        for exchange in answer.exchanges or ():
            if exchange.model:
                key = exchange.priced_as, exchange.recorded is not None, exchange.reply.usage is None
                groups.setdefault(key, []).append(exchange)
    return tuple(
        AppUsage(model, len(group), replayed=replayed, usage=total_usage(each.reply.usage for each in group))
        for (model, replayed, _), group in groups.items()
    )


def result_properties(result: Result, run: CaseRun | None, started: float) -> list[tuple[str, object]]:
    """The properties that JUnit reports have no other place for. `started` is when the run began."""
    file, model, category = _common_properties(result.file, result.model, result.category)
    found: list[tuple[str, object]] = [file, ("fcall_line", result.line), model]
    if result.category != "faulty":
        found.append(category)
    if run is not None and run.is_complete:
        found += _measured(result.seconds, result.usage)
        found += _origin(run.answers, result, started)
    if result.samples:
        found.append(("fcall_samples", "{}/{}".format(*result.samples)))
    if run is not None and run.judged and run.judged.verdict.judged and run.judge.opinions:
        found.append(("fcall_judge", run.judge.opinions.judge.id))
    if result.scores:
        from pytest_fcall.session.result.scores import values_of_case

        found += [(f"fcall_{name}", value) for name, value in values_of_case(result.scores)]
    if run is not None and run.judged and (outcome := run.judged.comparison.outcome):
        found.append(("fcall_outcome", outcome.value))
    if result.variants and result.variants.flipped:
        found.append(("fcall_flipped", ", ".join(each.name for each in result.variants.flipped)))
    if result.reasons:
        found.append(("fcall_reasons", ", ".join(f"{kind} at {path}" for kind, path in result.reasons)))
    return found


@lru_cache
def _common_properties(file: str, model: str, category: str) -> tuple[tuple[str, str], ...]:
    """Those that many cases have alike: pytest keeps the properties of all cases until the run ends."""
    return ("fcall_file", file), ("fcall_model", model), ("fcall_category", category)


def _measured(seconds: float | None, usage: Usage | None) -> Iterator[tuple[str, object]]:
    if seconds is not None:
        yield "fcall_seconds", f"{seconds:.3f}"
    if usage and (tokens := known_sum([usage.input_tokens, usage.output_tokens])) is not None:
        yield "fcall_tokens", tokens


def _origin(answers: CaseAnswers, result: Result, started: float) -> Iterator[tuple[str, object]]:
    """The numbers of answers that were asked for and replayed, and the ages of the latter in seconds."""
    yield "fcall_asked", result.asked
    if result.replays:
        yield "fcall_replayed", result.replays
    for name, moment in zip(("oldest", "newest"), answers.reused or (), strict=False):
        yield f"fcall_{name}_reply", f"{max(started - moment, 0):.0f}" if moment else "unknown"


def _tool_pairs(case: Case, shown: JudgedAnswer) -> Iterator[tuple[str, str]]:
    """Expected tools with the tools that were called, over all turns that were judged."""
    transcript, verdict = shown.answer.transcript, shown.verdict
    if verdict.valid and transcript is None:
        yield from ((call.name, call.name) for call in shown.calls.calls)
        return
    from pytest_fcall.reporting.tool_confusion import tool_pairs

    if transcript is None or not verdict.turns:
        yield from tool_pairs(case.turns[0].expect, shown.calls.calls, verdict)
        return
    for turn, held, own in zip(case.turns, transcript.turns, verdict.turns, strict=False):
        yield from tool_pairs(turn.expect, held.calls, own)


def _attacks(judged: JudgedCase) -> tuple[AttackResult, ...]:
    """The results of the attack in the first answers."""
    return tuple(each.verdict.attack for each in _first_answers(judged) if each.verdict.attack)


def _recoveries(judged: JudgedCase) -> tuple[RecoveryResult, ...]:
    """The reactions to the faulty result in the first answers."""
    return tuple(each.verdict.recovery for each in _first_answers(judged) if each.verdict.recovery)


def _first_answers(judged: JudgedCase) -> Sequence[JudgedAnswer]:
    """The answers before a wrong one led to more: those would make every rate look better or worse."""
    first = judged.result.first
    return judged.result.all[: first.asked] if first else judged.result.all


def _missed_by_retrieval(run: CaseRun) -> tuple[str, ...]:
    if run.case.retrieve is None:
        return ()
    from pytest_fcall.session.ask.retrieval import missed_by_retrieval

    return missed_by_retrieval(run.case, run.answers.request)


def _judge_usage(run: CaseRun) -> JudgeUsage | None:
    """The requests to the model that judges, whatever came of them; their cost is known only where results arrive."""
    judges = [run.judge, *(each.judge for each in run.variants.all)] if run.variants else [run.judge]
    asked = [each.opinions for each in judges if each.opinions is not None and each.opinions.answers]
    if not asked:
        return None
    answers = [answer for opinions in asked for answer in opinions.answers]
    usage = asked[0].usage if len(asked) == 1 else total_usage(each.usage for each in asked)
    return JudgeUsage(asked[0].judge.id, len(answers), usage, replayed=sum(not each.asked for each in answers))


def _scores(session: Session, case: Case | FaultyCase, run: CaseRun | None, *, counts: bool) -> tuple[CaseScore, ...]:
    """The contribution of the case to the wanted scores. A case that was skipped on purpose adds nothing."""
    if not isinstance(case, Case) or not counts:
        return ()
    wanted = session.settings.wanted_scores
    own = _scores_of_suite(session, case) if case.suite else {}
    if not wanted and not own:
        return ()
    from pytest_fcall.session.result.scores import scores_of

    judged = run.judged.result.all if run and run.judged else ()
    scores = scores_of(case, wanted, own, run.answers if run and run.is_complete else None, judged)
    if run and run.judged and run.judged.result.first:  # it was asked again for a wrong answer, and not with all cases
        return tuple(each._replace(answers=()) for each in scores)
    return scores


def _scores_of_suite(session: Session, case: Case) -> Mapping[str, Sequence[str]]:
    """The scores that the suite of a case always asks for."""
    from pytest_fcall.core.extension import scores_of_suite

    suite = session.registry.suites.get(case.suite)
    return scores_of_suite(suite, case) if suite else {}
