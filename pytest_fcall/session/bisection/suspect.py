"""A case that fails now and was right before, asked in versions of its question between the two."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_fcall.bisection.search import AnswerTest, ErrorBudget, Fails, OneAnswer, RateTest, Trial, fewest_answers
from pytest_fcall.bisection.version import Difference, Version
from pytest_fcall.core.case import Case, asks_judge_model
from pytest_fcall.core.verdict import Rate
from pytest_fcall.session.endings import CaseEnded
from pytest_fcall.session.judge.samples import sample_request

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_fcall.core.request import Request
    from pytest_fcall.session.ask.model import AskModel
    from pytest_fcall.session.judge.verdict import CaseJudge
    from pytest_fcall.tracking.case_rates import CaseRates

MOST_ANSWERS: Final = 50
"""Most answers to one question."""
_ENOUGH: Final = 4
"""After so many answers that are all alike, a question is taken for one that is always answered so."""
_USUAL: Final = 20
"""So many answers to a question in between are to decide, or the ends are asked for more to compare them with."""
_LIKELY: Final = 0.3
"""The probability of chance from which on nothing more is asked."""
_NOTHING: Final = Rate(0, 0)
_NO_EDITS: Final[Trial] = frozenset()


@dataclass(slots=True)
class Allowance:
    """The requests that a search may send."""

    most: int
    may_ask: bool
    """Whether anything may be asked; else recordings alone answer."""
    asked: int = 0
    stopped: str = ""
    """The reason why nothing more is asked."""

    @property
    def is_left(self) -> bool:
        """Whether anything more may be asked."""
        return self.may_ask and not self.stopped and self.asked < self.most

    def grant(self, wanted: int) -> int:
        """The number of the wanted answers that may be asked for."""
        if not self.may_ask or self.stopped:
            return 0
        granted = max(min(wanted, self.most - self.asked), 0)
        if not granted:
            self.stopped = f"the limit of {self.most:,} requests is reached"
        return granted


class EarlierAnswers(NamedTuple):
    """The evidence of earlier runs on a case, and on its model."""

    rates: CaseRates
    before: Rate = _NOTHING
    """The answers to the old question."""
    since: Rate = _NOTHING
    """The answers to today's."""


@dataclass(slots=True)
class Suspect:
    """A case, the two versions of its question, and the answers to those between that are there so far."""

    nodeid: str
    file: Path
    case: Case
    models: Mapping[str, AskModel]
    """The models of both versions, by id."""
    difference: Difference
    judge_of: Callable[[Case], CaseJudge]
    measured: EarlierAnswers
    recorded: Sequence[Request] = ()
    """All requests that are recorded for the case."""
    one_answer: bool | None = None
    """Whether one answer to each question is taken as all that it would get; None where that depends on the case."""
    notes: list[str] = field(default_factory=list)
    requests: int = 0
    """The requests that were sent for it."""
    problem: str = ""
    """The reason why the last question could not be judged."""
    is_by_chance: bool = False
    """Whether chance is not excluded, as nothing more could be asked."""
    _found: dict[Trial, Rate] = field(default_factory=dict)
    _asked: dict[Trial, Rate] = field(default_factory=dict)
    """The answers among these that were given in this search."""
    _test: AnswerTest = field(default_factory=OneAnswer)
    _is_established: bool = False
    _decided: dict[Trial, bool] = field(default_factory=dict)

    @property
    def today(self) -> Version:
        """Today's question."""
        return self.difference.version(self.difference.all)

    @property
    def before(self) -> Rate:
        """All that is known of answers to the old question."""
        return self._known(_NO_EDITS, self.measured.before)

    @property
    def now(self) -> Rate:
        """All that is known of answers to today's question."""
        return self._known(self.difference.all, self.measured.since)

    def _known(self, trial: Trial, measured: Rate) -> Rate:
        """The measured answers and the new ones, or all that are at hand: recorded ones may be among the measured."""
        added, here = measured.plus(self._asked.get(trial, _NOTHING)), self.answers(trial)
        return here if here.asked > added.asked else added

    @property
    def is_steady(self) -> bool:
        """Whether one answer tells what all others would be: nothing is drawn by lot, and nothing ever varied."""
        if self.one_answer is not None:
            return self.one_answer
        versions = self.difference.version(_NO_EDITS), self.today
        varied = any(0 < rate.right < rate.asked for rate in (self.before, self.now))
        return not varied and not any(map(_is_drawn, versions))

    def fewest(self, level: float) -> int:
        """The answers to one question that decide if all agree."""
        if self.is_steady:
            return 1
        before, now = self.before, self.now
        test = RateTest(self.measured.rates, before if before.asked else Rate(3, 3), now if now.asked else Rate(0, 3))
        return fewest_answers(test, level, MOST_ANSWERS)

    @property
    def decided(self) -> int:
        """The number of questions that are decided."""
        return len(self._decided)

    def is_recorded(self, trial: Trial) -> bool:
        """Whether a recorded reply answers this question."""
        version = self.difference.version(trial)
        return self.models[version.model].is_recorded(version.request)

    def trial_of(self, request: Request) -> Trial | None:
        """The edits with which the question is this very request; None where it is no version in between."""
        old = self.difference.version(_NO_EDITS)
        places = {edit.key: place for place, edit in enumerate(self.difference.edits)}
        keys = [edit.key for edit in Difference(old, replace(self.today, model=old.model, request=request)).edits]
        trial = frozenset(places[key] for key in keys if key in places)
        if len(trial) < len(keys):
            return None
        found = self.difference.version(trial)
        return trial if not Difference(found, replace(found, request=request)).edits else None

    def establish(self, budget: ErrorBudget, allowance: Allowance) -> NoSearch | None:
        """Make sure that the case was right by the old question and is wrong by today's.

        Returns why there is nothing to search, or why that is not known; None where both are so.
        """
        if self._is_established:
            return None
        doubt = self._doubt(budget, allowance)
        self._is_established = doubt is None
        return doubt

    def _doubt(self, budget: ErrorBudget, allowance: Allowance) -> NoSearch | None:
        everything = self.difference.all
        for trial, name in ((everything, "today's question"), (_NO_EDITS, "the old question")):
            if not self._found.get(trial, _NOTHING).asked and not self._more(trial, 1, allowance):
                return NoSearch(f"{name} has no answer: {self.problem or no_answer_reason(allowance)}", is_open=True)
        if self.is_steady:
            return self._compare_answers()
        if doubt := self._compare_sides(budget.next(), allowance):
            return doubt
        self._test = RateTest(self.measured.rates, self.before, self.now)
        fails = self.fails(_NO_EDITS, budget, allowance)
        if fails is None:
            return NoSearch(
                f"the old question is not decided: {self.problem or no_answer_reason(allowance)}", is_open=True
            )
        return NoSearch(_FAILS_TOO.format(self._rate_text(_NO_EDITS))) if fails else None

    def _compare_answers(self) -> NoSearch | None:
        if not self._found[_NO_EDITS].right:
            return NoSearch(_FAILS_TOO.format(self._rate_text(_NO_EDITS)))
        if self._found[self.difference.all].right:
            return NoSearch(f"today's question is answered rightly ({self._rate_text(self.difference.all)})")
        return None

    def _compare_sides(self, level: float, allowance: Allowance) -> NoSearch | None:
        """Ask both questions again as long as chance may explain the difference: the one with fewer answers first."""
        everything = self.difference.all
        portion = 1
        while True:
            before, now = self.before, self.now
            if not before.right and before.asked >= _ENOUGH:
                return NoSearch(_FAILS_TOO.format(self._rate_text(_NO_EDITS)))
            if now.right == now.asked >= _ENOUGH:
                return NoSearch(f"today's question is answered rightly ({self._text(now)})")
            chance = self.measured.rates.chance(before, now)
            if before.right and chance <= level:
                if (blurred := self._blurred(level)) is None or not self._more(blurred, _ENOUGH, allowance):
                    return None
                continue
            sides = f"{self._text(before)} right before, {self._text(now)} now, p = {chance:.2g}"
            fewer = min((now.asked, everything), (before.asked, _NO_EDITS), key=lambda each: each[0])[1]
            wanted = min(portion, MOST_ANSWERS - self.answers(fewer).asked)
            if wanted < 1 or (chance > _LIKELY and min(now.asked, before.asked) >= 2 * _ENOUGH):
                return NoSearch(f"chance explains the wrong answers ({sides})")
            if not self._more(fewer, wanted, allowance):
                if not allowance.may_ask and now.right == 0 and before.right == before.asked > 0:
                    self.is_by_chance = True
                    return None
                why = self.problem or no_answer_reason(allowance)
                return NoSearch(f"chance may explain the wrong answers ({sides}): {why}", is_open=True)
            portion = min(2 * portion, _ENOUGH)

    def _blurred(self, level: float) -> Trial | None:
        """The end that is known too little for as many answers as usual, of the one rate or the other, to decide."""
        test = RateTest(self.measured.rates, self.before, self.now)
        ends = sorted(((self.before, _NO_EDITS), (self.now, self.difference.all)), key=lambda each: each[0].asked)
        usual = [Rate(round(rate.share * _USUAL), _USUAL) for rate, _ in ends]
        if all(test.fails(found, level) is not None for found in usual):
            return None
        return next((end for _, end in ends if self.answers(end).asked < MOST_ANSWERS), None)

    def fails(self, trial: Trial, budget: ErrorBudget, allowance: Allowance) -> Fails:
        """Whether the case fails by this question; None where that cannot be found out. It is decided once."""
        if trial not in self._decided:
            fails = self._decide(trial, budget.next(), allowance)
            if fails is None:
                return None
            self._decided[trial] = fails
        return self._decided[trial]

    def _decide(self, trial: Trial, level: float, allowance: Allowance) -> Fails:
        self.problem = ""
        while (fails := self._test.fails(found := self._found.get(trial, _NOTHING), level)) is None:
            first = fewest_answers(self._test, level, MOST_ANSWERS)
            wanted = min(first - found.asked if found.asked < first else max(first // 2, 1), MOST_ANSWERS - found.asked)
            if wanted < 1:
                self.problem = f"{self._text(found)} answers are right, which decides nothing"
                return None
            if not self._more(trial, wanted, allowance):
                break
        if fails is None and found.asked and not allowance.may_ask and found.right in (0, found.asked):
            self.is_by_chance = True
            return found.right == 0
        return fails

    def answers(self, trial: Trial) -> Rate:
        """The answers to this question so far."""
        return self._found.get(trial, _NOTHING)

    def _more(self, trial: Trial, wanted: int, allowance: Allowance) -> int:
        """Get more answers, recorded ones first; returns how many came."""
        version = self.difference.version(trial)
        model = self.models[version.model]
        have = self._found.get(trial, _NOTHING).asked
        if wanted < 1:
            return 0
        if asks_judge_model(self.case) and not (allowance.is_left or model.replays):
            self.problem = "`$judge` asks a model, and nothing may be asked"
            return 0
        if self.case.mode != "conversation" and model.is_recorded(sample_request(version.request, have)):
            return self._take(trial, version, 1, allowance)
        if model.replays:
            self.problem = "it is not recorded"
            runs = self.case.mode == "conversation" or model.is_app
            return self._take(trial, version, 1, allowance) if runs else 0
        if not model.is_asked:
            self.problem = model.why_unavailable or "it is not recorded, and the model is not asked"
            return 0
        granted = allowance.grant(wanted)
        return self._take(trial, version, granted, allowance, granted) if granted else 0

    def _take(self, trial: Trial, version: Version, count: int, allowance: Allowance, granted: int = 0) -> int:
        """Get answers and judge them; `granted` of them are asked for, the others recorded."""
        before = self._found.get(trial, _NOTHING)
        requests = [sample_request(version.request, before.asked + number) for number in range(count)]
        case, model = self._case(version), self.models[version.model]
        judge = self.judge_of(case)
        try:
            answers = model.conversations(case, requests) if case.mode == "conversation" else model.answers(requests)
            judge.check_inside(answers)
            judged = judge.judge(answers)
        except CaseEnded as ended:
            self._note_failure(str(ended), model, allowance, granted)
            return 0
        except Exception as error:  # the team's own app may raise anything
            self._note_failure(f"{type(error).__name__}: {error}", model, allowance, granted)
            return 0
        rate = Rate(sum(each.verdict.valid for each in judged), len(judged))
        self._found[trial] = before.plus(rate)
        new = [each for each in judged if each.answer.asked]
        asked = Rate(sum(each.verdict.valid for each in new), len(new))
        self._asked[trial] = self._asked.get(trial, _NOTHING).plus(asked)
        self._count(sum(len(each.answer.replies) for each in new) + _judge_requests(judge), allowance)
        return len(judged)

    def _note_failure(self, text: str, model: AskModel, allowance: Allowance, granted: int) -> None:
        self.problem = text.strip().partition("\n")[0]
        self._count(granted, allowance)
        if model.why_unavailable:
            allowance.stopped = model.why_unavailable

    def _count(self, requests: int, allowance: Allowance) -> None:
        self.requests += requests
        allowance.asked += requests

    def _case(self, version: Version) -> Case:
        """The case with this question. Tools that it does not offer in its request stay as they are."""
        case, today = self.case, self.today.request
        offered = {tool.name for tool in today.tools}
        others = (tool for tool in case.tools if tool.name not in offered)
        tools = case.tools if case.tools_in_messages else (*version.request.tools, *others)
        first, *later = case.turns
        own = None if first.tools is None else version.request.tools
        turns = [replace(first, messages=version.request.messages, tools=own)]
        for turn, each in zip(later, version.turns, strict=True):
            turns.append(replace(turn, messages=each.messages, tools=each.tools))
        return replace(case, tools=tools, turns=tuple(turns))

    def _rate_text(self, trial: Trial) -> str:
        return f"{self._text(self.answers(trial))} answers right"

    @staticmethod
    def _text(rate: Rate) -> str:
        return f"{rate.right}/{rate.asked}"


class NoSearch(NamedTuple):
    """The reason why there is no search."""

    why: str
    is_open: bool = False
    """Whether more answers may lead to one."""


_FAILS_TOO: Final = (
    "the old question fails by today's expectation, too ({}), so that no edit of the question is to blame alone; what "
    "changed may be the expectation, or the model behind its name"
)


def _is_drawn(version: Version) -> bool:
    """Whether answers may be drawn by lot; models on this machine draw only where a temperature says so."""
    temperature = version.request.settings.get("temperature")
    return temperature != 0 and not (temperature is None and version.model.startswith("local:"))


def no_answer_reason(allowance: Allowance) -> str:
    """The reason why there are no more answers."""
    return allowance.stopped or (
        "no more answers came" if allowance.may_ask else "it is not recorded, and nothing was asked"
    )


def _judge_requests(judge: CaseJudge) -> int:
    """The questions that the model that judges was asked."""
    return sum(each.asked for each in judge.opinions.answers) if judge.opinions else 0
