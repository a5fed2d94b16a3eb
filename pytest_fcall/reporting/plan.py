"""The findings of `fcall plan`, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.values import Json
from pytest_fcall.reporting.number_text import cost_text, duration_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import table_lines


class Sight(NamedTuple):
    """The power of runs to see one kind of loss."""

    title: str
    power: float
    """The share of runs that see it, now."""
    later: float
    """That share once some runs are kept."""
    visible: float | None = None
    """The smallest drop that is seen with the wanted power; None where none is, or where it is not asked."""
    has_size: bool = True
    """Whether the loss comes in sizes."""


@dataclass(frozen=True, slots=True)
class PlanOption:
    """A suite that would do: so many cases, each asked so often."""

    cases: int
    samples: int
    power: float
    cost: float | None
    """In US dollars, of a run."""
    seconds: float | None
    """The time of all answers of a run, one after the other."""
    is_cheapest: bool = False

    @property
    def answers(self) -> int:
        """The answers of a run, without those that are asked for since others are wrong."""
        return self.cases * self.samples


@dataclass(frozen=True, slots=True)
class SuiteFigures:
    """The figures that are known of the cases of a suite: numbers, accuracy, cost and time."""

    cases: int
    answers: int
    """First answers before."""
    several: int
    """The cases with two or more of them."""
    accuracy: float
    varying: float
    """The estimated share of cases that are right now and wrong then."""
    accepted: int
    """The cases that runs are held against something accepted of."""
    unmeasured: int = 0
    """Further cases of which nothing is known."""
    cost: float | None = None
    """In US dollars, of an answer."""
    seconds: float | None = None
    """Of an answer."""
    is_assumed: bool = False
    """Whether nothing is measured at all."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan for one model."""

    model: str
    drop: float
    power: float
    level: float | None
    """That of a gate `significant`; None without one."""
    measured: SuiteFigures
    cases: int
    samples: int
    """The suite that is asked about."""
    sights: tuple[Sight, ...]
    false_alarms: float
    """The share of runs of an unchanged model that call it or a case worse."""
    options: tuple[PlanOption, ...]
    runs: int
    """Runs that were simulated for each figure, at least."""
    kept: int
    """The runs that are kept later."""


def plan_lines(plans: Sequence[Plan], width: int) -> list[str]:
    """A paragraph for each model."""
    lines: list[str] = []
    for plan in plans:
        lines += [*([""] if lines else []), *_plan_lines(plan, width)]
    return lines


def _plan_lines(plan: Plan, width: int) -> Iterator[str]:
    yield from _measured_lines(plan)
    yield ""
    cost = _cost_of_run(plan.measured, plan.cases * plan.samples)
    asked = f"{plural_text(plan.samples, 'answer')} a case"
    yield f"a run of {plural_text(plan.cases, 'case')}, {asked}{f' ({cost})' if cost else ''}:"
    rows = [
        [
            each.title,
            f"{100 * each.power:.0f} %",
            f"{100 * each.later:.0f} %",
            _points(each.visible) if each.visible is not None else "never" if each.has_size else "",
        ]
        for each in plan.sights
    ]
    rows.append(["none (false alarms)", f"{100 * plan.false_alarms:.1f} %", "", ""])
    titles = [
        f"loss of {_points(plan.drop)}",
        "seen now",
        f"with {plan.kept} kept runs",
        f"now {_percent(plan.power)} from",
    ]
    yield from table_lines(titles, rows, texts=1, width=width)
    yield ""
    yield from _option_lines(plan, width)
    gate = f", and the gate significant({plan.level:g})" if plan.level else ""
    yield f"tests: regressed cases, the model as a whole{gate}"
    yield f"simulated, at least {plan.runs} runs a figure: each is known to {_margin(plan):.0f} points or so"


def _measured_lines(plan: Plan) -> Iterator[str]:
    found, name = plan.measured, safe_line(plan.model)
    if found.is_assumed:
        yield f"{name}: nothing is measured"
        yield f"ASSUMED, not measured: {plural_text(plan.cases, 'case')} as models usually are, asked once before"
        yield "  to measure your own: `pytest --fc-samples=5` once, then `fcall accept`"
        return
    yield (
        f"{name}: {plural_text(found.cases, 'case')}, {plural_text(found.answers, 'answer')} before, "
        f"about {100 * found.accuracy:.0f} % right"
    )
    if 2 * found.several >= found.cases:
        yield f"about {100 * found.varying:.0f} % of the cases are right now and wrong then"
    else:
        yield f"ASSUMED, as far as cases were asked once ({found.cases - found.several:,} were): how steady they are"
        yield "  to measure it: `pytest --fc-samples=5` once, then `fcall accept`"
    if found.unmeasured:
        yield f"{plural_text(found.unmeasured, 'case')} left out: recordings answered, or nothing did"
    if found.accepted < found.cases:
        missing = found.cases - found.accepted
        yield f"{plural_text(missing, 'case')} not accepted: a run compares them only after `fcall accept`"


def _option_lines(plan: Plan, width: int) -> Iterator[str]:
    share = _percent(plan.power)
    yield f"to see {_points(plan.drop)} that all cases share, in {share} of runs, with {plan.kept} kept runs:"
    if not plan.options:
        yield "  none of the suites that were tried does: up to 12 times the cases"
        return
    rows = [
        [
            f"{each.cases:,}",
            f"{each.samples:,}",
            f"{each.answers:,}",
            cost_text(each.cost),
            duration_text(each.seconds) if each.seconds is not None else "",
            f"{100 * each.power:.0f} %",
            "cheapest" if each.is_cheapest else "",
        ]
        for each in plan.options
    ]
    titles = ["cases", "samples", "answers", "cost", "time", "seen", ""]
    yield from (f"  {line}" for line in table_lines(titles, rows, texts=0, width=width - 2))
    if plan.options[-1].seconds is not None:
        yield "  time: of all answers one after the other"


def _cost_of_run(measured: SuiteFigures, answers: int) -> str:
    cost = "" if measured.cost is None else cost_text(measured.cost * answers)
    time = "" if measured.seconds is None else duration_text(measured.seconds * answers)
    return ", ".join(filter(None, [cost, time]))


def _margin(plan: Plan) -> float:
    """Two standard deviations of a share near the wanted power, in points."""
    return max(200 * sqrt(plan.power * (1 - plan.power) / plan.runs), 1.0)


def _points(share: float) -> str:
    return f"{100 * share:.3g} point{'' if share == 0.01 else 's'}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def plan_to_json(plans: Sequence[Plan]) -> Json:
    """The plans as JSON."""
    return {"plans": [_plan_to_json(each) for each in plans]}


def _plan_to_json(plan: Plan) -> Json:
    found = plan.measured
    return {
        "model": plan.model,
        "drop": plan.drop,
        "power": plan.power,
        "level": plan.level,
        "measured": None
        if found.is_assumed
        else {
            "cases": found.cases,
            "answers": found.answers,
            "cases_with_several": found.several,
            "accuracy": round(found.accuracy, 4),
            "varying": round(found.varying, 4),
            "accepted": found.accepted,
            "unmeasured_cases": found.unmeasured,
            "cost_of_answer": found.cost,
            "seconds_of_answer": found.seconds,
        },
        "suite": {"cases": plan.cases, "samples": plan.samples},
        "sees": [
            {"loss": each.title, "power": each.power, "power_later": each.later, "visible_drop": each.visible}
            for each in plan.sights
        ],
        "false_alarms": plan.false_alarms,
        "options": [
            {
                "cases": each.cases,
                "samples": each.samples,
                "answers": each.answers,
                "cost": each.cost,
                "seconds": each.seconds,
                "power": each.power,
                "cheapest": each.is_cheapest,
            }
            for each in plan.options
        ],
        "kept_runs_later": plan.kept,
        "simulated_runs": plan.runs,
    }
