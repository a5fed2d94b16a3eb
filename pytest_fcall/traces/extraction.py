"""Files of traces turned into drafts of cases: records are read, joined, masked, named and compared."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.core.digests import catalogue_digest, digest
from pytest_fcall.core.json_data import readable_json
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.traces.case_files import NamedDraft
from pytest_fcall.traces.drafts import CaseDraft, draft_of
from pytest_fcall.traces.files import records_of
from pytest_fcall.traces.masking import Masker, masked_record
from pytest_fcall.traces.record import Record, SkippedEntry, ToolRun, TraceEntry, UnreadableTrace, UnusableRecord
from pytest_fcall.traces.request_parts import is_instruction
from pytest_fcall.traces.spool import Spool
from pytest_fcall.traces.values import items, mapping, parse_json_text, text

_LONGEST_NAME: Final = 48
_VALID_ID: Final = re.compile(r"[\w.-](?:[\w. -]{0,150}[\w.-])?")
_WORD: Final = re.compile(r"\w+")
_MOST_COMPARED: Final = 50
"""The most cases with the same calls that a case is compared with, newest first."""
_LEAST_OVERLAP: Final = 0.8
"""The part of all words of two questions that near duplicates have in common."""


class Extraction:
    """The drafts of cases in some files. Records wait on the disk until `cases` makes drafts of them, once."""

    def __init__(self, files: Iterable[Path], masker: Masker) -> None:
        self._masker = masker
        self._conversations = JoinedConversations()
        self._runs = ToolRuns()
        self.skipped: list[SkippedEntry] = []
        """The entries that were left out so far."""
        for path in files:
            try:
                for each in records_of(path):
                    self._add(each)
            except UnreadableTrace as problem:
                self.skipped.append(SkippedEntry(path.name, str(problem)))
        self.repeated_answers = self._conversations.repeated_answers
        """The number of answers that were given to the same question before."""

    def _add(self, entry: TraceEntry) -> None:
        if isinstance(entry, SkippedEntry):
            self.skipped.append(entry)
        elif isinstance(entry, ToolRun):
            self._runs.add(entry)
        else:
            try:
                self._conversations.add(entry)
            except UnusableRecord as problem:
                self.skipped.append(SkippedEntry(entry.place, str(problem)))

    def cases(self) -> Iterator[NamedDraft]:
        """Join the records of a conversation, mask them, and name the drafts, one by one."""
        names, finder = CaseNames(), NearDuplicateFinder()
        for record in self._conversations:
            try:
                draft = draft_of(masked_record(self._runs.marked(record), self._masker))
            except UnusableRecord as problem:
                self.skipped.append(SkippedEntry(record.place, str(problem)))
                continue
            tools = (each.call.name for each in draft.calls)
            name = names.new_name(draft.question_text, tools, record.case_id)
            yield NamedDraft(name, draft, finder.find_or_remember(draft, name) or "")


class JoinedConversations:
    """The longest of records that continue each other, which wait on the disk.

    A request repeats all earlier messages, so a record that begins with all messages of another one contains it.
    System messages are ignored, since they may hold the time. Records may come in any order.
    """

    def __init__(self) -> None:
        self._records = Spool[Record]()
        self._catalogues: dict[str, tuple[Tool, ...]] = {}
        """The tools of the records by their digest: most records of a log have the same."""
        self._kept: dict[bytes, int] = {}
        self._contained: set[bytes] = set()
        """Digests of the beginnings of longer records."""
        self._by_id: dict[str, int] = {}
        self.repeated_answers = 0
        """The number of answers that were given to the same question before."""

    def add(self, record: Record) -> None:
        """Add a record. Raises UnusableRecord for one that is nested too deeply to wait."""
        if record.previous_id in self._by_id:
            # Providers that keep the conversation are sent new messages only, but all instructions.
            new = (message for message in record.messages if not is_instruction(message))
            messages = (*self._records.get(self._by_id[record.previous_id]).messages, *new)
            record = replace(record, messages=messages, previous_id="")
        *beginnings, whole = _prefix_digests(record.messages)
        if asked := _expectations(record):  # the same question with another expectation is another case
            whole = sha256(whole + asked.encode("utf-8", "surrogatepass")).digest()
        place = self._records.add(self._with_shared_tools(record) if record.tools else record)
        if record.id:
            self._by_id[record.id] = place
        self.repeated_answers += whole in self._kept
        if whole not in self._contained:
            self._kept[whole] = place
        for beginning in beginnings:
            self._kept.pop(beginning, None)
            self._contained.add(beginning)

    def __iter__(self) -> Iterator[Record]:
        return map(self._records.get, self._kept.values())

    def _with_shared_tools(self, record: Record) -> Record:
        key = catalogue_digest(record.tools)
        if key not in self._catalogues:
            self._catalogues[key] = record.tools
            self._records.share(record.tools)
        return replace(record, tools=self._catalogues[key])


def _prefix_digests(messages: tuple[Message, ...]) -> list[bytes]:
    """The digest of each beginning that ends in an answer; the last one is the digest of all messages."""
    running = sha256()
    digests: list[bytes] = []
    for message in messages:
        if not is_instruction(message):
            running.update(_message_identity(message).encode("utf-8", "surrogatepass"))
        if message["role"] == "assistant":
            digests.append(running.digest())
    if not messages or messages[-1]["role"] != "assistant":
        digests.append(running.digest())
    return digests


def _expectations(record: Record) -> str:
    """The expectations of the source as a text; an empty one for a log."""
    if record.expectation is None and not record.turn_expectations:
        return ""
    return readable_json([record.expectation, [*record.turn_expectations], record.skip])


def _message_identity(message: Message) -> str:
    """A text that is equal for equal messages: agents repeat calls with other ids and other spelling of arguments."""
    functions = [mapping(mapping(call).get("function")) for call in items(message.get("tool_calls"))]
    calls: list[Json] = [[each.get("name"), parse_json_text(each.get("arguments"))] for each in functions]
    return readable_json([message["role"], message.get("content") or "", calls])


class CaseNames:
    """Unique names of cases."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: Counter[str] = Counter()

    def new_name(self, question: str, tools: Iterable[str], own: str = "") -> str:
        """The case's own id, or the first words of the question, or the called tools; numbered where it is taken."""
        base = own if _VALID_ID.fullmatch(own) else _name_of_words(question) or _name_of_words(" ".join(tools))
        base = base or "case"
        name = base
        while name in self._taken:
            self._last[base] += 1
            name = f"{base}_{self._last[base] + 1}"
        self._taken.add(name)
        return name


def _name_of_words(text: str) -> str:
    name = ""
    for word in _WORD.findall(unicodedata.normalize("NFC", text[:500]).lower()):
        if len(name) + len(word) > _LONGEST_NAME:
            break
        name = f"{name}_{word}" if name else word
    return name.strip("_") if name.isprintable() else ""


class NearDuplicateFinder:
    """Finds earlier cases that are nearly the same."""

    def __init__(self) -> None:
        self._words: dict[str, int] = {}
        """The number of each word: sets of words would take ten times the memory."""
        self._seen: dict[bytes, tuple[tuple[bytes, str], ...]] = {}
        """The words and names of the cases with the same calls, oldest first."""

    def find_or_remember(self, draft: CaseDraft, name: str) -> str | None:
        """The name of a case that is nearly the same. Without one, the case is remembered by its name."""
        found = _WORD.findall(f"{draft.system} {draft.question_text}".lower())
        words = {self._words.setdefault(word, len(self._words)) for word in found}
        key = bytes.fromhex(_expectation_digest(draft))
        seen = self._seen.get(key, ())
        for packed, other in reversed(seen):
            other_words = array("I", packed)
            common = len(words.intersection(other_words))
            if common >= _LEAST_OVERLAP * (len(words) + len(other_words) - common):
                return other
        self._seen[key] = (*seen[-_MOST_COMPARED + 1 :], (array("I", words).tobytes(), name))
        return None


def _expectation_digest(draft: CaseDraft) -> str:
    steps = [step for turn in draft.turns for step in turn.steps]
    calls: Json = [[[each.call.name, each.call.arguments] for each in step] for step in steps]
    return digest([len(draft.turns), calls, draft.earlier_messages[:-1], _expectations(draft.record)])


class _KnownRun(NamedTuple):
    """A run without its arguments, which may be long."""

    name: str
    id: str
    call: str | None
    """The digest of its name and arguments; None where the arguments are not known."""
    time: str
    failed: bool


class ToolRuns:
    """The runs of tools in some traces."""

    def __init__(self) -> None:
        self._by_trace: dict[str, list[_KnownRun]] = {}

    def add(self, run: ToolRun) -> None:
        """Add a run. One of an unknown trace belongs to no record."""
        if run.trace:
            call = None if run.arguments is None else digest([run.name, run.arguments])
            known = _KnownRun(run.name, run.id, call, run.time, run.failed)
            self._by_trace.setdefault(run.trace, []).append(known)

    def marked(self, record: Record) -> Record:
        """The record, in which the results of runs that failed are marked as errors."""
        runs = self._by_trace.get(record.trace, [])
        if not any(run.failed for run in runs):
            return record
        failed = set(_failed_places(record, runs))
        messages = enumerate(record.messages)
        marked = ({**message, "is_error": True} if place in failed else message for place, message in messages)
        return replace(record, messages=tuple(marked))


def _failed_places(record: Record, runs: Sequence[_KnownRun]) -> Iterator[int]:
    """The places of results whose calls failed: by the id of the call, or in order among runs with equal arguments.

    Where a trace holds more or fewer runs than calls, it is not known which is which, and none is taken.
    """
    by_id = {run.id: run for run in runs if run.id}
    groups: dict[str, list[int]] = {}
    unnamed = {run.name for run in runs if run.call is None}
    for place, id_, name, arguments in _answered_calls(record):
        if id_ in by_id:
            if by_id[id_].failed:
                yield place
        else:
            key = name if name in unnamed else digest([name, arguments])
            groups.setdefault(key, []).append(place)
    own: dict[str, list[_KnownRun]] = {}
    for run in sorted((run for run in runs if not run.id), key=lambda run: run.time):
        key = run.call if run.call is not None and run.name not in unnamed else run.name
        own.setdefault(key, []).append(run)
    for key, places in groups.items():
        if len(places) == len(own.get(key, ())):
            yield from (place for place, run in zip(places, own[key], strict=True) if run.failed)


def _answered_calls(record: Record) -> Iterable[tuple[int, str, str, Json]]:
    """The place of each result, and the id, the name and the arguments of its call."""
    calls: dict[str, Mapping[str, Json]] = {}
    for place, message in enumerate(record.messages):
        for call in map(mapping, items(message.get("tool_calls"))):
            calls[text(call.get("id")) or ""] = mapping(call.get("function"))
        id_ = text(message.get("tool_call_id")) or ""
        if message["role"] == "tool" and id_ in calls:
            yield place, id_, text(calls[id_].get("name")) or "", parse_json_text(calls[id_].get("arguments"))
