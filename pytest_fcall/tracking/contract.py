"""The text of a contract: what a person accepted of each case of a file, in lines that git can merge.

A merge may leave two answers to one case, by lines of both branches or with marks of a conflict. Which lines belong
together, the digest in each verdict shows; which of two answers is the older, the bookkeeping may know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, product
from typing import Final, NamedTuple

from pytest_fcall.tracking.bookkeeping import REMOVED, Bookkeeping
from pytest_fcall.tracking.contract_lines import (
    Facts,
    digest_of,
    first_word,
    is_fact,
    is_verdict,
    is_whole,
    key_of,
    word_text,
)

VERSION: Final = 2
_MARK: Final = "# pytest-fcall baseline "
FIRST_LINE: Final = f"{_MARK}{VERSION}"
_MOST_DIGITS: Final = 10
_BASE: Final = "|||||||"
_MARKS: Final = ("<<<<<<<", _BASE, "=======", ">>>>>>>")
_MOST_TRIED: Final = 5_000
"""Most ways of putting the facts of one case together that are tried."""


class NumberedLine(NamedTuple):
    """A line of a file, with its number from 1."""

    number: int
    text: str


class ContractAnswer(NamedTuple):
    """An answer to a case: the digest that its verdict bears, and its facts; None where a merge took some away."""

    digest: str
    facts: Facts | None


@dataclass(frozen=True, slots=True)
class CaseLines:
    """The entry of a contract for one case: one answer, or what a merge made of several."""

    line: int
    """The number of the first line."""
    facts: Facts
    """All facts, each once, in the order of the file."""

    def answers(self) -> tuple[ContractAnswer, ...]:
        """The answers of which each has a verdict, in the order of the file. A good file has one."""
        first, *others = self.facts
        verdicts = [fact for fact in others if is_verdict(fact)]
        if is_verdict(first):
            if not verdicts and is_whole(self.facts):
                return (ContractAnswer(digest_of(first), self.facts),)
            verdicts.insert(0, first)
        return tuple(ContractAnswer(digest_of(each), self._facts_with(each, n > 0)) for n, each in enumerate(verdicts))

    def _facts_with(self, verdict: str, is_later: bool) -> Facts | None:
        """The facts that the digest of a verdict fits to. Those that follow it are tried first."""
        others = [fact for fact in self.facts if not is_verdict(fact)]
        block = self.facts[self.facts.index(verdict) + 1 :]
        end = next((place for place, fact in enumerate(block) if is_verdict(fact)), len(block))
        by_key: dict[str, list[str]] = {}
        for fact in others:
            by_key.setdefault(key_of(fact), []).append(fact)
        choices = [(*(reversed(each) if is_later else each), None) for each in by_key.values()]
        for chosen in chain([block[:end]], islice(product(*choices), _MOST_TRIED)):
            facts = (verdict, *(fact for fact in chosen if fact is not None))
            if is_whole(facts):
                return facts
        return None


@dataclass(frozen=True, slots=True)
class Contract:
    """The content of a file, as far as it can be read."""

    cases: Mapping[str, CaseLines] = field(default_factory=dict)
    unreadable: tuple[NumberedLine, ...] = ()
    """The lines that belong to no case."""
    conflict: int = 0
    """The number of the line with the first mark of a merge conflict; 0 without any."""

    def settled(self, kept: Bookkeeping) -> dict[str, tuple[ContractAnswer, ...]]:
        """The answers to each case, without those that are known to be replaced by another of them, or removed."""
        removed = kept.removed
        found = {
            case: _latest(case, lines.answers(), kept, is_removed=case in removed) for case, lines in self.cases.items()
        }
        return {case: answers for case, answers in found.items() if answers}


def _latest(
    case: str, answers: tuple[ContractAnswer, ...], kept: Bookkeeping, *, is_removed: bool
) -> tuple[ContractAnswer, ...]:
    if len(answers) == 1 and not is_removed:
        return answers
    newer = [*(each.digest for each in answers), *([REMOVED] if is_removed else [])]
    return tuple(old for old in answers if not any(kept.replaces(case, new, old.digest) for new in newer))


def version_of(text: str) -> int | None:
    """The version of the format that the first line of a file names; None where it names none."""
    number = text.partition("\n")[0].rstrip().removeprefix(_MARK)
    return int(number) if number.isdecimal() and len(number) < _MOST_DIGITS else None


def read_contract(text: str) -> Contract | None:
    """Read the text of a file; None where it is in another format."""
    lines = text.replace("\r\n", "\n").split("\n")
    sides = _Sides()
    has_marks = any(line.startswith(_MARKS) for line in lines)
    numbered = sides.kept(lines) if has_marks else enumerate(lines, start=1)
    if next((line for _, line in numbered if line), "") != FIRST_LINE:
        return None
    found: dict[str, dict[str, int]] = {}
    unreadable: list[NumberedLine] = []
    for number, line in numbered:
        if not line:
            continue
        try:
            case, fact = first_word(line)
        except ValueError:
            case, fact = "", ""
        if is_fact(fact):
            if case in found:
                found[case].setdefault(fact, number)
            else:
                found[case] = {fact: number}
        elif line != FIRST_LINE:  # a merge of two new files may keep both
            unreadable.append(NumberedLine(number, line))
    cases: dict[str, CaseLines] = {}
    for case, facts in found.items():
        if any(map(is_verdict, facts)):
            cases[case] = CaseLines(next(iter(facts.values())), tuple(facts))
        else:
            unreadable += [NumberedLine(number, f"{word_text(case)} {fact}") for fact, number in facts.items()]
    return Contract(cases, tuple(sorted([*unreadable, *sides.unfinished])), sides.first)


class _Sides:
    """The lines of both sides of merge conflicts, without those that both sides come from."""

    def __init__(self) -> None:
        self.first = 0
        """The number of the first mark."""
        self.unfinished: list[NumberedLine] = []
        """The part that would be left out, but for its missing end."""

    def kept(self, lines: Iterable[str]) -> Iterator[tuple[int, str]]:
        base: list[NumberedLine] | None = None
        for number, line in enumerate(lines, start=1):
            mark = line[: len(_BASE)]
            if mark in _MARKS and line[len(mark) :][:1] in ("", " "):
                self.first = self.first or number
                base = [] if mark == _BASE else None
            elif base is not None:
                base.append(NumberedLine(number, line))
            else:
                yield number, line
        self.unfinished = base or []


def contract_text(cases: Mapping[str, Sequence[Facts]]) -> Iterator[str]:
    """The lines of a file, sorted by case. A case with several answers keeps all of them."""
    yield FIRST_LINE
    for case in sorted(cases):
        word = word_text(case)
        yield ""  # so that git merges changes of neighbouring cases
        for facts in cases[case]:
            yield from (f"{word} {fact}" for fact in facts)
