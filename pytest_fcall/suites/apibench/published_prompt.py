"""Gorilla's own prompt, read from its script, which is parsed and not run."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.core.files import read_regular
from pytest_fcall.core.values import Message
from pytest_fcall.suites.json_files import find_file

SCRIPT: Final = "gorilla/eval/get_llm_responses.py"
"""The script that asked models for the paper, in Gorilla's repository."""
_FOLDERS: Final = ("", "gorilla/eval", "eval", "..")
_FUNCTION: Final = "encode_question"
_NAMES: Mapping[str, str] = MappingProxyType(
    {"torchhub": "torchhub", "tensorflowhub": "tensorhub", "huggingface": "huggingface"}
)
"""The script's names of the hubs."""
_LONGEST: Final = 10_000_000
"""Characters of a prompt; documents may be long."""
_Value: TypeAlias = "str | Message | list[Message]"


class PublishedPrompt:
    """The messages in which the paper asked a question. Raises ValueError for a script that cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            body = ast.parse(read_regular(path).decode()).body
        except (OSError, ValueError, SyntaxError, RecursionError) as error:
            raise ValueError(f"cannot read {path}: {error}") from None
        found = [each for each in body if isinstance(each, ast.FunctionDef) and each.name == _FUNCTION]
        if not found:
            raise ValueError(f"{path} is not Gorilla's script: it has no function {_FUNCTION}")
        self._statements: Sequence[ast.stmt] = found[0].body

    def messages(self, question: str, hub: str) -> tuple[Message, ...]:
        """Return the messages of a question, which may include a document. Raises ValueError."""
        script = _Script({"question": question, "api_name": _NAMES[hub]})
        try:
            script.run(self._statements)
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{self._path}: {_FUNCTION} is not as it was published: {error}") from None
        return tuple(script.messages)


def published_prompt(hub: str, folder: Path) -> PublishedPrompt | None:
    """Return the prompt of a hub; None without the script, and for a hub that is not Gorilla's. Raises ValueError."""
    path = find_file(folder, Path(SCRIPT).name, _FOLDERS) if hub in _NAMES else None
    return PublishedPrompt(path) if path else None


class _Script:
    """Carries out assignments of texts, choices between them, and `prompts.append`. Anything else is a TypeError."""

    def __init__(self, values: dict[str, _Value]) -> None:
        self._values = values
        self.messages: list[Message] = []

    def run(self, statements: Sequence[ast.stmt]) -> None:
        """Carry out some statements."""
        for statement in statements:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._values[name] = self._value(value)
                case ast.If(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
                    self.run(statement.body if self._value(left) == self._value(right) else statement.orelse)
                case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append"), args=[ast.Dict() as message])):
                    self.messages.append(self._message(message))
                case ast.Expr(value=ast.Constant()) | ast.Return():
                    pass
                case _:
                    raise TypeError(f"line {statement.lineno}")

    def _value(self, node: ast.expr) -> _Value:
        match node:
            case ast.Constant(value=str() as text):
                return text
            case ast.Name(id=name):
                return self._values[name]
            case ast.List(elts=[]):
                return []
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                parts = self._text(left), self._text(right)
                if sum(map(len, parts)) > _LONGEST:  # a few lines could double a text for ever
                    raise TypeError(f"line {node.lineno}")
                return "".join(parts)
            case _:
                raise TypeError(f"line {node.lineno}")

    def _text(self, node: ast.expr) -> str:
        value = self._value(node)
        if not isinstance(value, str):
            raise TypeError(f"line {node.lineno}")
        return value

    def _message(self, node: ast.Dict) -> Message:
        return {self._text(key): self._text(value) for key, value in zip(node.keys, node.values, strict=True) if key}
