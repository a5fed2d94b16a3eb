"""How often a case is asked, and what its answers come to together."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from pytest_fcall.core import Calls, Case, Reply, Request, Samples, Usage, Verdict
from pytest_fcall.core.reply import total_usage
from pytest_fcall.session.ask.model import AskModel
from pytest_fcall.session.ask.replies import Answer
from pytest_fcall.tracking.samples import PassRule, is_confirmed
from pytest_fcall.tracking.significance import Rate
from pytest_fcall.tracking.stanza import Stanza

ONCE = Samples(1)


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """One answer to a case, read and judged."""

    answer: Answer
    reply: Reply
    calls: Calls
    verdict: Verdict

    @property
    def forbidden(self) -> bool:
        """Whether there is a call in it that nothing excuses."""
        return any(reason.kind == "forbidden_call" for reason in self.verdict.reasons)


@dataclass(frozen=True, slots=True)
class CaseAnswers:
    """A case, the model that was asked, and its answers so far."""

    case: Case
    model: AskModel
    request: Request
    samples: Samples
    answers: list[Answer] = field(default_factory=list)
    judged: list[JudgedAnswer] = field(default_factory=list)
    """The answers that were judged already."""

    def more(self, count: int) -> None:
        """Ask so many times more. The test ends in words where there is no reply to be had."""
        __tracebackhide__ = True
        samples = range(len(self.answers), len(self.answers) + count)
        requests = [request_of_sample(self.request, sample) for sample in samples]
        if self.case.mode == "conversation":
            self.answers.extend(self.model.conversations(self.case, requests))
        else:
            self.answers.extend(self.model.answers(requests))

    @property
    def usage(self) -> Usage | None:
        """The tokens of all of them, and of what was said before them."""
        return total_usage(reply.usage for each in self.answers for reply in (*each.replies, *each.before))

    @property
    def seconds(self) -> float | None:
        """How long one of them took, all its requests together: the one in the middle."""
        times = [[reply.seconds for reply in each.replies if reply.seconds is not None] for each in self.answers]
        known = sorted(sum(each) for each in times if each)
        return known[(len(known) - 1) // 2] if known else None

    @property
    def recorded(self) -> float | None:
        """When the oldest of those was recorded that were not given now, in seconds since 1970."""
        return min((each.recorded for each in self.answers if each.recorded is not None), default=None)

    @property
    def most(self) -> int | None:
        """How many answers there could have been, where no more were asked for than it took."""
        return PassRule.parse(self.samples.rule).max_answers if self.samples.count is None else None

    @property
    def replayed(self) -> bool:
        """Whether none was given now."""
        return all(each.recorded is not None for each in self.answers)


@dataclass(frozen=True, slots=True)
class SampleResult:
    """All answers to a case, and whether it passes with them."""

    all: Sequence[JudgedAnswer]
    passes: bool
    rule: str
    """How many had to be right, in a word."""

    @property
    def rate(self) -> Rate:
        """How many are right."""
        return Rate(sum(each.verdict.valid for each in self.all), len(self.all))

    @property
    def told(self) -> list[str]:
        """What people read beside the failure of one of several."""
        right, asked = self.rate
        return [f"{right} of {asked} answers {'is' if right == 1 else 'are'} right ({self.rule})"] if asked > 1 else []

    @property
    def shown(self) -> JudgedAnswer:
        """The answer that speaks for all: the first that ends as the case does, forbidden calls before others."""
        forbidden = (each for each in self.all if each.forbidden)
        return next(forbidden, next((each for each in self.all if each.verdict.valid is self.passes), self.all[0]))

    def stanza(self, one: Stanza) -> Stanza:
        """What a baseline would keep of all, where `one` is what it would keep of the answer that is shown."""
        if len(self.all) == 1:
            return one
        return replace(one, samples=(self.rate.right, self.rate.asked), reasons=self.reasons)

    @property
    def reasons(self) -> tuple[tuple[str, str], ...]:
        """Kind and path of everything that is wrong with any of those that are not right, each once."""
        found = ((reason.kind, reason.path) for each in self.all for reason in each.verdict.reasons)
        return tuple(dict.fromkeys(found)) if not self.passes else ()


def sample_result(judged: Sequence[JudgedAnswer], rule: str) -> SampleResult:
    """Whether a case passes that is asked no more."""
    return _result_by(judged, rule, PassRule.parse(rule).suffices)


def confirmed_result(judged: Sequence[JudgedAnswer], before: Stanza) -> SampleResult:
    """Whether a case passes after all that was asked again, since it seemed to have regressed."""
    rate_before = before.rate if before.samples else None
    return _result_by(judged, "asked again", lambda rate: not is_confirmed(rate_before, rate))


def _result_by(judged: Sequence[JudgedAnswer], rule: str, passes: Callable[[Rate], bool]) -> SampleResult:
    """A forbidden call is excused by no rate."""
    whole = SampleResult(judged, True, rule)
    return replace(whole, passes=passes(whole.rate) and not any(each.forbidden for each in judged))


def samples_of(case: Case, config: pytest.Config) -> Samples:
    """How often a case is asked in this run: as the command line or the configuration says, else as the case does."""
    chosen = chosen_samples(config)
    if chosen is None:
        return case.samples or ONCE
    return Samples(chosen.count, chosen.rule or (case.samples.rule if case.samples else ONCE.rule))


def first_portion(samples: Samples) -> int:
    """How many answers are asked for in any case."""
    return samples.count or PassRule.parse(samples.rule).next_count(Rate(0, 0))


def request_of_sample(request: Request, sample: int) -> Request:
    """The same request once more: its reply is kept apart."""
    return replace(request, sample=sample) if sample else request


@dataclass(frozen=True, slots=True)
class ChosenSamples:
    """What is said for a whole run. Without a rule, each case keeps its own."""

    count: int | None
    """None for `auto`."""
    rule: str


def chosen_samples(config: pytest.Config) -> ChosenSamples | None:
    """What the command line or the configuration says. Raises UsageError for what cannot be read."""
    text = (config.getoption("fc_samples") or str(config.getini("fc_samples") or "")).strip()
    if not text:
        return None
    count, _, rule = text.partition(" ")
    rule = rule.replace(" ", "")
    if not re.fullmatch(r"auto|[1-9][0-9]{0,5}", count) or not _is_rule(rule):
        raise pytest.UsageError(
            f"--fc-samples: {text!r} says no number; write 5 or auto, and a rule if you like: '5 rate>=0.8'"
        )
    return ChosenSamples(None if count == "auto" else int(count), rule)


def _is_rule(rule: str) -> bool:
    try:
        return not rule or bool(PassRule.parse(rule))
    except ValueError:
        return False
