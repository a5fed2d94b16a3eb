"""By what a process and its clients know each other."""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass
from typing import cast

from pytest_fcall.backends.fields import Damaged, as_mapping, required
from pytest_fcall.core import Json

TOKEN = 64
"""Characters of a token."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """By these both sides know each other, since anybody on the machine may knock at a port, or open one."""

    knock: str
    welcome: str

    def to_data(self) -> dict[str, Json]:
        """Say them in JSON values."""
        return cast("dict[str, Json]", asdict(self))


def new_tokens() -> Tokens:
    """Tokens that nobody can guess."""
    return Tokens(secrets.token_hex(TOKEN // 2), secrets.token_hex(TOKEN // 2))


def tokens_from_data(data: Json) -> Tokens:
    """Read what `to_data` wrote. Raises Damaged."""
    fields = as_mapping(data, "the tokens")
    tokens = Tokens(required(fields, "knock", str), required(fields, "welcome", str))
    if not all(len(token) == TOKEN and token.isascii() for token in (tokens.knock, tokens.welcome)):
        raise Damaged("the tokens are not tokens")
    return tokens
