"""Our rule: an answer calls an API of the data base if the name and the values that matter are the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pytest_fcall.suites.apibench.calls import Written, calls_in, known_call
from pytest_fcall.suites.apibench.checked import PUBLISHED, CheckedArguments, names_for
from pytest_fcall.suites.apibench.data_base import Api
from pytest_fcall.suites.apibench.score import Judged

_REPOSITORY = "repo_or_dir"
_FIELD = re.compile(r"api_call[^:\n]{0,8}:\s*(?P<value>.*?)(?:<{0,3}.?api_provider|\Z)", re.DOTALL)
_ESCAPED = re.compile(r"(?<!\\)\\++(['\"n])")


@dataclass(frozen=True, slots=True)
class _Known:
    """An API as it is looked for."""

    domain: str
    call: Written
    checked: Sequence[str] | None
    """The arguments with a name that matter; None for all."""


class StrictRule:
    """Judges answers by an API data base.

    All calls in the field `api_call` are looked at, or in the whole answer where there is no such field, and the first
    that fits an API counts. Which arguments matter the data base says, else `checked`, and else the paper.
    """

    def __init__(self, apis: Sequence[Api], checked: CheckedArguments = MappingProxyType({})) -> None:
        self._checked = checked
        self._by_call = {api.call: api for api in apis}
        self._known: dict[str, list[_Known]] = {}
        for api in apis:
            if known := self._read(api):
                self._known.setdefault(_last(known.call.name), []).append(known)

    def __call__(self, answer: str, domain: str, right: str) -> Judged:
        """Judge an answer; `domain` is that of the API which is right, and `right` is how that is called."""
        calls = calls_in(_field(_unescaped(answer)))
        if not calls:
            return Judged("unparsable")
        gold = self._read(self._by_call.get(right) or Api(domain, right, {}))
        for call in calls:
            domains = {known.domain for known in self._known.get(_last(call.name), ()) if _fits(call, known)}
            exact = gold is not None and _fits(call, gold)
            if domains or exact:
                is_right = exact or domain in domains
                return Judged("correct" if is_right else "wrong", exact, call.source)
        return Judged("hallucination", call=calls[0].source)

    def chosen(self, api: Api) -> Sequence[str] | None:
        """The arguments that somebody has chosen for an API; None where that was left to the paper."""
        if api.checked is not None or not self._checked:
            return api.checked
        known = known_call(api.call)
        return None if known is None else names_for(known.name, self._checked)

    def _read(self, api: Api) -> _Known | None:
        call = known_call(api.call)
        if call is None:
            return None
        names = [api.checked, *(names_for(call.name, each) for each in (self._checked, PUBLISHED))]
        return _Known(api.domain, call, next((each for each in names if each is not None), None))


def _fits(call: Written, api: _Known) -> bool:
    """Whether a call means what the data base has: what that gives by place may be given by any name."""
    known = api.call
    if call.name != known.name and not call.name.endswith(f".{known.name}"):
        return False
    if known.anywhere:
        values = (*call.by_place, *call.by_name.values())
        return all(any(_same(each, text) for each in values) for text in known.anywhere)
    order = list(known.by_name)
    for name, value in known.by_name.items():
        if api.checked is None or name in api.checked:
            given = call.by_name.get(name, _at(call.by_place, len(known.by_place) + order.index(name)))
            if not (_same(given, value) or (name == _REPOSITORY and _same(_without_branch(given), value))):
                return False
    return all(
        _same(_at(call.by_place, place), value)
        or (place >= len(call.by_place) and any(_same(each, value) for each in call.by_name.values()))
        for place, value in enumerate(known.by_place)
    )


def _same(given: object, value: object) -> bool:
    return type(given) is type(value) and given == value


def _without_branch(repository: object) -> object:
    """`owner/name` of `owner/name:branch`, which the data base does not give."""
    return repository.partition(":")[0] if isinstance(repository, str) else repository


def _at(values: Sequence[object], place: int) -> object:
    return values[place] if place < len(values) else _MISSING


_MISSING = object()


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _unescaped(answer: str) -> str:
    return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], answer)


def _field(answer: str) -> str:
    found = _FIELD.search(answer)
    return found["value"] if found else answer
