"""Keys of known formats, and what only looks alike. The keys are made up, by the published formats."""

from __future__ import annotations

import pytest

from pytest_fcall.core.key_formats import KEY_FORMATS, keys_in, with_keys_replaced

CODE = "aB3dE5gH7jK9mN1pQ3sT5vW7"
HEX = "0123456789abcdef"
KEYS = {
    "OpenAI and others": f"sk-proj-{CODE}",
    "Groq": f"gsk_{CODE * 2}abcd",
    "xAI": f"xai-{CODE * 3}abcdefgh",
    "Perplexity": f"pplx-{CODE * 2}",
    "Hugging Face": f"hf_{CODE}abcdefghij",
    "Google, API": f"AIza{CODE}-abcdefghij",
    "NVIDIA": f"nvapi-{CODE * 2}",
    "AWS, id of a key": "AKIAIOSFODNN7EXAMPLE",
    "AWS, secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "Azure, storage": f"AccountKey={'aB3+' * 21}ab==",
    "Azure, signed address": f"?sv=2024&sig={'aB3%2F' * 9}",
    "Azure, identifiable key": f"{CODE * 2}abcdJQQJ99BFACXJ3w3AAABACOGabcd12345",
    "Azure, client secret": f"abc8Q~{CODE}-._abcdef",
    "Twilio": f"SK{HEX * 2}",
    "SendGrid": f"SG.{CODE[:22]}.{CODE}abcdefghijklmnopqrs",
    "Mailgun": f"key-{HEX * 2}",
    "Mailchimp": f"{HEX * 2}-us12",
    "Telegram": f"123456789:AA{CODE}_abcdefgh",
    "Slack": f"xoxb-1234567890-{CODE}",
    "GitHub": f"ghp_{CODE}",
    "GitLab": f"glpat-{CODE[:20]}",
    "npm": f"npm_{CODE}",
    "PyPI": f"pypi-AgEIcHlwaS5vcmc{CODE}",
    "HashiCorp Vault": f"hvs.{CODE}{CODE}",
    "Databricks": f"dapi{HEX * 2}",
    "JSON Web Token": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{CODE}",
    "PEM": "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----",
    "LangSmith": f"lsv2_pt_{HEX * 2}_{HEX[:10]}",
    "Shopify": f"shpat_{HEX * 2}",
    "Discord": f"M{CODE}.aBcDeF.{CODE}abcdefgh",
}


@pytest.mark.parametrize("owner", KEYS)
def test_a_key_is_known_wherever_it_stands(owner: str) -> None:
    key = KEYS[owner]
    for text in (key, f"use {key}, please", f'{{"key":"{key}"}}', f"KEY='{key}'", f"line\n{key}\nline"):
        assert len(keys_in(text)) == 1, text
        assert key[-20:] not in with_keys_replaced(lambda _: "", text)


@pytest.mark.parametrize(
    "text",
    [
        "task-force sk-learn pk-1 and ghp_short",
        "commit da39a3ee5e6b4b0d3255bfef95601890afd80709 of main",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "123e4567-e89b-12d3-a456-426614174000",
        "https://docs.python.org/3/library/json.html#json.JSONEncoder.default",
        "/home/ana/Projects/weather-agent/src/tools/forecast.py:120",
        "SKU0123456789 ACCOUNT-12345 SGML.DOCUMENT",
        "the AWS secret access key goes into AWS_SECRET_ACCESS_KEY",
        "pneumonoultramicroscopicsilicovolcanoconiosis",
        "2026-11-23T18:30:00.000+01:00 2026-11-24T18:30:00.000+01:00",
        "get_weather_forecast_for_the_next_seven_days(city='Oslo')",
    ],
)
def test_ordinary_texts_hold_no_key(text: str) -> None:
    assert keys_in(text) == []


def test_every_format_names_its_source_and_its_owner_once() -> None:
    assert all(each.source for each in KEY_FORMATS)
    owners = [each.owner for each in KEY_FORMATS]
    assert len(owners) == len(set(owners))


def test_a_long_token_is_data_and_takes_no_time() -> None:
    assert keys_in("data:image/png;base64," + "iVBORw0KGgo" * 100_000) == []
