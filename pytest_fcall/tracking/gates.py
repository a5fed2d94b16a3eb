"""Gates: what must hold of a whole run."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pytest_fcall.tracking.measured import Measured
from pytest_fcall.tracking.readings import Kind, Number, Reading, figure_named, share_of

SIGNS: Mapping[str, Callable[[Number, Number], bool]] = MappingProxyType(
    {">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt, "<": operator.lt}
)


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound on a figure or a score of all cases, or of those that have each name in `scope`.

    Names are categories, tags, suites and models.
    """

    text: str
    """As it was written."""
    figure: str
    sign: str
    bound: Number
    share: bool = False
    """Whether a count is bounded in percent."""
    scope: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """How its figure and its bound are written."""
        return "share" if self.share else figure_named(self.figure).kind

    def judge(self, measured: Measured) -> GateVerdict:
        """Say whether it holds for its cases.

        It does not, if nothing that is lacking could make it; where anything is lacking, it never holds for certain.
        """
        figure = figure_named(self.figure)
        reading = share_of(figure, measured) if self.share else figure.read(measured)
        if not self._may_hold(reading):
            return GateVerdict(self, reading.value, held=False)
        return GateVerdict(self, reading.value, held=None if reading.lacking else True, lacking=reading.lacking)

    def _may_hold(self, reading: Reading) -> bool:
        if self.sign == "==":
            return reading.low <= self.bound <= reading.high
        return any(SIGNS[self.sign](end, self.bound) for end in (reading.low, reading.high))


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Whether a gate held; None where nobody can know, since something is `lacking`."""

    gate: Gate
    figure: Number | None
    held: bool | None
    lacking: str = ""
