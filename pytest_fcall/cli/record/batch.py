"""`fcall record --engine=batch`: providers' batches answer what is open, in as many commands as that takes."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from pytest_fcall.backends.batch.client import ServerError
from pytest_fcall.backends.batch.portion import BatchRequest, Division, Portion, PortionFolder, Selection, TooLarge
from pytest_fcall.backends.batch.progress import BatchProgress, BatchWork, NotHere, Visit
from pytest_fcall.backends.batch.results import NOT_ASKED
from pytest_fcall.cli.record.batch_quote import BatchPrices, Quote, confirm_submission, over_limit
from pytest_fcall.cli.record.batch_servers import Servers, batch_backend
from pytest_fcall.cli.record.engine import answer, find_open_requests
from pytest_fcall.cli.record.plan_run import (
    OPEN,
    PlannedCases,
    PlanRun,
    cost_limit,
    exit_status,
    print_not_planned,
    print_note,
    print_problem,
    print_some,
)
from pytest_fcall.core.backend import CaseRefused, ModelUnavailable, Unanswered
from pytest_fcall.core.digests import digest
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.secrets import Secrets
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.ask.open_requests import OpenRequest
from pytest_fcall.session.offline.intake import Intake
from pytest_fcall.session.offline.plan import refuse_secrets

_PORTION: Final = 256
"""Replies that are written together."""
_FIRST_LOOK: Final = 15.0
_LAST_LOOK: Final = 300.0
"""Seconds between two looks at a batch: the first, and the longest."""


def record_in_batches(cases: PlannedCases, options: Namespace) -> int:
    """Go on with the batches under way, and submit what is open; see the exit status in `fcall record --help`."""
    try:
        return exit_status(lambda: _record(cases, options) if options.engine else _resume(cases, options))
    except sqlite3.OperationalError:
        print_problem("another process works with the batches of this project; they are its own until it ends")
        return 1


def _record(cases: PlannedCases, options: Namespace) -> int:
    root = cases.root
    while True:
        folder = PortionFolder(root)
        with folder.alone():  # before the plan: what another process answers or submits meanwhile would be in it
            engine, plan = BatchEngine(folder, cases, options), find_open_requests(cases, "batch")
            if plan.settings.root == root:
                return engine.cancel(plan) if options.cancel else engine.run(plan)
        root = plan.settings.root


def _resume(given: PlannedCases, options: Namespace) -> int:
    """Go on by the arguments of the commands whose batches are under way."""
    root = given.root
    portions, faults = PortionFolder(root).portions()
    if faults:
        return _tell_damage(faults)
    under_way = {portion.selection: portion for portion in portions if portion.is_under_way}
    if not under_way:
        print("no batch is under way here")
        return 0
    status = 0
    for portion in under_way.values():
        if portion.arguments is None:
            print_problem(f"{portion.name}: its command held a secret, so that it is not known; give it once more")
            status = 1
            continue
        split = portion.arguments.index("--")
        paths = [str(root / path) for path in portion.arguments[:split]]
        print(safe_line(f"fcall record --engine=batch {' '.join(portion.arguments)}".removesuffix(" --")))
        cases = PlannedCases(paths, [*portion.arguments[split + 1 :], *cost_limit(options)])
        status = _worse(status, _record(cases, options))
    return status


@dataclass(slots=True)
class _Keeper:
    """Takes answers into the store."""

    plan: PlanRun
    intake: Intake
    _waiting: list[tuple[OpenRequest, Reply]] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)

    async def keep(self, key: str, status: int, body: bytes) -> str | None:
        """Keep an answer; why it is no reply, if it is none."""
        request = self.plan.requests.get(key)
        if request is None:
            return None if self.intake.is_recorded(key) else NOT_ASKED
        try:
            reply = await batch_backend(request.first).offline_reply(request.first.request, status, body)
        except (CaseRefused, ModelUnavailable, Unanswered) as error:
            return str(error)
        usage = replace(reply.usage, batched=reply.usage) if reply.usage else None
        self._waiting.append((request, replace(reply, usage=usage)))
        if len(self._waiting) == _PORTION:
            self.write()
        return None

    def write(self) -> None:
        """Write what was kept. Raises StoreError."""
        if self._waiting:
            self.intake.put_all(self._waiting)
            self._waiting = []


class BatchEngine:
    """The batches of one command, which alone works with those of the project."""

    def __init__(self, folder: PortionFolder, cases: PlannedCases, options: Namespace) -> None:
        self._folder = folder
        self._cases = cases
        self._options = options
        self._problems = 0
        self._failed: set[str] = set()
        """Requests that are not submitted by this command any more."""
        self._spent: list[float | None] = []
        self._is_declined = False
        """Whether what is open is not to be submitted by this command."""
        self._shown: dict[str, str] = {}
        """The text that was printed last of each portion."""
        self._visit = Visit()
        self._pause = _FIRST_LOOK

    def run(self, plan: PlanRun) -> int:
        """Go on with what is under way, and submit what is open."""
        if faults := self._tidied():
            return _tell_damage(faults)
        self._forget_stale(plan)
        return self._status(answer(self, self._cases, plan))

    def take(self, plan: PlanRun) -> Mapping[int, int]:
        """Take all portions as far as they go, and the answers of those that have ended."""
        self._visit = asyncio.run(self._visited(plan))
        taken: Counter[int] = Counter()
        for portion, results in self._visit.taken:
            taken[portion.round_number] += results.answered
        return taken

    def unsent(self, plan: PlanRun) -> Sequence[OpenRequest]:
        """The open requests that no batch has; none where somebody has declined."""
        under_way = {each for portion in self._under_way() for each in portion.digests}
        not_sent = under_way | self._failed
        return [] if self._is_declined else [each for each in plan.requests if each.first.digest not in not_sent]

    def send(self, plan: PlanRun, requests: Sequence[OpenRequest], number: int) -> int:
        """Divide requests into portions, if somebody agrees; the next look submits them."""
        self._is_declined = not self._submittable(plan, requests)
        self._pause = _FIRST_LOOK
        return 0 if self._is_declined else asyncio.run(self._divide(plan, requests, number))

    def rounds_under_way(self) -> Collection[int]:
        """The rounds of portions that are under way."""
        return {portion.round_number for portion in self._under_way()} - {0}

    def waits(self) -> bool:
        """Wait until it is time to look again, where the command is to wait and something is under way."""
        if not (self._visit.under_way and self._options.wait):
            return False
        time.sleep(max(self._pause, self._visit.wait or 0.0))
        self._pause = min(self._pause * 1.5, _LAST_LOOK)
        return True

    def cancel(self, plan: PlanRun) -> int:
        """Have the batches of this selection be answered no further."""
        if faults := self._tidied():
            return _tell_damage(faults)
        return asyncio.run(self._cancel(plan))

    def _tidied(self) -> Sequence[str]:
        """Remove what killed processes left; the faults of files that cannot be read, in which case all is left."""
        portions, faults = self._folder.portions()
        if not faults:
            self._folder.remove_remains(portions)
            self._folder.remove_strays(portions)
        return faults

    def _portions(self, plan: PlanRun) -> list[Portion]:
        """The portions under way that belong to this selection, by their arguments or by what they ask."""
        mine = self._selection(plan.settings.root, plan.settings.secrets).digest
        return [
            portion
            for portion in self._under_way()
            if portion.selection == mine or all(plan.requests.get(each) is not None for each in portion.digests)
        ]

    def _forget_stale(self, plan: PlanRun) -> None:
        """Forget portions that no server has yet, of which something is asked no more: they are divided anew."""
        for portion in self._portions(plan):
            is_sent = portion.stage not in ("planned", "uploading", "uploaded")
            if not is_sent and any(plan.requests.get(each) is None for each in portion.digests):
                self._folder.forget(portion)
                print(f"{portion.name}: forgotten, since its cases have changed before it was submitted")

    def _under_way(self) -> list[Portion]:
        return [portion for portion in self._folder.portions()[0] if portion.is_under_way]

    async def _visited(self, plan: PlanRun) -> Visit:
        servers = Servers(plan)
        with closing(Intake(plan.requests, plan.settings)) as intake:
            intake.put_all(())  # nothing is submitted whose reply cannot be kept
            keeper = _Keeper(plan, intake)
            work = BatchWork(self._folder, servers.service_of, keeper.keep, keeper.write)
            try:
                visit = await work.visit(self._portions(plan), self._folder.portions()[0])
            finally:
                await servers.close()
        for portion, words in visit.under_way:
            self._show(portion, words)
        for portion, words in visit.left:
            self._problems += 1
            print_problem(f"{portion.name}: {words}")
        self._tell_taken(plan, visit)
        return visit

    def _show(self, portion: Portion, words: str) -> None:
        """Print how far a portion is, unless that is known."""
        if self._shown.get(portion.name) != words:
            self._shown[portion.name] = words
            count = plural_text(len(portion.digests), "request")
            print(safe_line(f"{portion.name}: {count} to {portion.model}: {words}"), flush=True)

    def _tell_taken(self, plan: PlanRun, visit: Visit) -> None:
        for portion, results in visit.taken:
            self._spent.append(portion.most)
            self._failed.update(results.failed)
            self._problems += len(results.failed) + len(results.notes)
            parts = ["1 reply taken" if results.answered == 1 else f"{results.answered:,} replies taken"]
            parts += [f"{len(results.failed):,} without a reply"] if results.failed else []
            print(safe_line(f"{portion.name}: {portion.outcome}: {', '.join(parts)}"), flush=True)
            reasons = [f"{self._name(plan, key)}: {reason}" for key, reason in results.failed.items()]
            print_some(reasons, "requests without a reply")
            print_some([f"{portion.name}: {note}" for note in results.notes], "of the kind")
            if results.unasked:
                where = self._folder.results_file(portion.name)
                print_note(f"{plural_text(results.unasked, 'answer')} to what no case asks any more: kept in {where}")

    def _name(self, plan: PlanRun, key: str) -> str:
        request = plan.requests.get(key)
        return request.first.asker.again if request else f"request {key[:12]}…"

    def _submittable(self, plan: PlanRun, new: Sequence[OpenRequest]) -> bool:
        """Whether the new requests are to be submitted: they cost no more than allowed, and somebody agrees."""
        prices = BatchPrices(plan.settings.root)
        quotes: dict[str, Quote] = {}
        try:
            for each in new:
                question = each.first
                likely, most = (find(question.model, question.request) for find in (prices.likely, prices.most))
                quotes.setdefault(question.source.id, Quote()).add(likely, most)
        except ValueError as error:
            print_problem(str(error))
            self._problems += 1
            return False
        committed = [portion.most for portion in self._portions(plan)] + self._spent
        if reason := over_limit(quotes, committed, plan.settings.max_cost):
            for model, quote in sorted(quotes.items()):
                print(quote.text(model))
            print_problem(reason)
            self._problems += 1
            return False
        return confirm_submission(quotes, yes=self._options.yes)

    async def _divide(self, plan: PlanRun, new: Sequence[OpenRequest], number: int) -> int:
        """Write portions; gives the number of requests in them."""
        settings, servers = plan.settings, Servers(plan)
        prices = BatchPrices(settings.root)
        selection = self._selection(settings.root, settings.secrets)
        division = Division(self._folder, selection, round_number=number)
        refused: dict[str, str] = {}
        try:
            for each in new:
                question = each.first
                try:
                    refuse_secrets(question, settings.secrets)
                    server = await servers.of(question)
                    offline = await batch_backend(question).offline_body(question.request)
                    most = prices.most(question.model, question.request)
                    request = BatchRequest(question.digest, question.source.id, server, offline, most)
                    division.add(request, servers.service(server))
                except ModelUnavailable as error:
                    refused[question.source.id] = str(error)
                    self._failed.add(question.digest)
                except (CaseRefused, TooLarge) as error:
                    refused[question.asker.again] = f"{question.asker.again}: {error}"
                    self._failed.add(question.digest)
            division.end()
        finally:
            await servers.close()
        self._problems += len(refused)
        print_some([f"not submitted: {reason}" for reason in refused.values()], "requests that are not submitted")
        return sum(len(portion.digests) for portion in division.portions)

    async def _cancel(self, plan: PlanRun) -> int:
        portions, servers = self._portions(plan), Servers(plan)
        if not portions:
            print("no batch of these cases is under way")
        try:
            for portion in portions:
                try:
                    progress = BatchProgress(self._folder, await servers.service_of(portion), self._others(portion))
                    why = "" if await progress.cancel(portion) else "it is not certain which batch of the server it is"
                except (NotHere, ServerError) as error:
                    why = str(error)
                if why:
                    self._problems += 1
                    print_problem(f"{portion.name}: not cancelled: {why}")
                else:
                    print(f"{portion.name}: cancelled; what was answered by then is taken by the next command")
        finally:
            await servers.close()
        return 1 if self._problems else 0

    def _others(self, portion: Portion) -> set[str]:
        return {other.batch for other in self._folder.portions()[0] if other.name != portion.name}

    def _selection(self, root: Path, secrets: Secrets) -> Selection:
        """The arguments of this command, with paths from the root, so that they mean the same everywhere."""
        here = Path.cwd()
        paths = [
            (here / path).relative_to(root).as_posix() if (here / path).is_relative_to(root) else path
            for path in self._cases.paths
        ]
        given = [each for each in self._cases.options if not each.startswith("--fc-max-cost")]
        arguments = (
            *(paths or [here.relative_to(root).as_posix() if here.is_relative_to(root) else "."]),
            "--",
            *given,
        )
        is_secret = secrets.may_be_in("\n".join(arguments))
        return Selection(digest([*arguments])[:16], None if is_secret else arguments)

    def _status(self, plan: PlanRun) -> int:
        """Say what is open, and how it goes on."""
        print_not_planned(plan.problems, plan.requests.apps)
        open_ = len(plan.requests)
        if self._visit.under_way:
            print("batches are under way; the same command, or `fcall record --resume`, goes on with them")
        elif not open_:
            print("nothing is open")
        elif not self._is_declined:
            print(f"{plural_text(open_, 'request')} open; the same command asks again")
        if self._problems or plan.problems:
            return 1
        return OPEN if open_ else 0


def _worse(one: int, other: int) -> int:
    """The status that says more: a wrong command line, problems, what is open, nothing."""
    order = (2, 1, OPEN, 0)
    return min(one, other, key=order.index)


def _tell_damage(faults: Sequence[str]) -> int:
    for fault in faults:
        print_problem(fault)
    print_problem(
        "nothing is submitted, since a damaged file may be of requests that the provider has: restore or move it"
    )
    return 1
