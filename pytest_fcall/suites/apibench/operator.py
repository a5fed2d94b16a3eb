"""`$api_call`: the text calls an API, whatever else it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.core.pattern import Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.suites.apibench.data_base import Api
from pytest_fcall.suites.apibench.strict import StrictRule


def api_call(operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:  # noqa: ARG001  it takes none
    """Compare text with a call, or with several of which one is enough.

    Each is Python source, or `{call: SOURCE, checked: [NAME, …]}` where only some arguments with a name matter.
    """
    calls = operand if isinstance(operand, Sequence) and not isinstance(operand, str) else [operand]
    known = [api for call in calls if (api := _api(call))]
    if not known:
        return "`$api_call` takes a call as text, or a list of them"
    if not isinstance(got, str):
        return "there is no text"
    judged = StrictRule(known)(got, "", known[0].call)
    if judged.word == "correct":
        return None
    if judged.word == "unparsable":
        return f"there is no call in it that can be read, expected `{known[0].call}`"
    return f"`{judged.call[:200]}` is called, expected `{known[0].call}`"


def _api(said: Pattern) -> Api | None:
    match said:
        case str():
            return Api("", said, {})
        case {"call": str(call), "checked": [*names]}:
            return Api("", call, {}, tuple(map(str, names)))
    return None
