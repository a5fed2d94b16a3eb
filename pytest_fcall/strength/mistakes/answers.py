"""Wrong texts of an answer, where the case expects one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from pytest_fcall.strength.brief import brief
from pytest_fcall.strength.mistakes.calls import WrongScript
from pytest_fcall.strength.scripts import Script, with_turn

_NUMBER: Final = re.compile(r"\d{1,12}")
_REFUSAL: Final = "Sorry, I cannot help with that."
_EMPTY: Final = "Here is what I found."


def wrong_answers(script: Script, judged_turns: Sequence[int]) -> Iterator[WrongScript]:
    """Other texts in the turns of which the answer is judged."""
    for turn in judged_turns:
        scripted = script[turn]
        tool = scripted.calls[0].name if scripted.calls else ""
        for other in dict.fromkeys(_others(scripted.text)):
            if other != scripted.text:
                wrong = with_turn(script, turn, replace(scripted, text=other))
                detail = f"{brief(scripted.text)} → {brief(other)}"
                yield WrongScript("answer changed", tool, "answer", detail, wrong)


def _others(text: str) -> Iterator[str]:
    yield _REFUSAL
    yield _EMPTY
    if number := _NUMBER.search(text):
        yield f"{text[: number.start()]}{int(number[0]) + 1}{text[number.end() :]}"
