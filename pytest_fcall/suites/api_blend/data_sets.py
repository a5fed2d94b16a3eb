"""The data sets of API-BLEND: their formats, notations and scores, and one sample of a data set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from pytest_fcall.core.reply import Call

Format: TypeAlias = Literal["json", "topv2", "sgd", "toolqa", "toolllm", "api_bank", "toolalpaca", "toolbench"]
Notation: TypeAlias = Literal["json", "topv2", "sgd", "toolqa", "python", "lines"]

_NAME_SCORES: Final = ("api_f1", "lcs_f1")
_ALL_SCORES: Final = ("api_f1", "parameter_f1", "lcs_f1")


@dataclass(frozen=True, slots=True)
class DataSet:
    """One data set."""

    name: str
    format: Format
    notation: Notation
    decoder: str
    names_only: bool = False
    """Whether the right answers have no arguments."""

    @property
    def scores(self) -> tuple[str, ...]:
        """The scores that the publication reports."""
        return _NAME_SCORES if self.names_only else _ALL_SCORES


DATA_SETS: Final[Mapping[str, DataSet]] = MappingProxyType(
    {
        each.name: each
        for each in (
            DataSet("seq_atis", "json", "json", "api_blend_atis"),
            DataSet("seq_snips", "json", "json", "api_blend_snips"),
            DataSet("seq_topv2", "topv2", "topv2", "api_blend_topv2"),
            DataSet("seq_sgd", "sgd", "sgd", "api_blend_sgd"),
            DataSet("seq_multiwoz", "sgd", "sgd", "api_blend_multiwoz"),
            DataSet("seq_toolqa", "toolqa", "toolqa", "api_blend_toolqa"),
            DataSet("toolllm_g1", "toolllm", "topv2", "api_blend_topv2", names_only=True),
            DataSet("toolllm_g2", "toolllm", "topv2", "api_blend_topv2", names_only=True),
            DataSet("toolllm_g3", "toolllm", "topv2", "api_blend_topv2", names_only=True),
            DataSet("api_bank_1", "api_bank", "python", "python"),
            DataSet("api_bank_2", "api_bank", "python", "python"),
            DataSet("toolalpaca", "toolalpaca", "json", "api_blend_atis"),
            DataSet("toolbench_home_search", "toolbench", "lines", "toolbench"),
            DataSet("toolbench_booking", "toolbench", "lines", "toolbench"),
        )
    }
)

DOMAINS: Final = (("in domain", True), ("out of domain", False))
_TRAINED_ON: Final = frozenset({"seq_atis", "seq_snips", "seq_topv2", "seq_sgd", "seq_multiwoz"})
"""The data sets with rows for training, on which the publication's own models were trained."""


def is_in_domain(data_set: str) -> bool:
    """Whether the publication counts a data set as in domain: its own models were trained on it."""
    return data_set in _TRAINED_ON


@dataclass(frozen=True, slots=True)
class SetPart:
    """A part of the suite: a data set, with demonstrations or without."""

    name: str
    shots: int = 0
    seed: str | None = None
    """The seed of a sample of demonstrations; None for the first ones."""


_DEMONSTRATED: Final = re.compile(r"(?P<name>.+)_3shot(?:@(?P<seed>\d{1,18}))?")


def set_of_part(part: str) -> SetPart:
    """Return the data set of `SET`, `SET_3shot` or `SET_3shot@SEED`."""
    found = _DEMONSTRATED.fullmatch(part)
    return SetPart(found["name"], 3, found["seed"]) if found else SetPart(part)


CallPath: TypeAlias = tuple[Call, ...]
NAMELESS_ARGUMENT: Final = "value"
"""The name of an argument without a name, as in `LoadDB[flights]`."""


class UnknownValue(str):
    """A placeholder for an unknown value, such as `${id from search}`. Any value of a model matches it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """One question with its right answers."""

    text: str
    paths: tuple[CallPath, ...]
    """The right answers, one of which is enough."""
    offered: tuple[str, ...] = ()
    """The offered functions; if empty, those of the whole data set."""
