"""The agent: asks a model, does what it says, and asks again until it has an answer."""

from __future__ import annotations

import json
import time
from typing import Any

import openai

from shop.tools import TOOLS

MODEL = "gpt-5.2"
PROMPT = "You help customers of a small shop. Look things up before you answer. Be brief."
STEPS = 6
TRIES = 4


def answer(request: Any) -> list[dict[str, Any]]:
    """Answer, and return the whole exchange."""
    with openai.OpenAI(max_retries=0) as client:
        messages = _opening(request)
        for _ in range(STEPS):
            for attempt in range(TRIES):
                try:
                    reply = client.chat.completions.create(model=MODEL, messages=messages, tools=request.tools)
                    break
                except openai.RateLimitError:
                    if attempt == TRIES - 1:
                        raise
                    time.sleep(0.01 * 2**attempt)
            if not _goes_on(reply.choices[0].message, messages):
                break
    return messages


async def answer_async(request: Any) -> list[dict[str, Any]]:
    """Do the same in an event loop; here the library tries again by itself."""
    async with openai.AsyncOpenAI(max_retries=TRIES) as client:
        messages = _opening(request)
        for _ in range(STEPS):
            reply = await client.chat.completions.create(model=MODEL, messages=messages, tools=request.tools)
            if not _goes_on(reply.choices[0].message, messages):
                break
    return messages


def _opening(request: Any) -> list[dict[str, Any]]:
    return [{"role": "system", "content": PROMPT}, *request.messages]


def _goes_on(message: Any, messages: list[dict[str, Any]]) -> bool:
    """Take the model's message in, do what it calls for, and tell whether there is more to ask."""
    messages.append(message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True))
    calls = message.tool_calls or ()
    messages += [{"role": "tool", "tool_call_id": call.id, "content": _result(call.function)} for call in calls]
    return bool(calls)


def _result(called: Any) -> str:
    try:
        return json.dumps(TOOLS[called.name](**json.loads(called.arguments)))
    except (KeyError, TypeError, ValueError) as error:
        return f"failed: {error}"
