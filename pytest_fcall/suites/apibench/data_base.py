"""The API data base of a hub: one JSON object a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_fcall.core.values import Json
from pytest_fcall.suites.apibench.calls import known_call
from pytest_fcall.suites.json_lines import BrokenRow, lines, opened, record


class BrokenDataBase(ValueError):
    """The text names the file and the line, and says what is wrong."""


@dataclass(frozen=True, slots=True)
class Api:
    """One entry."""

    domain: str
    call: str
    """How it is called, as Python source."""
    document: Mapping[str, Json]
    """All that is known of it, as the file has it, but for `checked`."""
    checked: tuple[str, ...] | None = None
    """The arguments that tell it from others; None where the data base does not say."""


def read_apis(path: Path) -> tuple[Api, ...]:
    """Read a data base, plain or compressed. OSError where that cannot be done, BrokenDataBase where it is none."""
    apis = []
    with opened(path) as stream:
        for number, line in enumerate(lines(stream), 1):
            if line.strip():
                try:
                    apis.append(api_of(record(line)))
                except BrokenRow as error:
                    raise BrokenDataBase(f"{path}:{number}: {error}") from None
    return tuple(apis)


def api_of(document: Mapping[str, Json]) -> Api:
    """Read one entry; BrokenRow where a field is missing or wrong that judging needs."""
    match document:
        case {"domain": str(domain), "api_call": str(call), "checked": checked, **others}:
            return Api(domain, call, {"domain": domain, "api_call": call, **others}, _checked(checked, call))
        case {"domain": str(domain), "api_call": str(call)}:
            return Api(domain, call, document)
    raise BrokenRow("an API needs `domain` and `api_call`, both text")


def _checked(said: Json, call: str) -> tuple[str, ...]:
    if not isinstance(said, list) or not all(isinstance(name, str) for name in said):
        raise BrokenRow("`checked` is no list of names of arguments")
    known = known_call(call)
    for name in said:
        if known is None or name not in known.by_name:
            raise BrokenRow(f"`checked` names `{name}`, an argument that `{call}` does not give by name")
    return tuple(map(str, said))


def plain_or_packed(folder: Path, name: str) -> Path:
    """The file `name` in a folder, or `name.gz` where only that is there."""
    plain, packed = folder / name, folder / f"{name}.gz"
    return packed if packed.exists() and not plain.exists() else plain
