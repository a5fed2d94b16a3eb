"""From a text and a family to Calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_fcall.core.call import Calls
from pytest_fcall.core.tool import Tool
from pytest_fcall.decoding.call_marks import find_mark
from pytest_fcall.decoding.gathering import Gathering
from pytest_fcall.decoding.positional import by_name
from pytest_fcall.decoding.tagged.cutting import pieces
from pytest_fcall.decoding.tagged.family import Attempt, Family, Piece, refusal
from pytest_fcall.decoding.wording import shortened


def read(family: Family, text: str, tools: Sequence[Tool] = ()) -> Calls:
    """Read the calls. Total, and linear in the length of the text.

    What is thought is never searched for calls, and what stands behind the end of the model's turn is not its answer.
    """
    offered = by_name(tools)
    found = Gathering()
    for piece in family.cut(text) if family.cut else pieces(family, text):
        match piece.kind:
            case "call":
                for attempt in _attempts(piece, offered):
                    found.call(attempt)
            case "said":
                found.prose(piece.text)
            case "thought":
                if mark := find_mark(piece.text):
                    found.note(f"A tool call ({mark}) within the thinking was not read.")
            case "beyond":
                found.note(f"Text behind the end of the answer was dropped: {shortened(piece.text.strip())}.")
    return found.result()


def _attempts(piece: Piece, tools: Mapping[str, Tool]) -> Iterator[Attempt]:
    if piece.form and piece.closed:
        yield from piece.form.body.read(piece.text, tools)
    elif piece.form:
        name = piece.form.body.name(piece.text)
        whose = f"the call of {shortened(name)}" if name else "it"
        yield refusal(f"{whose} is cut off before {shortened(piece.form.closing)}")
