"""The responses that servers once gave to the right requests, and what they say of other requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Final, TypeAlias

from pytest_fcall.core.values import Json
from pytest_fcall.decoding.strict_json import NotJson, parse_json
from pytest_fcall.suites.bfcl.rest.request import NotSendable, Parameters, RestRequest, request_of

_MOST_NAMES: Final = 3
_Sign: TypeAlias = Callable[[Parameters], object]


@dataclass(frozen=True, slots=True)
class ResponseForm:
    """The part of a response that the official rule compares: the keys of an object, or of each object in a list."""

    is_list: bool
    keys: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """A right request, and the form of the response to it."""

    request: RestRequest
    form: ResponseForm


def form_of(response: Json) -> ResponseForm | None:
    """Return the form of a response; None for one that is neither an object nor a list of objects."""
    if isinstance(response, Mapping):
        return ResponseForm(False, (frozenset(response),))
    if isinstance(response, list) and all(isinstance(each, Mapping) for each in response):
        return ResponseForm(True, tuple(frozenset(each) for each in response if isinstance(each, Mapping)))
    return None


def right_form(row: Mapping[str, Json]) -> ResponseForm | None:
    """Return the form of the recorded response of a row, which data files keep as JSON text; None without one."""
    response = row.get("response", row.get("ground_truth"))
    try:
        return form_of(parse_json(response)[0] if isinstance(response, str) else response)
    except NotJson:
        return None


def recorded_response(row: Mapping[str, Json]) -> RecordedResponse | None:
    """Return the right request of a row with its response; None where the data lacks either."""
    form, sources = right_form(row), row.get("sources")
    if form is None or not (isinstance(sources, list) and sources):
        return None
    try:
        return RecordedResponse(request_of(str(sources[0])), form)
    except NotSendable:
        return None


class RecordedResponses:
    """All recorded responses, by the address of their requests."""

    def __init__(self, rows: Iterable[Mapping[str, Json]]) -> None:
        self._by_address: dict[str, list[RecordedResponse]] = {}
        for each in filter(None, map(recorded_response, rows)):
            self._by_address.setdefault(each.request.address, []).append(each)

    def form(self, request: RestRequest) -> ResponseForm | None:
        """Return the form of the response to a request; None where no recorded response tells it.

        A request that was not recorded has the form of those to the same address, where either all have the same
        form, or their form follows from which parameters there are, or from the values of one parameter.
        """
        known = self._by_address.get(request.address, [])
        known = [each for each in known if each.request.headers <= request.headers]
        forms = {each.request.parameters: each.form for each in known}
        if request.parameters in forms:
            return forms[request.parameters]
        sign = _sign(forms)
        return next((form for known, form in forms.items() if sign(known) == sign(request.parameters)), None)


def _sign(forms: Mapping[Parameters, ResponseForm]) -> _Sign:
    """The smallest sets of names that explain the forms of the recorded responses."""
    names = sorted({name for parameters in forms for name, _ in parameters})
    for size in range(_MOST_NAMES + 1):
        sets = [each for each in combinations(names, size) if _explains(_numbers_of(each), forms)]
        if sets:
            return _numbers_of(sorted({*chain.from_iterable(sets)}))
    values = [each for each in names if _explains(_values_of([each]), forms)]
    return _values_of(values or names)


def _explains(sign: _Sign, forms: Mapping[Parameters, ResponseForm]) -> bool:
    found: dict[object, ResponseForm] = {}
    return all(found.setdefault(sign(parameters), form) == form for parameters, form in forms.items())


def _numbers_of(names: Sequence[str]) -> _Sign:
    """The number of values for each of these names."""
    return lambda parameters: tuple(sum(each == name for each, _ in parameters) for name in names)


def _values_of(names: Sequence[str]) -> _Sign:
    return lambda parameters: tuple(pair for pair in parameters if pair[0] in names)
