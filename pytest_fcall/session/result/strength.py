"""The strength of a case of a run: which share of mistakes its expectations would notice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING

from pytest_fcall.core.reply import Reply
from pytest_fcall.strength.case_strength import strength_of
from pytest_fcall.strength.judgeable_part import NOTHING_ACCEPTED, AcceptedValues
from pytest_fcall.tracking.stanza import transcript_of

if TYPE_CHECKING:
    from pytest_fcall.core.case import Case
    from pytest_fcall.core.conversation import CallResult
    from pytest_fcall.core.extension import Comparator
    from pytest_fcall.core.values import Json
    from pytest_fcall.matching.context import MatchContexts
    from pytest_fcall.matching.place import ValuePath
    from pytest_fcall.tracking.stanza import Stanza


def case_strength(
    case: Case, comparators: Mapping[str, Comparator], contexts: MatchContexts, accepted: AcceptedValues
) -> tuple[float, float, float] | None:
    """The weights of the mistakes that are noticed, that pass, and of which only a run decides; None without any."""
    found = strength_of(case, comparators, contexts, accepted)
    if found.unmeasured_reason or found.contradiction:
        return None
    return found.tally.caught, found.tally.survived, found.tally.undecided


def accepted_answer(stanza: Stanza | None) -> AcceptedValues:
    """The answer that a stanza keeps; an empty one where it was wrong."""
    if stanza is None or not stanza.valid:
        return NOTHING_ACCEPTED
    values: dict[tuple[str, ValuePath], list[Json]] = {}
    results: dict[str, CallResult] = {}
    for step in transcript_of(stanza, Reply()).steps:
        for call, result in zip_longest(step.calls.calls, step.results):
            for path, value in _values(call.arguments, ()):
                values.setdefault((call.name, path), []).append(value)
            if result is not None:
                results.setdefault(call.name, result)
    return AcceptedValues(values, results)


def _values(value: Json, path: ValuePath) -> Iterator[tuple[ValuePath, Json]]:
    if path:
        yield path, value
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _values(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _values(item, (*path, index))
