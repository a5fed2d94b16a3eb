"""Serves SmolLM2, a model of 135 million weights, in the form of OpenAI's chat completions: a real model without a key.

    make examples-model        # from the root of the checkout: prints what to export, and serves until it is ended

The replies that are recorded in the examples come from here. No newcomer needs it: recorded replies answer, and a key
of a provider records anew. So small a model cannot hold a conversation with tools by itself. It gets two crutches, and
nothing else: where the user spoke last, a grammar lets it write nothing but calls of the offered tools, or none; where
a tool did, or it called nothing, it is asked without tools, for a text.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pytest_fcall.backends.local import local_backend
from pytest_fcall.backends.local.backend import LocalBackend
from pytest_fcall.core import Reply, Request, Tool
from pytest_fcall.session.models import parse_model

NAME = "smollm2-135m-instruct"


class Server(ThreadingHTTPServer):
    """The model, in an event loop of its own, and those who ask it."""

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), Answerer)
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.calling = _model("grammar=tools&max_new_tokens=128")
        self.talking = _model("max_new_tokens=160")

    def completion(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What the model says next, as a chat completion."""
        messages = [{**message, "content": message.get("content") or ""} for message in asked["messages"]]
        functions = [each["function"] for each in asked.get("tools", ())]
        tools = [Tool(each["name"], each.get("description", ""), each["parameters"]) for each in functions]
        calls: list[dict[str, Any]] = []
        if tools and messages[-1]["role"] == "user":
            reply = self._ask(self.calling, messages, tools)
            calls = json.loads(reply.text)
        if not calls:
            reply = self._ask(self.talking, _in_words(messages))
        return _completion("" if calls else reply.text.strip(), calls, reply)

    def _ask(self, backend: LocalBackend, messages: list[dict[str, Any]], tools: Sequence[Tool] = ()) -> Reply:
        request = Request(tuple(messages), tuple(tools), backend.settings)
        return asyncio.run_coroutine_threadsafe(backend.complete(request), self.loop).result()


class Answerer(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        """Answer a request for a chat completion."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        data = json.dumps(self.server.completion(asked)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _in_words(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages without calls: a result becomes a part of the question that it was looked up for."""
    told: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "tool":
            told[-1] = {**told[-1], "content": f"{told[-1]['content']}\n{message['content']}"}
        elif not message.get("tool_calls"):
            told.append(message)
    return told


def _model(settings: str) -> LocalBackend:
    folder = Path.cwd()
    return local_backend(parse_model(f"local:smollm2?batch=1&{settings}", "the server", folder), folder)


def _completion(text: str, calls: list[dict[str, Any]], reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text or None, "refusal": None}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
            }
            for number, call in enumerate(calls)
        ]
    usage = reply.usage
    read, written = (usage.input_tokens or 0, usage.output_tokens or 0) if usage else (0, 0)
    return {
        "id": "chatcmpl-smollm2",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": NAME,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else reply.finish}],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }


if __name__ == "__main__":
    with Server(int(sys.argv[1]) if len(sys.argv) > 1 else 0) as server:
        print(f"export OPENAI_BASE_URL=http://127.0.0.1:{server.server_port}/v1 OPENAI_API_KEY=none", flush=True)
        server.serve_forever()
