"""Several answers to one case: their number, and their result together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_fcall.core.case import Case, Samples
from pytest_fcall.core.reply import Calls, Reply, Usage, total_usage
from pytest_fcall.core.request import Request
from pytest_fcall.core.verdict import Rate, Verdict, is_rule, passes, reason_pairs
from pytest_fcall.session.ask.types import oldest_and_newest
from pytest_fcall.session.endings import SettingError
from pytest_fcall.tracking.stanza import Stanza

if TYPE_CHECKING:
    from pytest_fcall.session.ask.model import AskModel
    from pytest_fcall.session.ask.types import Answer

ONCE = Samples(1)


class JudgedAnswer(NamedTuple):
    """One answer to a case, decoded and judged."""

    answer: Answer
    reply: Reply
    calls: Calls
    verdict: Verdict

    @property
    def has_forbidden_call(self) -> bool:
        """Whether the answer has a call that nothing excuses."""
        reasons = self.verdict.reasons
        return bool(reasons) and any(reason.kind == "forbidden_call" for reason in reasons)


@dataclass(slots=True)
class CaseAnswers:
    """The answers to a case so far, and the model that gave them."""

    case: Case
    model: AskModel
    request: Request
    samples: Samples
    answers: list[Answer] = field(default_factory=list)
    judged: list[JudgedAnswer] = field(default_factory=list)
    """The answers among these that have been judged."""
    skipped: int = 0
    """The number of samples before these that others ask for."""

    def start(self) -> None:
        """Send all requests, where the model can be asked ahead, and do not wait for the answers."""
        self.model.start(self.case, self._requests(0, self.samples.count))

    def ask(self, count: int) -> None:
        """Ask for so many more answers. Raises CaseEnded where there is no reply."""
        __tracebackhide__ = True
        asked = len(self.answers)
        requests = self._requests(asked, count)
        if self.case.mode == "conversation":
            self.answers.extend(self.model.conversations(self.case, requests))
        elif count == 1:
            self.answers.append(self.model.answer(requests[0]))
        else:
            self.answers.extend(self.model.answers(requests))

    def _requests(self, first: int, count: int) -> list[Request]:
        start = self.skipped + first
        return [sample_request(self.request, sample) for sample in range(start, start + count)]

    def recorded_further(self, most: int) -> int:
        """The number of further answers that are recorded, at most so many."""
        requests = (sample_request(self.request, len(self.answers) + further) for further in range(most))
        return sum(1 for _ in takewhile(self.model.is_recorded, requests))

    @property
    def usage(self) -> Usage | None:
        """The tokens of all answers, and of the conversations before them."""
        return total_usage(reply.usage for each in self.answers for reply in (*each.replies, *each.before))

    @property
    def seconds(self) -> float | None:
        """The time that an answer took, all its requests together: the median of the answers."""
        times = [[reply.seconds for reply in each.replies if reply.seconds is not None] for each in self.answers]
        known = sorted([sum(each) for each in times if each])
        return known[(len(known) - 1) // 2] if known else None

    @property
    def reused(self) -> tuple[float, float] | None:
        """The times of the oldest and the newest recording in the answers; see `Answer.reused`."""
        return oldest_and_newest([moment for each in self.answers if each.reused for moment in each.reused])

    @property
    def asked(self) -> int:
        """The number of answers that the model gave, in whole or in part, in this run; the others were recorded."""
        return sum([each.asked for each in self.answers])


_WANTED: Final = {"all": "; all must be", "any": "; one must be"}
"""Rules that a reader would not take for one."""


class SampleResult(NamedTuple):
    """All answers to a case, and whether the case passes with them."""

    all: Sequence[JudgedAnswer]
    passes: bool
    rule: str
    """The rule that says how many must be right, in a word."""
    first: Rate | None = None
    """The rate of the answers that the result follows from, where the case was asked again."""

    @property
    def rate(self) -> Rate:
        """The number of right answers, and of all."""
        return Rate(sum(each.verdict.valid for each in self.all), len(self.all))

    @property
    def lines(self) -> list[str]:
        """A line beside the failure of one of several answers."""
        right, asked = self.rate
        wanted = _WANTED.get(self.rule, f" ({self.rule})")
        return [f"{right} of {asked} answers {'is' if right == 1 else 'are'} right{wanted}"] if asked > 1 else []

    @property
    def shown(self) -> JudgedAnswer:
        """The answer that stands for all: the first with the case's result, one with a forbidden call before others."""
        return self.all[self.place]

    @property
    def place(self) -> int:
        """The index of the answer that stands for all."""
        if len(self.all) == 1:
            return 0
        forbidden = (place for place, each in enumerate(self.all) if each.has_forbidden_call)
        fitting = (place for place, each in enumerate(self.all) if each.verdict.valid is self.passes)
        return next(forbidden, next(fitting, 0))

    def stanza(self, shown: Stanza) -> Stanza:
        """The stanza for all answers, where `shown` is that of the answer that is shown."""
        if len(self.all) == 1:
            return shown
        return shown._replace(samples=(self.rate.right, self.rate.asked), reasons=self.reasons)

    @property
    def reasons(self) -> tuple[tuple[str, str], ...]:
        """Kind and path of all reasons against answers that are not right, each once."""
        found = (pair for each in self.all for pair in reason_pairs(each.verdict))
        return tuple(dict.fromkeys(found)) if not self.passes else ()


def sample_result(judged: Sequence[JudgedAnswer], rule: str) -> SampleResult:
    """The result of a case that is asked no more. A forbidden call is excused by no rate."""
    if len(judged) == 1 and rule == ONCE.rule:
        (only,) = judged
        return SampleResult(judged, only.verdict.valid and not only.has_forbidden_call, rule)
    allowed = not any(each.has_forbidden_call for each in judged)
    result = SampleResult(judged, False, rule)
    return result._replace(passes=allowed and passes(rule, result.rate))


def confirmed_result(judged: Sequence[JudgedAnswer], first: SampleResult) -> SampleResult:
    """The result of a case that was asked again. It is what its first answers made it; all of them show how often."""
    return first._replace(all=judged, rule="asked again", first=first.rate)


def samples_of(case: Case, chosen: Samples | None) -> Samples:
    """The number of answers to ask for: as `chosen` for the run, or else as the case says."""
    if chosen is None:
        return case.samples or ONCE
    return Samples(chosen.count, chosen.rule or (case.samples.rule if case.samples else ONCE.rule))


def sample_request(request: Request, sample: int) -> Request:
    """The same request as another sample, whose reply is recorded apart."""
    return replace(request, sample=sample) if sample else request


def parse_samples(text: str) -> Samples:
    """Parse `5` or `5 rate>=0.8`; without a rule, each case keeps its own. Raises SettingError."""
    count, _, rule = text.strip().partition(" ")
    rule = rule.replace(" ", "")
    if not re.fullmatch(r"[1-9][0-9]{0,5}", count) or (rule and not is_rule(rule)):
        raise SettingError(
            f"--fc-samples: {text.strip()!r} must be a positive integer, and may have a rule behind it: '5 rate>=0.8'"
        )
    return Samples(int(count), rule)
