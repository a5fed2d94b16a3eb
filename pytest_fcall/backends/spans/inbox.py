"""The spans of a run, by the cases that they belong to, and whether more are to be expected."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, NamedTuple

from pytest_fcall.backends.spans.otlp import ReceivedSpan
from pytest_fcall.backends.spans.variables import span_of_case

_QUIET_SECONDS: Final = 0.3
"""A trace that looks whole has ended when nothing has come for this long: three times as long as exporters wait."""
_VAIN_SECONDS: Final = 1.0
"""The longest wait for the first span of a case, once a case had none in all the time that the settings give."""
_MOST_SPANS: Final = 20_000
"""Of a case: an app that goes round in circles must not fill the memory."""
_MOST_PROGRAMS: Final = 100
_LONGEST_NAME: Final = 100
_UNKNOWN, _OTHERS = "unknown", "others"


@dataclass(slots=True)
class _CaseSpans:
    """The spans of one run of an app."""

    case: str
    wanted: bool
    """Whether they are judged; else they are known to belong here, and are not kept."""
    spans: dict[str, ReceivedSpan] = field(default_factory=dict)
    newest: float = 0.0
    """The time at which the last one came."""
    answered: float = 0.0
    """The time at which the app had answered; 0 while it is at work."""
    closed: bool = False
    fault: str = ""

    def looks_whole(self, trace: str) -> bool:
        """Whether no span names a parent that is not there, and the first one of the app has ended."""
        outside = ("", span_of_case(trace))
        parents = {span.parent for span in self.spans.values()}
        return not parents.isdisjoint(outside) and parents.difference(outside) <= self.spans.keys()


class CollectedSpans(NamedTuple):
    """The spans of a case."""

    spans: tuple[ReceivedSpan, ...]
    fault: str
    """The reason why spans may be missing; empty where there is none."""
    foreign: tuple[str, ...]
    """The programs that sent spans of no known case in this run, each once."""


class SpanInbox:
    """Takes spans from the thread of the proxy, and hands them to those who wait for an answer of an app."""

    def __init__(self) -> None:
        self.strays: Counter[tuple[str, str]] = Counter()
        """Spans that are part of no verdict: by their case, which they came too late for, or by the program that sent
        them, where they belong to no case. One of both is empty. Messages that could not be read have neither."""
        self._cases: dict[str, _CaseSpans] = {}
        self._in_vain = False
        self._lock = Lock()

    def open(self, trace: str, case: str, *, wanted: bool) -> None:
        """Expect the spans of a run of an app, whose spans are in this trace."""
        with self._lock:
            self._cases[trace] = _CaseSpans(case, wanted)

    def knows(self, trace: str) -> bool:
        """Whether a trace is that of a case of this run."""
        return trace in self._cases

    def receive(self, spans: Iterable[ReceivedSpan], sent_to: str = "", *, may_be_others: bool = False) -> None:
        """Take spans. They belong to the case whose trace they are in, or to that whose own address `sent_to` is.

        What belongs to none is noted, unless another run may know it.
        """
        now = time.monotonic()
        with self._lock:
            for span in spans:
                found = self._cases.get(span.trace) or self._cases.get(sent_to)
                if found is not None:
                    if found.wanted:
                        self._keep(found, span, now)
                elif not may_be_others:
                    self._count_foreign(span.service[:_LONGEST_NAME] or _UNKNOWN)

    def _count_foreign(self, program: str) -> None:
        known = ("", program) in self.strays or len(self.strays) < _MOST_PROGRAMS
        self.strays["", program if known else _OTHERS] += 1

    def _keep(self, found: _CaseSpans, span: ReceivedSpan, now: float) -> None:
        if found.closed:
            self.strays[found.case, ""] += 1
        elif len(found.spans) >= _MOST_SPANS:
            found.fault = f"more than {_MOST_SPANS:,} spans came"
        else:
            found.spans[span.id] = span
            found.newest = now

    def note_unreadable(self, why: str) -> None:
        """Note a message that could not be read. It may have held spans of any case that is at work."""
        with self._lock:
            self.strays["", ""] += 1
            for found in self._cases.values():
                if not found.closed:
                    found.fault = f"a message with spans could not be read: {why}"

    def seconds_left(self, trace: str, most: float) -> float:
        """The time to wait until all spans of a case should be there, if no more come; 0 where they are.

        The first call says that the app has answered. `most` is the longest wait since then.
        """
        now = time.monotonic()
        with self._lock:
            found = self._cases[trace]
            found.answered = found.answered or now
            end = found.answered + most
            if found.looks_whole(trace):
                end = min(end, max(found.answered, found.newest) + _QUIET_SECONDS)
            elif self._in_vain and not found.spans:
                end = min(end, found.answered + _VAIN_SECONDS)
            return max(0.0, end - now)

    def close(self, trace: str) -> CollectedSpans:
        """The spans of a case. What comes from now on is too late."""
        with self._lock:
            found = self._cases[trace]
            found.closed = True
            self._in_vain = not found.spans
            if found.spans and not found.looks_whole(trace):
                found.fault = found.fault or "the parents of some did not come in time"
            spans, found.spans = tuple(found.spans.values()), {}
            foreign = tuple(service for case, service in self.strays if service and not case)
        return CollectedSpans(spans, found.fault, foreign)
