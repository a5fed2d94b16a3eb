"""Commands of curl: which request an answer asks for. None is ever run."""

from __future__ import annotations

from pytest_fcall.core.values import Json
from pytest_fcall.decoding.families.curl import read_curl
from pytest_fcall.decoding.unreadable import Unreadable

_DEFAULTS = ("lang=en", "units=standard", "mode=json")


def command_in(answer: str) -> str:
    """The first line that is a command of curl; all of an answer that has none."""
    bare = (line.strip() for line in answer.split("\n"))
    return next((line for line in bare if line.startswith("curl")), answer)


def completed(task: str, answer: str) -> str | None:
    """The command as the original completes it; None where it refuses to run it."""
    command = command_in(answer)
    if task != "open_weather":
        return command
    if not command.endswith("'"):
        return None
    command = command.replace("%20", "+")
    if "air_pollution" in command or "direct" in command:
        return command
    added = (f"&{each}" for each in _DEFAULTS if each.partition("=")[0] not in command)
    return f"{command[:-1]}{''.join(added)}'"


def request_of(task: str, answer: str) -> Json:
    """What is asked for, the same however it is written; the text itself where it cannot be read, or None."""
    command = completed(task, answer)
    if command is None:
        return None
    try:
        call, _ = read_curl(command, {})
    except Unreadable:
        return command
    return [call.name, dict(call.arguments)]
