"""The environment variables in which libraries of providers look for addresses and keys, and keys that are none."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

PLACEHOLDER_KEY = "sk-replayed"


class ProviderVariables(NamedTuple):
    """Variables in which libraries look for the address of one provider, and for its keys."""

    addresses: Mapping[str, str]
    """By the name of the variable, what it leads to where it is not set. Empty: it leads to the proxy only where it is
    set, since there is no address that all have, or since libraries take its mere presence for a choice."""
    keys: tuple[str, ...] = ()


_GEMINI = "https://generativelanguage.googleapis.com"
_OLLAMA = "http://127.0.0.1:11434"

PROVIDERS: tuple[ProviderVariables, ...] = (
    # LangChain and LiteLLM read the second name, too. LangChain's classes for Azure refuse it.
    ProviderVariables({"OPENAI_BASE_URL": "https://api.openai.com/v1", "OPENAI_API_BASE": ""}, ("OPENAI_API_KEY",)),
    # LangChain reads the second name, too, and LiteLLM the third.
    ProviderVariables(
        {"ANTHROPIC_BASE_URL": "https://api.anthropic.com", "ANTHROPIC_API_URL": "", "ANTHROPIC_API_BASE": ""},
        ("ANTHROPIC_API_KEY",),
    ),
    # google-genai, also below LangChain, pydantic-ai and ADK; LiteLLM; google-genai where it asks Vertex AI.
    ProviderVariables(
        {"GOOGLE_GEMINI_BASE_URL": _GEMINI, "GEMINI_API_BASE": f"{_GEMINI}/v1beta", "GOOGLE_VERTEX_BASE_URL": ""},
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
    # The openai library, LangChain and pydantic-ai; LiteLLM. Each customer has another address.
    ProviderVariables({"AZURE_OPENAI_ENDPOINT": "", "AZURE_API_BASE": ""}, ("AZURE_OPENAI_API_KEY", "AZURE_API_KEY")),
    # The ollama library, also below LangChain; LiteLLM; pydantic-ai, which wants OpenAI's interface there.
    ProviderVariables({"OLLAMA_HOST": _OLLAMA, "OLLAMA_API_BASE": _OLLAMA, "OLLAMA_BASE_URL": ""}),
    # Cohere's library; pydantic-ai; any-llm. LangChain, LiteLLM and any-llm read the second key.
    ProviderVariables(
        {"CO_API_URL": "https://api.cohere.com", "CO_BASE_URL": "https://api.cohere.com", "COHERE_BASE_URL": ""},
        ("CO_API_KEY", "COHERE_API_KEY"),
    ),
    # LangChain; any-llm. Neither Mistral's own library nor LiteLLM reads a variable for the address.
    ProviderVariables({"MISTRAL_BASE_URL": "https://api.mistral.ai/v1", "MISTRAL_API_BASE": ""}, ("MISTRAL_API_KEY",)),
    # Groq's library, pydantic-ai and any-llm; LangChain and LiteLLM, which disagree on the path.
    ProviderVariables({"GROQ_BASE_URL": "https://api.groq.com", "GROQ_API_BASE": ""}, ("GROQ_API_KEY",)),
)
"""Variables that the libraries of the providers, and the frameworks above them, read."""
PROVIDER_ADDRESSES: Mapping[str, str] = MappingProxyType(
    {name: url for provider in PROVIDERS for name, url in provider.addresses.items()}
)
"""The addresses that libraries use if the variables are not set."""
_PROVIDER_OF: Mapping[str, ProviderVariables] = MappingProxyType(
    {name: provider for provider in PROVIDERS for name in provider.addresses}
)


def placeholder_keys(names: Iterable[str]) -> dict[str, str]:
    """Invalid keys for libraries that do not start without a key: those of the providers of these variables."""
    keys = (key for name in names for key in _keys_of(name))
    return dict.fromkeys(keys, PLACEHOLDER_KEY)


@contextmanager
def with_placeholder_keys() -> Iterator[bool]:
    """Let libraries start that need a key to be there, where nothing is asked. Gives whether any was not set."""
    missing = {name: key for name, key in placeholder_keys(PROVIDER_ADDRESSES).items() if not os.environ.get(name)}
    before = {name: os.environ.get(name) for name in missing}
    os.environ.update(missing)
    try:
        yield bool(missing)
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


_KEYS_OF_OTHERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
)
"""The keys beside variables that lead to the proxy only where a person says so: boto3 refuses bearer tokens there, keys
of AWS may be where the proxy does not see them, and placeholders would be taken for all of AWS."""


def _keys_of(name: str) -> tuple[str, ...]:
    """The names of the keys beside a variable; `X_API_KEY` beside `X_BASE_URL` of a provider that is not known."""
    if name in _PROVIDER_OF:
        return _PROVIDER_OF[name].keys
    if name in _KEYS_OF_OTHERS:
        return _KEYS_OF_OTHERS[name]
    return (f"{name.removesuffix('_BASE_URL')}_API_KEY",) if name.endswith("_BASE_URL") else ()


def raw_environment(environment: Mapping[str, str] = os.environ) -> tuple[Mapping[Any, Any], Callable[[str], Any]]:
    """Give the store of the variables, and the function that makes a key of a name.

    Variables are compared for each case, and `os.environ` takes twenty times as long as the dict in it.
    """
    data, encode = getattr(environment, "_data", None), getattr(environment, "encodekey", None)
    return (data, encode) if isinstance(data, dict) and encode else (environment, str)
