"""The leaderboard's system prompt, in the words that its package has: they are read from it, and not kept here."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_fcall.core.values import Json, Message
from pytest_fcall.suites.bfcl.notation import Notes
from pytest_fcall.suites.bfcl.prompt_format import USUAL, PromptFormat

_PLACES = ("../constants/default_prompts.py", "default_prompts.py")
_BRACES = re.compile(r"\{(\w+)\}")


class Prompt:
    """Tells functions in a system prompt. Raises ValueError, in words, where the package's words are not at hand."""

    def __init__(self, folder: Path) -> None:
        self._words = _constants(folder)
        self._templates = {USUAL: _template(self._words, USUAL)}
        self._notes = Notes()

    def told(
        self, messages: Sequence[Message], documents: Sequence[Mapping[str, Json]], form: PromptFormat = USUAL
    ) -> tuple[Message, ...]:
        """The messages with the prompt before them, above a system prompt of their own."""
        if form not in self._templates:
            self._templates[form] = _template(self._words, form)
        said = _filled(self._templates[form], {"functions": self._notes.told(documents, form.functions)})
        return told_first(said, messages)


def _template(words: Mapping[str, Any], form: PromptFormat) -> str:
    """The prompt in a format, with `{functions}` left to be filled."""
    try:
        style = words["PROMPT_STYLE_TEMPLATES"][form.style]
        calls = {
            "output_format": words["OUTPUT_FORMAT_MAPPING"][form.calls],
            "param_types": words["PARAM_TYPE_MAPPING"][form.calls],
        }
        parts = {
            **{name: style[name] for name in ("persona", "task", "multiturn_behavior", "available_tools")},
            "tool_call_format": _filled(style[f"tool_call_{'with' if form.tagged else 'no'}_tag"], calls),
        }
        whole = _filled(words[f"_{form.layout.upper()}_SYSTEM_PROMPT_TEMPLATE"], parts)
    except (KeyError, TypeError) as error:
        raise ValueError(f"the prompts of the suite bfcl are not those of bfcl-eval 2026: no {error}") from None
    return _filled(whole, {"format": form.functions})


def told_first(said: str, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with something said before them, above a system prompt of their own."""
    if messages and messages[0].get("role") == "system":
        return ({**messages[0], "content": f"{said}\n\n{messages[0].get('content')}"}, *messages[1:])
    return ({"role": "system", "content": said}, *messages)


def more_functions(folder: Path) -> str:
    """What a user says when there are more functions from now on. Raises ValueError, as above."""
    return _words(folder, "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC")


def answer_format(folder: Path) -> str:
    """How an agent is asked to answer. Raises ValueError, as above."""
    return _words(folder, "ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT")


def memory_instructions(folder: Path) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """What agents with a memory are told: of their roles, by scenario, and of memory. Raises ValueError, as above."""
    words = _constants(folder)
    try:
        parts = {name: words[f"MEMORY_BACKEND_INSTRUCTION_{name}"] for name in ("CORE_ARCHIVAL", "UNIFIED")}
        return words["MEMORY_AGENT_SETTINGS"], parts
    except KeyError as error:
        raise ValueError(f"the prompts of the suite bfcl are not those of bfcl-eval 2026: no {error}") from None


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
