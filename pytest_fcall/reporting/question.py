"""Where a case stands and what it asks."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.core import Case, Expectation, Json, Location, Turn
from pytest_fcall.reporting.fault import path_text
from pytest_fcall.reporting.safe import safe_line


def where(case: Case, model: str | None) -> str:
    """The line that leads to the case: `cases/weather.fc.yaml:14 celsius (openai:gpt-5.2)`."""
    line = f"{place_text(case.location)}{safe_line(case.id)}"
    return f"{line} ({safe_line(model)})" if model else line


def place_text(location: Location) -> str:
    """`cases/weather.fc.yaml:14 `; nothing for a case that stands in no file."""
    return f"{path_text(location)}:{location.line} " if location.path else ""


def judged_turn(case: Case) -> Turn:
    """The last turn with an expectation, else the last one."""
    return next((turn for turn in reversed(case.turns) if turn.expect is not None), (Turn(()), *case.turns)[-1])


def expectation_of(case: Case) -> Expectation:
    """What is expected in that turn."""
    return judged_turn(case).expect or Expectation(kind="any_call")


def asked(case: Case) -> str:
    """The last thing the user says before the verdict, on one line."""
    messages = judged_turn(case).messages
    said = [message for message in messages if message.get("role") == "user"] or messages[-1:]
    return safe_line(content_text(said[-1].get("content"))) if said else "(nothing)"


def content_text(content: Json) -> str:
    """A message's content as text; parts that are none are named in brackets."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    return " ".join(_part(part) for part in parts if isinstance(part, Mapping))


def _part(part: Mapping[str, Json]) -> str:
    if isinstance(text := part.get("text"), str):
        return text
    image = part.get("image_file")
    return f"[image {image.get('path')}]" if isinstance(image, Mapping) else f"[{part.get('type')}]"
