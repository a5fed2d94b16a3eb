"""The service: a message comes in, a model says what is wanted, and the service does it."""

from __future__ import annotations

from itertools import count
from typing import Any

import openai
from fastapi import FastAPI
from pydantic import BaseModel

from booking.tools import TOOLS, BookTable, CancelBooking, OpeningHours

MODEL = "smollm2-135m-instruct"
"""What the recorded replies are of. With a key of OpenAI write a model of theirs here, such as gpt-5.2."""

PROMPT = "You take bookings for a restaurant."

app = FastAPI()
client = openai.AsyncOpenAI()
numbers = count(1)


class Message(BaseModel):
    """What a guest writes."""

    text: str


@app.get("/health")
async def health() -> dict[str, str]:
    """Say that the service is there."""
    return {"status": "ok"}


@app.post("/message")
async def message(asked: Message) -> dict[str, Any]:
    """Do what a guest writes, and say what was done."""
    completion = await client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "system", "content": PROMPT}, {"role": "user", "content": asked.text}],
        tools=[_described(tool) for tool in TOOLS],
    )
    said = completion.choices[0].message
    wanted = [_read(call.function) for call in said.tool_calls or ()]
    return {
        "done": [{"tool": type(each).__name__, "input": each.model_dump()} for each in wanted],
        "says": " ".join(map(_carried_out, wanted)) or said.content,
    }


def _described(tool: type[BaseModel]) -> dict[str, Any]:
    schema = tool.model_json_schema()
    parameters = {"type": "object", "properties": schema["properties"], "required": schema["required"]}
    return {
        "type": "function",
        "function": {"name": tool.__name__, "description": tool.__doc__, "parameters": parameters},
    }


def _read(called: Any) -> BaseModel:
    """The wish behind a call. A call that does not fit its tool is a mistake of the model, and fails the request."""
    tool = {each.__name__: each for each in TOOLS}[called.name]
    return tool.model_validate_json(called.arguments)


def _carried_out(wish: BaseModel) -> str:
    match wish:
        case BookTable(guests=guests, day=day):
            return f"A table for {guests} on {day} is booked, number {next(numbers)}."
        case CancelBooking(number=number):
            return f"Booking {number} is cancelled."
        case OpeningHours(day=day):
            return f"On {day} we are open from {'noon' if day == 'sunday' else 'five'} to eleven."
    raise TypeError(f"no way to carry out {wish!r}")
