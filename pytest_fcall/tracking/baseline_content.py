"""The content of a baseline: stanzas become the lines of its two files, and are read from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Final

from pytest_fcall.core.case import Fault, Location
from pytest_fcall.core.files import MOST_KEPT_BYTES, read_regular, write_git_attributes
from pytest_fcall.core.json_data import LaterVersion
from pytest_fcall.core.message_text import list_text
from pytest_fcall.tracking.bookkeeping import (
    REMOVED,
    AcceptedAnswer,
    Bookkeeping,
    bookkeeping_content,
    measurement_path,
    read_bookkeeping,
    replace_changed_file,
)
from pytest_fcall.tracking.contract import VERSION, Contract, ContractAnswer, contract_text, read_contract, version_of
from pytest_fcall.tracking.contract_lines import Facts, digest_of, facts_of, stanza_of_facts
from pytest_fcall.tracking.measurement import Measurement
from pytest_fcall.tracking.stanza import Stanza, StanzaFields, wire_digests_to_json, with_wire_digests

_MOST_NAMED: Final = 10
_UNREADABLE: Final = (
    "Restore the file from version control, or have what can be read kept: `fcall accept --both`. Then run pytest, "
    "and accept what is missing."
)


class UnreadableStanza(ValueError):
    """Lines that were accepted together, and that this version cannot read."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted stanzas of one case file, by case id."""

    stanzas: Mapping[str, Stanza] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    """The reasons why the file cannot be read. Then it has no stanzas."""
    measured: Mapping[str, Measurement] = field(default_factory=dict)
    """The measurements of the cases, whether they are accepted or not."""
    unclear: Mapping[str, Fault] = field(default_factory=dict)
    """Cases of which it cannot be said what was accepted."""
    note: str = ""
    """Advice on a file that can be read."""

    @property
    def all_faults(self) -> tuple[Fault, ...]:
        """Everything that is wrong with the file, each once."""
        return (*self.faults, *dict.fromkeys(self.unclear.values()))


def parse_baseline(content: bytes, path: Path, kept: Bookkeeping | None = None) -> Baseline:
    """Read the content of a contract. Errors become faults, which name `path`."""
    try:
        contract = read_contract(content.decode())
    except UnicodeDecodeError:
        return Baseline(faults=(damage(path, 1, "not a baseline file, or an incomplete one"),))
    if contract is None:
        return Baseline(faults=(_of_another_format(content, path),))
    if lines := contract.unreadable:
        others = (
            f" (and {len(lines) - 1:,} more: {list_text([str(line.number) for line in lines[1:]], _MOST_NAMED)})"
            if lines[1:]
            else ""
        )
        fault = damage(path, lines[0].number, f"this line is not part of a baseline{others}", lines[0].text)
        return Baseline(faults=(fault,))
    return _baseline(contract, kept or Bookkeeping(), path)


def _of_another_format(content: bytes, path: Path) -> Fault:
    version = version_of(content.decode())
    if version is not None and version > VERSION:
        return damage(path, 1, str(LaterVersion(version, VERSION)), hint="Run the version that wrote it.")
    return damage(path, 1, f"not a baseline file in the format {VERSION}")


def _baseline(contract: Contract, kept: Bookkeeping, path: Path) -> Baseline:
    whole: dict[str, Facts] = {}
    several: list[str] = []
    broken: list[str] = []
    for case, answers in contract.settled(kept).items():
        facts = answers[0].facts if len(answers) == 1 else None
        if facts is not None:
            whole[case] = facts
        else:
            (broken if len(answers) == 1 else several).append(case)
    unclear: dict[str, Fault] = {}
    for cases, fault_of in ((several, _conflict), (broken, _mixture)):
        if cases:
            line = min(contract.cases[case].line for case in cases)
            unclear |= dict.fromkeys(cases, fault_of(path, line, cases))
    note = _note(path) if contract.conflict and not unclear else ""
    return Baseline(_Stanzas(whole, kept, path), (), kept.measured, unclear, note)


class _Stanzas(Mapping[str, Stanza]):
    """The stanzas of a file, each read when it is asked for: a run may need few, and needs each but once."""

    def __init__(self, facts: Mapping[str, Facts], kept: Bookkeeping, path: Path) -> None:
        self._facts = facts
        self._kept = kept
        self._path = path

    def __getitem__(self, case: str) -> Stanza:
        facts = self._facts[case]
        answer = self._kept.answer(case, digest_of(facts[0]))
        try:
            stanza = stanza_of_facts(case, facts, answer.unreviewed)
        except (ValueError, IndexError) as error:
            raise UnreadableStanza(f"{self._path.name}: the lines of {case!r} cannot be read: {error}") from None
        try:
            return with_wire_digests(stanza, answer.wire) if answer.wire else stanza
        except ValueError:
            return stanza

    def __contains__(self, case: object) -> bool:
        return case in self._facts

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)


def _note(path: Path) -> str:
    return (
        f"{path.parent.name}/{path.name}: a merge conflict between answers to different cases is left in it, and "
        "both sides are read; `fcall accept --both` cleans the file"
    )


def _conflict(path: Path, line: int, cases: Sequence[str]) -> Fault:
    two = "two different answers are accepted to" if len(cases) == 1 else "two different answers each are accepted to"
    hint = (
        "A merge kept both. Take those of this branch with `fcall accept --ours`, those of the merged one with "
        "`fcall accept --theirs`, or choose case by case: `fcall accept --ours CASE`."
    )
    return Fault("merge-conflict", Location(str(path), line), f"{two} {list_text(cases, _MOST_NAMED)}", "", hint)


def _mixture(path: Path, line: int, cases: Sequence[str]) -> Fault:
    message = f"the lines of {list_text(cases, _MOST_NAMED)} were not accepted together"
    hint = (
        "They were edited, or merged. Restore the file from version control, or have them removed: "
        "`fcall accept --both`. Then run pytest, and accept the answer again."
    )
    return Fault("damaged-baseline", Location(str(path), line), message, "", hint)


def write_baseline(path: Path, stanzas: Iterable[Stanza]) -> None:
    """Replace both files atomically; equal stanzas give equal bytes. Without stanzas, the contract is removed.

    What is measured stays. Raises OSError, and ValueError, TypeError or RecursionError for a stanza that is not JSON;
    the files then stay.
    """
    old, kept = _read_answers(path), read_bookkeeping(measurement_path(path))
    contract: dict[str, list[Facts]] = {}
    accepted: dict[str, dict[str, AcceptedAnswer]] = {}
    for stanza in stanzas:
        facts = facts_of(stanza)
        contract[stanza.case] = [facts]
        unreviewed = StanzaFields(
            samples=stanza.samples,
            since=stanza.since,
            judged=stanza.judged,
            digests=stanza.digests,
            provenance=stanza.provenance,
        )
        digest = digest_of(facts[0])
        new = AcceptedAnswer(digest, (), unreviewed, wire_digests_to_json(stanza.wire or ()))
        accepted[stanza.case] = {digest: _following(new, stanza.case, old.get(stanza.case), kept)}
    for case in {*old, *kept.removed} - {*contract} if contract else ():
        accepted[case] = {REMOVED: _following(AcceptedAnswer(REMOVED), case, old.get(case), kept)}
    write_files(path, contract, Bookkeeping(kept.measured, accepted))


def _following(new: AcceptedAnswer, case: str, old: Sequence[str] | None, kept: Bookkeeping) -> AcceptedAnswer:
    """An answer that remembers those that it replaces; `old` are in the contract."""
    known = [REMOVED] if old is None and case in kept.removed else old or [new.answer]
    if new.answer in known:
        new = replace(new, before=kept.answer(case, new.answer).before)
    return new.instead_of(kept.answer(case, each) for each in known if each != new.answer)


def write_files(path: Path, contract: Mapping[str, Sequence[Facts]], kept: Bookkeeping) -> None:
    """Replace a contract and its bookkeeping, where they change. Raises OSError."""
    content = BytesIO()  # no line is an object of its own: there may be a hundred thousand
    if contract:
        content.writelines(f"{line}\n".encode() for line in contract_text(contract))
    beside = bookkeeping_content(kept)
    if contract:
        write_git_attributes(path.parent.parent)
    replace_changed_file(path, content.getvalue())
    replace_changed_file(measurement_path(path), beside)


def _read_answers(path: Path) -> Mapping[str, Sequence[str]]:
    """The digests of the accepted answers, by case; none of a file that cannot be read."""
    try:
        contract = read_contract(read_regular(path, MOST_KEPT_BYTES).decode())
    except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        return {}
    cases: Iterator[tuple[str, tuple[ContractAnswer, ...]]] = iter(())
    if contract is not None:
        cases = ((case, lines.answers()) for case, lines in contract.cases.items())
    return {case: [answer.digest for answer in answers] for case, answers in cases}


def damage(path: Path, line: int, message: str, source: str = "", hint: str = _UNREADABLE) -> Fault:
    """The fault of a file that says nothing of its cases."""
    return Fault("damaged-baseline", Location(str(path), line), message, source, hint)
