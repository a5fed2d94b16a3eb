"""Where the secrets of a run come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.backends.known_secrets import (
    secrets_of_app_request,
    secrets_of_arguments,
    secrets_of_environment,
    secrets_of_headers,
    secrets_of_project,
    secrets_of_settings,
    secrets_of_text,
    secrets_of_variables,
)
from pytest_fcall.core import Json

KEY = "planted-key-0001"


@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "MY_PASS",
     "APIKEY", "SHOP_KEY_2", "AZURE_CREDENTIALS", "NPM_AUTH", "SESSION_COOKIE", "SENTRY_DSN", "KEY", "shop_token"],
)  # fmt: skip
def test_variables_are_known_by_their_names(name: str) -> None:
    assert KEY in {*secrets_of_environment({name: f" {KEY}\n"})}


@pytest.mark.parametrize(
    ("name", "value"),
    [("MAX_TOKENS", "planted 4096"), ("KEYBOARD_LAYOUT", KEY), ("MONKEY", KEY), ("PWD", f"/{KEY}"), ("GPG_KEY", KEY),
     ("TOKENIZERS_PARALLELISM", "false"), ("AUTHOR_NAME", KEY), ("COMPASS", KEY), ("PYTEST_CURRENT_TEST", KEY)],
)  # fmt: skip
def test_variables_that_are_named_alike_hold_no_secrets(name: str, value: str) -> None:
    assert KEY not in {*secrets_of_environment({name: value})}


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("sk-proj-aB3dE5gH7jK9mN1pQ3sT5vW7", "sk-proj-aB3dE5gH7jK9mN1pQ3sT5vW7"),
        (f"postgres://ana:{KEY}@db.test/shop", KEY),
        ("postgres://ana:p%40ss-w0rd@db.test/shop", "p@ss-w0rd"),
        (f"https://{KEY}@sentry.test/1", KEY),
    ],
)
def test_values_of_any_variable_are_known_by_their_form(value: str, secret: str) -> None:
    assert secret in {*secrets_of_environment({"WHATEVER": value})}


def test_a_password_with_a_sign_in_it_is_a_secret_as_a_whole() -> None:
    assert "abcdefgh1234=xy" in {*secrets_of_environment({"DB_PASSWORD": "abcdefgh1234=xy"})}


def test_pairs_in_a_variable_of_headers_give_their_values_alone() -> None:
    value = f"authorization=Bearer {KEY},x-team=blue"
    assert {*secrets_of_environment({"OTEL_EXPORTER_OTLP_HEADERS": value})} == {KEY}


@pytest.mark.parametrize(
    "text",
    [f"--api-key {KEY}", f"--token={KEY}", f"Authorization: Bearer {KEY}", f"openai:x?api_key={KEY}",
     f"SHOP_TOKEN={KEY}", f"http://ana:{KEY}@host/v1", f"vllm serve m --api-key '{KEY}' --port 1",
     f"openai:x?base_url=http://h/v1?sig={KEY}",
     f'{{"password": "{KEY}"}}'],
)  # fmt: skip
def test_a_line_that_a_person_has_written_is_searched(text: str) -> None:
    assert KEY in {*secrets_of_text(text)}
    assert KEY in {*secrets_of_arguments(["pytest", text, "-v"])}


@pytest.mark.parametrize(
    "arguments",
    [("--fc-model=openai:gpt-5.2", "cases"), ("-k", "key and not token"), ("tests/test_keys.py::test_key_1234abcd",),
     ("--fc-model=openai:x?temperature=0.5&top_p=1",), ("-p", "no:cacheprovider"), ("--api-key", "none")],
)  # fmt: skip
def test_an_ordinary_command_line_has_no_secrets(arguments: tuple[str, ...]) -> None:
    assert {*secrets_of_arguments(arguments)} == set()


def test_headers_give_what_may_be_a_key_and_nothing_public() -> None:
    headers = {
        "Authorization": f"Bearer {KEY}",
        "X-Shop": "another-key-in-a-header-0002",
        "HTTP-Referer": "https://shop.example.com/agents/2026",
        "X-Title": "My shop of 2026 models",
        "anthropic-version": "2023-06-01",
        "X-Team": "blue",
    }
    assert {*secrets_of_headers(headers)} == {f"Bearer {KEY}", KEY, "another-key-in-a-header-0002"}


def test_settings_of_a_request_give_their_keys() -> None:
    settings: dict[str, Json] = {
        "headers": {"X-Key": KEY},
        "extra_body": {"user_token": f"{KEY}-b"},
        "max_tokens": 100,
        "stop": ["planted-1"],
    }
    assert {*secrets_of_settings(settings)} == {KEY, f"{KEY}-b"}


def test_an_app_s_request_gives_the_keys_that_it_sends_and_no_other_header() -> None:
    headers = {"Authorization": f"Bearer {KEY}", "User-Agent": "shop/1.2.3-abcdef123456", "x-goog-api-key": f"{KEY}-g"}
    found = {*secrets_of_app_request(headers, f"key={KEY}-q&alt=sse")}
    assert found == {f"Bearer {KEY}", KEY, f"{KEY}-g", f"{KEY}-q"}


def test_variables_that_a_text_refers_to_are_secrets() -> None:
    environment = {"A": KEY, "B": "none", "C": "planted-c-0003"}
    assert {*secrets_of_variables("${A}/${B}/$C", environment)} == {KEY}


def test_entries_of_models_give_their_keys(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        f"""
        [tool.fcall.models."openai:x"]
        api_key_env = "SHOP"
        base_url = "https://ana:{KEY}-u@h/v1?sig={KEY}-s"
        serve = "run --api-key {KEY}-c"
        api_kye = "{KEY}-t"
        headers = {{X-Any = "{KEY}-header"}}
        extra_body = {{options = [{{secret = "{KEY}-b"}}]}}
        temperature = 0
        """,
        "utf-8",
    )
    found = {*secrets_of_project(tmp_path, {"SHOP": f"{KEY}-e"})}
    assert found >= {f"{KEY}-{end}" for end in ("u", "s", "c", "header", "b", "e")}


def test_a_project_that_cannot_be_read_has_no_secrets(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.fcall", "utf-8")
    assert {*secrets_of_project(tmp_path, {})} == set()
