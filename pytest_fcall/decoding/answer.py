"""What of a text is the model's answer: neither what it thought before nor the tokens that end its turn."""

from __future__ import annotations

import re

ENDS = (
    "<|im_end|>",
    "</s>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|end|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|user|>",
    "<|observation|>",
    "<｜end▁of▁sentence｜>",
    "<end_of_turn>",
    "<start_function_response>",
    "<turn|>",
    "<|tool_response>",
    "<eos>",
)
"""Tokens that end a model's turn. Most servers strip them; what stands behind one is not the model's answer."""

_RUNS = re.compile(rf"(?:(?:{'|'.join(map(re.escape, ENDS))})\s*+)++")
_OPENING, _CLOSING = "<think>", "</think>"
_END = re.compile(rf"{_CLOSING}(?=\s|\Z)")


def parted(text: str) -> tuple[str, str]:
    """Give what was thought and what was answered, the tokens behind it left out. Takes linear time.

    Many prompts end with the opening tag, so that it may be missing; an end that is missing leaves no answer.
    """
    text = _without_ends(text)
    if text.lstrip().startswith(_OPENING):
        end = text.find(_CLOSING)
        answer = end + len(_CLOSING) if end >= 0 else len(text)
    else:
        found = _END.search(text)
        answer = found.end() if found else 0
    return text[:answer], text[answer:]


def _without_ends(text: str) -> str:
    """Leave out the tokens, and the white space among them, that end a text. Takes linear time."""
    if not text.rstrip().endswith(ENDS):
        return text
    return text[: [run.start() for run in _RUNS.finditer(text)][-1]]
