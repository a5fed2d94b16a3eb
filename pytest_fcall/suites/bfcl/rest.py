"""The category `rest`: calls of `requests.get`, judged by the responses that servers once gave to the right ones."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from pytest_fcall.core.case import Location
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.decoding.bfcl.official_form import Undecodable
from pytest_fcall.decoding.strict_json import NotJson, parse_json
from pytest_fcall.suites.bfcl.answers import BfclAnswer, read_call_sources
from pytest_fcall.suites.bfcl.judge import ResultJudge
from pytest_fcall.suites.bfcl.source_calls import execute_source, unknown_name

UNRECORDED: Final = "case_error:unrecorded_response"
"""The error type of a request whose response nothing tells. There is no official verdict for it without a network."""
Parameters: TypeAlias = tuple[tuple[str, str], ...]
"""The parameters of a query in the order of their names."""
_Sign: TypeAlias = Callable[[Parameters], object]

_NAMES: Final = frozenset({"requests.get", "requests_get"})
"""The function, and its name for models whose APIs forbid dots."""
_ARGUMENTS: Final = frozenset(
    {"url", "params", "data", "headers", "cookies", "files", "auth", "timeout", "allow_redirects"}
    | {"proxies", "hooks", "stream", "verify", "cert", "json"}
)
_KEY: Final = re.compile(r"(?:YOUR-)?[A-Z]+-API-KEY")
"""A placeholder for a key. The questions of the first version lack `YOUR-`."""
_MOST_NAMES: Final = 3
_KINDS: Final = ("an object", "a list")


class UnsendableRequest(ValueError):
    """`requests.get` raises an error instead of sending a request. The text says which."""


@dataclass(frozen=True, slots=True)
class RestRequest:
    """The part of a request on which the answer of a server depends. Placeholders of keys are all alike."""

    address: str
    """Scheme, host and path."""
    parameters: Parameters
    headers: frozenset[str]
    """The names of the headers, in lower case."""


def request_of(source: str) -> RestRequest:
    """Return the request of a call, given as source. Raises UnsendableRequest for a call that sends none."""
    try:
        sent = execute_source(source, _callee)
    except UnsendableRequest:
        raise
    except Exception as error:  # source that cannot be parsed, values that are not literals
        raise UnsendableRequest(str(error)) from None
    if not isinstance(sent, RestRequest):
        raise UnsendableRequest(f"not a call of requests.get: {source[:200]}")
    return sent


def _callee(callee: ast.expr) -> Callable[..., object]:
    if ast.unparse(callee) not in _NAMES:
        raise unknown_name(callee)
    return _request


def _request(*positional: Any, **named: Any) -> RestRequest:
    given = {**dict(zip(("url", "params"), positional, strict=False)), **named}
    if "url" not in given:
        raise UnsendableRequest("get() missing 1 required positional argument: 'url'")
    if unknown := next((name for name in given if name not in _ARGUMENTS), None):
        raise UnsendableRequest(f"Session.request() got an unexpected keyword argument {unknown!r}")
    url = given["url"]
    parts = urlsplit(url) if isinstance(url, str) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.netloc:
        raise UnsendableRequest(f"Invalid URL {str(url)[:200]!r}: no scheme or no host supplied")
    _check_transport(parts.scheme, given)
    query = [*parse_qsl(parts.query, keep_blank_values=True), *_pairs(given.get("params"))]
    return RestRequest(
        _KEY.sub("KEY", f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"),
        tuple(sorted((name, _KEY.sub("KEY", value)) for name, value in query)),
        frozenset(_header_names(given.get("headers"))),
    )


def _check_transport(scheme: str, given: Mapping[str, Any]) -> None:
    """Refuse what `requests` or its connection refuses: credentials, certificates, proxies and timeouts of no use."""
    auth, verify, proxies = (given.get(name) for name in ("auth", "verify", "proxies"))
    if auth and not (isinstance(auth, tuple) and len(auth) == 2):
        raise UnsendableRequest(f"{type(auth).__name__!r} object is not callable")
    if given.get("cert"):
        raise UnsendableRequest(f"Could not find the TLS certificate file, invalid path: {str(given['cert'])[:200]}")
    if scheme == "https" and isinstance(verify, str) and verify:
        raise UnsendableRequest(f"Could not find a suitable TLS CA certificate bundle, invalid path: {verify[:200]}")
    if proxies and (not isinstance(proxies, Mapping) or proxies.get(scheme)):
        raise UnsendableRequest("the proxies cannot be reached")
    if given.get("cookies") and not isinstance(given["cookies"], Mapping):
        raise UnsendableRequest("cookies must be a mapping")
    timeout = given.get("timeout")
    for seconds in timeout if isinstance(timeout, tuple) else (timeout,):
        if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0):
            raise UnsendableRequest(f"a timeout must be a number above 0, not {str(seconds)[:200]!r}")


def _pairs(params: Any) -> Iterator[tuple[str, str]]:
    """The parameters as `requests` writes them: lists are repeated, and None is left out."""
    if isinstance(params, str):
        yield from parse_qsl(params, keep_blank_values=True)
    elif params:
        try:
            pairs = [*(params.items() if isinstance(params, Mapping) else params)]
            for name, value in pairs:
                for each in value if isinstance(value, list | tuple) else (value,):
                    if each is not None:
                        yield str(name), _text(each)
        except (TypeError, ValueError):
            raise UnsendableRequest("params is neither a mapping nor pairs") from None


def _text(value: Any) -> str:
    """A value in a query. Numbers that are equal have one text, since servers read them as numbers."""
    text = str(value)
    return text.removesuffix(".0") if isinstance(value, float) else text


def _header_names(headers: Any) -> Iterator[str]:
    if not headers:
        return
    if not isinstance(headers, Mapping):
        raise UnsendableRequest(f"{type(headers).__name__!r} object has no attribute 'items'")
    for name, value in headers.items():
        if not isinstance(name, str) or not isinstance(value, str | bytes | None):
            raise UnsendableRequest(f"the header {name!r} must be a string")
        if value is not None:
            yield name.lower()


@dataclass(frozen=True, slots=True)
class ResponseForm:
    """The part of a response that the official rule compares: the keys of an object, or of each object in a list."""

    is_list: bool
    keys: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class _RecordedResponse:
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


def _recorded_response(row: Mapping[str, Json]) -> _RecordedResponse | None:
    """Return the right request of a row with its response; None where the data lacks either."""
    form, sources = right_form(row), row.get("sources")
    if form is None or not (isinstance(sources, list) and sources):
        return None
    try:
        return _RecordedResponse(request_of(str(sources[0])), form)
    except UnsendableRequest:
        return None


class RecordedResponses:
    """All recorded responses, by the address of their requests."""

    def __init__(self, rows: Iterable[Mapping[str, Json]]) -> None:
        self._by_address: dict[str, list[_RecordedResponse]] = {}
        for each in filter(None, map(_recorded_response, rows)):
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


class RestJudge(ResultJudge):
    """Judges answers by the form of the response to their request."""

    def __init__(self, row: Mapping[str, Json], location: Location, recorded: Callable[[], RecordedResponses]) -> None:
        super().__init__(row, location)
        self._recorded = recorded

    def verdict(self, answer: BfclAnswer) -> Verdict:
        """Judge a stored answer."""
        try:
            sources = read_call_sources(answer)
        except Undecodable as error:
            return _wrong(
                "malformed", "executable_decoder:decoder_failed", f"The answer is not a list of calls: {error}"
            )
        if len(sources) != 1:
            message = f"{len(sources)} calls were made, and one was expected."
            kind: ReasonKind = "wrong_count" if sources else "no_call"
            return _wrong(kind, "executable_decoder:rest_wrong_output_format", message)
        try:
            request = request_of(sources[0])
        except UnsendableRequest as error:
            message = f"The call sends no request: {error}"
            return _wrong("wrong_result", "executable_checker_rest:execution_error", message)
        return _verdict(right_form(self.row), self._recorded().form(request))


def _verdict(right: ResponseForm | None, got: ResponseForm | None) -> Verdict:
    if right is None:
        return _wrong("wrong_result", "case_error:truth", "The data has no recorded response to compare with.")
    if got is None:
        message = (
            "No recorded response tells how a server answers this request, and no server is asked: "
            "the answer is not known to be right."
        )
        return _wrong("wrong_result", UNRECORDED, message)
    if got == right:
        return Verdict(True, pairs=((0, 0),))
    if got.is_list != right.is_list:
        message = f"The response is {_KINDS[got.is_list]}, expected {_KINDS[right.is_list]}."
        return _wrong("wrong_result", "executable_checker_rest:wrong_type", message)
    message = "The response has other keys, or another length, than the right one."
    return _wrong("wrong_result", "executable_checker_rest:wrong_key", message)


def _wrong(kind: ReasonKind, error_type: str, message: str) -> Verdict:
    return Verdict(False, (Reason(kind, "calls", message),), error_type=error_type)
