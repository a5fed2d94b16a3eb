"""JSON text from files and servers, read with one kind of error."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NoReturn

from pytest_fcall.core.values import Json


class NotJsonNumber(ValueError):
    """NaN or an infinity, which Python reads but JSON does not have."""


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and infinities. Raises NotJsonNumber."""
    raise NotJsonNumber(f"JSON with {name}, which is not a JSON number")


def read_json(text: str | bytes, constant: Callable[[str], Json] | None = None) -> Json:
    """The value of JSON text; bytes are UTF-8. Raises ValueError, and nothing else: its text says what it is instead.

    `constant` gives the value of NaN and of infinities, or refuses them; by default they are floats.
    """
    try:
        value: Json = json.loads(text if isinstance(text, str) else text.decode("utf-8-sig"), parse_constant=constant)
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
