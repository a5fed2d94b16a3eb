"""The format of each data set, and who reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.core.values import Json
from pytest_fcall.suites.api_blend import borrowed, generated, toolalpaca
from pytest_fcall.suites.api_blend.sample import Sample
from pytest_fcall.suites.api_blend.sets import Format
from pytest_fcall.suites.json_lines import BrokenRow

Read: TypeAlias = Iterator[Sample | BrokenRow]


def samples_of(kind: Format, row: Json) -> Read:
    """Read a row, which may hold several questions. BrokenRow says what is wrong with the row, or with one of them."""
    if not isinstance(row, Mapping):
        raise BrokenRow("it is no object")
    return _READERS[kind](row)


_READERS: Final[Mapping[Format, Callable[[Mapping[str, Json]], Read]]] = MappingProxyType(
    {
        "json": generated.parameters,
        "topv2": generated.topv2,
        "sgd": generated.sgd,
        "toolqa": generated.toolqa,
        "toolllm": borrowed.toolllm,
        "api_bank": borrowed.api_bank,
        "toolalpaca": toolalpaca.questions,
        "toolbench": borrowed.programs,
    }
)
