"""What an app is sent, and where in its answer the reply stands: JMESPath, over a request in OpenAI's form."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pytest_fcall.backends.answers import AnswerError
from pytest_fcall.backends.python import AppRequest
from pytest_fcall.core import Json

if TYPE_CHECKING:
    from jmespath.parser import ParsedResult


def is_expression(value: Json) -> bool:
    """Whether it is JMESPath."""
    from jmespath.exceptions import JMESPathError

    try:
        return isinstance(value, str) and bool(_compiled(value))
    except (JMESPathError, RecursionError):
        return False


def is_shape(value: Json) -> bool:
    """Whether it is a mapping, however deep, with JMESPath at its ends."""
    if isinstance(value, Mapping):
        return bool(value) and all(is_expression(item) or is_shape(item) for item in value.values())
    return False


def written(asked: AppRequest, shape: Mapping[str, Any] | None) -> Any:
    """The body to send: in OpenAI's form unless a shape says otherwise. Raises ValueError, in words."""
    if shape is None:
        return {"messages": asked.messages, **({"tools": asked.tools} if asked.tools else {}), **asked.settings}
    told = {
        "messages": asked.messages,
        "tools": asked.tools,
        "settings": asked.settings,
        "prompt": next((each.get("content") for each in reversed(asked.messages) if each.get("role") == "user"), None),
        "now": asked.now.isoformat() if asked.now else None,
    }
    return _filled(shape, told, "request")


def read(answer: Any, expression: str | None) -> Any:
    """What the app says, in one of the forms that an app may answer in. Raises AnswerError where there is nothing."""
    if expression is None:
        return answer
    try:
        found = _found(expression, answer, "response")
    except ValueError as error:
        raise AnswerError(str(error)) from None
    if found is None:
        raise AnswerError(f"`response` finds nothing: there is no {expression} in the app's answer")
    return found


def _filled(shape: Mapping[str, Any], told: Mapping[str, Any], path: str) -> dict[str, Any]:
    return {
        name: _filled(inner, told, f"{path}.{name}")
        if isinstance(inner, Mapping)
        else _found(inner, told, f"{path}.{name}")
        for name, inner in shape.items()
    }


def _found(expression: str, data: Any, where: str) -> Any:
    from jmespath.exceptions import JMESPathError

    try:
        return _compiled(expression).search(data)
    except (JMESPathError, RecursionError, TypeError, ValueError) as error:
        told = " ".join(str(error).split())[:200]
        raise ValueError(f"`{where}` cannot be worked out: {told}") from None


@lru_cache(maxsize=64)
def _compiled(expression: str) -> ParsedResult:
    import jmespath

    return jmespath.compile(expression)
