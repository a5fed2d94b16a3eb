"""Our rule: an answer calls an API of the data base if the name and the values that matter are the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pytest_fcall.core.glob import glob_matches
from pytest_fcall.decoding.python.call import dotted
from pytest_fcall.decoding.python.literals import literal
from pytest_fcall.decoding.python.scanning import end_of
from pytest_fcall.decoding.python.source import NotPython, parse_expression
from pytest_fcall.suites.apibench.data_base import Api
from pytest_fcall.suites.apibench.score import Judged

CheckedArguments = Mapping[str, Sequence[str]]
"""For the names of APIs, globs, the arguments that matter. For those that nothing is said of, all do."""

CHECKED: CheckedArguments = MappingProxyType({"torch.hub.load": ("repo_or_dir", "model")})
"""What the paper checks: whether weights are loaded, for one, does not tell two models of TorchHub apart."""

_MOST_CALLS = 100
_REPOSITORY = "repo_or_dir"
_CALL = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?=\()")
_FIELD = re.compile(r"api_call[^:\n]{0,8}:\s*(?P<value>.*?)(?:<{0,3}.?api_provider|\Z)", re.DOTALL)
_ESCAPED = re.compile(r"(?<!\\)\\++(['\"n])")


@dataclass(frozen=True, slots=True)
class Written:
    """A call as it is written, with its values by place and by name."""

    name: str
    by_place: tuple[object, ...]
    by_name: Mapping[str, object]
    source: str


class StrictRule:
    """Judges answers by an API data base.

    All calls in the field `api_call` are looked at, or in the whole answer where there is no such field, and the first
    that fits an API counts. `checked` adds to `CHECKED`, and goes before it.
    """

    def __init__(self, apis: Sequence[Api], checked: CheckedArguments = MappingProxyType({})) -> None:
        self._checked = {**checked, **{name: given for name, given in CHECKED.items() if name not in checked}}
        self._known: dict[str, list[tuple[Api, Written]]] = {}
        for api in apis:
            for call in calls_in(api.call)[:1]:
                self._known.setdefault(_last(call.name), []).append((api, call))

    def __call__(self, answer: str, domain: str, right: str) -> Judged:
        """Judge an answer; `domain` is that of the API which is right, and `right` is how that is called."""
        calls = calls_in(_field(_unescaped(answer)))
        if not calls:
            return Judged("unparsable")
        gold = calls_in(right)[:1]
        for call in calls:
            domains = {api.domain for api, known in self._known.get(_last(call.name), ()) if self._fits(call, known)}
            exact = any(self._fits(call, each) for each in gold)
            if domains or exact:
                is_right = exact or domain in domains
                return Judged("correct" if is_right else "wrong", exact, call.source)
        return Judged("hallucination", call=calls[0].source)

    def _fits(self, call: Written, known: Written) -> bool:
        """Whether a call means what the data base has: what that gives by place may be given by any name."""
        if call.name != known.name and not call.name.endswith(f".{known.name}"):
            return False
        names = next((given for glob, given in self._checked.items() if glob_matches(glob, known.name)), None)
        order = list(known.by_name)
        for name, value in known.by_name.items():
            if names is None or name in names:
                given = call.by_name.get(name, _at(call.by_place, len(known.by_place) + order.index(name)))
                if not (_same(given, value) or (name == _REPOSITORY and _same(_without_branch(given), value))):
                    return False
        return all(
            _same(_at(call.by_place, place), value)
            or (place >= len(call.by_place) and any(_same(each, value) for each in call.by_name.values()))
            for place, value in enumerate(known.by_place)
        )


def calls_in(text: str) -> list[Written]:
    """Read the calls in a text that can be read, in their order; an inner call comes after the one around it."""
    found = []
    for match, _ in zip(_CALL.finditer(text), range(_MOST_CALLS), strict=False):
        try:
            source = text[match.start() : end_of(text, match.end())]
            node = parse_expression(source)
        except NotPython:
            continue
        if isinstance(node, ast.Call) and (name := dotted(node.func)):
            found.append(
                Written(
                    name,
                    tuple(_value(each, source) for each in node.args),
                    {each.arg: _value(each.value, source) for each in node.keywords if each.arg},
                    source,
                )
            )
    return found


def _value(node: ast.expr, source: str) -> object:
    """What is no literal counts as its text: there are entries in the data bases that lack quotes."""
    try:
        return literal(node)
    except NotPython:
        return ast.get_source_segment(source, node)


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
