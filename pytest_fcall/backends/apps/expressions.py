"""The JMESPath expressions by which an HTTP app's entry writes requests and reads answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pytest_fcall.backends.apps.answers.errors import AnswerError
from pytest_fcall.core.request import AppRequest
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from jmespath.parser import ParsedResult


def request_body(request: AppRequest, template: Mapping[str, Any] | None) -> Any:
    """The body to send: in OpenAI's form without a template. Raises ValueError if the template cannot be filled."""
    if template is None:
        return {"messages": request.messages, **({"tools": request.tools} if request.tools else {}), **request.settings}
    questions = (message.get("content") for message in reversed(request.messages) if message.get("role") == "user")
    data = {
        "messages": request.messages,
        "tools": request.tools,
        "settings": request.settings,
        "prompt": next(questions, None),
        "now": request.now.isoformat() if request.now else None,
    }
    return _filled_template(template, data, "request")


def find_answer(answer: Any, expression: str | None) -> Any:
    """The part of the app's answer that `expression` matches. Raises AnswerError where there is none."""
    if expression is None:
        return answer
    try:
        part = _search(expression, answer, "response")
    except ValueError as error:
        raise AnswerError(str(error)) from None
    if part is None:
        raise AnswerError(f"`response`: {expression} matches nothing in the app's answer")
    return part


def is_jmespath(value: Json) -> bool:
    """Whether the value is a JMESPath expression."""
    from jmespath.exceptions import JMESPathError

    try:
        return isinstance(value, str) and bool(_compiled(value))
    except (JMESPathError, RecursionError):
        return False


def is_template(value: Json) -> bool:
    """Whether the value is a mapping of names to JMESPath expressions or further such mappings."""
    if isinstance(value, Mapping):
        return bool(value) and all(is_jmespath(item) or is_template(item) for item in value.values())
    return False


_REQUEST_NAMES = ("messages", "tools", "prompt", "settings", "now")
"""What the expressions of `request` are evaluated on."""
_ON_OTHER_DATA = frozenset(
    {"subexpression", "index_expression", "projection", "value_projection", "filter_projection", "pipe"}
)
"""Nodes of JMESPath of which only the first part is evaluated on the data of the whole expression."""


def unknown_name(template: Mapping[str, Json], path: str = "request") -> str:
    """A fault for the first expression that asks for what no request has; empty where there is none."""
    for name, item in template.items():
        inner = f"{path}.{name}"
        if isinstance(item, Mapping):
            if fault := unknown_name(item, inner):
                return fault
        elif unknown := next((each for each in _names(_compiled(str(item)).parsed) if each not in _REQUEST_NAMES), ""):
            from pytest_fcall.core.message_text import clauses, did_you_mean

            fault = f"`{inner}`: a request has no `{unknown}`; available: {', '.join(_REQUEST_NAMES)}"
            return clauses(fault, did_you_mean(unknown, _REQUEST_NAMES))
    return ""


def _names(node: Mapping[str, Any]) -> Iterator[str]:
    """The names that an expression looks up in the data itself, and not in a part of it."""
    if node["type"] == "field":
        yield node["value"]
    elif node["type"] != "expref":
        parts = node.get("children", ())
        for part in parts[:1] if node["type"] in _ON_OTHER_DATA else parts:
            yield from _names(part)


def _filled_template(template: Mapping[str, Any], data: Mapping[str, Any], path: str) -> dict[str, Any]:
    return {
        name: _filled_template(inner, data, f"{path}.{name}")
        if isinstance(inner, Mapping)
        else _search(inner, data, f"{path}.{name}")
        for name, inner in template.items()
    }


def _search(expression: str, data: Any, path: str) -> Any:
    from jmespath.exceptions import JMESPathError

    try:
        return _compiled(expression).search(data)
    except (JMESPathError, RecursionError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"`{path}` cannot be evaluated: {reason}") from None


@lru_cache(maxsize=64)
def _compiled(expression: str) -> ParsedResult:
    import jmespath

    return jmespath.compile(expression)
