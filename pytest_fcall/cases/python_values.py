"""The language of `expect:`, written as Python values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pytest_fcall.cases.expectations import expectation
from pytest_fcall.cases.extensions import Extensions
from pytest_fcall.cases.faults import Faults, Source
from pytest_fcall.cases.filling import Filling
from pytest_fcall.cases.scope import Scope
from pytest_fcall.cases.toolbox import Toolbox
from pytest_fcall.cases.yaml.python_data import nodes_of
from pytest_fcall.core import Expectation, Fault, Tool


class ExpectationError(ValueError):
    """The expectation is no expectation, or one that no reply to these tools can meet."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        said = (f"{fault.message} ({fault.hint})" if fault.hint else fault.message for fault in faults)
        super().__init__("; ".join(said))
        self.faults = tuple(faults)


def read_expectation(data: object, tools: Sequence[Tool] = (), *, comparators: Iterable[str] = ()) -> Expectation:
    """Read what stands behind `expect:`, given as Python values. Without tools, names and values are not checked.

    Raises ExpectationError with all that is wrong.
    """
    faults = Faults(Source("expected"))
    scope = Scope(
        faults,
        Path(),
        Filling(datetime.now(UTC), {}),
        Extensions(comparators=frozenset(comparators)),
        toolbox=Toolbox(tools, complete=bool(tools)),
        offered=frozenset(tool.name for tool in tools),
    )
    try:
        result = expectation(nodes_of(data), scope)
    except ValueError as error:
        faults.add("wrong-type", None, str(error))
    else:
        if any(call.result is not None for call in result.all_calls):
            hint = "leave it out, or write a case with an `environment`"
            faults.add("contradiction", None, "`result` is about a call that is carried out, and this is a reply", hint)
    if faults.found:
        raise ExpectationError(faults.found)
    return result
