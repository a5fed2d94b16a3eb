"""Arguments of which each name may stand once."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_fcall.decoding.bfcl.undecodable import Undecodable


def named_once(arguments: Iterable[tuple[str | None, str]]) -> dict[str | None, str]:
    """Put arguments into a mapping; Undecodable where a name, or the lack of one, comes twice."""
    found: dict[str | None, str] = {}
    for name, value in arguments:
        if name in found:
            raise Undecodable("an argument without a name comes twice" if name is None else f"{name!r} comes twice")
        found[name] = value
    return found
