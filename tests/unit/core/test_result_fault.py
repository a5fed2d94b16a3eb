from __future__ import annotations

import json

import pytest

from pytest_fcall.core import CallResult, Json
from pytest_fcall.core.result_fault import FaultKind, ResultFault


def fault(kind: FaultKind) -> ResultFault:
    return ResultFault(kind, kind, ("*",), message="no")


@pytest.mark.parametrize("value", [[{"id": "F7"}], {"a": 1}, {}, [], 12, "sunny", "", True, None])
@pytest.mark.parametrize("kind", ["truncated", "corrupt"])
def test_a_damaged_result_is_seen_to_be_damaged_whatever_it_was(kind: FaultKind, value: Json) -> None:
    result = fault(kind).result(CallResult(value))
    assert isinstance(result.value, str)
    assert result.fault == kind
    if kind == "truncated":
        with pytest.raises(ValueError, match=r"."):
            json.loads(result.value)
    else:
        assert not any(char.isalnum() for char in result.value)
    assert fault(kind).result(CallResult(value)) == result


def test_a_timeout_and_an_error_are_errors_and_a_slow_result_asks_for_patience() -> None:
    assert fault("timeout").result(CallResult(1)) == CallResult(error="no")
    assert fault("error").result(CallResult(1)) == CallResult(error="no")
    assert fault("slow").result(CallResult(1)) == CallResult({"status": "running", "message": "no"})
