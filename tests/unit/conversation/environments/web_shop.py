"""A web server on loopback, which says what it was asked."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

Answer = tuple[int, Mapping[str, str], bytes]


class Shop(ThreadingHTTPServer):
    """Counts what it is asked, and goes by the first part of the path."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.elsewhere = ""
        """Where it sends on to."""

    def handle_error(self, *_: object) -> None:
        """Say nothing where somebody hung up."""

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"


@contextmanager
def open_shop() -> Iterator[Shop]:
    with Shop() as shop:
        thread = Thread(target=shop.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield shop
        finally:
            shop.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Shop

    def handle_any(self) -> None:
        path = urlsplit(self.path).path
        self.server.asked.append(f"{self.command} {self.path}")
        status, headers, content = _ANSWERS.get(path.split("/")[1], _echo)(self)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = handle_any  # noqa: N815  # http.server's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # http.server's name
        """Be quiet."""


def _echo(asked: _Handler) -> Answer:
    url = urlsplit(asked.path)
    body = asked.rfile.read(int(asked.headers.get("Content-Length", 0))).decode()
    said = {
        "method": asked.command,
        "path": url.path,
        "query": parse_qsl(url.query, keep_blank_values=True),
        "headers": {name.lower(): value for name, value in asked.headers.items() if name.lower() in _SHOWN},
        "body": body,
    }
    return 200, {"Content-Type": "application/json"}, json.dumps(said).encode()


def _count(asked: _Handler) -> Answer:
    return 200, {}, str(len(asked.server.asked)).encode()


def _slow(_: _Handler) -> Answer:
    time.sleep(1)
    return 200, {}, b"at last"


_SHOWN = ("authorization", "content-type", "cookie", "x-trace", "x-key")
_ANSWERS: Mapping[str, Callable[[_Handler], Answer]] = {
    "count": _count,
    "gone": lambda _: (404, {"Content-Type": "text/plain"}, b"no such pet"),
    "huge": lambda _: (200, {}, b"x" * 5000),
    "nothing": lambda _: (204, {}, b""),
    "on": lambda asked: (302, {"Location": asked.server.elsewhere}, b""),
    "on_as_it_is": lambda asked: (307, {"Location": asked.server.elsewhere}, b""),
    "round": lambda _: (302, {"Location": "/round"}, b""),
    "slow": _slow,
    "squeezed": lambda _: (200, {"Content-Encoding": "gzip"}, b"\x1f\x8b"),
    "strange": lambda _: (200, {"Content-Type": "text/plain; charset=no-such-thing"}, b"caf\xc3\xa9 \xff"),
    "uncountable": lambda _: (200, {}, b"[NaN]"),
    "cookie": lambda _: (200, {"Set-Cookie": "session=1"}, b"{}"),
}
