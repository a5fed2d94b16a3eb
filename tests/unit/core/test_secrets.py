"""What is a secret, and texts without them."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode, urlsafe_b64encode
from html import escape
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Json
from pytest_fcall.core.secrets import LEFT_OUT, Secrets, looks_secret

KEY = "sk-proj-aB3dE5gH7jK9mN1pQ3sT5vW7"
ODD = 'p"a\\s/s+w=o&r d<1>ü%2'


@pytest.mark.parametrize(
    "value",
    [KEY, ODD, "hunter22", "s3cr3t-pass", "ghp_aB3dE5gH7jK9mN1pQ3sT", "correct horse battery staple",
     "0f9e8d7c6b5a4f3e",
     "/wJalrXUtnFEMI0K7MDENG/bPxRfiCYEXAMPLEKEY"],
)  # fmt: skip
def test_what_goes_by_the_name_of_a_key_and_looks_like_one_is_a_secret(value: str) -> None:
    assert looks_secret(value)


@pytest.mark.parametrize(
    "value",
    ["", "none", "EMPTY", "null", "test", "sk-test", "sk-placeholder", "sk-replayed", "your-api-key-here",
     "test_key_1234", "dummy-key",
     "xxxxxxxxxxxx", "********", "lm-studio", "ollama", "not-needed", "true", "1", "12345678", "3.14159265",
     "2026-11-23", "2024-10-01-preview", "2026-11-23T18:30:00Z", "127.0.0.1:8080", "gpt-5.2-mini", "openai:gpt-5.2",
     "meta-llama/Llama-3.3-70B", "claude-sonnet-4-20250514", "postgres", "password", "production", "my-service",
     "/usr/lib", "/etc/hosts", "~/.ssh/id_ed25519", "./key.pem", "C:\\keys\\mine.pem", "short1", "aaaabbbb1111"],
)  # fmt: skip
def test_ordinary_values_are_no_secrets_even_under_the_name_of_a_key(value: str) -> None:
    assert not looks_secret(value)


@pytest.mark.parametrize(
    "value", ["hunter22", "2024-10-01-preview", "https://shop.example/a1b2c3d4e5", "my own shop 24", "x" * 40]
)
def test_under_another_name_a_secret_must_look_like_nothing_else(value: str) -> None:
    assert not looks_secret(value, named=False)
    assert looks_secret(KEY, named=False)


@pytest.mark.parametrize("secret", [KEY, ODD])
@pytest.mark.parametrize(
    "write",
    [str, repr, json.dumps, lambda key: json.dumps(json.dumps({"a": key})), escape, quote, quote_plus,
     lambda key: json.dumps(key, ensure_ascii=False), lambda key: quote(key, safe="").lower() if key == ODD else key,
     lambda key: f"Bearer {key}, and {key}{key}"],
)  # fmt: skip
def test_a_secret_is_found_however_it_is_written(write: object, secret: str) -> None:
    assert callable(write)
    written = f"before {write(secret)} after"
    shown = Secrets([secret]).redacted(written)
    assert secret not in shown
    assert write(secret).strip("\"'") not in shown
    assert LEFT_OUT in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")


def test_a_secret_with_slashes_is_found_where_json_escapes_them() -> None:
    """As PHP's `json_encode` does, also where it writes JSON into a text of JSON."""
    key = "abcdEF12/ghIJ34klMN56qr/sT"
    once = json.dumps({"a": key}).replace("/", "\\/")
    for written in (once, json.dumps({"b": once}), json.dumps(once).replace("/", "\\/")):
        shown = Secrets([key]).redacted(written)
        assert LEFT_OUT in shown
        assert "ghIJ34klMN56qr" not in shown


@pytest.mark.parametrize("before", ["", "x", "xy", "xyz", "ana:"])
@pytest.mark.parametrize("code", [b64encode, urlsafe_b64encode])
def test_a_secret_in_base64_is_overwritten_and_what_is_around_it_stays(before: str, code: object) -> None:
    assert callable(code)
    written = code(f"{before}{KEY}!and more".encode()).decode()
    shown = Secrets([KEY]).redacted(written)
    said = b64decode(shown).decode()
    assert len(shown) == len(written)
    assert said.startswith(before)
    assert said.endswith("!and more")
    assert KEY[3:-3] not in said


@pytest.mark.parametrize(
    "text",
    [
        f"{KEY[:22]}…",
        f"'{KEY[:25]}'… (40 characters)",
        f"{KEY[:28]}[1,234 characters left out]",
        KEY[:26],
        f"…{KEY[-16:]}",
        f"a\n{KEY[-14:]} b",
        f"{KEY[:22]}...{KEY[-12:]}",
    ],
)
def test_what_is_left_of_a_secret_that_was_cut_off_is_left_out(text: str) -> None:
    shown = Secrets([KEY]).redacted(text)
    assert LEFT_OUT in shown
    assert KEY[10:20] not in shown
    assert KEY[-12:] not in shown


@pytest.mark.parametrize("text", ["sk-proj- keys begin so", f"{KEY[:20]} is another one", f"not{KEY[-12:]}", ""])
def test_what_only_begins_or_ends_alike_stays(text: str) -> None:
    assert Secrets([KEY]).redacted(text) == text


def test_values_of_json_are_redacted_at_any_depth_and_so_are_names() -> None:
    told: Json = {"a": [KEY, {"b": f"x {KEY}"}], KEY: 1, "c": None, "d": 2.5}
    assert Secrets([KEY]).redacted_value(told) == {
        "a": [LEFT_OUT, {"b": f"x {LEFT_OUT}"}],
        LEFT_OUT: 1,
        "c": None,
        "d": 2.5,
    }


@given(
    st.recursive(
        st.none() | st.text() | st.just(KEY) | st.just(ODD),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_text_stays_json_and_says_the_same_but_for_secrets(value: object) -> None:
    secrets = Secrets([KEY, ODD])
    read = json.loads(secrets.redacted(json.dumps(value)))
    assert KEY not in str(read)
    if KEY not in str(value) and json.dumps(ODD)[1:-1] not in json.dumps(value):
        assert read == value


def test_no_secrets_cost_nothing_and_change_nothing() -> None:
    nothing = Secrets([""])
    assert not nothing
    assert nothing.redacted(KEY) is KEY


def test_more_secrets_may_come() -> None:
    secrets = Secrets()
    secrets.add([KEY])
    secrets.add([ODD, KEY])
    assert secrets.redacted(f"{KEY} {ODD}") == f"{LEFT_OUT} {LEFT_OUT}"
    assert secrets.values == {KEY, ODD}
