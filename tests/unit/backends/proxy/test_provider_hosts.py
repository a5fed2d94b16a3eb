from __future__ import annotations

import pytest

from pytest_fcall.backends.proxy.detours import is_provider, provider_hosts

KNOWN = provider_hosts(["https://llm.shop.example:8443/v1", "http://127.0.0.1:8000/v1", "http://localhost:11434", ""])


@pytest.mark.parametrize(
    "host",
    [
        "api.openai.com",
        "API.OpenAI.com.",
        "eu.api.openai.com",
        "api.anthropic.com",
        "team.openai.azure.com",
        "bedrock-runtime.eu-central-1.amazonaws.com",
        "bedrock-runtime-fips.us-east-1.amazonaws.com",
        "aiplatform.googleapis.com",
        "europe-west1-aiplatform.googleapis.com",
        "llm.shop.example",
    ],
)
def test_a_host_of_a_provider_is_known(host: str) -> None:
    assert is_provider(host, KNOWN)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "127.0.0.1",
        "localhost",
        "::1",
        "shop.example",
        "openai.com",
        "notapi.openai.com.example",
        "s3.eu-central-1.amazonaws.com",
        "storage.googleapis.com",
    ],
)
def test_any_other_host_is_not(host: str) -> None:
    assert not is_provider(host, KNOWN)
