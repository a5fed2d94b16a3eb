"""The hosts of providers of models, by which a connection is known that goes around the proxy."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from pytest_fcall.core.provider_variables import PROVIDER_ADDRESSES

_HOSTS = frozenset(
    {
        "api-inference.huggingface.co",
        "api.ai21.com",
        "api.anthropic.com",
        "api.cerebras.ai",
        "api.cohere.ai",
        "api.cohere.com",
        "api.deepseek.com",
        "api.fireworks.ai",
        "api.groq.com",
        "api.mistral.ai",
        "api.moonshot.ai",
        "api.openai.com",
        "api.perplexity.ai",
        "api.replicate.com",
        "api.sambanova.ai",
        "api.together.xyz",
        "api.x.ai",
        "codestral.mistral.ai",
        "generativelanguage.googleapis.com",
        "integrate.api.nvidia.com",
        "models.github.ai",
        "openrouter.ai",
        "router.huggingface.co",
    }
)
_ENDS = (
    "aiplatform.googleapis.com",  # of any region
    ".api.openai.com",
    ".models.ai.azure.com",
    ".openai.azure.com",
    ".services.ai.azure.com",
)
_BEDROCK = re.compile(r"bedrock-runtime(-fips)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?")
_ADDRESS_OR_LOCAL = re.compile(r"[\d.]+|.*:.*|localhost|.*\.localhost")


def provider_hosts(urls: Iterable[str]) -> frozenset[str]:
    """The hosts of the known providers, and those of these addresses that have a name beyond this machine."""
    named = {urlsplit(url).hostname or "" for url in (*PROVIDER_ADDRESSES.values(), *urls)}
    return _HOSTS | {host for host in named if host and not _ADDRESS_OR_LOCAL.fullmatch(host)}


@lru_cache(maxsize=512)
def is_provider(host: str, known: frozenset[str]) -> bool:
    """Whether models are asked at this host. `known` are those that `provider_hosts` names."""
    name = host.lower().rstrip(".")
    return name in known or name.endswith(_ENDS) or _BEDROCK.fullmatch(name) is not None
