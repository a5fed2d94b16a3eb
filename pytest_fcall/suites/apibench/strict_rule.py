"""The strict rule, which compares the name and the relevant arguments of a call, and the operator `$api_call`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import TypeAlias

from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.suites.apibench.apis import ApiChange, ApiEntry, WrittenCall, calls_in, entry_call
from pytest_fcall.suites.apibench.constraints import ConstraintResult, Constraints, fulfilment
from pytest_fcall.suites.apibench.documented_figures import read_figures
from pytest_fcall.suites.apibench.grades import GradedAnswer

CheckedArguments: TypeAlias = Mapping[str, Sequence[str]]
"""The relevant named arguments of APIs, by globs of their names. All arguments of other APIs are relevant."""

PAPER_ARGUMENTS: CheckedArguments = MappingProxyType({"torch.hub.load": ("repo_or_dir", "model")})
"""The arguments that the paper checks. Others, such as whether weights are loaded, do not distinguish models."""
_ApiKey: TypeAlias = tuple[str, tuple[str, ...] | None]
"""The call of an API and its relevant arguments: entries that share both differ in nothing but their documents."""
_REPOSITORY = "repo_or_dir"
_FORMER = "was"
"""The option of `$api_call`."""
_FIELD = re.compile(r"api_call[^:\n]{0,8}:\s*(?P<value>.*?)(?:<{0,3}.?api_provider|\Z)", re.DOTALL)
_ESCAPED_QUOTE = re.compile(r"(?<!\\)\\++(['\"n])")
_MISSING = object()


def parse_checked(text: str) -> tuple[str, tuple[str, ...]]:
    """Parse `API=NAMES`. Without names, no named argument of the API is relevant. Raises ValueError."""
    api, equals, names = (part.strip() for part in text.partition("="))
    if not api or not equals:
        raise ValueError(f"expected API=NAMES, such as torch.hub.load=repo_or_dir,model; got {text!r}")
    return api, tuple(name for each in names.split(",") if (name := each.strip()))


def refuse_unknown_arguments(apis: Sequence[ApiEntry], checked: CheckedArguments) -> None:
    """Raise ValueError for an argument that no call of its APIs has."""
    for glob, names in checked.items():
        calls = [call for api in apis if (call := entry_call(api.call)) and glob_matches(glob, call.name)]
        for name in names if calls else ():
            if not any(name in call.named for call in calls):
                raise ValueError(f"no call of {glob} in the API data base has the argument `{name}` to be checked")


@dataclass(frozen=True, slots=True)
class _KnownApi:
    """An API of the data base."""

    call: WrittenCall
    checked: Sequence[str] | None
    """The relevant named arguments; None for all."""
    any_branch: bool = True
    """Whether a call may name a branch of the repository that the API does not."""

    @property
    def demands(self) -> int:
        """The number of values that a call must have."""
        named = [name for name in self.call.named if self.checked is None or name in self.checked]
        return len(named) + len(self.call.positional) + len(self.call.required_texts)


def finding_of_answer(constraints: Constraints, graded: GradedAnswer) -> ConstraintResult:
    """Judge whether the API that an answer calls meets constraints, by all of its documents."""
    if graded.grade in ("hallucination", "unparsable"):
        return ConstraintResult("unmet", "no API of the data base is called")
    known = entry_call(graded.call)
    values = () if known is None else (*known.positional, *known.named.values(), *known.required_texts)
    names = [value for value in values if isinstance(value, str)]  # which of several models a document is about
    return fulfilment(constraints, [read_figures(document, names) for document in graded.documents])


class StrictRule:
    """Grades answers by an API data base.

    The calls are read from the field `api_call`, or from the whole answer without that field, and the first that fits
    an API counts. The data base says which arguments are relevant, else `checked`, else the paper.
    """

    def __init__(self, apis: Sequence[ApiEntry], checked: CheckedArguments = MappingProxyType({})) -> None:
        self._checked = checked
        self._by_call = {api.call: api for api in apis}
        self._apis = apis
        self._named: dict[str, dict[_ApiKey, tuple[_KnownApi, list[int]]]] = {}
        """The APIs that are called by a name, each with the places of its entries in the data base."""
        for place, api in enumerate(apis):
            if known := self._read(api):
                named = self._named.setdefault(known.call.name, {})
                _, places = named.setdefault((api.call, api.checked), (known, []))
                places.append(place)

    def __call__(self, answer: str, domain: str, right: str) -> GradedAnswer:
        """Grade an answer; `domain` is that of the right API, and `right` its call."""
        calls = calls_in(_field(_unescaped(answer)))
        if not calls:
            return GradedAnswer("unparsable")
        gold = self._read(self._by_call.get(right) or ApiEntry(domain, right, {}))
        for call in calls:
            called = self._called(call)
            exact = gold is not None and _fits(call, gold)
            if called or exact:
                is_right = exact or any(api.domain == domain for api in called)
                documents = tuple(api.document for api in called)
                return GradedAnswer("correct" if is_right else "wrong", exact, call.source, documents)
        return GradedAnswer("hallucination", call=calls[0].source)

    def after_change(self, answer: str, change: ApiChange) -> GradedAnswer:
        """Grade an answer to a question with a changed document. Only the API by that document is right."""
        calls = calls_in(_field(_unescaped(answer)))
        if not calls:
            return GradedAnswer("unparsable")
        new, former = self._told_apart(change)
        for call in calls:
            by_former = _fits(call, former)
            if _fits(call, new) and not (by_former and former.demands >= new.demands):
                return GradedAnswer("correct", exact=True, call=call.source)
            if by_former:
                return GradedAnswer("outdated", call=call.source)
            if self._called(call):
                return GradedAnswer("wrong", call=call.source)
        return GradedAnswer("hallucination", call=calls[0].source)

    def refuse_empty(self, change: ApiChange) -> None:
        """Raise ValueError for a change after which the former call is as right as the new one."""
        if self.after_change(change.new.call, change).grade != "correct" or (
            self.after_change(change.former.call, change).grade == "correct"
        ):
            both = f"`{change.new.call:.200}` and `{change.former.call:.200}`"
            raise ValueError(f"the change of a document changes nothing: {both} are the same call")

    def _told_apart(self, change: ApiChange) -> tuple[_KnownApi, _KnownApi]:
        """The API by its new and by its former document. All arguments are relevant in which these differ."""
        new, former = self._read(change.new), self._read(change.former)
        if new is None or former is None:  # `read_changes` has read both
            raise ValueError(f"`{change.new.call}` or `{change.former.call}` cannot be read as a call")
        if new.checked is not None and former.checked is not None:
            known = (new.call.named, former.call.named)
            names = {*new.checked, *former.checked, *(name for name in {*known[0], *known[1]} if _differ(name, *known))}
            new, former = (replace(each, checked=[*names]) for each in (new, former))
        if _without_branch(new.call.named.get(_REPOSITORY)) == _without_branch(former.call.named.get(_REPOSITORY)):
            new, former = (replace(each, any_branch=False) for each in (new, former))
        return new, former

    def chosen_arguments(self, api: ApiEntry) -> Sequence[str] | None:
        """Return the relevant arguments by the data base or the user; None if neither names any."""
        if api.checked is not None or not self._checked:
            return api.checked
        known = entry_call(api.call)
        return None if known is None else _checked_arguments(known.name, self._checked)

    def _called(self, call: WrittenCall) -> list[ApiEntry]:
        """The APIs that a call means, in the order of the data base."""
        parts = call.name.split(".")
        named = (self._named.get(".".join(parts[start:]), {}) for start in range(len(parts)))
        found = (places for each in named for known, places in each.values() if _fits(call, known))
        return [self._apis[place] for place in sorted(chain.from_iterable(found))]

    def _read(self, api: ApiEntry) -> _KnownApi | None:
        call = entry_call(api.call)
        if call is None:
            return None
        names = [api.checked, *(_checked_arguments(call.name, each) for each in (self._checked, PAPER_ARGUMENTS))]
        return _KnownApi(call, next((each for each in names if each is not None), None))


def _checked_arguments(api: str, checked: CheckedArguments) -> Sequence[str] | None:
    """The relevant arguments of an API, by the first glob that its name matches; None without one."""
    return next((names for glob, names in checked.items() if glob_matches(glob, api)), None)


def _fits(call: WrittenCall, api: _KnownApi) -> bool:
    """Whether a call means the same as that of the API. Positional values of the API may be given by any name."""
    known = api.call
    if call.name != known.name and not call.name.endswith(f".{known.name}"):
        return False
    if known.required_texts:
        values = (*call.positional, *call.named.values())
        return all(any(_same_value(each, text) for each in values) for text in known.required_texts)
    order = list(known.named)
    for name, value in known.named.items():
        if api.checked is None or name in api.checked:
            given = call.named.get(name, _item_at(call.positional, len(known.positional) + order.index(name)))
            other_branch = name == _REPOSITORY and api.any_branch and _same_value(_without_branch(given), value)
            if not (_same_value(given, value) or other_branch):
                return False
    return all(
        _same_value(_item_at(call.positional, index), value)
        or (index >= len(call.positional) and any(_same_value(each, value) for each in call.named.values()))
        for index, value in enumerate(known.positional)
    )


def _differ(name: str, *arguments: Mapping[str, object]) -> bool:
    """Whether two calls give an argument otherwise, or only one of them gives it."""
    one, other = (each.get(name, _MISSING) for each in arguments)
    return not _same_value(one, other)


def _same_value(given: object, value: object) -> bool:
    return type(given) is type(value) and given == value


def _without_branch(repository: object) -> object:
    """`owner/name` of `owner/name:branch`. The data base has no branches."""
    return repository.partition(":")[0] if isinstance(repository, str) else repository


def _item_at(values: Sequence[object], index: int) -> object:
    return values[index] if index < len(values) else _MISSING


def _unescaped(answer: str) -> str:
    return _ESCAPED_QUOTE.sub(lambda found: "\n" if found[1] == "n" else found[1], answer)


def _field(answer: str) -> str:
    found = _FIELD.search(answer)
    return found["value"] if found else answer


def api_call(operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:
    """Compare a text with a call, or with several calls of which one must match.

    Each is Python source, or `{call: SOURCE, checked: [NAME, …]}` if only some named arguments are relevant. The option
    `was` is the call by an old document, which is wrong.
    """
    calls = operand if isinstance(operand, Sequence) and not isinstance(operand, str) else [operand]
    known = [api for call in calls if (api := _operand_api(call))]
    if not known:
        return "`$api_call` needs a call as text, or a list of calls"
    if unknown := [name for name in options if name != _FORMER]:
        return f"`$api_call` has no option `{unknown[0]:.80}`; it has `{_FORMER}`"
    if _FORMER in options:
        return _call_after_change(known, options[_FORMER], got)
    if not isinstance(got, str):
        return "expected a text"
    graded = StrictRule(known)(got, "", known[0].call)
    if graded.grade == "correct":
        return None
    if graded.grade == "unparsable":
        return f"the text has no readable call; expected `{known[0].call}`"
    return f"`{graded.call[:200]}` is called; expected `{known[0].call}`"


def _call_after_change(known: Sequence[ApiEntry], was: Pattern, got: Json) -> str | None:
    former = _operand_api(was)
    changes = [ApiChange(former, api) for api in known] if former else []
    if not changes or any(entry_call(api.call) is None for change in changes for api in (change.new, change.former)):
        return f"`{_FORMER}` and the operand of `$api_call` must be calls as text"
    if not isinstance(got, str):
        return "expected a text"
    rule = StrictRule(known)
    try:
        for change in changes:
            rule.refuse_empty(change)
    except ValueError as error:
        return str(error)
    graded = [rule.after_change(got, change) for change in changes]
    if any(each.grade == "correct" for each in graded):
        return None
    if graded[0].grade == "outdated":
        return f"outdated: `{graded[0].call[:200]}` is called, as before the change; expected `{known[0].call}`"
    called = f"`{graded[0].call[:200]}` is called" if graded[0].call else "the text has no readable call"
    return f"{called}; expected `{known[0].call}`"


def _operand_api(operand: Pattern) -> ApiEntry | None:
    match operand:
        case str():
            return ApiEntry("", operand, {})
        case {"call": str(call), "checked": [*names]}:
            return ApiEntry("", call, {}, tuple(map(str, names)))
    return None
