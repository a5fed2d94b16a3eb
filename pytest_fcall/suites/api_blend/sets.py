"""The data sets: the format of each, and the notation in which models answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

Format: TypeAlias = Literal["json", "topv2", "sgd", "toolqa", "toolllm", "api_bank", "toolalpaca", "toolbench"]
Notation: TypeAlias = Literal["json", "topv2", "sgd", "toolqa", "python", "lines"]

_NAMES: Final = ("api_f1", "lcs_f1")
_ALL: Final = ("api_f1", "parameter_f1", "lcs_f1")


@dataclass(frozen=True, slots=True)
class DataSet:
    """One data set."""

    name: str
    format: Format
    notation: Notation
    decoder: str
    names_only: bool = False
    """Whether it says which functions are right, and nothing of their arguments."""

    @property
    def scores(self) -> tuple[str, ...]:
        """What the publication tells of it."""
        return _NAMES if self.names_only else _ALL


SETS: Final[Mapping[str, DataSet]] = MappingProxyType(
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
