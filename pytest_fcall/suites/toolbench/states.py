"""Programs that search or book, scored by what they have set in the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pytest_fcall.conversation.program import Asked, Malformed, carry_out
from pytest_fcall.suites.toolbench.booking import Booking, Date, Loc
from pytest_fcall.suites.toolbench.home_search import HomeSearch
from pytest_fcall.suites.toolbench.refused import Refused

Api = HomeSearch | Booking

_MAKERS: Mapping[type[Api], Mapping[str, Callable[..., object]]] = MappingProxyType(
    {HomeSearch: {}, Booking: {"Date": Date, "Loc": Loc}}
)


class Crashed(Exception):
    """A program cannot be carried out to its end. The text says why."""


def final_state(program: str, kind: type[Api]) -> Mapping[str, object]:
    """Carry a program out on a new API, and give the criteria that it has set."""
    api = kind()
    try:
        carry_out(program, lambda asked: _answer(api, asked))
    except (Malformed, Refused, TypeError) as error:  # the last is Python's, for arguments that a method does not have
        raise Crashed(str(error)) from None
    return api.criteria


def _answer(api: Api, asked: Asked) -> object:
    if maker := _MAKERS[type(api)].get(asked.name):
        return maker(*asked.positional, **asked.named)
    place, _, name = asked.name.rpartition(".")
    if place == "API" and name in api.setters:
        api.set(api.setters[name], *asked.positional, **asked.named)
    elif place == "API" and name in api.methods:
        getattr(api, name)(*asked.positional, **asked.named)
    else:
        raise Refused(f"there is no {asked.name:.60}")
    return None
