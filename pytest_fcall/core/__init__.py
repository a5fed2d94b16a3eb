"""Frozen, typed data that all rooms share. The names below are imported at first use: few runs need all of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_fcall.core.app import AppExchange, WireExpectation
    from pytest_fcall.core.backend import (
        Backend,
        CaseRefused,
        Model,
        ModelUnavailable,
        Unanswered,
        app_note,
        backend_prompt,
        check_backend,
        request_changes,
        throughput_of,
    )
    from pytest_fcall.core.case import Case, Condition, Fault, FaultyCase, Location, Retrieval, Samples, Turn
    from pytest_fcall.core.conversation import (
        CallResult,
        ConversationSettings,
        EarlierCases,
        Environment,
        EnvironmentNeeds,
        FollowedCall,
        Follower,
        NamedCall,
        NamedCalls,
        Step,
        Transcript,
        TranscriptTurn,
        User,
    )
    from pytest_fcall.core.digests import canonical, catalogue_digest, digest, request_digest
    from pytest_fcall.core.expectation import (
        CallPattern,
        Expectation,
        ExpectedCall,
        Language,
        MatchRule,
        Profile,
        Rules,
        Strings,
        StubResult,
    )
    from pytest_fcall.core.operators import OPERATORS, OperandKind, Operator, OperatorSpec, Pattern
    from pytest_fcall.core.reply import Call, Calls, Finish, RawCall, Reply, Usage
    from pytest_fcall.core.request import INTERFACES, Interface, Request, Tool, Wording
    from pytest_fcall.core.values import Json, Message
    from pytest_fcall.core.verdict import Outcome, Reason, ReasonKind, Verdict

__all__ = [
    "INTERFACES",
    "OPERATORS",
    "AppExchange",
    "Backend",
    "Call",
    "CallPattern",
    "CallResult",
    "Calls",
    "Case",
    "CaseRefused",
    "Condition",
    "ConversationSettings",
    "EarlierCases",
    "Environment",
    "EnvironmentNeeds",
    "Expectation",
    "ExpectedCall",
    "Fault",
    "FaultyCase",
    "Finish",
    "FollowedCall",
    "Follower",
    "Interface",
    "Json",
    "Language",
    "Location",
    "MatchRule",
    "Message",
    "Model",
    "ModelUnavailable",
    "NamedCall",
    "NamedCalls",
    "OperandKind",
    "Operator",
    "OperatorSpec",
    "Outcome",
    "Pattern",
    "Profile",
    "RawCall",
    "Reason",
    "ReasonKind",
    "Reply",
    "Request",
    "Retrieval",
    "Rules",
    "Samples",
    "Step",
    "Strings",
    "StubResult",
    "Tool",
    "Transcript",
    "TranscriptTurn",
    "Turn",
    "Unanswered",
    "Usage",
    "User",
    "Verdict",
    "WireExpectation",
    "Wording",
    "app_note",
    "backend_prompt",
    "canonical",
    "catalogue_digest",
    "check_backend",
    "digest",
    "request_changes",
    "request_digest",
    "throughput_of",
]

_MODULES = {
    "app": ("AppExchange", "WireExpectation"),
    "backend": (
        "Backend",
        "CaseRefused",
        "Model",
        "ModelUnavailable",
        "Unanswered",
        "app_note",
        "backend_prompt",
        "check_backend",
        "request_changes",
        "throughput_of",
    ),
    "case": ("Case", "Condition", "Fault", "FaultyCase", "Location", "Retrieval", "Samples", "Turn"),
    "conversation": (
        "CallResult",
        "ConversationSettings",
        "EarlierCases",
        "Environment",
        "EnvironmentNeeds",
        "FollowedCall",
        "Follower",
        "NamedCall",
        "NamedCalls",
        "Step",
        "Transcript",
        "TranscriptTurn",
        "User",
    ),
    "digests": ("canonical", "catalogue_digest", "digest", "request_digest"),
    "expectation": (
        "CallPattern",
        "StubResult",
        "Expectation",
        "ExpectedCall",
        "Language",
        "MatchRule",
        "Profile",
        "Rules",
        "Strings",
    ),
    "operators": ("OPERATORS", "OperandKind", "Operator", "OperatorSpec", "Pattern"),
    "reply": ("Call", "Calls", "Finish", "RawCall", "Reply", "Usage"),
    "request": ("INTERFACES", "Interface", "Request", "Tool", "Wording"),
    "values": ("Json", "Message"),
    "verdict": ("Outcome", "Reason", "ReasonKind", "Verdict"),
}
_MODULE_BY_NAME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_BY_NAME[name]}"), name)
    globals()[name] = value
    return value
