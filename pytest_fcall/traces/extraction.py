"""From files of traces to drafts of cases: records read, joined, masked, named and compared."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.core import Json, Message, digest
from pytest_fcall.core.readable_json import readable_json
from pytest_fcall.traces.case_files import NamedDraft
from pytest_fcall.traces.drafts import CaseDraft, draft_of
from pytest_fcall.traces.files import records_of
from pytest_fcall.traces.masking import Masker, masked_record
from pytest_fcall.traces.record import Record, SkippedEntry, UnreadableTrace, UnusableRecord
from pytest_fcall.traces.values import items, mapping, parsed


class JoinedConversations:
    """Takes records one by one and keeps the longest of those that go on from each other.

    A request repeats all that was said before, so that a record which begins with the whole of another one contains
    it. System messages count for nothing there: they may tell the time. Order counts for nothing either.
    """

    def __init__(self) -> None:
        self._kept: dict[bytes, Record] = {}
        self._passed: set[bytes] = set()
        """Beginnings of longer records."""
        self._by_id: dict[str, Record] = {}
        self.equal = 0
        """How often the same question was answered in the same way."""

    def take(self, record: Record) -> None:
        """Add a record."""
        if record.after in self._by_id:
            record = replace(record, trail=(*self._by_id[record.after].trail, *_new_messages(record.trail)), after="")
        if record.id:
            self._by_id[record.id] = record
        *before, whole = _prefix_digests(record.trail)
        self.equal += whole in self._kept
        if whole not in self._passed:
            self._kept[whole] = record
        for beginning in before:
            self._kept.pop(beginning, None)
            self._passed.add(beginning)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._kept.values())


def _new_messages(trail: tuple[Message, ...]) -> tuple[Message, ...]:
    """What a request adds to what the provider has kept: instructions are sent again each time."""
    return tuple(message for message in trail if message["role"] not in ("system", "developer"))


def _prefix_digests(trail: tuple[Message, ...]) -> list[bytes]:
    """The name of each beginning that ends in an answer, and that of the whole."""
    running = sha256()
    names: list[bytes] = []
    for message in trail:
        if message["role"] not in ("system", "developer"):
            running.update(_message_identity(message).encode("utf-8", "surrogatepass"))
        if message["role"] == "assistant":
            names.append(running.digest())
    if not trail or trail[-1]["role"] != "assistant":
        names.append(running.digest())
    return names


def _message_identity(message: Message) -> str:
    """What makes a message the same one: agents send calls back with other ids, and arguments written otherwise."""
    calls = [mapping(mapping(call).get("function")) for call in items(message.get("tool_calls"))]
    told = [(call.get("name"), parsed(call.get("arguments"))) for call in calls]
    return readable_json([message["role"], message.get("content") or "", [list(each) for each in told]])


_LONGEST_NAME = 48
_MAY_BE_ID = re.compile(r"[\w.-](?:[\w. -]{0,150}[\w.-])?")
_NAME_WORD = re.compile(r"\w+")


class CaseNames:
    """Gives every case a name of its own."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: Counter[str] = Counter()

    def name(self, asked: str, tools: Iterable[str], own: str = "") -> str:
        """Its own, else the first words of the question, else the tools that are called; numbered where it is taken."""
        base = own if _MAY_BE_ID.fullmatch(own) else _name_of_words(asked) or _name_of_words(" ".join(tools)) or "case"
        name = base
        while name in self._taken:
            self._last[base] += 1
            name = f"{base}_{self._last[base] + 1}"
        self._taken.add(name)
        return name


def _name_of_words(text: str) -> str:
    name = ""
    for word in _NAME_WORD.findall(unicodedata.normalize("NFC", text[:500]).lower()):
        if len(name) + len(word) > _LONGEST_NAME:
            break
        name = f"{name}_{word}" if name else word
    return name.strip("_") if name.isprintable() else ""


_MOST_COMPARED: Final = 50
"""With so many of those that expect the same calls is a case compared, the newest first."""
_LEAST_OVERLAP: Final = 0.8
"""Of all words of two questions that many must be in both."""
_WORD: Final = re.compile(r"\w+")


class NearDuplicateFinder:
    """Finds, for each case, an earlier one that it is nearly the same as."""

    def __init__(self) -> None:
        self._seen: dict[str, deque[tuple[frozenset[str], str]]] = {}

    def twin(self, question: CaseDraft, name: str) -> str | None:
        """The name of such a case; where there is none, the case is remembered by its own."""
        words = frozenset(_WORD.findall(f"{question.system} {question.asked}".lower()))
        seen = self._seen.setdefault(_expectation_digest(question), deque(maxlen=_MOST_COMPARED))
        for others, other in reversed(seen):
            both = len(words & others)
            if both >= _LEAST_OVERLAP * (len(words) + len(others) - both):
                return other
        seen.append((words, name))
        return None


def _expectation_digest(question: CaseDraft) -> str:
    steps = [step for turn in question.turns for step in turn.steps]
    calls: Json = [[[made.call.name, made.call.arguments] for made in step] for step in steps]
    return digest([len(question.turns), calls, question.before[:-1]])


class NearDuplicate(NamedTuple):
    """A case that is nearly the same as an earlier one."""

    case: NamedDraft
    like: str


class Extraction(NamedTuple):
    """All that the files gave."""

    cases: list[NamedDraft]
    twins: list[NearDuplicate]
    """Of the cases, those that are nearly the same as others."""
    equal: int
    """Answers that were given before, to the same question."""
    unread: list[SkippedEntry]


def extract_drafts(files: Iterable[Path], masker: Masker) -> Extraction:
    """Read all files, join what belongs together, mask it, and name what is left."""
    threads = JoinedConversations()
    unread: list[SkippedEntry] = []
    for path in files:
        try:
            for each in records_of(path):
                if isinstance(each, SkippedEntry):
                    unread.append(each)
                else:
                    threads.take(each)
        except UnreadableTrace as why:
            unread.append(SkippedEntry(path.name, str(why)))
    cases: list[NamedDraft] = []
    twins: list[NearDuplicate] = []
    names, near = CaseNames(), NearDuplicateFinder()
    for record in threads:
        try:
            question = draft_of(masked_record(record, masker))
        except UnusableRecord as why:
            unread.append(SkippedEntry(record.place, str(why)))
            continue
        tools = (made.call.name for made in question.made)
        case = NamedDraft(names.name(question.asked, tools, record.case), question)
        cases.append(case)
        if (like := near.twin(question, case.name)) is not None:
            twins.append(NearDuplicate(case, like))
    return Extraction(cases, twins, threads.equal, unread)
