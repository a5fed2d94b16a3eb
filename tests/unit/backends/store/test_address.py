"""The setting `fc_store`."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.backends.store.address import passwords_of, server_address

ROOT = Path("/shop")
SECRET = "pa55word-of-ours"  # noqa: S105


@pytest.mark.parametrize(
    ("written", "url", "shown"),
    [
        (
            "postgresql://ci@db.example/replies?project=shop",
            "postgresql://ci@db.example/replies",
            "postgresql://db.example/replies (project shop)",
        ),
        (
            f"postgres://ci:{SECRET}@db:6543/replies?sslmode=verify-full&project=shop&connect_timeout=3",
            f"postgres://ci:{SECRET}@db:6543/replies?sslmode=verify-full&connect_timeout=3",
            "postgresql://db:6543/replies (project shop)",
        ),
        (
            " postgresql:///replies?host=/run/postgresql&project=a_1-b&options=-c%20x+y ",
            "postgresql:///replies?host=/run/postgresql&options=-c%20x+y",
            "postgresql:///run/postgresql/replies (project a_1-b)",
        ),
        (
            "postgresql://ci@one:1,[::1]:2/replies?project=shop&target_session_attrs=read-write",
            "postgresql://ci@one:1,[::1]:2/replies?target_session_attrs=read-write",
            "postgresql://one:1,[::1]:2/replies (project shop)",
        ),
    ],
)
def test_the_project_is_ours_and_the_rest_is_libpqs(written: str, url: str, shown: str) -> None:
    address = server_address(written, ROOT, {})
    assert (address.url, address.shown) == (url, shown)
    assert address.folder == ROOT / ".fcall"
    assert SECRET not in repr(address) + address.shown


def test_variables_stand_for_parts_of_it_or_for_all_of_it() -> None:
    environment = {"DB": f"ci:{SECRET}@db/replies", "STORE": "postgresql://ci@db/replies?project=shop"}
    assert server_address("postgresql://${DB}?project=shop", ROOT, environment).url.endswith("@db/replies")
    assert server_address("${STORE}", ROOT, environment).project == "shop"
    with pytest.raises(ValueError, match=r"^needs the environment variable NONE, which is not set$"):
        server_address("${NONE}", ROOT, environment)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("redis://db", "must be an address such as postgresql://"),
        ("replies.db", "must be an address such as postgresql://"),
        ("postgresql:db", "must be an address such as postgresql://"),
        (f"ci:{SECRET}@db/replies", "must be an address such as postgresql://"),
        ("postgresql://ci@db/replies", "must name the project whose replies are meant"),
        ("postgresql://ci@db/replies?project=a&project=b", "must name the project whose replies are meant, once"),
        ("postgresql://ci@db/replies?project=Shop", "project=Shop must be a name of up to 50 small letters"),
        ('postgresql://ci@db/replies?project=a"b', "must be a name of up to 50 small letters"),
        (f"postgresql://ci@db/replies?project={'x' * 51}", "must be a name of up to 50 small letters"),
        ("postgresql://ci@db/replies?project=", "must be a name of up to 50 small letters"),
        ("postgresql://ci@db/replies?project", "must be a name of up to 50 small letters"),
        (f"postgresql://ci:{SECRET}/@db/replies?project=shop", "cannot be read as an address"),
        (f"postgresql://ci:{SECRET}#@db/replies?project=shop", "cannot be read as an address"),
        (f"postgresql://ci:{SECRET}?@db/replies?project=shop", "cannot be read as an address"),
        ("postgresql://ci:123456789?@db/replies?x=1&project=shop", "cannot be read as an address"),
        ("postgresql://ci@db:port/replies?project=shop", "cannot be read as an address"),
        ("postgresql://ci@[db/replies?project=shop", "cannot be read as an address"),
    ],
)
def test_what_is_wrong_with_it_is_told_without_a_password(written: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        server_address(written, ROOT, {})
    assert SECRET not in str(raised.value)


def test_passwords_are_known_as_they_are_written_and_as_they_are_meant() -> None:
    assert passwords_of("postgresql://ci:a%40b@db/x?project=y&sslpassword=c%2Fd", {}) == ["a%40b", "a@b", "c/d"]
    assert passwords_of("postgresql://ci@db/x", {}) == []
    assert passwords_of("postgresql://${WHO}@db/x", {"WHO": "ci:key"}) == ["key"]
    assert passwords_of("${NONE}", {}) == []
    assert passwords_of("postgresql://[", {}) == []
    assert passwords_of("postgresql://ci:key@one:1,[::1]:2/x", {}) == ["key"]
