"""Figures over many cases, and survivors grouped by the expectation that lets them pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_fcall.strength.case_strength import CaseStrength, Tally
from pytest_fcall.strength.mutants import Mutant
from pytest_fcall.strength.readings import Looseness


@dataclass(frozen=True, slots=True)
class FileCase:
    """A case, the file that it is in, and its strength."""

    file: Path
    strength: CaseStrength

    @property
    def is_mutated(self) -> bool:
        """Whether it has a figure."""
        return not (self.strength.unmeasured_reason or self.strength.contradiction)


@dataclass(frozen=True, slots=True)
class StrengthFigure:
    """A share of mistakes that are noticed, and what it may be where some are undecided; None where nothing is."""

    value: float | None
    low: float = 0.0
    high: float = 1.0

    @classmethod
    def of(cls, tally: Tally) -> StrengthFigure:
        """The figure of a tally."""
        if not tally.whole:
            return cls(None)
        decided = tally.caught + tally.survived
        value = tally.caught / decided if decided else None
        return cls(value, tally.caught / tally.whole, (tally.caught + tally.undecided) / tally.whole)


@dataclass(slots=True)
class Gap:
    """Expectations that together let mistakes pass; `weight` is what that costs the figure."""

    causes: tuple[Looseness, ...]
    file: Path
    cases: dict[str, FileCase] = field(default_factory=dict)
    mutants: list[Mutant] = field(default_factory=list)
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class SuiteStrength:
    """The strength of many cases."""

    cases: Sequence[FileCase]

    @property
    def mutated(self) -> list[FileCase]:
        """The cases that have a figure."""
        return [each for each in self.cases if each.is_mutated]

    @property
    def tally(self) -> Tally:
        """The mean of all cases: each counts the same, however many mistakes can be made in it."""
        return mean_tally(self.mutated)

    @property
    def counts(self) -> Tally:
        """The numbers of mutants."""
        return sum((each.strength.counts for each in self.mutated), Tally())

    def by_file(self) -> Mapping[Path, list[FileCase]]:
        """The cases that have a figure, by their files."""
        found: dict[Path, list[FileCase]] = {}
        for each in self.mutated:
            found.setdefault(each.file, []).append(each)
        return found

    def by_tool(self) -> Mapping[str, Tally]:
        """By tool, the weights of the mistakes about it."""
        found: dict[str, Tally] = {}
        for each in self.mutated:
            for tool, tally in each.strength.by_tool.items():
                found[tool] = found.get(tool, Tally()) + tally
        return found

    def gaps(self) -> list[Gap]:
        """The gaps, the most costly first. Rows of a matrix have theirs in common."""
        share = 1 / max(len(self.mutated), 1)
        found: dict[object, Gap] = {}
        for each in self.mutated:
            at = each.strength.case.location
            for survivor in each.strength.survivors:
                key = (each.file, at.line, at.column, tuple(cause.place for cause in survivor.causes))
                gap = found.setdefault(key, Gap(survivor.causes, each.file))
                gap.cases[each.strength.case.id] = each
                gap.mutants.append(survivor.mutant)
                gap.weight += share * each.strength.weights[survivor.mutant.mistake]
        return sorted(found.values(), key=lambda gap: (-gap.weight, str(gap.file), next(iter(gap.cases))))


def mean_tally(cases: Sequence[FileCase]) -> Tally:
    """The mean of the tallies of cases."""
    whole = sum((each.strength.tally for each in cases), Tally())
    count = max(len(cases), 1)
    return Tally(whole.caught / count, whole.survived / count, whole.undecided / count)
