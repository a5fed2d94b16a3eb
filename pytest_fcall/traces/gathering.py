"""From files of traces to cases in the making."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pytest_fcall.traces.case_text import Named
from pytest_fcall.traces.files import records_of
from pytest_fcall.traces.masked import masked
from pytest_fcall.traces.masking import Masker
from pytest_fcall.traces.naming import Names
from pytest_fcall.traces.near import Near
from pytest_fcall.traces.questions import question_of
from pytest_fcall.traces.record import NotSaid, Unread, Unreadable
from pytest_fcall.traces.threads import Threads


class Twin(NamedTuple):
    """A case that is nearly the same as an earlier one."""

    case: Named
    like: str


class Gathered(NamedTuple):
    """All that the files gave."""

    cases: list[Named]
    twins: list[Twin]
    """Of the cases, those that are nearly the same as others."""
    equal: int
    """Answers that were given before, to the same question."""
    unread: list[Unread]


def gather(files: Iterable[Path], masker: Masker) -> Gathered:
    """Read all files, join what belongs together, mask it, and name what is left."""
    threads = Threads()
    unread: list[Unread] = []
    for path in files:
        try:
            for each in records_of(path):
                if isinstance(each, Unread):
                    unread.append(each)
                else:
                    threads.take(each)
        except Unreadable as why:
            unread.append(Unread(path.name, str(why)))
    cases: list[Named] = []
    twins: list[Twin] = []
    names, near = Names(), Near()
    for record in threads:
        try:
            question = question_of(masked(record, masker))
        except NotSaid as why:
            unread.append(Unread(record.place, str(why)))
            continue
        tools = (made.call.name for made in question.made)
        case = Named(names.name(question.asked, tools, record.case), question)
        cases.append(case)
        if (like := near.twin(question, case.name)) is not None:
            twins.append(Twin(case, like))
    return Gathered(cases, twins, threads.equal, unread)
