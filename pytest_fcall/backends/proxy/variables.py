"""The environment variables that lead an app's libraries to the proxy, and those that keep frameworks from reports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import urlsplit

from pytest_fcall.core.provider_variables import PROVIDER_ADDRESSES

_READ_INSTEAD: Mapping[str, str] = MappingProxyType({"OPENAI_BASE_URL": "OPENAI_API_BASE"})
"""Where only the second of two variables is set, the first is left alone: LiteLLM would read it before the second, and
ask another provider."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@lru_cache(maxsize=64)
def is_http_address(url: str) -> bool:
    """Whether requests can be sent to this URL."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def read_variables(lines: Iterable[str]) -> dict[str, str]:
    """Read lines `NAME`, `NAME=URL` or `NAME=off`: the address that each variable has if it is not set.

    The variables that are known anyway follow those of the lines. Raises ValueError, with a message for people.
    """
    variables: dict[str, str] = {}
    off: set[str] = set()
    for line in lines:
        name, _, url = (part.strip() for part in line.partition("="))
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a variable name; write OPENAI_BASE_URL, or NAME=https://…")
        if url == "off":
            off.add(name)
            continue
        url = url or PROVIDER_ADDRESSES.get(name, "")
        if url and not is_http_address(url):
            raise ValueError(f"{name} has no valid URL; write it in full, such as https://api.example.com/v1")
        variables[name] = url
    known = {name: url for name, url in PROVIDER_ADDRESSES.items() if name not in variables and name not in off}
    return variables | known


def provider_addresses(variables: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """The address of each variable without the proxy. Variables without an address are left out."""
    given = {name: environment.get(name, "").strip() for name in variables}
    host = given.get("OLLAMA_HOST")
    if host:
        given["OLLAMA_HOST"] = _full_ollama_address(host)
    other = {name: given.get(instead) for name, instead in _READ_INSTEAD.items()}
    addresses = {name: given[name] or ("" if other.get(name) else url) for name, url in variables.items()}
    return {name: url for name, url in addresses.items() if is_http_address(url)}


def _full_ollama_address(host: str) -> str:
    """The address that the ollama library makes of `OLLAMA_HOST`, which may be a host or a port alone."""
    if "://" in host:
        return host
    try:
        parts = urlsplit(f"http://{host}")
        port = parts.port or 11434
    except ValueError:
        return host
    name = parts.hostname or "127.0.0.1"
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{port}{parts.path.rstrip('/')}"


def proxy_addresses(providers: Mapping[str, str], base: str) -> dict[str, str]:
    """The values with which the variables lead to the proxy at `base`, each with the path of its provider."""
    return {name: f"{base}/{name}{urlsplit(url).path.rstrip('/')}" for name, url in providers.items()}


QUIET: Mapping[str, str] = MappingProxyType(
    {
        "CREWAI_DISABLE_TELEMETRY": "true",  # crewai_core.telemetry
        "CREWAI_TRACING_ENABLED": "false",  # crewai.events.listeners.tracing.utils
        "DO_NOT_TRACK": "1",  # huggingface_hub.constants, and others that keep to donottrack.sh
        "HAYSTACK_TELEMETRY_ENABLED": "false",  # haystack.telemetry
        "HF_HUB_DISABLE_TELEMETRY": "1",  # huggingface_hub.constants, for smolagents and transformers
        "LANGCHAIN_TRACING_V2": "false",  # langsmith.utils, for LangChain and LangGraph
        "LANGSMITH_TRACING": "false",
        "LANGSMITH_TRACING_V2": "false",
        "LANGFUSE_TRACING_ENABLED": "false",  # langfuse._client.client
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # litellm fetches a list of prices when it is imported; so does DSPy's
        "MEM0_TELEMETRY": "false",  # mem0.memory.telemetry
        "MISTRAL_SDK_TELEMETRY": "false",  # mistralai.extra.observability.telemetry
        "OPENAI_AGENTS_DISABLE_TRACING": "1",  # agents.tracing.provider
        "TRACELOOP_TRACING_ENABLED": "false",  # traceloop.sdk.config
    }
)
"""Each name is read by the named module of the framework, in the version of November 2026.

`OTEL_SDK_DISABLED` is not among them: it would also take the spans away that tests look at.
"""
