"""Which arguments tell one API from another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from pytest_fcall.core.glob import glob_matches
from pytest_fcall.suites.apibench.calls import known_call
from pytest_fcall.suites.apibench.data_base import Api

CheckedArguments: TypeAlias = Mapping[str, Sequence[str]]
"""For the names of APIs, globs, the arguments that matter. For those that nothing is said of, all do."""

PUBLISHED: CheckedArguments = MappingProxyType({"torch.hub.load": ("repo_or_dir", "model")})
"""What the paper checks: whether weights are loaded, for one, does not tell two models of TorchHub apart."""


def checked_of(text: str) -> tuple[str, tuple[str, ...]]:
    """Read `pipeline=model,revision`; no name means that no argument with a name matters. Raises ValueError."""
    api, equals, names = (part.strip() for part in text.partition("="))
    if not api or not equals:
        raise ValueError(f"{text!r} names no API with arguments, as torch.hub.load=repo_or_dir,model does")
    return api, tuple(name for each in names.split(",") if (name := each.strip()))


def names_for(api: str, checked: CheckedArguments) -> Sequence[str] | None:
    """The arguments that matter of an API, by the first glob that its name matches; None where there is none."""
    return next((names for glob, names in checked.items() if glob_matches(glob, api)), None)


def refuse_unknown(apis: Sequence[Api], checked: CheckedArguments) -> None:
    """Raise ValueError for a name that no call has of the APIs that it is said of."""
    for glob, names in checked.items():
        given = [call for api in apis if (call := known_call(api.call)) and glob_matches(glob, call.name)]
        for name in _in_none(names, [call.by_name for call in given]) if given else ():
            raise ValueError(f"no call of {glob} in the API data base has an argument `{name}`, which is to be checked")


def _in_none(names: Sequence[str], calls: Sequence[Mapping[str, object]]) -> Iterator[str]:
    return (name for name in names if not any(name in call for call in calls))
