"""What an app asked of models on its way to an answer, as a baseline keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_fcall.core import Call, Json
from pytest_fcall.tracking.fields import Fields
from pytest_fcall.tracking.kept_calls import calls_in, calls_to_json
from pytest_fcall.tracking.question import TOOL


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One request that an app sent to a model, and what was called in the reply."""

    model: str
    calls: tuple[Call, ...] | None = ()
    """Without the wire's ids; None where the reply could not be read to its end."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """Short names of what the request consists of, the tools that it offers included."""

    @property
    def tools(self) -> Mapping[str, str]:
        """The short names of the tools that it offers, by theirs."""
        return {name.removeprefix(TOOL): short for name, short in self.digests.items() if name.startswith(TOOL)}


def wire_to_json(wire: Iterable[WireRequest]) -> list[Json]:
    """Give requests as what JSON can say. Tools are named where they are others than those of the request before."""
    return list(_written(wire))


def wire_in(fields: Fields) -> tuple[WireRequest, ...] | None:
    """Read the field `wire`; None where there is none. Anything else is a ValueError that names it."""
    found: Sequence[Json] | None = fields.optional("wire", list)
    return None if found is None else tuple(_read(found))


def _written(wire: Iterable[WireRequest]) -> Iterator[dict[str, Json]]:
    offered: Mapping[str, str] = {}
    for request in wire:
        digests = {name: short for name, short in request.digests.items() if not name.startswith(TOOL)}
        data: dict[str, Json] = {"model": request.model, "calls": calls_to_json(request.calls)}
        data |= {"digests": digests} if digests else {}
        data |= {"tools": dict(request.tools)} if request.tools != offered else {}
        offered = request.tools
        yield data


def _read(found: Sequence[Json]) -> Iterator[WireRequest]:
    offered: Mapping[str, str] = {}
    for data in found:
        fields = Fields.of(data, "a request of `wire`")
        named = fields.texts("tools")
        offered = offered if named is None else named
        digests = {**(fields.texts("digests") or {}), **{f"{TOOL}{name}": short for name, short in offered.items()}}
        yield WireRequest(fields.required("model", str), calls_in(fields), digests)
