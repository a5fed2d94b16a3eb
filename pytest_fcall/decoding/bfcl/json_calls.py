"""Calls in JSON: a list of objects with `function` and `parameters`."""

from __future__ import annotations

import json
import re

from pytest_fcall.decoding.bfcl.undecodable import Undecodable

_FIRST_OBJECT = re.compile(r"\[\s*\{")
_END_OF_LIST = re.compile(r"\}\s*\]")


def decode_json(text: str) -> list[dict[object, object]]:
    """Read the first list of objects in the text. Text that is not JSON holds no calls, which is no fault."""
    start, end = text.find("["), text.rfind("]")
    if 0 <= start < end:
        text = text[start : end + 1]
    if (first := _FIRST_OBJECT.search(text)) and (last := _END_OF_LIST.search(text, first.end())):
        text = text[first.start() : last.end()]
    try:
        items = json.loads(text)
    except json.JSONDecodeError:
        return []
    except RecursionError:
        raise Undecodable("it is nested too deep") from None
    except ValueError:
        raise Undecodable("it holds a whole number of thousands of digits") from None
    if not isinstance(items, list | dict | str):
        raise Undecodable("it is no list")
    return [_call(item) for item in items if isinstance(item, dict)]


def _call(item: dict[str, object]) -> dict[object, object]:
    try:
        return {item["function"]: item["parameters"]}
    except KeyError as error:
        raise Undecodable(f"a call has no {error}") from None
    except TypeError:
        raise Undecodable("the name of a function is a list or an object") from None
