"""A provider that any-llm knows: its class, its address, its key, and clients of its library."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pytest_fcall.core.commands import install_command
from pytest_fcall.core.json_data import optional_field
from pytest_fcall.core.message_text import did_you_mean
from pytest_fcall.core.values import Json

if TYPE_CHECKING:
    from any_llm import AnyLLM
    from httpx import AsyncClient

GOOGLE: Final = ("gemini", "vertexai")
"""The providers of Google's library. Its arguments travel as a `Struct` of protobuf, which has no integers."""
_NO_KEY = "none"
"""Sent to a server that needs no key, since most libraries always send one."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider: any-llm's class for it, its address, and the environment variable with the key."""

    name: str
    llm_class: type[AnyLLM]
    url: str | None
    key_variable: str

    def key(self) -> str | None:
        """The key, read from the environment; None if the library finds it itself.

        Raises ValueError if `api_key_env` names a variable that is not set.
        """
        variables = self.key_variable.split("/")  # any-llm writes those between which there is a choice like this
        key = next((key for each in variables if (key := os.environ.get(each, "").strip())), "")
        if key or self.key_variable == self.llm_class.ENV_API_KEY_NAME:
            return key or (_NO_KEY if self.url else None)
        raise ValueError(f"the variable {self.key_variable}, which `api_key_env` names, is not set")

    def open_client(self) -> tuple[AnyLLM, AsyncClient | None]:
        """A client that makes no second attempts, and the one of httpx in it, which not all libraries close.

        Raises ValueError where the key or the library is missing.
        """
        from pytest_fcall.backends.any.http_client import bounded_client

        with suppress(TypeError):  # of a library that takes no client of httpx
            inner = bounded_client()
            return self.client(**self.http_options(inner)), inner
        try:
            return self.client(), None
        except TypeError as error:
            raise ValueError(f"no client for {self.name}: {error}") from None

    def client(self, **options: Any) -> AnyLLM:
        """A client with these options of the library. Raises ValueError as `open_client` does, and TypeError.

        The latter says that the library has no such option.
        """
        from any_llm import AnyLLM
        from any_llm.exceptions import AnyLLMError, MissingApiKeyError

        retries: dict[str, Any] = {} if self.llm_class.MAX_RETRIES_SUPPORT == "unsupported" else {"max_retries": 0}
        try:
            return AnyLLM.create(self.name, self.key(), self.url, unified_exceptions=True, **retries, **options)
        except MissingApiKeyError as error:
            variable = error.env_var_name
            message = (
                f"the variable {variable} is not set; export {variable}=…, or name another variable with `api_key_env`"
            )
        except ImportError:
            message = _not_installed(self.name)
        except (AnyLLMError, OSError) as error:
            if isinstance(cause := getattr(error, "original_exception", None), TypeError):
                raise cause from None
            message = f"no client for {self.name}: {error}"
        raise ValueError(message)

    def http_options(self, client: AsyncClient) -> dict[str, Any]:
        """The options of the library that have it send by this client."""
        if self.name in GOOGLE:
            return {"http_options": {"httpx_async_client": client}}
        return {"http_client": client}


def provider_of(name: str, settings: Mapping[str, Json]) -> Provider:
    """The provider of this name. Raises ValueError for an unknown name, and where the library for it is missing."""
    try:
        from any_llm import AnyLLM
    except ImportError:
        raise ValueError(f"any-llm is not installed: {install_command('any')}") from None
    from any_llm.exceptions import UnsupportedProviderError

    try:
        llm_class = AnyLLM.get_provider_class(name)
    except UnsupportedProviderError as error:
        known = error.supported_providers
        hint = did_you_mean(name, known) or f"available: {', '.join(sorted(known))}"
        raise ValueError(f"no any-llm provider {name!r:.60}; {hint}") from None
    except ImportError:
        raise ValueError(_not_installed(name)) from None
    url, variable = optional_field(settings, "base_url", str), optional_field(settings, "api_key_env", str)
    return Provider(name, llm_class, url, variable or llm_class.ENV_API_KEY_NAME)


def _not_installed(name: str) -> str:
    return f'the library for {name} is not installed; pip install "any-llm-sdk[{name}]"'
