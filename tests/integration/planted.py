"""Keys in all places that may hold one, and a search for them in every byte that a run has written."""

from __future__ import annotations

import gzip
import sqlite3
import zlib
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.integration.exam import Exam, files_of

KEYS = {
    "key of the model": "sk-planted-in-the-environment-0001",
    "another provider's key": "gsk_plantedForAnotherProvider0012ABCDEFGHIJKLMNOPQR",
    "token of CI": "planted+token/of=ci&0013",
    "password of a database": "planted%of-a-data-base-0014",
    "header": "planted-in-a-header-0002",
    "bearer": "planted-in-authorization-0003",
    "query": "planted-in-the-address-0004",
    "step": "planted-in-the-path-of-the-address-0005",
    "body": "planted-in-the-body-0006",
    "nested": "planted-deep-in-the-body-0007",
    "case header": "planted-in-a-header-of-a-case-0008",
    "case body": "planted-in-the-body-of-a-case-0009",
    "case setting": "planted-in-the-settings-of-a-case-0011",
    "proxy": "planted-for-the-proxy-0015",
}
LOUD = ("-rA", "-vv", "--tb=long", "--showlocals", "--log-level=DEBUG", "--log-file=log.txt", "--junitxml=junit.xml")
OWN_SETTINGS = (
    f"headers: {{X-Case: {KEYS['case header']}}}, extra_body: {{api-key: {KEYS['case body']}}}, "
    f"user_token: {KEYS['case setting']}"
)
PLANTED_IN = ("pyproject.toml", "cases/exam.fc.yaml")


def plant(exam: Exam, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a key wherever one may be."""
    monkeypatch.setenv("SHOP_KEY", KEYS["key of the model"])
    monkeypatch.setenv("GROQ_API_KEY", KEYS["another provider's key"])
    monkeypatch.setenv("CI_JOB_TOKEN", KEYS["token of CI"])
    monkeypatch.setenv("SHOP_URL", f"postgres://ana:{quote(KEYS['password of a database'])}@db.test/shop")
    monkeypatch.setenv("OTHER_PROXY", f"http://ana:{KEYS['proxy']}@proxy.test:3128")
    exam.shop.file(
        "pyproject.toml",
        f"""
        [tool.pytest]

        [tool.fcall.models."openai:exam"]
        base_url = "{exam.server.url}/{KEYS["step"]}/v1?sig={KEYS["query"]}"
        api_key_env = "SHOP_KEY"

        [tool.fcall.models."openai:exam".headers]
        X-Shop = "{KEYS["header"]}"
        X-Forward = "Bearer {KEYS["bearer"]}"

        [tool.fcall.models."openai:exam".extra_body]
        user_token = "{KEYS["body"]}"
        provider = {{ credentials = ["{KEYS["nested"]}"], region = "north" }}
        """,
    )


def forms(key: str) -> Iterator[bytes]:
    """A key as it is, and as it is written in addresses and in base64, wherever in the data it begins."""
    yield key.encode()
    yield quote(key, safe="").encode()
    for before in (b"", b"x", b"xy"):
        for coded in (b64encode, urlsafe_b64encode):
            whole = coded(before + key.encode())
            yield whole[4 if before else 0 : len(whole) // 4 * 4 - 4]


def said_back(keys: Iterable[str] = KEYS.values()) -> str:
    """A text with all keys, each as it is, in base64 and as in an address."""
    return " | ".join(f"{key} {b64encode(f'ana:{key}!'.encode()).decode()} {quote(key, safe='')}" for key in keys)


def leaks(
    folder: Path, *results: object, keys: dict[str, str] = KEYS, planted_in: Iterable[str] = PLANTED_IN
) -> list[str]:
    """Where which key can be read, but for the files in which it was planted."""
    spared = {folder / name for name in planted_in}
    places = [(str(path.relative_to(folder)), path) for path in files_of(folder) if path not in spared]
    texts = [(name, each) for name, path in places for each in contents(path)]
    for number, result in enumerate(results):
        for name in ("stdout", "stderr"):
            stream = getattr(result, name)
            texts.append((f"{name} {number}", (stream if isinstance(stream, str) else stream.str()).encode()))
    return sorted({f"{key} in {name}" for name, text in texts for key, value in keys.items() if _is_in(value, text)})


def _is_in(key: str, text: bytes) -> bool:
    return any(form in text for form in forms(key))


def contents(path: Path) -> Iterator[bytes]:
    """The bytes of a file; unpacked, too, and row by row, where it is packed or a data base."""
    content = path.read_bytes()
    yield content
    with suppress(OSError, EOFError, zlib.error):
        yield gzip.decompress(content)
    if content.startswith(b"SQLite format 3"):
        yield from _rows(path)


def _rows(path: Path) -> Iterator[bytes]:
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            for row in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608  a name of the data base itself
                for value in row:
                    data = value if isinstance(value, bytes) else str(value).encode()
                    yield data
                    with suppress(zlib.error):
                        yield zlib.decompress(data)
