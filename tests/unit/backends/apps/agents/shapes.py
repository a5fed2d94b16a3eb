"""Small classes of the same names and shapes as those of frameworks. tests/frameworks has the real ones."""

from __future__ import annotations

from typing import Any

from pytest_fcall.core.request import AppRequest


def shaped(module: str, name: str, **members: Any) -> Any:
    """An object whose class seems to be that of a framework."""
    return type(name, (), {"__module__": module, **members})()


def asked(*messages: dict[str, Any], tools: tuple[str, ...] = (), **settings: Any) -> AppRequest:
    """A request; without messages, that of a user who says hello."""
    data: list[dict[str, Any]] = [{"type": "function", "function": {"name": name}} for name in tools]
    return AppRequest([*messages] or [{"role": "user", "content": "hello"}], data, settings)
