"""any-llm's client for one provider, and the key that goes with it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from pytest_fcall.core import Json
from pytest_fcall.schema.words import nearest

if TYPE_CHECKING:
    from any_llm import AnyLLM

_NO_KEY = "none"
"""Sent to a server of one's own that asks for no key: most libraries send one in any case."""


@dataclass(frozen=True, slots=True)
class Provider:
    """Where and as whom a provider is asked; `kind` is any-llm's class for it."""

    name: str
    kind: type[AnyLLM]
    url: str | None
    key_variable: str

    def key(self) -> str | None:
        """The key, read when it is needed; None leaves it to the library. Raises ValueError, in words, for none."""
        key = os.environ.get(self.key_variable, "").strip()
        if key or self.key_variable == self.kind.ENV_API_KEY_NAME:
            return key or (_NO_KEY if self.url else None)
        raise ValueError(f"the variable {self.key_variable} is not set, which `api_key_env` names")

    def open(self) -> AnyLLM:
        """A client that asks nothing twice. Raises ValueError, in words, where there can be none."""
        from any_llm import AnyLLM
        from any_llm.exceptions import AnyLLMError, MissingApiKeyError

        retries: dict[str, Any] = {} if self.kind.MAX_RETRIES_SUPPORT == "unsupported" else {"max_retries": 0}
        try:
            return AnyLLM.create(self.name, self.key(), self.url, unified_exceptions=True, **retries)
        except MissingApiKeyError as error:
            told = f"the variable {error.env_var_name} is not set; export {error.env_var_name}=…, or name another \
variable by `api_key_env`"
        except ImportError:
            told = _uninstalled(self.name)
        except (AnyLLMError, TypeError, OSError) as error:
            told = f"{self.name} cannot be asked: {error}"
        raise ValueError(told)


def provider_of(name: str, settings: Mapping[str, Json]) -> Provider:
    """Find the provider of this name. Raises ValueError, in words, where it or the library for it is not there."""
    try:
        from any_llm import AnyLLM
    except ImportError:
        raise ValueError('any-llm is not installed; pip install "pytest-fcall[any]"') from None
    from any_llm.exceptions import UnsupportedProviderError

    try:
        kind = AnyLLM.get_provider_class(name)
    except UnsupportedProviderError as error:
        near = nearest(name, error.supported_providers)
        hint = f"did you mean `{near}`?" if near else f"known are {', '.join(sorted(error.supported_providers))}"
        raise ValueError(f"any-llm knows no provider {name!r:.60}; {hint}") from None
    except ImportError:
        raise ValueError(_uninstalled(name)) from None
    url, variable = settings.get("base_url"), settings.get("api_key_env")
    return Provider(
        name,
        kind,
        url if isinstance(url, str) else None,
        variable if isinstance(variable, str) else kind.ENV_API_KEY_NAME,
    )


async def close(client: AnyLLM) -> None:
    """Close a client's connections, if its library has a way to."""
    inner = getattr(client, "client", None)
    closing = getattr(inner, "aclose", None) or getattr(inner, "close", None)
    closed = closing() if callable(closing) else None
    if isawaitable(closed):
        await closed


def _uninstalled(name: str) -> str:
    return f'the library for {name} is not installed; pip install "any-llm-sdk[{name}]"'
