"""The model that was meant, where the name of one is none: `did you mean …?` at the end of the message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from pytest_fcall.backends.local.aliases import ALIASES
from pytest_fcall.backends.settings import aliases
from pytest_fcall.core.message_text import nearest

_ANY = ("anthropic", "bedrock", "cohere", "gemini", "groq", "mistral", "vertexai")
_PROVIDERS: Mapping[str, str] = MappingProxyType(
    {
        "openai": "openai:{}",
        "vllm": "openai:{}?base_url=http://127.0.0.1:8000/v1",
        "sglang": "openai:{}?base_url=http://127.0.0.1:30000/v1",
        "llamacpp": "openai:{}?base_url=http://127.0.0.1:8080/v1",
        "ollama": "openai:{}?base_url=http://127.0.0.1:11434/v1",
        "lmstudio": "openai:{}?base_url=http://127.0.0.1:1234/v1",
        "openrouter": "openai:{}?base_url=https://openrouter.ai/api/v1&api_key_env=OPENROUTER_API_KEY",
        **{name: f"any:{name}/{{}}" for name in _ANY},
    }
)
"""The line of a provider or server in docs/how-to/providers.md, by its name there and in other tools."""

_VENDORS: Mapping[str, str] = MappingProxyType({"claude-": "anthropic", "gemini-": "gemini", "gpt-": "openai"})
"""The provider of the models whose names begin so."""


def model_of_provider(provider: str, name: str) -> str | None:
    """The model as it is named here, where another tool writes `provider:name` or `provider/name`."""
    line = _PROVIDERS.get("".join(letter for letter in provider.lower() if letter.isalnum()))
    return line.format(name) if line and name else None


def meant_by_kind(kind: str, name: str, kinds: Iterable[str], root: Path) -> str | None:
    """The model that `kind:name` means, where there is no such kind: an app, a provider's, or a near kind's."""
    if any((root / file).exists() for file in (f"{kind}.py", f"{kind}/__init__.py")):
        return f"python:{kind}:{name}"
    if kind == "https":
        return f"http:https:{name}"
    close = nearest(kind, kinds)
    return model_of_provider(kind, name) or (f"{close}:{name}" if close else None)


def meant_by_path(module: str, function: str) -> str | None:
    """The app, where what stands in the place of the kind can only be a module."""
    is_app = "." in module and all(part.isidentifier() for part in (*module.split("."), *function.split(".")))
    return f"python:{module}:{function}" if is_app else None


def meant_by_name(name: str, root: Path) -> str | None:
    """The model that a name without a kind means: a provider's, an entry of the project, or a known local model."""
    provider, slash, rest = name.partition("/")
    if slash and (found := model_of_provider(provider, rest)):
        return found
    for beginning, vendor in _VENDORS.items():
        if name.startswith(beginning):
            return model_of_provider(vendor, name)
    known = {**{alias: f"local:{alias}" for alias in ALIASES}, **{alias: alias for alias in aliases(root)}}
    close = nearest(name, known)
    return known[close] if close else None
