"""Regression tests for the tool calls of language models, as pytest.

The names below are the public ones; everything else is private. They are imported on first use, because pytest
imports this package at every start.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_fcall.core.backend import Backend as Backend
    from pytest_fcall.core.backend import CaseRefused as CaseRefused
    from pytest_fcall.core.backend import Model as Model
    from pytest_fcall.core.backend import ModelUnavailable as ModelUnavailable
    from pytest_fcall.core.case import Case as Case
    from pytest_fcall.core.reply import Call as Call
    from pytest_fcall.core.reply import Calls as Calls
    from pytest_fcall.core.reply import Reply as Reply
    from pytest_fcall.core.request import Request as Request
    from pytest_fcall.core.request import Tool as Tool
    from pytest_fcall.core.verdict import Verdict as Verdict
    from pytest_fcall.session.ask.decoded_reply import AppWire as AppWire
    from pytest_fcall.session.ask.decoded_reply import DecodedReply as DecodedReply
    from pytest_fcall.session.ask.model import AskModel as AskModel
    from pytest_fcall.session.judge.assert_calls import assert_calls as assert_calls

_MODULES = {
    "AppWire": "session.ask.decoded_reply",
    "AskModel": "session.ask.model",
    "Backend": "core.backend",
    "Call": "core.reply",
    "Calls": "core.reply",
    "Case": "core.case",
    "CaseRefused": "core.backend",
    "DecodedReply": "session.ask.decoded_reply",
    "Model": "core.backend",
    "ModelUnavailable": "core.backend",
    "Reply": "core.reply",
    "Request": "core.request",
    "Tool": "core.request",
    "Verdict": "core.verdict",
    "assert_calls": "session.judge.assert_calls",
}

if not TYPE_CHECKING:  # type checkers take the names from the imports above
    __all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
