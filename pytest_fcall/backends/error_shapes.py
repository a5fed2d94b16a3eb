"""What providers and servers say when there is no answer, and whose fault that is: the first row that fits counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Blame: TypeAlias = Literal["model", "case", "again", "throttled", "malformed", "length"]
"""`model`: every request to this model would fail. `case`: this one always will. `again`, `throttled`: it may yet be
answered. `malformed`, `length`: the model itself failed, and that is its answer."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A row: fits a failure that has one of the statuses, one of the words and the pattern, of those it names."""

    blame: Blame
    advice: str
    """What to do, or what is wrong where there is nothing to do; `{key}` stands for the variable with the key."""
    statuses: frozenset[int] = frozenset()
    words: frozenset[str] = frozenset()
    """Codes, types and reasons, in lower case."""
    pattern: re.Pattern[str] | None = None
    quoted: bool = True
    """Whether the provider's own words are shown; where keys are spoken of, they may hold one."""

    def fits(self, status: int | None, words: frozenset[str], text: str) -> bool:
        """Whether this row speaks of such a failure."""
        return (
            (not self.statuses or status in self.statuses)
            and (not self.words or not self.words.isdisjoint(words))
            and (self.pattern is None or self.pattern.search(text) is not None)
        )


def _shape(
    blame: Blame, advice: str, *, status: str = "", words: str = "", text: str = "", quoted: bool = True
) -> Shape:
    statuses = frozenset(code for part in status.split() for code in _statuses(part))
    pattern = re.compile(text, re.IGNORECASE) if text else None
    return Shape(blame, advice, statuses, frozenset(words.split()), pattern, quoted)


def _statuses(part: str) -> range:
    first, _, last = part.partition("-")
    return range(int(first), int(last or first) + 1)


CALL = "the model's call could not be read by the provider"
CUT = "the model's answer was cut off by its length limit"
KEY = "the API key was not accepted; look at the variable {key}"
MONEY = "no quota or credit is left; look at the account's billing page"
NAME = "the provider has no model of this name, or none that this key may use"
PLACE = "there is no such address; `base_url` mostly ends in /v1"
RIGHTS = "the provider refuses this key or account"
NO_TOOLS = "this model takes no tools here; `mode=prompt` tells them in the prompt instead"
PARSER = "the server has no parser for tool calls; start vLLM with --enable-auto-tool-choice and --tool-call-parser"
JINJA = "the server takes no tools; start llama.cpp's server with --jinja"
LONG = "the request is longer than the model takes"
FILTER = "the provider's content filter stopped the prompt"
UNSENT = "the provider's library does not take this request"
REFUSED = "the provider refuses this request"
BUSY = "too many requests at a time"
BROKEN = "the server failed"
CERTIFICATE = "the server's certificate is not trusted; SSL_CERT_FILE names a file of those that are"
PROXY = "the proxy wants a login; look at the variables HTTP_PROXY and HTTPS_PROXY"

_JSON_FAULT = r"(expecting|unterminated string|extra data|invalid .{0,8}escape).*\(char \d"
"""Python's words for broken JSON. That of a call is the model's; any other is the server's own."""
_ASKING = "200 400-499"
"""Statuses that come with what is wrong with the request. Some say it with a good one."""

SHAPES: tuple[Shape, ...] = (
    # The model's own failures come first: they hide behind any status.
    _shape("malformed", CALL, words="tool_use_failed output_parse_failed malformed_function_call model_error"),
    _shape("malformed", CALL, text=r"failed to call a function|tool call validation failed"),
    _shape("malformed", CALL, status="500", text=r"error parsing tool call|xml syntax error"),
    _shape("malformed", CALL, status="500", text=r"failed to parse (input at pos|tool call|arguments)"),
    _shape("malformed", CALL, text=r"model produced invalid (content|sequence as part of tooluse)"),
    _shape("malformed", CALL, status="500", text=r"\b(tool|function|argument).*" + _JSON_FAULT),
    _shape("length", CUT, status="400", text=r"max_tokens or model output limit was reached"),
    # Too long for the model, however often it is asked.
    _shape("case", LONG, words="context_length_exceeded exceed_context_size_error string_above_max_length"),
    _shape("case", LONG, words="context_window_exceeded request_too_large model_context_window_exceeded"),
    _shape("case", LONG, text=r"maximum (context|prompt) length|context (length|size|window)\b.*(exceed|overflow)"),
    _shape("case", LONG, text=r"(exceed|longer than|larger than|overflow).*\bcontext (length|size|window)"),
    _shape("case", LONG, text=r"prompt is too long|input is too long|too many tokens: |context the overflows"),
    _shape("case", LONG, text=r"exceeds the (available context|maximum number of tokens)"),
    _shape("case", LONG, text=r"`?inputs`? (tokens|must have less than)"),
    _shape("case", LONG, status="429", text=r"request too large"),
    _shape("case", LONG, status="413"),
    # Stopped before the model saw it.
    _shape("case", FILTER, words="content_filter responsibleaipolicyviolation content_policy_violation"),
    _shape("case", FILTER, words="invalid_prompt moderation_blocked data_inspection_failed"),
    _shape("case", FILTER, text=r"content management policy|violat\w+ (our|the) usage polic|requires moderation"),
    _shape("case", FILTER, text=r"contentpolicyviolationerror|flagged (by|as potentially)"),
    _shape("case", UNSENT, words="refused_before_it_was_sent"),
    # Nothing is left to pay with. Providers say so by 400, 402, 403, 412 and 429.
    _shape("model", MONEY, status="402"),
    _shape("model", MONEY, words="insufficient_quota billing_not_active billing_hard_limit_reached billing_error"),
    _shape("model", MONEY, words="budget_exceeded insufficient_balance"),
    _shape("model", MONEY, status=_ASKING, text=r"credit balance is too low|insufficient (credit|balance|fund|quota)"),
    _shape(
        "model",
        MONEY,
        status=_ASKING,
        text=r"(reached|exceeded) (its|your) (monthly|hard|spending)|budget has been exceeded",
    ),
    _shape("model", MONEY, status=_ASKING, text=r"account .*(is suspended|is not active)|used all available credits"),
    _shape("model", MONEY, status="429", text=r"perday|per-day|per day|limit: 0\b"),
    # Who asks. Some say so by 400.
    _shape("model", KEY, status="401", quoted=False),
    _shape("model", KEY, words="invalid_api_key api_key_invalid authentication_error unauthenticated", quoted=False),
    _shape("model", KEY, words="expiredtokenexception unrecognizedclientexception", quoted=False),
    _shape(
        "model",
        KEY,
        status=_ASKING,
        text=r"(incorrect|invalid) api.?key|api.?key (not valid|is invalid|expired)",
        quoted=False,
    ),
    # What is asked.
    _shape(
        "model",
        NO_TOOLS,
        status=_ASKING,
        text=r"does not support (tools|functions?\b|tool use|tool call|function call)",
    ),
    _shape(
        "model",
        NO_TOOLS,
        status=_ASKING,
        text=r"no endpoints found that support tool use|tools? (is|are) not supported",
    ),
    _shape("model", PARSER, text=r"--enable-auto-tool-choice|tool-call-parser"),
    _shape("model", JINJA, text=r"requires --jinja|--jinja flag"),
    _shape("model", NAME, words="model_not_found deploymentnotfound invalid_model model_not_available"),
    _shape("model", NAME, words="model_not_supported model_not_exist unsupported_model"),
    _shape("model", NAME, status="404", text=r"^model: "),
    _shape("model", NAME, status=_ASKING, text=r"\bmodel\b.{0,200}(not exist|not found)"),
    _shape(
        "model",
        NAME,
        status=_ASKING,
        text=r"is not a valid model|invalid model|unable to access model|no models? loaded|^server is pinned to ",
    ),
    _shape("model", PLACE, text=r"unexpected endpoint or method"),
    _shape("model", RIGHTS, words="unsupported_country_region_territory permission_error permission_denied"),
    _shape("model", RIGHTS, text=r"user location is not supported"),
    _shape("model", RIGHTS, status="403"),
    _shape("model", PLACE, status="404 405 410"),
    _shape("model", PROXY, status="407"),
    _shape("model", CERTIFICATE, words="untrusted_certificate"),
    # What may be different the next time.
    _shape("throttled", BUSY, status="429"),
    _shape("throttled", BUSY, words="rate_limit_exceeded rate_limit_error too_many_requests throttlingexception"),
    _shape("throttled", BUSY, words="resource_exhausted overloaded_error engine_overloaded queue_exceeded"),
    _shape("throttled", BUSY, status="503 529", text=r"overloaded|too many requests|server busy|maximum pending"),
    _shape("again", BROKEN, status="408 409 423 424 425 500-599"),
    _shape("case", REFUSED, status="400-499"),
    _shape("again", BROKEN),
)
