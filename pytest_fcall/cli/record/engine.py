"""Engines answer what is open, round by round: what the replies of one ask for next is the next.

A plan is a run of pytest in which recordings answer. So whatever an engine has recorded is never asked again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from pytest_fcall.cli.record.plan_run import NoPlan, PlannedCases, PlanRun, print_problem
from pytest_fcall.session.ask.open_requests import OpenRequest
from pytest_fcall.session.offline.rounds import Rounds


class Engine(Protocol):
    """A service that answers requests outside this process and returns the replies, such as batches or a cluster."""

    def take(self, plan: PlanRun) -> Mapping[int, int]:
        """Record the replies that have come; gives their number by rounds, 0 where the round is not known."""
        ...

    def unsent(self, plan: PlanRun) -> Sequence[OpenRequest]:
        """The open requests that it is to be given: it neither has them nor has failed with them."""
        ...

    def send(self, plan: PlanRun, requests: Sequence[OpenRequest], number: int) -> int:
        """Take on requests, as the round of this number; gives how many."""
        ...

    def rounds_under_way(self) -> Collection[int]:
        """The rounds whose replies are to come."""
        ...

    def waits(self) -> bool:
        """Wait for replies; False where none are waited for."""
        ...


def find_open_requests(cases: PlannedCases, name: str) -> PlanRun:
    """Find out what is open for an engine. Raises NoPlan."""
    plan = cases.plan()
    if plan.settings.record != "missing":
        raise NoPlan(f"fcall record: --engine={name} asks what is missing; --fc-record={plan.settings.record} does not")
    return plan


def answer(engine: Engine, cases: PlannedCases, plan: PlanRun) -> PlanRun:
    """Have an engine answer all that is open, until it has no more and waits for no more; gives the last plan."""
    rounds = Rounds(plan.settings.root)
    while True:
        if taken := engine.take(plan):
            plan = cases.plan() if any(taken.values()) else plan
            rounds.add_replies(taken, len(plan.requests))
        requests = engine.unsent(plan)
        number = rounds.next_number(engine.rounds_under_way())
        if requests and (sent := engine.send(plan, requests, number)):
            models = sorted({each.first.source.id for each in requests})
            rounds.begin(number, sent, models, len(plan.requests) - sent)
        elif not engine.waits():
            if rounds.fault:
                print_problem(rounds.fault)
            return plan
