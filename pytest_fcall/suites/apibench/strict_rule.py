"""The strict rule: a call is right if its name and the arguments that matter are; the operator `$api_call`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from pytest_fcall.core.glob import glob_matches
from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.suites.apibench.apis import Api, WrittenCall, calls_in, entry_call
from pytest_fcall.suites.apibench.grades import GradedAnswer

CheckedArguments: TypeAlias = Mapping[str, Sequence[str]]
"""For the names of APIs, globs, the arguments that matter. For those that nothing is said of, all do."""

PAPER_ARGUMENTS: CheckedArguments = MappingProxyType({"torch.hub.load": ("repo_or_dir", "model")})
"""What the paper checks: whether weights are loaded, for one, does not tell two models of TorchHub apart."""


def parse_checked(text: str) -> tuple[str, tuple[str, ...]]:
    """Read `pipeline=model,revision`; no name means that no argument with a name matters. Raises ValueError."""
    api, equals, names = (part.strip() for part in text.partition("="))
    if not api or not equals:
        raise ValueError(f"{text!r} names no API with arguments, as torch.hub.load=repo_or_dir,model does")
    return api, tuple(name for each in names.split(",") if (name := each.strip()))


def checked_arguments(api: str, checked: CheckedArguments) -> Sequence[str] | None:
    """The arguments that matter of an API, by the first glob that its name matches; None where there is none."""
    return next((names for glob, names in checked.items() if glob_matches(glob, api)), None)


def refuse_unknown_arguments(apis: Sequence[Api], checked: CheckedArguments) -> None:
    """Raise ValueError for a name that no call has of the APIs that it is said of."""
    for glob, names in checked.items():
        given = [call for api in apis if (call := entry_call(api.call)) and glob_matches(glob, call.name)]
        for name in _in_none(names, [call.by_name for call in given]) if given else ():
            raise ValueError(f"no call of {glob} in the API data base has an argument `{name}`, which is to be checked")


def _in_none(names: Sequence[str], calls: Sequence[Mapping[str, object]]) -> Iterator[str]:
    return (name for name in names if not any(name in call for call in calls))


_REPOSITORY = "repo_or_dir"
_FIELD = re.compile(r"api_call[^:\n]{0,8}:\s*(?P<value>.*?)(?:<{0,3}.?api_provider|\Z)", re.DOTALL)
_ESCAPED_QUOTE = re.compile(r"(?<!\\)\\++(['\"n])")


@dataclass(frozen=True, slots=True)
class _KnownApi:
    """An API as it is looked for."""

    domain: str
    call: WrittenCall
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
        self._known: dict[str, list[_KnownApi]] = {}
        for api in apis:
            if known := self._read(api):
                self._known.setdefault(_last_name(known.call.name), []).append(known)

    def __call__(self, answer: str, domain: str, right: str) -> GradedAnswer:
        """Judge an answer; `domain` is that of the API which is right, and `right` is how that is called."""
        calls = calls_in(_field(_unescaped(answer)))
        if not calls:
            return GradedAnswer("unparsable")
        gold = self._read(self._by_call.get(right) or Api(domain, right, {}))
        for call in calls:
            domains = {known.domain for known in self._known.get(_last_name(call.name), ()) if _fits(call, known)}
            exact = gold is not None and _fits(call, gold)
            if domains or exact:
                is_right = exact or domain in domains
                return GradedAnswer("correct" if is_right else "wrong", exact, call.source)
        return GradedAnswer("hallucination", call=calls[0].source)

    def chosen(self, api: Api) -> Sequence[str] | None:
        """The arguments that somebody has chosen for an API; None where that was left to the paper."""
        if api.checked is not None or not self._checked:
            return api.checked
        known = entry_call(api.call)
        return None if known is None else checked_arguments(known.name, self._checked)

    def _read(self, api: Api) -> _KnownApi | None:
        call = entry_call(api.call)
        if call is None:
            return None
        names = [api.checked, *(checked_arguments(call.name, each) for each in (self._checked, PAPER_ARGUMENTS))]
        return _KnownApi(api.domain, call, next((each for each in names if each is not None), None))


def _fits(call: WrittenCall, api: _KnownApi) -> bool:
    """Whether a call means what the data base has: what that gives by place may be given by any name."""
    known = api.call
    if call.name != known.name and not call.name.endswith(f".{known.name}"):
        return False
    if known.anywhere:
        values = (*call.by_place, *call.by_name.values())
        return all(any(_same_value(each, text) for each in values) for text in known.anywhere)
    order = list(known.by_name)
    for name, value in known.by_name.items():
        if api.checked is None or name in api.checked:
            given = call.by_name.get(name, _item_at(call.by_place, len(known.by_place) + order.index(name)))
            if not (_same_value(given, value) or (name == _REPOSITORY and _same_value(_without_branch(given), value))):
                return False
    return all(
        _same_value(_item_at(call.by_place, place), value)
        or (place >= len(call.by_place) and any(_same_value(each, value) for each in call.by_name.values()))
        for place, value in enumerate(known.by_place)
    )


def _same_value(given: object, value: object) -> bool:
    return type(given) is type(value) and given == value


def _without_branch(repository: object) -> object:
    """`owner/name` of `owner/name:branch`, which the data base does not give."""
    return repository.partition(":")[0] if isinstance(repository, str) else repository


def _item_at(values: Sequence[object], place: int) -> object:
    return values[place] if place < len(values) else _MISSING


_MISSING = object()


def _last_name(name: str) -> str:
    return name.rpartition(".")[2]


def _unescaped(answer: str) -> str:
    return _ESCAPED_QUOTE.sub(lambda found: "\n" if found[1] == "n" else found[1], answer)


def _field(answer: str) -> str:
    found = _FIELD.search(answer)
    return found["value"] if found else answer


def api_call(operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:  # noqa: ARG001  it takes none
    """Compare text with a call, or with several of which one is enough.

    Each is Python source, or `{call: SOURCE, checked: [NAME, …]}` where only some arguments with a name matter.
    """
    calls = operand if isinstance(operand, Sequence) and not isinstance(operand, str) else [operand]
    known = [api for call in calls if (api := _operand_api(call))]
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


def _operand_api(said: Pattern) -> Api | None:
    match said:
        case str():
            return Api("", said, {})
        case {"call": str(call), "checked": [*names]}:
            return Api("", call, {}, tuple(map(str, names)))
    return None
