"""Plays the model of this example, for those who have no key: `python stand_in.py` prints what to export.

It is no model: it does what its few lines say, and turns every fifth request away as a busy provider would.
"""

from __future__ import annotations

import itertools
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NUMBERS = itertools.count(1)


class StandIn(BaseHTTPRequestHandler):
    """Answers chat completions."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Say what comes next."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if next(NUMBERS) % 5 == 0:
            self._say(429, {"error": {"message": "too many requests", "code": "rate_limit_exceeded"}})
            return
        self._say(200, completion(asked["messages"]))

    def _say(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def completion(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The next message, with calls if there is something to look up or to do."""
    asked = next(message["content"] for message in messages if message["role"] == "user")
    results = [json.loads(message["content"]) for message in messages if message["role"] == "tool"]
    text, calls = next_step(asked, results)
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{len(results) + n}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(of)},
            }
            for n, (name, of) in enumerate(calls)
        ]
    words = sum(len(str(each.get("content")).split()) for each in messages)
    return {
        "id": "chatcmpl-example",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "gpt-5.2",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 60 + words, "completion_tokens": 20, "total_tokens": 80 + words},
    }


def next_step(asked: str, results: list[Any]) -> tuple[str | None, list[tuple[str, dict[str, str]]]]:
    """What a model would say next."""
    if asked.startswith("Thanks"):
        return "You are welcome!", []
    customer = "anna" if "anna" in asked else "bo"
    if not results:
        return None, [("find_orders", {"customer": customer})]
    orders, *told = results
    if not told:
        return None, [("order_status", {"order": order}) for order in orders]
    open_orders = [order for order, status in zip(orders, told, strict=False) if status == "open"]
    if "cancel" in asked and len(told) == len(orders):
        return None, [("cancel_order", {"order": order}) for order in open_orders]
    if "cancel" in asked:
        return f"I have cancelled {' and '.join(open_orders)}.", []
    return f"Your order {' and '.join(orders)} is still {told[0]}.", []


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), StandIn) as server:
        print(f"export OPENAI_BASE_URL=http://127.0.0.1:{server.server_port}/v1 OPENAI_API_KEY=none", flush=True)
        server.serve_forever()
