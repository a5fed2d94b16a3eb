"""The leaderboard's system prompt, in the words that its package has: they are read from it, and not kept here."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_fcall.core.values import Json, Message

_PLACES = ("../constants/default_prompts.py", "default_prompts.py")
_BRACES = re.compile(r"\{(\w+)\}")


class Prompt:
    """Tells functions in a system prompt. Raises ValueError, in words, where the package's words are not at hand."""

    def __init__(self, folder: Path) -> None:
        words = _constants(folder)
        try:
            style = words["PROMPT_STYLE_TEMPLATES"]["classic"]
            form = {"output_format": words["OUTPUT_FORMAT_MAPPING"]["python"], "param_types": ""}
            parts = {
                **{name: style[name] for name in ("persona", "task", "multiturn_behavior", "available_tools")},
                "tool_call_format": _filled(style["tool_call_no_tag"], form),
            }
            whole = _filled(words["_PLAINTEXT_SYSTEM_PROMPT_TEMPLATE"], parts)
        except (KeyError, TypeError) as error:
            raise ValueError(f"the prompts of the suite bfcl are not those of bfcl-eval 2026: no {error}") from None
        self._template = _filled(whole, {"format": "json"})

    def told(self, messages: Sequence[Message], documents: Sequence[Mapping[str, Json]]) -> tuple[Message, ...]:
        """The messages with the prompt before them, above a system prompt of their own."""
        said = _filled(self._template, {"functions": json.dumps(documents, indent=4)})
        if messages and messages[0].get("role") == "system":
            return ({**messages[0], "content": f"{said}\n\n{messages[0].get('content')}"}, *messages[1:])
        return ({"role": "system", "content": said}, *messages)


def more_functions(folder: Path) -> str:
    """What a user says when there are more functions from now on. Raises ValueError, as above."""
    return _words(folder, "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC")


def answer_format(folder: Path) -> str:
    """How an agent is asked to answer. Raises ValueError, as above."""
    return _words(folder, "ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT")


def _words(folder: Path, name: str) -> str:
    words = _constants(folder)
    if name not in words:
        raise ValueError(f"the prompts of the suite bfcl are not those of bfcl-eval 2026: no {name!r}")
    return str(words[name])


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Fill the braces that have a value; a format string could reach into objects."""
    return _BRACES.sub(lambda found: values.get(found[1], found[0]), template)


def _constants(folder: Path) -> dict[str, Any]:
    """The literals of the package's module of prompts, which is read and not run."""
    path = next((file for place in _PLACES if (file := folder / place).is_file()), None)
    if path is None:
        raise ValueError(
            f"the prompts of the suite bfcl are not beside {folder}: it needs constants/default_prompts.py of the "
            "package bfcl-eval (pip install --no-deps bfcl-eval)"
        )
    try:
        module = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    found = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Name):
            try:
                found[target.id] = ast.literal_eval(statement.value)
            except (ValueError, TypeError, RecursionError):
                continue  # made of other constants
    return found
