"""Frozen, typed data that every room speaks: no logic beyond names and digests."""

from pytest_fcall.core.backend import Backend, changes_of, prompt_of
from pytest_fcall.core.call import Call, Calls
from pytest_fcall.core.case import Case, Condition, Earlier, Needs, Retrieval, Samples, Turn, User, World
from pytest_fcall.core.digest import canonical, catalogue_digest, digest, request_digest
from pytest_fcall.core.environment import Environment, Executed
from pytest_fcall.core.expectation import CallPattern, Canned, Expectation, ExpectedCall
from pytest_fcall.core.failures import CaseRefused, ModelUnavailable, Unanswered
from pytest_fcall.core.fault import Fault, FaultyCase, Location
from pytest_fcall.core.following import Follower, Known, Named, Seen
from pytest_fcall.core.inner import Inner, WireExpectation
from pytest_fcall.core.model import Model
from pytest_fcall.core.operators import OPERATORS, OperandKind, OperatorSpec
from pytest_fcall.core.outcome import Outcome
from pytest_fcall.core.pattern import Operator, Pattern
from pytest_fcall.core.reply import Finish, RawCall, Reply, Usage
from pytest_fcall.core.request import Request
from pytest_fcall.core.rules import Language, MatchRule, Profile, Rules, Strings
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.transcript import Held, Step, Transcript
from pytest_fcall.core.values import Json, Message
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict

__all__ = [
    "OPERATORS",
    "Backend",
    "Call",
    "CallPattern",
    "Calls",
    "Canned",
    "Case",
    "CaseRefused",
    "Condition",
    "Earlier",
    "Environment",
    "Executed",
    "Expectation",
    "ExpectedCall",
    "Fault",
    "FaultyCase",
    "Finish",
    "Follower",
    "Held",
    "Inner",
    "Json",
    "Known",
    "Language",
    "Location",
    "MatchRule",
    "Message",
    "Model",
    "ModelUnavailable",
    "Named",
    "Needs",
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
    "Seen",
    "Step",
    "Strings",
    "Tool",
    "Transcript",
    "Turn",
    "Unanswered",
    "Usage",
    "User",
    "Verdict",
    "WireExpectation",
    "World",
    "canonical",
    "catalogue_digest",
    "changes_of",
    "digest",
    "prompt_of",
    "request_digest",
]
