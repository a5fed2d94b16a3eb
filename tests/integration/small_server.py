"""The HTTP server of apps that tests start: of the standard library, which a process has at once.

It is written beside the app, which says `serve(answer)`.
"""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable
from email.message import Message
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any, TypeAlias

Headers: TypeAlias = "Message[str, str]"
Answer: TypeAlias = Callable[[Any, Headers], tuple[int, object]]
"""Gets what was asked, and its headers, and returns a status and a body."""


class _Server(ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


def serve(answer: Answer, look: Callable[[Headers], object] = len) -> None:
    """Answer on the port of the variable PORT, for ever. `look` is called where somebody looks whether it is there."""

    class App(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            look(self.headers)
            self.reply(200 if self.path == "/" else 404, None)

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            try:
                self.reply(*answer(asked, self.headers))
            except Exception as error:
                traceback.print_exc()
                self.reply(500, {"error": str(error)})

        def reply(self, status: int, body: object) -> None:
            written = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    _Server(("127.0.0.1", int(os.environ["PORT"])), App).serve_forever()
