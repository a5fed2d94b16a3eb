from __future__ import annotations

import pytest

from pytest_fcall.backends.proxy.variables import (
    provider_addresses,
    proxy_addresses,
    read_variables,
)
from pytest_fcall.core.provider_variables import PLACEHOLDER_KEY, PROVIDERS, placeholder_keys

BASE = "http://127.0.0.1:8000/token"


def test_all_known_variables_lead_to_the_proxy_unless_one_is_off() -> None:
    known = read_variables(())
    assert known["GOOGLE_GEMINI_BASE_URL"] == "https://generativelanguage.googleapis.com"
    assert next(iter(known)) == "OPENAI_BASE_URL"
    more = read_variables(["SHOP_LLM=https://shop.example.com/v1", "OPENAI_BASE_URL = off"])
    assert next(iter(more)) == "SHOP_LLM"
    assert more == {"SHOP_LLM": "https://shop.example.com/v1"} | {
        name: url for name, url in known.items() if name != "OPENAI_BASE_URL"
    }


def test_a_variable_without_a_common_address_is_led_only_where_it_is_set() -> None:
    known = read_variables(())
    assert "AZURE_OPENAI_ENDPOINT" not in provider_addresses(known, {})
    here = provider_addresses(known, {"AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com/"})
    assert proxy_addresses(here, BASE)["AZURE_OPENAI_ENDPOINT"] == f"{BASE}/AZURE_OPENAI_ENDPOINT"


def test_where_only_the_older_name_is_set_the_newer_one_does_not_overrule_it() -> None:
    known = read_variables(())
    team = {"OPENAI_API_BASE": "https://team.example.com/v1"}
    assert "OPENAI_BASE_URL" not in provider_addresses(known, team)
    assert provider_addresses(known, team)["OPENAI_API_BASE"] == "https://team.example.com/v1"
    both = team | {"OPENAI_BASE_URL": "https://other.example.com/v1"}
    assert provider_addresses(known, both)["OPENAI_BASE_URL"] == "https://other.example.com/v1"


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("gpu-box", "http://gpu-box:11434"),
        ("gpu-box:8000/", "http://gpu-box:8000"),
        ("0.0.0.0", "http://0.0.0.0:11434"),  # noqa: S104  no socket is bound
        (":8000", "http://127.0.0.1:8000"),
        ("[::1]", "http://[::1]:11434"),
        ("https://gpu.example.com/ollama", "https://gpu.example.com/ollama"),
    ],
)
def test_ollama_names_its_host_in_many_ways(host: str, address: str) -> None:
    assert provider_addresses(read_variables(()), {"OLLAMA_HOST": host})["OLLAMA_HOST"] == address


def test_a_host_of_ollama_that_is_none_is_left_alone() -> None:
    assert "OLLAMA_HOST" not in provider_addresses(read_variables(()), {"OLLAMA_HOST": "gpu-box:eleven"})


def test_each_provider_that_is_led_to_the_proxy_has_its_own_keys() -> None:
    keys = placeholder_keys(["GOOGLE_GEMINI_BASE_URL", "SHOP_BASE_URL", "OLLAMA_HOST", "SHOP_LLM"])
    assert keys == dict.fromkeys(["GEMINI_API_KEY", "GOOGLE_API_KEY", "SHOP_API_KEY"], PLACEHOLDER_KEY)


def test_what_may_be_the_key_of_more_than_models_is_set_only_where_a_person_says_so() -> None:
    name = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"
    assert name not in read_variables(())
    named = read_variables([f"{name}=https://bedrock-runtime.eu-west-1.amazonaws.com"])
    assert [*placeholder_keys([name])] == ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
    assert provider_addresses(named, {})[name] == "https://bedrock-runtime.eu-west-1.amazonaws.com"


def test_no_variable_is_in_the_table_twice() -> None:
    names = [name for provider in PROVIDERS for name in (*provider.addresses, *provider.keys)]
    assert len(names) == len({*names})
