"""The Result of a case, from its answers, verdict and comparison with the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pytest

from pytest_fcall.core import AppExchange, Case, Outcome, Usage
from pytest_fcall.core.extension import scores_of_suite
from pytest_fcall.core.reply import total_usage
from pytest_fcall.plugin.collected import PLACE
from pytest_fcall.plugin.score_options import WANTED
from pytest_fcall.reporting.results import AppUsage, CaseScore, JudgeUsage, Result, Status
from pytest_fcall.reporting.statistics import known_sum
from pytest_fcall.reporting.tool_confusion import tool_pairs
from pytest_fcall.session.ask.retrieval import left_out
from pytest_fcall.session.extensions import registry
from pytest_fcall.session.judge.samples import JudgedAnswer

if TYPE_CHECKING:
    from pytest_fcall.plugin.item import CaseItem
    from pytest_fcall.session.ask.replies import Answer
    from pytest_fcall.session.judge.samples import CaseAnswers


def tool_confusions(case: Case, shown: JudgedAnswer) -> tuple[tuple[str, str], ...]:
    """Expected tools with those that were called, over all turns that were judged."""
    return tuple(_tool_pairs(case, shown))


def _tool_pairs(case: Case, shown: JudgedAnswer) -> Iterator[tuple[str, str]]:
    transcript, verdict = shown.answer.transcript, shown.verdict
    if transcript is None or not verdict.turns:
        yield from tool_pairs(case.turns[0].expect, shown.calls.calls, verdict)
        return
    for turn, held, own in zip(case.turns, transcript.turns, verdict.turns, strict=False):
        yield from tool_pairs(turn.expect, held.calls, own)


def inner_usage(answers: Iterable[Answer]) -> tuple[AppUsage, ...]:
    """What was asked on the way to these answers, by model, and apart what was asked now and what was replayed.

    Requests whose tokens nobody counted stand by themselves, so that they make no sum look complete.
    """
    groups: dict[tuple[str, bool, bool], list[AppExchange]] = {}
    for answer in answers:
        for inner in answer.inside or ():
            if inner.model:
                key = inner.priced_as, inner.recorded is not None, inner.reply.usage is None
                groups.setdefault(key, []).append(inner)
    return tuple(
        AppUsage(model, len(group), replayed=replayed, usage=total_usage(each.reply.usage for each in group))
        for (model, replayed, _), group in groups.items()
    )


def result_of(item: CaseItem, report: pytest.TestReport) -> Result | None:
    """The item's result, if this report decides it: the call, or a set-up that did not lead to one."""
    status = _status(item, report)
    if status is None:
        return None
    case, asked = item.case, item.asked
    file, line, _ = item.location
    return Result(
        nodeid=item.nodeid,
        case=case.id,
        model=_model(item),
        status=status,
        category=case.category if isinstance(case, Case) else "faulty",
        tags=case.tags if isinstance(case, Case) else (),
        suite=case.suite if isinstance(case, Case) else "",
        reasons=tuple((reason.kind, reason.path) for reason in item.verdict.reasons) if item.verdict else (),
        seconds=asked.seconds if asked else None,
        usage=_usage(asked) if asked else None,
        file=file,
        line=(line or 0) + 1,
        replayed=bool(asked and asked.replayed),
        no_reply=item.lacks_recording or item.lacks_reply,
        place=item.stash.get(PLACE, 0),
        outcome=_outcome(item, status),
        since=item.standing.since if item.standing else (),
        samples=_samples(item),
        before=item.standing.before if item.standing else None,
        most=asked.most if asked else None,
        left_out=left_out(asked.case, asked.request) if asked else (),
        judging=_judging(item),
        inside=inner_usage(asked.answers) if asked else (),
        called=tool_confusions(asked.case, item.sampled.shown) if asked and item.sampled else (),
        scores=_scores(item, status),
    )


def _scores(item: CaseItem, status: Status) -> tuple[CaseScore, ...]:
    """What it adds to the scores that are asked for. What is skipped by intention is not lacking."""
    left_out = status == "skipped" and not (item.lacks_recording or item.lacks_reply)
    if not isinstance(item.case, Case) or left_out:
        return ()
    wanted = item.config.stash.get(WANTED, {})
    suites = registry(item.config).suites
    own = scores_of_suite(suites[item.case.suite], item.case) if item.case.suite in suites else {}
    if not wanted and not own:
        return ()
    from pytest_fcall.session.result.scores import scores_of

    return scores_of(item.case, wanted, own, item.asked, item.sampled.all if item.sampled else ())


def _judging(item: CaseItem) -> JudgeUsage | None:
    """What was asked of a judge, whatever it came to; the cost is known only where results are gathered."""
    if item.opinions is None or not item.opinions.answers:
        return None
    return JudgeUsage(item.opinions.judge.id, len(item.opinions.answers), item.opinions.usage)


def _samples(item: CaseItem) -> tuple[int, int] | None:
    """How many answers were right; None where one was asked for, come what may."""
    if item.sampled is None or item.asked is None or (len(item.sampled.all) == 1 and item.asked.most is None):
        return None
    right, asked = item.sampled.rate
    return right, asked


def _status(item: CaseItem, report: pytest.TestReport) -> Status | None:
    if report.when == "call":
        if item.verdict is not None and item.verdict.valid:
            # Where a right answer fails, a strict xfail was wrong, or the options want another one.
            complained = item.standing is not None and item.standing.complaint is not None
            return "xpassed" if hasattr(report, "wasxfail") or (report.failed and not complained) else "passed"
        return "xfailed" if report.skipped else "failed"
    if report.when == "setup" and not report.passed:
        return "skipped" if report.skipped else "error"
    return None


def _outcome(item: CaseItem, status: Status) -> Outcome | None:
    """The outcome; a failure that a mark expects is a known one, whatever is accepted."""
    outcome = item.standing.outcome if item.standing else None
    return Outcome.KNOWN_FAILURE if outcome and status == "xfailed" else outcome


def _model(item: CaseItem) -> str:
    if item.asked:
        return item.asked.model.id
    return item.named.model.id if item.named else ""


def _usage(asked: CaseAnswers) -> Usage | None:
    """The tokens of all answers; of an app's, those of what it asked itself, where that is known."""
    inside = inner_usage(asked.answers)
    return total_usage(each.usage for each in inside) if inside else asked.usage


def _measured(asked: CaseAnswers) -> Iterator[tuple[str, object]]:
    if asked.seconds is not None:
        yield "fcall_seconds", f"{asked.seconds:.3f}"
    usage = _usage(asked)
    if usage and (tokens := known_sum([usage.input_tokens, usage.output_tokens])) is not None:
        yield "fcall_tokens", tokens


def describe(item: CaseItem, result: Result) -> None:
    """Put what JUnit cannot say elsewhere into its properties."""
    file, line, _ = item.location
    item.user_properties += [("fcall_file", file), ("fcall_line", (line or 0) + 1), ("fcall_model", _model(item))]
    if isinstance(item.case, Case):
        item.user_properties.append(("fcall_category", item.case.category))
    if item.asked:
        item.user_properties += _measured(item.asked)
    if samples := _samples(item):
        item.user_properties.append(("fcall_samples", "{}/{}".format(*samples)))
    if item.verdict and item.verdict.judged and item.opinions:
        item.user_properties.append(("fcall_judge", item.opinions.judge.id))
    if result.scores:
        from pytest_fcall.session.result.scores import values_of_case

        item.user_properties += [(f"fcall_{name}", value) for name, value in values_of_case(result.scores)]
    if item.standing and item.standing.outcome:
        item.user_properties.append(("fcall_outcome", item.standing.outcome.value))
    if item.verdict and item.verdict.reasons:
        item.user_properties.append(("fcall_reasons", ", ".join(f"{r.kind} at {r.path}" for r in item.verdict.reasons)))
