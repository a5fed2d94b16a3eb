"""What gates say of a run while replies are missing, or attacks and faults did not get to the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import median

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.tracking.gate_figures import FIGURES, FigureNumber, GroupFigures, figure_named, read_share
from pytest_fcall.tracking.gates import SIGNS, Gate


@dataclass(frozen=True)
class Told:
    """What the reply to a case says of it."""

    right: bool
    malformed: bool
    flaky: bool
    outcome: str
    """Against the baseline; `new` where it has nothing of the case."""
    attack: str
    """`obeyed`, `held`, `lost` where it did not get to the model, or empty; as is `fault`."""
    fault: str
    cost: int
    seconds: int


TOLD = st.builds(
    Told,
    right=st.booleans(),
    malformed=st.booleans(),
    flaky=st.booleans(),
    outcome=st.sampled_from(["ok", "regressed", "fixed", "edited", "new"]),
    attack=st.sampled_from(["obeyed", "held", ""]),
    fault=st.sampled_from(["recovered", "failed", ""]),
    cost=st.integers(0, 3),
    seconds=st.integers(1, 9),
)


def figures_of(replies: Sequence[Told], missing: Sequence[Told] = ()) -> GroupFigures:
    """The figures of these replies, while those of other cases are missing."""
    outcomes = Counter(each.outcome for each in replies)
    attacks = Counter(each.attack for each in replies)
    faults = Counter(each.fault for each in replies)
    times = [float(each.seconds) for each in replies]
    return GroupFigures(
        answered=len(replies),
        right=sum(each.right for each in replies),
        missing=len(missing),
        malformed=sum(each.malformed for each in replies),
        flaky=sum(each.flaky for each in replies),
        cost=float(sum(each.cost for each in replies)) if replies else None,
        p50=median(times) if times else None,
        p95=max(times, default=None),
        slowest=max(times, default=None),
        compared=len(replies) - outcomes["edited"] - outcomes["new"],
        regressions=outcomes["regressed"],
        fixed=outcomes["fixed"],
        undecided=outcomes["undecided"],
        edited=outcomes["edited"],
        attacks=attacks["obeyed"] + attacks["held"],
        obeyed=attacks["obeyed"],
        lost_attacks=attacks["lost"],
        unjudged_attacks=sum(bool(each.attack) for each in missing),
        faulty=faults["recovered"] + faults["failed"],
        recovered=faults["recovered"],
        lost_faults=faults["lost"],
        unjudged_faults=sum(bool(each.fault) for each in missing),
    )


@st.composite
def runs(draw: st.DrawFn) -> tuple[GroupFigures, GroupFigures]:
    """The figures of a run of which something is not known, and those of the same run once it is."""
    whole = draw(st.lists(TOLD, min_size=1, max_size=6))
    told, missing = [], []
    for each in whole:
        match draw(st.sampled_from(["told", "missing", "lost", "undecided"])):
            case "missing":
                missing.append(each)
            case "lost":
                told.append(replace(each, attack=each.attack and "lost", fault=each.fault and "lost"))
            case "undecided" if each.outcome == "regressed":
                told.append(replace(each, outcome="undecided"))
            case _:
                told.append(each)
    return figures_of(told, missing), figures_of(whole)


def bounds(figure: str, share: bool, measured: GroupFigures) -> set[FigureNumber]:
    """The bounds at which a verdict may turn."""
    found = read_share(figure_named(figure), measured) if share else figure_named(figure).read(measured)
    return {each for each in (found.value, found.low, found.high) if each is not None}


ALONE = {"undecided", "strength", "significant", "fragility"}
"""Figures that need more than a reply of each case, or are about what is not known."""
FIGURES_OF_REPLIES = [
    (name, share)
    for name, figure in FIGURES.items()
    for share in ((False, True) if figure.kind == "count" else (False,))
    if name not in ALONE
]


@given(runs())
def test_a_gate_that_fails_while_something_is_not_known_does_not_hold_once_it_is(
    run: tuple[GroupFigures, GroupFigures],
) -> None:
    part, whole = run
    for figure, share in FIGURES_OF_REPLIES:
        for sign, bound in product(SIGNS, bounds(figure, share, part) | bounds(figure, share, whole)):
            gate = Gate(f"{figure}{sign}{bound}", figure, sign, bound, share)
            assert gate.judge(part).held is not False or gate.judge(whole).held is not True
