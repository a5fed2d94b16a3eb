from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Json
from pytest_fcall.traces.masking import (
    Masker,
    account_check_digits,
    card_check_digit,
    is_account,
    is_card,
    masked_record,
)
from pytest_fcall.traces.record import Record
from tests.unit.traces.support import calling, chat_call, giving, user

CODE = "aB3dE5gH7jK9mN1pQ3sT5vW7"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"use sk-proj-{CODE}", "use masked-key-1"),
        (f"use sk-ant-api03-{CODE}", "use masked-key-1"),
        (f"ghp_{CODE}!", "masked-key-1!"),
        ("AKIAIOSFODNN7EXAMPLE", "masked-key-1"),
        (f"Authorization: Bearer {CODE}", "Authorization: Bearer masked-key-1"),
        (f"Authorization: Bearer sk-{CODE}", "Authorization: Bearer masked-key-1"),
        (f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{CODE}", "masked-key-1"),
        ("my password is hunter22", "my password is masked-key-1"),
        ("api_key=abcdefgh&x=1", "api_key=masked-key-1&x=1"),
        ("postgres://ana:s3cret@db/shop", "postgres://masked-key-1@db/shop"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----", "masked-key-1"),
        ("Ana.Lee+x@Mail.Example.org, please", "person1@example.com, please"),
        ("card 4111 1111 1111 1111.", "card 4000 0000 0000 0010."),
        ("card 4111-1111-1111-1111", "card 4000-0000-0000-0010"),
        ("call +47 912 34 567", "call +47 000 00 001"),
        ("call (415) 555-2671 now", "call (410) 000-0001 now"),
        ("call 415-555-2671", "call 410-000-0001"),
        ("IBAN DE89 3704 0044 0532 0130 00", "IBAN DE09 0000 0000 0000 0000 01"),
        ("NO9386011117947", "NO8300000000001"),
    ],
)
def test_secrets_and_personal_data_are_masked(text: str, expected: str) -> None:
    assert Masker().mask_text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "on 2026-11-22 at 18:30",
        "order 8841 for 3 people, 1,250.00 EUR",
        "card 4111 1111 1111 1112 has a wrong check digit",
        "flight F7, seat 12A, 192.168.100.200",
        "0000000000000000",
        "the id 1732200000123 of an event",
        "basic information about bearer bonds",
        "the secret is patience",
        "a@b, user@localhost",
        "task-force sk-learn pk-1",
        "DE44 5001 0517 5407 3249 32 is no account",
        "3.14159265358979 and 1e10",
        "pages 100-200-3000",
    ],
)
def test_what_only_looks_alike_stays(text: str) -> None:
    assert Masker().mask_text(text) == text


def test_the_same_value_is_masked_the_same_way_however_it_is_written() -> None:
    masker = Masker()
    assert (
        masker.mask_text("Card 4111 1111 1111 1111, mail ANA@x.org")
        == "Card 4000 0000 0000 0010, mail person1@example.com"
    )
    told: Json = {"card": 4111111111111111, "number": "4111111111111111", "to": ["ana@x.org"], "ok": True}
    assert masker.mask_value(told) == {
        "card": 4000000000000010,
        "number": "4000000000000010",
        "to": ["person1@example.com"],
        "ok": True,
    }


def test_digits_of_a_telephone_number_are_known_again_without_signs() -> None:
    masker = Masker()
    assert masker.mask_text("I am at +1 (415) 555-2671") == "I am at +1 (400) 000-0001"
    assert masker.mask_text("14155552671") == "14000000001"


def test_values_are_told_apart() -> None:
    assert (
        Masker().mask_text("a@x.org b@x.org a@x.org") == "person1@example.com person2@example.com person1@example.com"
    )


def test_own_patterns_come_first_and_may_name_a_part() -> None:
    masker = Masker([re.compile(r"KD-\d+"), re.compile(r"born (\d{4})")])
    assert masker.mask_text("KD-77 and KD-78, born 1980") == "masked-1 and masked-2, born masked-3"


def test_without_the_usual_patterns_nothing_else_is_masked() -> None:
    masker = Masker([re.compile("Oslo")], usual=False)
    assert masker.mask_text("ana@x.org in Oslo") == "ana@x.org in masked-1"


def test_arguments_and_results_are_masked_by_their_values() -> None:
    escaped = '{"text": "line\\n+47 912 34 567", "card": 4111111111111111}'
    trail = (user("card 4111 1111 1111 1111"), calling(chat_call({"mail": "ana@x.org"})), giving(escaped))
    record = masked_record(Record(trail, "log:1"), Masker())
    assert record.messages[2]["content"] == '{"text": "line\\n+47 000 00 001", "card": 4000000000000010}'
    assert "person1@example.com" in str(record.messages[1])
    assert "ana" not in str(record.messages)


def test_what_holds_nothing_to_mask_stays_as_it_was_written() -> None:
    record = Record((user("Oslo?"), calling(), giving('{"a":1,  "b": 2.50}')), "log:1")
    assert masked_record(record, Masker()) == record


@given(st.integers(10**11, 10**18 - 1))
def test_check_digits_of_cards_hold(body: int) -> None:
    assert is_card(f"{body}{card_check_digit(str(body))}")


@given(st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=11, max_size=30))
def test_check_digits_of_accounts_hold(body: str) -> None:
    assert is_account(f"DE{account_check_digits('DE', body)}{body}")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "1 " * 50_000,
        "a@" * 50_000,
        "+1" * 50_000,
        "A" * 100_000,
        "password: " * 20_000,
        "-----BEGIN PRIVATE KEY-----" * 2_000,
    ],
)
def test_long_texts_take_no_long_time(text: str) -> None:
    Masker().mask_text(text)
