"""The results of a search for guilty edits, case by case, and its lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Final, Literal, NamedTuple, TypeAlias

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.reporting.number_text import cost_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import Marks, table_lines
from pytest_fcall.reporting.word_diff import word_diff

BisectStatus: TypeAlias = Literal["found", "open", "nothing"]
"""A set of edits was found; or not yet, as answers are missing; or there is nothing to be found."""
EditCell: TypeAlias = Literal["fails", "passes", "harmless", "together", "unknown"]
"""An edit in a case: with it alone the case fails or passes, or it passes with it among others, or it fails with it and
others together only."""

_LONGEST: Final = 160
_MOST_COLUMNS: Final = 12
_MOST_EDITS: Final = 30
_MOST_ALIKE: Final = 3
"""Of more cases of which there is the same to say, the number is told."""


class FoundEdit(NamedTuple):
    """An edit, in words."""

    where: str
    before: str
    after: str

    @property
    def text(self) -> str:
        """The edit in a line."""
        if not self.before:
            return f"{_short_line(self.where)}: '{_short_line(self.after)}' was added"
        if not self.after:
            return f"{_short_line(self.where)}: '{_short_line(self.before)}' was removed"
        changed = word_diff(self.before, self.after) if len(self.before) + len(self.after) > _LONGEST else ""
        return f"{_short_line(self.where)}: " + (
            changed or f"'{_short_line(self.before)}' → '{_short_line(self.after)}'"
        )


def _short_line(text: str) -> str:
    return safe_line(text, _LONGEST)


class FoundCause(NamedTuple):
    """A set of edits that makes a case fail."""

    members: tuple[tuple[FoundEdit, ...], ...]
    """Each an edit, or several of which one or more are it."""
    is_minimal: bool = True
    """Whether the case is known to pass without any of the members."""

    @property
    def edits(self) -> tuple[FoundEdit, ...]:
        """All edits in it."""
        return tuple(edit for member in self.members for edit in member)

    @property
    def is_exact(self) -> bool:
        """Whether each member is one edit that is needed."""
        return self.is_minimal and all(len(member) == 1 for member in self.members)

    @property
    def lines(self) -> list[str]:
        """The cause in lines; nothing is called a cause that may be none."""
        if self.is_exact and len(self.edits) == 1:
            return [self.edits[0].text]
        if self.is_exact:
            both = "two edits, each harmless alone:"
            head = both if len(self.edits) == 2 else f"{len(self.edits)} edits, harmless where one of them is missing:"
            return [head, *(f"  {edit.text}" for edit in self.edits)]
        return [
            f"one or more of these {len(self.edits)} edits:",
            *(f"  {edit.text}" for edit in self.edits[:_MOST_EDITS]),
        ]


@dataclass(frozen=True, slots=True)
class BisectedCase:
    """The result of the search for one case under one model."""

    nodeid: str
    case: str
    model: str
    status: BisectStatus
    why: str = ""
    """The reason why nothing was found, or the search is not complete."""
    causes: tuple[FoundCause, ...] = ()
    rest_passes: bool | None = None
    """Whether the case is right with all edits but these; None where that is not known."""
    edits: int = 0
    """The number of all edits."""
    before: tuple[int, int] | None = None
    """Right answers to the old question, and all."""
    now: tuple[int, int] | None = None
    requests: int = 0
    """The requests that were sent for it."""
    cells: Mapping[FoundEdit, EditCell] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """The lines of the result: a summary first, the edits below it."""
        name = safe_line(self.nodeid)
        if self.status == "nothing":
            return [f"{name}: nothing to bisect: {safe_line(self.why, 1000)}", *self._note_lines]
        if not self.causes:
            return [f"{name}: not decided: {safe_line(self.why, 1000)}", *self._note_lines]
        open_why = [f"  not decided further: {safe_line(self.why, 1000)}"] if self.status == "open" and self.why else []
        exact = all(cause.is_exact for cause in self.causes)
        lines = [
            f"{name} fails since{self._rates}:"
            if exact
            else f"{name} fails{self._rates}, not decided since which edit:"
        ]
        for number, cause in enumerate(self.causes):
            lines += ["  and, even without that, since:"] if number else []
            lines += [f"  {line}" for line in cause.lines]
        return [*lines, *self._rest, *open_why, *self._note_lines]

    @property
    def _rates(self) -> str:
        sides = [f"{right}/{asked} right {when}" for when, pair in self._sides if pair for right, asked in [pair]]
        return f" ({', '.join(sides)})" if sides else ""

    @property
    def _sides(self) -> list[tuple[str, tuple[int, int] | None]]:
        return [("before", self.before), ("now", self.now)]

    @property
    def _rest(self) -> list[str]:
        edits = sum(len(cause.edits) for cause in self.causes)
        others = self.edits - edits
        those = "this edit" if edits == 1 else "these edits"
        if not others:
            return []
        if self.rest_passes:
            rest = "edit" if others == 1 else f"{others:,} edits"
            return [f"  without {those} the case is right, with the other {rest} in place"]
        if self.rest_passes is False:
            return [f"  without {those} the case is still wrong: other edits are guilty, too"]
        return [f"  whether the case is right without {those} is not known"]

    @property
    def _note_lines(self) -> list[str]:
        return [f"  {safe_line(note, 1000)}" for note in self.notes]


class SearchPlan(NamedTuple):
    """The requests that a search needs, and their cost."""

    cases: int
    """The number of cases that recordings leave open."""
    usual: int
    """The requests that it takes if one edit is guilty and all answers agree."""
    most: int
    """The requests that may be sent."""
    cost: float | None
    """The most that these can cost, in US dollars; None where it is unknown."""

    @property
    def line(self) -> str:
        """The plan for people."""
        cost = f"at most {cost_text(self.cost)}" if self.cost is not None else "cost unknown"
        usual = f"about {plural_text(self.usual, 'request')} if one edit is guilty and all answers agree"
        return f"plan for {plural_text(self.cases, 'case')}: {usual}, and at most {self.most:,}; {cost}"


def edit_lines(edits: Sequence[FoundEdit], cases: int) -> list[str]:
    """The edits by their numbers."""
    lines = [f"{plural_text(len(edits), 'edit')} in {plural_text(cases, 'case')}:"]
    lines += [f"  {number:2} {edit.text}" for number, edit in enumerate(edits[:_MOST_EDITS], 1)]
    more = len(edits) - _MOST_EDITS
    return [*lines, f"  and {more:,} more"] if more > 0 else lines


def result_lines(found: Sequence[BisectedCase], edits: Sequence[FoundEdit], width: int, marks: Marks) -> list[str]:
    """The result of all cases: each case, the edits that explain all, and the table of edits and cases."""
    plain = Counter(each.why for each in found if each.status == "nothing" and not each.notes)
    many = {why: count for why, count in plain.items() if count > _MOST_ALIKE}
    lines = [line for each in found if not (each.status == "nothing" and each.why in many) for line in each.lines]
    lines += [f"{count:,} cases: nothing to bisect: {safe_line(why, 1000)}" for why, count in many.items()]
    table = edit_table(found, edits, width, marks)
    smallest = explaining_edits(found)
    explained = [each for each in found if each.status == "found"]
    if len(explained) > 1:
        enough = f"{plural_text(len(smallest), 'edit')} {'is' if len(smallest) == 1 else 'are'} enough"
        lines += ["", f"{enough} to make all {len(explained)} cases fail:", *(f"  {edit.text}" for edit in smallest)]
    return [*lines, *([""] if table else []), *table]


def explaining_edits(found: Iterable[BisectedCase]) -> list[FoundEdit]:
    """The edits of the first cause of each case that was found: with these they fail. Each is listed once."""
    causes = (cause for each in found if each.status == "found" for cause in each.causes[:1])
    return list(dict.fromkeys(edit for cause in causes for edit in cause.edits))


def edit_table(found: Sequence[BisectedCase], edits: Sequence[FoundEdit], width: int, marks: Marks) -> list[str]:
    """A table edit × case, of the edits of which anything is known; none for one edit. `edits` gives the numbers."""
    shown = [each for each in found if each.cells]
    known = {edit for each in shown for edit, cell in each.cells.items() if cell != "unknown"}
    numbered = [(number, edit) for number, edit in enumerate(edits, 1) if edit in known]
    if len(numbered) < 2:
        return []
    signs: Mapping[EditCell, str] = {
        "fails": marks.wrong,
        "passes": marks.right,
        "harmless": "-",
        "together": "+",
        "unknown": "?",
    }
    legend = (
        f"{marks.wrong} fails with this edit alone, {marks.right} right with it alone, - harmless among others, "
        "+ fails with others only, ? not known"
    )
    names = [f"{number} {edit.where}" for number, edit in numbered]
    if len(shown) > _MOST_COLUMNS:
        rows = [
            [_short_line(name), *(str(sum(each.cells.get(edit) == cell for each in shown)) for cell in signs)]
            for name, (_, edit) in zip(names, numbered, strict=True)
        ]
        lines = table_lines(["edit", *signs.values()], rows, texts=1, width=width)
        return [*lines, *wrap(f"numbers of cases. {legend}", width)]
    heads = [f"case {number}" for number in range(1, len(shown) + 1)]
    rows = [
        [_short_line(name), *(signs[cell] if (cell := each.cells.get(edit)) else "" for each in shown)]
        for name, (_, edit) in zip(names, numbered, strict=True)
    ]
    lines = table_lines(["edit", *heads], rows, texts=1, width=width)
    cases = [f"case {number}: {safe_line(each.nodeid)}" for number, each in enumerate(shown, 1)]
    return [*lines, *wrap(legend, width), *(cases if len(shown) > 1 else [])]


def cause_texts(found: BisectedCase) -> Iterator[str]:
    """The texts that a run shows beside a regression: the edits that caused it, or the reason why none is known."""
    if found.status == "nothing" or not found.causes:
        yield f"{'nothing to bisect' if found.status == 'nothing' else 'not decided'}: {found.why}"
        return
    for cause in found.causes:
        edits = "; ".join(edit.text for edit in cause.edits)
        yield edits if cause.is_exact else f"one or more of {len(cause.edits)} edits: {edits}"
