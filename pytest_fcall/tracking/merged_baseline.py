"""A baseline after a merge: a person chooses between two accepted answers, and the file becomes readable again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from pytest_fcall.core.files import MOST_KEPT_BYTES, read_regular
from pytest_fcall.tracking.baseline_content import write_files
from pytest_fcall.tracking.bookkeeping import REMOVED, AcceptedAnswer, Bookkeeping, measurement_path, read_bookkeeping
from pytest_fcall.tracking.contract import (
    FIRST_LINE,
    CaseLines,
    Contract,
    ContractAnswer,
    NumberedLine,
    read_contract,
)
from pytest_fcall.tracking.contract_lines import Facts, word_text

Side: TypeAlias = Literal["ours", "theirs", "both"]
"""Which of two answers counts. `both` makes no choice between answers to the same case."""


@dataclass(slots=True)
class MergeResult:
    """The result of a file."""

    chosen: list[str] = field(default_factory=list)
    """Cases of which one answer was chosen."""
    undecided: list[str] = field(default_factory=list)
    """Cases that still have several answers."""
    torn: list[str] = field(default_factory=list)
    """Cases whose chosen answer is not whole in the file, so that nothing was chosen."""
    left_out: list[NumberedLine] = field(default_factory=list)
    """Lines that say nothing, or nothing that was accepted together."""
    is_changed: bool = False
    """Whether a file was written."""


def mend_baseline(path: Path, side: Side, is_meant: Callable[[str], bool]) -> MergeResult:
    """Choose an answer to each case that has several, and write the contract and its bookkeeping.

    The first answer in the file is ours, the last is theirs. `is_meant` says whether a choice is made for a case. Lines
    that cannot be read are left out. Raises OSError.
    """
    content = read_regular(path, MOST_KEPT_BYTES)
    beside = measurement_path(path)
    bookkeeping = _content(beside)
    contract, kept = _read(content.decode("utf-8", "replace")), read_bookkeeping(beside)
    mended = MergeResult(left_out=[*contract.unreadable])
    answers: dict[str, list[Facts]] = {}
    accepted: dict[str, dict[str, AcceptedAnswer]] = {}
    for case, found in contract.settled(kept).items():
        lines = contract.cases[case]
        left = _choice(case, found, side, mended, is_meant=is_meant(case))
        facts = left[0].facts if len(left) == 1 else lines.facts
        if facts is None:
            mended.left_out += [NumberedLine(lines.line, f"{word_text(case)} {fact}") for fact in lines.facts]
            continue
        answers[case] = [facts]
        accepted[case] = _accepted(case, left, lines, kept)
    for case in kept.removed - {*answers}:
        accepted[case] = {REMOVED: kept.answer(case, REMOVED)}
    mended.left_out.sort()
    write_files(path, answers, Bookkeeping(kept.measured, accepted))
    mended.is_changed = (_content(path), _content(beside)) != (content, bookkeeping)
    return mended


def _content(path: Path) -> bytes:
    return read_regular(path, MOST_KEPT_BYTES) if path.exists() else b""


def _read(text: str) -> Contract:
    """The contract, also where the line is damaged that names the format."""
    if (contract := read_contract(text)) is not None:
        return contract
    found = read_contract(f"{FIRST_LINE}\n{text}") or Contract()
    cases = {case: CaseLines(lines.line - 1, lines.facts) for case, lines in found.cases.items()}
    return Contract(cases, tuple(NumberedLine(line.number - 1, line.text) for line in found.unreadable))


def _choice(
    case: str, found: Sequence[ContractAnswer], side: Side, mended: MergeResult, *, is_meant: bool
) -> Sequence[ContractAnswer]:
    """The answers that are left of those that a case has."""
    if len(found) == 1:
        return found
    if side == "both" or not is_meant:
        mended.undecided.append(case)
        return found
    chosen = found[0] if side == "ours" else found[-1]
    if chosen.facts is None:
        mended.torn.append(case)
        return found
    mended.chosen.append(case)
    return [chosen]


def _accepted(
    case: str, left: Sequence[ContractAnswer], lines: CaseLines, kept: Bookkeeping
) -> dict[str, AcceptedAnswer]:
    """The bookkeeping of the answers that are left. One that is alone replaces the others."""
    if len(left) > 1:
        return {each.digest: kept.answer(case, each.digest) for each in left}
    digest = left[0].digest
    others = [kept.answer(case, each.digest) for each in lines.answers() if each.digest != digest]
    others += [kept.answer(case, REMOVED)] if case in kept.removed else []
    return {digest: kept.answer(case, digest).instead_of(others)}
