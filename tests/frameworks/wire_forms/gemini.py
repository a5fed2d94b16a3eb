"""Gemini's generateContent and streamGenerateContent."""

from __future__ import annotations

import re
from typing import Any

from tests.frameworks.wire_forms.question import Question, Said, Written, halves, plain, since_last, stream
from tests.servers import Asked

_USAGE = {"promptTokenCount": 20, "candidatesTokenCount": 10, "totalTokenCount": 30}


def read(asked: Asked) -> Question:
    body = asked.json
    prompt, since = since_last("user", body["contents"])
    declared = [tool.get("functionDeclarations") or () for tool in body.get("tools") or ()]
    parts = [part["functionResponse"] for content in since for part in content["parts"] if "functionResponse" in part]
    model = re.search(r"models/([^/:]+):", asked.path)
    return Question(
        prompt,
        tools=frozenset(function["name"] for functions in declared for function in functions),
        results=tuple(" ".join(map(str, part["response"].values())) for part in parts),
        streamed=":stream" in asked.path,
        model=model[1] if model else "exam-1",
    )


def write(question: Question, said: Said) -> Written:
    calls: list[dict[str, Any]] = [
        {"functionCall": {"name": name, "args": dict(arguments)}} for name, arguments in said.calls
    ]
    if not question.streamed:
        return plain(_answer(question, [{"text": said.text}] if said.text is not None else calls, "STOP"))
    parts = calls or [{"text": piece} for piece in halves(said.text or "")]
    last = len(parts) - 1
    pieces = (_answer(question, [part], "STOP" if number == last else None) for number, part in enumerate(parts))
    return stream((None, piece) for piece in pieces)


def _answer(question: Question, parts: list[dict[str, Any]], finish: str | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": _USAGE, "modelVersion": question.model, "responseId": "r1"}
