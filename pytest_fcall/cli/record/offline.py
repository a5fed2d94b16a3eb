"""`fcall record --plan`, `--from` and `--rounds`: requests become a file, and replies come back in files."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from pytest_fcall.backends.store import StoreError
from pytest_fcall.cli.project import root_of
from pytest_fcall.cli.record.plan_run import (
    OPEN,
    NoPlan,
    PlannedCases,
    PlanRun,
    exit_status,
    print_not_planned,
    print_problem,
    print_some,
)
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.storage import Folder, folder_and_name, is_address, title_of
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.ask.open_requests import OpenRequest
from pytest_fcall.session.offline.intake import Intake, RefusedRow, read_reply_rows
from pytest_fcall.session.offline.plan import PlanWriter
from pytest_fcall.session.offline.rounds import Rounds, RoundsError

_SHOWN: Final = 5
"""Requests that are named; the others are counted."""


def plan_requests(cases: PlannedCases, options: Namespace) -> int:
    """Write a plan; 1 where some tests cannot be planned, 2 where pytest cannot run them."""
    return exit_status(lambda: _write_plan(cases.plan(), options))


def take_replies(cases: PlannedCases, options: Namespace) -> int:
    """Take the replies of files, and say what is missing, and what is asked next."""
    return exit_status(lambda: _take(cases, options))


def show_rounds(paths: Sequence[str]) -> int:
    """Print a line for each round."""
    root = root_of([Path(path).absolute() for path in paths] or [Path.cwd()])
    try:
        rounds = Rounds(root).read()
    except RoundsError as error:
        print_problem(str(error))
        return 1
    if not rounds:
        print("no requests were planned here; `fcall record --plan FILE` writes the first plan")
        return 0
    print("round  requests  replies  planned           models")
    for each in rounds:
        begun = each.begun[:16].replace("T", " ")
        models = safe_line(", ".join(each.models))
        print(f"{each.number:5}  {each.requests:8}  {each.taken:7}  {begun:16}  {models}")
    last = rounds[-1]
    still = last.requests + last.beside if last.open is None else last.open
    print(f"{plural_text(still, 'request')} open" if still else "nothing is open")
    return OPEN if still else 0


def _take(cases: PlannedCases, options: Namespace) -> int:
    before = cases.plan()
    if before.settings.record == "off":
        raise NoPlan("fcall record: --from writes into the recordings, which --fc-record=off switches off")
    intake = Intake(before.requests, before.settings)
    unread = _take_files(intake, options.origins)
    _tell_of_replies(intake)
    after = cases.plan()
    missing = {each.first.digest for each in intake.missing()}
    new = sum(each.first.digest not in missing for each in after.requests)
    rounds = Rounds(after.settings.root)
    rounds.add_replies({0: intake.taken}, len(after.requests))
    if rounds.fault:
        print_problem(rounds.fault)
    _tell_missing([each for each in after.requests if each.first.digest in missing])
    if new:
        print(f"next round: {plural_text(new, 'request')} that the replies lead to")
    faults = bool(intake.refused or unread)
    if options.plan is not None:
        return _write_plan(after, options) or int(faults)
    if len(after.requests):
        print("a plan of what is open: fcall record --plan FILE")
    return 1 if faults else OPEN if len(after.requests) else 0


def _write_plan(run: PlanRun, options: Namespace) -> int:
    writer = PlanWriter(run.settings.root, run.settings.secrets)
    title = title_of(options.plan)
    out = sys.stderr if options.plan == "-" else sys.stdout
    try:
        if is_address(options.plan):
            folder, name = folder_and_name(options.plan)
            writer.write_into(Folder(folder), name, run.requests, options.format)
        else:
            writer.write(Path(options.plan), run.requests, options.format)
    except OSError as error:
        print_problem(f"cannot write {title}: {error.strerror or error}")
        return 1
    models = Counter(each.first.source.id for each in run.requests)
    asked = "".join(f"\n  {number:,} to {safe_line(model)}" for model, number in sorted(models.items()))
    tools = f", {plural_text(len(writer.catalogues), 'tool catalogue')}" if writer.catalogues else ""
    print(f"{safe_line(title)}: {plural_text(writer.written, 'request')}{tools}{asked}", file=out)
    waiting = {question.asker.nodeid for each in run.requests for question in each.questions}
    idle = run.tests - len(waiting) - len(run.requests.apps) - len(run.problems)
    if idle > 0:
        print(f"{plural_text(idle, 'test')} {'waits' if idle == 1 else 'wait'} for no reply", file=out)
    if len(run.requests):
        rounds = Rounds(run.settings.root)
        number = rounds.next_number()
        rounds.begin(number, len(run.requests), sorted(models))
        if number > 1:
            print(f"this is round {number}", file=out)
        if rounds.fault:
            print_problem(rounds.fault)
    print_not_planned({**run.problems, **writer.refused}, run.requests.apps)
    return 1 if run.problems or writer.refused else 0


def _take_files(intake: Intake, files: Iterable[str]) -> bool:
    """Take the replies of all files; whether one of them cannot be read to its end. Raises StoreError."""
    unread = False
    try:
        for name in files:
            before = intake.taken
            try:
                intake.take(read_reply_rows(name))
            except StoreError:
                raise
            except OSError as error:
                print_problem(f"cannot read {title_of(name)}: {error.strerror or error}")
                unread = True
            print(f"{safe_line(title_of(name))}: {plural_text(intake.taken - before, 'reply', 'replies')} taken")
    finally:
        for note in intake.close():
            print_problem(note)
    return unread


def _tell_of_replies(intake: Intake) -> None:
    if intake.known:
        print(f"{plural_text(intake.known, 'reply', 'replies')} recorded before")
    print_some(_rows(intake.failed, "no reply: "), "rows without a reply")
    print_some(_rows(intake.refused, "not taken: "), "rows that are not taken")


def _rows(rows: Iterable[RefusedRow], prefix: str) -> list[str]:
    return [f"{row.place}: {prefix}{row.reason}" for row in rows]


def _tell_missing(missing: Sequence[OpenRequest]) -> None:
    if missing:
        print(f"still missing: {plural_text(len(missing), 'reply', 'replies')}")
        for each in islice(missing, _SHOWN):
            asker, sample = each.first.asker, each.first.request.sample
            print(safe_line(f"  {asker.again}{f' (sample {sample})' if sample else ''}: {each.first.source.id}"))
        if len(missing) > _SHOWN:
            print(f"  … and {len(missing) - _SHOWN:,} more")
