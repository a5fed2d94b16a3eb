"""JSON text from files and servers, read with one kind of error."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isfinite
from typing import NoReturn

from pytest_fcall.core.values import Json


class NotJsonNumber(ValueError):
    """NaN or an infinity, which Python reads but JSON does not have."""


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and infinities. Raises NotJsonNumber."""
    raise NotJsonNumber(f"JSON with {name}, which is not a JSON number")


def read_json(
    text: str | bytes, constant: Callable[[str], Json] | None = None, number: Callable[[str], Json] | None = None
) -> Json:
    """The value of JSON text; bytes are UTF-8. Raises ValueError, and nothing else: its text says what it is instead.

    `constant` gives the value of NaN and of infinities, or refuses them; by default they are floats. `number` does so
    for numbers with a point or an exponent.
    """
    try:
        read = text if isinstance(text, str) else text.decode("utf-8-sig")
        value: Json = json.loads(read, parse_constant=constant, parse_float=number)
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: {error.reason} at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}") from None
    except NotJsonNumber:
        raise
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None
    except ValueError:  # Python's limit on the digits of an integer
        raise ValueError("JSON with a number of thousands of digits") from None
    return value


def read_own_json(text: str | bytes) -> Json:
    """The value of JSON text that we wrote, and can write again: no NaN and no infinity. Raises as `read_json` does."""
    return read_json(text, refuse_constant, _finite)


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise NotJsonNumber(f"JSON with {digits[:20]}, which is too large a number")
    return number
