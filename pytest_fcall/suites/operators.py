"""Operators that suites bring, by name. What stands behind one is imported when it is first used."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_fcall.core.pattern import Pattern
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator


def _api_call(operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:
    from pytest_fcall.suites.apibench.operator import api_call

    return api_call(operand, options, got)


def _toolbench(operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:
    from pytest_fcall.suites.toolbench.operator import toolbench

    return toolbench(operand, options, got)


SUITE_OPERATORS: Mapping[str, Comparator] = MappingProxyType({"api_call": _api_call, "toolbench": _toolbench})
