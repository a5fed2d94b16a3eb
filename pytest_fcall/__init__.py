"""Regression tests for the tool calls of language models, as pytest.

The names below are the public ones; everything else is private. They are imported on first use, because pytest
imports this package at every start.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_fcall.core import (
        Backend,
        Call,
        Calls,
        Case,
        CaseRefused,
        Model,
        ModelUnavailable,
        Reply,
        Request,
        Tool,
        Verdict,
    )
    from pytest_fcall.session.ask.decoded_reply import AppWire, DecodedReply
    from pytest_fcall.session.ask.model import AskModel
    from pytest_fcall.session.judge.assert_calls import assert_calls

__all__ = [
    "AppWire",
    "AskModel",
    "Backend",
    "Call",
    "Calls",
    "Case",
    "CaseRefused",
    "DecodedReply",
    "Model",
    "ModelUnavailable",
    "Reply",
    "Request",
    "Tool",
    "Verdict",
    "assert_calls",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = {
        "AppWire": "pytest_fcall.session.ask.decoded_reply",
        "AskModel": "pytest_fcall.session.ask.model",
        "DecodedReply": "pytest_fcall.session.ask.decoded_reply",
        "assert_calls": "pytest_fcall.session.judge.assert_calls",
    }.get(name, "pytest_fcall.core")
    return getattr(import_module(home), name)
