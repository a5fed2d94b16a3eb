"""Costs: estimates of the tokens of a request, and prices in US dollars, from the project or from genai-prices.

An unknown price is None, never zero.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from pytest_fcall.backends.settings import PYPROJECT, project_tables
from pytest_fcall.core.backend import Model
from pytest_fcall.core.commands import install_command
from pytest_fcall.core.digests import kept_by_identity
from pytest_fcall.core.message_text import clauses, did_you_mean
from pytest_fcall.core.reply import Usage
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.values import Json, Message

if TYPE_CHECKING:
    from genai_prices import Usage as Counted
    from genai_prices.types import ModelInfo, Provider


MILLION = 1_000_000
_DOLLARS = "US dollars per million tokens, such as 1.75"
_KEYS = ("input", "output", "cached")

IMAGE_TOKENS = 1_000
"""Tokens of an image, roughly. Providers count between 85 and several thousand, by its size."""

INSTRUCTION_TOKENS = 250
"""Tokens of the text that providers and chat templates add to a list of tools, roughly."""

REPLY_TOKENS = 100
"""Tokens of a reply that calls a tool or two, roughly."""

LONGEST_REPLY_TOKENS = 4_096
"""Tokens of the longest reply, if the request sets no limit."""

_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def estimated_tokens(request: Request) -> int:
    """The tokens of the input, roughly: four characters each in ASCII, one and a half in other scripts."""
    text, tokens = _content(request)
    other = len(text) - len(text.encode("ascii", "ignore"))
    return round((len(text) - other) / 4 + other / 1.5) + tokens


def likely_usage(request: Request) -> Usage:
    """The usage to expect of the request."""
    return Usage(estimated_tokens(request), min(REPLY_TOKENS, _limit(request)))


def greatest_usage(request: Request) -> Usage:
    """The greatest possible usage of the request: no token is shorter than a byte, and replies end at their limit.

    Without a limit, `LONGEST_REPLY_TOKENS` are counted, although a reply may be longer.
    """
    text, tokens = _content(request)
    replies = max(_counts(request, ["n"]), default=1)
    return Usage(len(text.encode("utf-8", "surrogatepass")) + tokens, _limit(request) * replies)


def _limit(request: Request) -> int:
    return max(_counts(request, _LIMITS), default=LONGEST_REPLY_TOKENS)


def _counts(request: Request, names: Sequence[str]) -> list[int]:
    """The positive counts with these names in the settings and in `extra_body`; servers differ in which one counts."""
    extra = request.settings.get("extra_body")
    tables = [request.settings, extra] if isinstance(extra, Mapping) else [request.settings]
    counts = [table.get(name) for table in tables for name in names]
    return [count for count in counts if type(count) is int and count > 0]


def _content(request: Request) -> tuple[str, int]:
    """The text of the request, and the tokens of all else."""
    messages = [_without_images(message) for message in request.messages]
    images = sum(count for _, count in messages)
    tools = _tools_text(tuple(request.tools))
    text = f"[{_json_text([message for message, _ in messages])},{tools}]"
    return text, images * IMAGE_TOKENS + (INSTRUCTION_TOKENS if request.tools else 0)


@kept_by_identity(most=64)  # the cases of a file share their tools
def _tools_text(tools: tuple[Tool, ...]) -> str:
    return _json_text([[tool.name, tool.description, tool.parameters] for tool in tools])


def _json_text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _without_images(message: Message) -> tuple[Message, int]:
    parts = message.get("content")
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        return message, 0
    kept = [part for part in parts if not _is_image(part)]
    return {**message, "content": kept}, len(parts) - len(kept)


def _is_image(part: Json) -> bool:
    return isinstance(part, Mapping) and part.get("type") in ("image_file", "image_url", "image", "input_image")


class NoPriceList(ValueError):
    """genai-prices, which knows the prices of well-known models, is not installed."""

    def __init__(self, model: Model) -> None:
        super().__init__(
            f"the price of {model.id} is not known: for the prices of well-known models, "
            f'{install_command("prices")}; or add [tool.fcall.prices."{model.id}"] to {PYPROJECT}'
        )


class Price(Protocol):
    """The price of a model."""

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int) -> float | None:
        """The dollars for these tokens; cached tokens are part of the input. May raise ArithmeticError, ValueError."""
        ...


@dataclass(frozen=True, slots=True)
class OwnPrice:
    """A price from pyproject.toml, in US dollars per million tokens."""

    input: float
    output: float
    cached: float
    """For input that the provider has cached from an earlier request."""

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int) -> float | None:
        """The dollars for these tokens."""
        fresh = input_tokens - cached_tokens
        return (fresh * self.input + cached_tokens * self.cached + output_tokens * self.output) / MILLION


@dataclass(frozen=True, slots=True)
class ListPrice:
    """The price of a well-known model in the list of genai-prices. Needs no network."""

    model: ModelInfo
    provider: Provider

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int) -> float | None:
        """The dollars for these tokens; None if the list names the model without a price."""
        priced = self.model.calc_price(_counted(input_tokens, output_tokens, cached_tokens), self.provider)
        known = priced.model_price.input_mtok is not None and priced.model_price.output_mtok is not None
        return float(priced.total_price) if known else None

    def batch_cost(self, input_tokens: int, output_tokens: int, cached_tokens: int) -> float | None:
        """The dollars in a batch: no less than `cost` where the list names no price of batches; None of older lists."""
        counted = _counted(input_tokens, output_tokens, cached_tokens)
        try:
            priced = self.model.calc_price(counted, self.provider, price_context={"processing": "batch"})
        except TypeError:
            return None
        return float(priced.total_price)


@dataclass(frozen=True, slots=True)
class BatchPrice:
    """The price of a model in batches: that of the list, where it names one, else a share of the usual price."""

    usual: Price
    share: float

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int) -> float | None:
        """The dollars for these tokens."""
        usual = self.usual.cost(input_tokens, output_tokens, cached_tokens)
        if usual is None:
            return None
        listed = None
        if isinstance(self.usual, ListPrice):
            listed = self.usual.batch_cost(input_tokens, output_tokens, cached_tokens)
        return listed if listed is not None and listed < usual else usual * self.share


def own_prices(root: Path) -> dict[str, OwnPrice]:
    """The prices in `[tool.fcall.prices."KIND:NAME"]` of the pyproject.toml in `root`, by model.

    Raises ValueError, with a line that names file and key.
    """
    return {model: _own_price(model, table) for model, table in project_tables(root, "prices").items()}


def price_of(model: Model, root: Path) -> Price | None:
    """The price of `model`: from the project in `root`, or else from the list.

    Raises ValueError, with one line, if the prices or settings of the project cannot be read, and NoPriceList if it
    would have to be looked up in the list.
    """
    own = own_prices(root)
    if model.kind not in ("openai", "any"):
        return own.get(model.id)
    from pytest_fcall.backends.openai.settings import OPTIONS, server_of
    from pytest_fcall.backends.settings import read_entry

    entry = read_entry(model, root, OPTIONS)
    if price := own.get(model.id) or own.get(f"{model.kind}:{entry.name}"):
        return price
    try:
        if model.kind == "openai":
            url = server_of(entry.settings).url
            return None if _is_of_ones_own(urlsplit(url).hostname or "") else _listed(entry.name, url=url)
        provider, _, name = entry.name.partition("/")
        return _listed(name, provider=provider)
    except ImportError:
        raise NoPriceList(model) from None


def cost_of(price: Price | None, usage: Usage | None) -> float | None:
    """The dollars for a reply with this usage; None if the price or a token count is unknown."""
    if price is None or usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = usage.cached_tokens or 0
    if not 0 <= cached <= usage.input_tokens or usage.output_tokens < 0:
        return None
    try:
        dollars = price.cost(usage.input_tokens, usage.output_tokens, cached)
    except (ArithmeticError, ValueError):
        return None
    return dollars if dollars is not None and isfinite(dollars) else None


def _counted(input_tokens: int, output_tokens: int, cached_tokens: int) -> Counted:
    from genai_prices import Usage

    return Usage(input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=cached_tokens)


def _listed(name: str, *, provider: str | None = None, url: str | None = None) -> ListPrice | None:
    """The list price of a model of the provider with this name or URL. Raises ImportError where there is no list."""
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    try:
        if url is None:
            listed = calc_price(Counted(), name, provider_id=provider)
        else:
            listed = calc_price(Counted(), name, provider_api_url=url)
    except LookupError:
        return None
    return ListPrice(listed.model, listed.provider)


def _is_of_ones_own(host: str) -> bool:
    """Whether a server of this name can be no provider that has prices: it is on this machine or in this network."""
    from ipaddress import ip_address

    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host


def _own_price(model: str, table: Mapping[str, object]) -> OwnPrice:
    where = f'{PYPROJECT}, [tool.fcall.prices."{model}"]'
    if ":" not in model:
        raise ValueError(f'{where} needs a model in quotes, as in [tool.fcall.prices."openai:gpt-5.2"]')
    if unknown := sorted(table.keys() - {*_KEYS}):
        text = f"{where}: `{unknown[0]}` is not a setting; available: {', '.join(_KEYS)}"
        raise ValueError(clauses(text, did_you_mean(unknown[0], _KEYS)))
    if missing := [key for key in ("input", "output") if key not in table]:
        raise ValueError(f"{where} needs `{missing[0]}`, {_DOLLARS}")
    prices = {key: _dollars(value, f"{where}: `{key}`") for key, value in table.items()}
    return OwnPrice(**{"cached": prices["input"], **prices})


def _dollars(value: object, what: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MILLION:
        return float(value)
    raise ValueError(f"{what} must be {_DOLLARS}, not {value!r}")
