"""`fcall record --engine=batch`: providers' batches answer what is open, in as many commands as that takes."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pytest_fcall.backends.batch.client import ServerError
from pytest_fcall.backends.batch.division import BatchRequest, Division, TooLarge
from pytest_fcall.backends.batch.portion import Portion, PortionFolder, Selection
from pytest_fcall.backends.batch.progress import Progress
from pytest_fcall.backends.batch.results import NOT_ASKED
from pytest_fcall.backends.batch.work import BatchWork, NotHere, Visit
from pytest_fcall.backends.store import StoreError
from pytest_fcall.cli.project import root_of
from pytest_fcall.cli.record.batch_quote import BatchPrices, Quote, agreed, over_limit
from pytest_fcall.cli.record.batch_servers import Servers, batch_backend
from pytest_fcall.cli.record.messages import OPEN, print_not_planned, print_note, print_problem, print_some
from pytest_fcall.cli.record.plan_run import NoPlan, PlanRun, run_plan
from pytest_fcall.core import CaseRefused, ModelUnavailable, Reply, Unanswered, digest
from pytest_fcall.core.secrets import Secrets
from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.ask.open_requests import OpenRequest
from pytest_fcall.session.offline.intake import Intake
from pytest_fcall.session.offline.plan import refuse_secrets

_PORTION: Final = 256
"""Replies that are written together."""
_FIRST_LOOK: Final = 15.0
_LAST_LOOK: Final = 300.0
"""Seconds between two looks at a batch: the first, and the longest."""


def record_in_batches(options: Namespace) -> int:
    """Go on with the batches under way, and submit what is open; see the exit status in `fcall record --help`."""
    try:
        if not options.engine:
            return _resume(options)
        return _record(options.paths, options)
    except NoPlan as why:
        print(why, file=sys.stderr)
        return 2
    except sqlite3.OperationalError:
        print_problem("another process works with the batches of this project; they are its own until it ends")
        return 1
    except StoreError as error:
        print_problem(str(error))
        return 1


def _record(paths: Sequence[str], options: Namespace) -> int:
    root = root_of([Path(path.partition("::")[0]).absolute() for path in paths] or [Path.cwd()])
    while True:
        folder = PortionFolder(root)
        with folder.alone():  # before the plan: what another process answers or submits meanwhile would be in it
            command = _Command(folder, paths, options)
            plan = command.plan()
            if plan.settings.root == root:
                return command.cancel(plan) if options.cancel else command.run(plan)
        root = plan.settings.root


def _resume(options: Namespace) -> int:
    """Go on by the arguments of the commands whose batches are under way."""
    root = root_of([Path(path).absolute() for path in options.paths] or [Path.cwd()])
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
        cap = [each for each in options.pytest if each.startswith("--fc-max-cost")]
        given = Namespace(**{**vars(options), "pytest": [*portion.arguments[split + 1 :], *cap]})
        status = _worse(status, _record(paths, given))
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
        self._waiting.append((request, reply))
        if len(self._waiting) == _PORTION:
            self.write()
        return None

    def write(self) -> None:
        """Write what was kept. Raises StoreError."""
        if self._waiting:
            self.intake.put_all(self._waiting)
            self._waiting = []


class _Command:
    """One command, which alone works with the batches of the project."""

    def __init__(self, folder: PortionFolder, paths: Sequence[str], options: Namespace) -> None:
        self._folder = folder
        self._paths = paths
        self._options = options
        self._problems = 0
        self._failed: set[str] = set()
        """Requests that are not submitted by this command any more."""
        self._spent: list[float | None] = []
        self._is_declined = False
        """Whether what is open is not to be submitted by this command."""
        self._shown: dict[str, str] = {}
        """What was printed last of each portion."""

    def plan(self) -> PlanRun:
        """Find out what is open. Raises NoPlan."""
        plan = run_plan(self._paths, self._options.pytest)
        if plan.settings.record != "missing":
            raise NoPlan(
                f"fcall record: --engine=batch asks what is missing; --fc-record={plan.settings.record} does not"
            )
        return plan

    def run(self, plan: PlanRun) -> int:
        """Go on with what is under way, and submit what is open."""
        if faults := self._tidied():
            return _tell_damage(faults)
        self._forget_stale(plan)
        pause = _FIRST_LOOK
        while True:
            visit = asyncio.run(self._visit(plan))
            if visit.taken:
                plan = self.plan()
            new = [] if self._is_declined else self._new(plan)
            self._is_declined = self._is_declined or (bool(new) and not self._submittable(plan, new))
            if new and not self._is_declined and asyncio.run(self._divide(plan, new)):
                pause = _FIRST_LOOK
                continue
            if not (visit.under_way and self._options.wait):
                return self._status(plan, visit)
            time.sleep(max(pause, visit.wait or 0.0))
            pause = min(pause * 1.5, _LAST_LOOK)

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
        found = [portion for portion in self._folder.portions()[0] if portion.is_under_way]
        return [
            portion
            for portion in found
            if portion.selection == mine or all(plan.requests.get(each) is not None for each in portion.digests)
        ]

    def _forget_stale(self, plan: PlanRun) -> None:
        """Forget portions that no server has yet, of which something is asked no more: they are divided anew."""
        for portion in self._portions(plan):
            is_sent = portion.stage not in ("planned", "uploading", "uploaded")
            if not is_sent and any(plan.requests.get(each) is None for each in portion.digests):
                self._folder.forget(portion)
                print(f"{portion.name}: forgotten, since its cases have changed before it was submitted")

    def _new(self, plan: PlanRun) -> list[OpenRequest]:
        """The open requests that no batch has."""
        under_way = {each for portion in self._folder.portions()[0] if portion.is_under_way for each in portion.digests}
        return [
            each
            for each in plan.requests
            if each.first.digest not in under_way and each.first.digest not in self._failed
        ]

    async def _visit(self, plan: PlanRun) -> Visit:
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
            told = ["1 reply taken" if results.answered == 1 else f"{results.answered:,} replies taken"]
            told += [f"{len(results.failed):,} without a reply"] if results.failed else []
            print(safe_line(f"{portion.name}: {portion.outcome}: {', '.join(told)}"), flush=True)
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
        return agreed(quotes, yes=self._options.yes)

    async def _divide(self, plan: PlanRun, new: Sequence[OpenRequest]) -> bool:
        """Write portions; whether there are any."""
        settings, servers = plan.settings, Servers(plan)
        prices = BatchPrices(settings.root)
        division = Division(self._folder, self._selection(settings.root, settings.secrets))
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
        return bool(division.portions)

    async def _cancel(self, plan: PlanRun) -> int:
        portions, servers = self._portions(plan), Servers(plan)
        if not portions:
            print("no batch of these cases is under way")
        try:
            for portion in portions:
                try:
                    progress = Progress(self._folder, await servers.service_of(portion), self._others(portion))
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
            for path in self._paths
        ]
        given = [each for each in self._options.pytest if not each.startswith("--fc-max-cost")]
        arguments = (
            *(paths or [here.relative_to(root).as_posix() if here.is_relative_to(root) else "."]),
            "--",
            *given,
        )
        is_secret = secrets.may_be_in("\n".join(arguments))
        return Selection(digest([*arguments])[:16], None if is_secret else arguments)

    def _status(self, plan: PlanRun, visit: Visit) -> int:
        """Say what is open, and how it goes on."""
        print_not_planned(plan.problems, plan.requests.apps)
        open_ = len(plan.requests)
        if visit.under_way:
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
