"""Who reads a reply."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

from pytest_fcall.core import Call, Calls, RawCall, Reply, Tool
from pytest_fcall.decoding.decoders import DECODERS, decode

ONE = Calls((Call("f", {}),))


def shout(text: str, tools: Sequence[Tool]) -> Calls:
    return Calls((Call(tools[0].name if tools else text.upper(), {}),))


def broken(text: str, tools: Sequence[Tool]) -> Calls:
    raise KeyError(text)


def gives_a_list(text: str, tools: Sequence[Tool]) -> list[str]:
    return [text]


def test_without_a_decoder_text_is_not_read() -> None:
    assert decode(Reply("f", (RawCall("f", "{}"),)), decoders={"shout": shout}) == ONE


def test_the_decoder_that_the_reply_names_reads_the_text() -> None:
    assert decode(Reply("f", decoder="shout"), decoders={"shout": shout}) == Calls((Call("F", {}),))


def test_a_decoder_is_told_which_tools_were_offered() -> None:
    assert decode(Reply("f", decoder="shout"), [Tool("g")], {"shout": shout}) == Calls((Call("g", {}),))


def test_an_unknown_decoder_is_malformed_and_the_nearest_is_named() -> None:
    assert decode(Reply("f", decoder="shot"), decoders={"shout": shout}) == Calls(
        malformed="No decoder is named 'shot'; did you mean `shout`?"
    )


def test_where_no_decoder_is_near_all_are_named() -> None:
    malformed = str(decode(Reply("f", decoder="\x1b" * 1000), decoders={"shout": shout}).malformed)
    assert malformed.endswith(", xlam.")
    assert len(malformed) < 1000


@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder_can_be_had_and_leaves_prose_alone(name: str) -> None:
    assert decode(Reply("Nice to meet you.", decoder=name)).calls == ()


def test_decoders_are_imported_when_they_are_first_used() -> None:
    heavy = (
        "{'xml', 'yaml', 'tree_sitter', 'jsonschema_rs', 'transformers', 'difflib', 'pytest_fcall.decoding.json_calls'}"
    )
    program = f"import sys, pytest_fcall.decoding.decoders; print(sorted({heavy} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_decoder_that_raises_is_named() -> None:
    assert "`broken` failed: KeyError" in str(
        decode(Reply("f", decoder="broken"), decoders={"broken": broken}).malformed
    )


def test_a_decoder_that_gives_something_else_is_named() -> None:
    calls = decode(Reply("f", decoder="list"), decoders={"list": gives_a_list})  # type: ignore[dict-item]  # the mistake
    assert "returned list, not Calls" in str(calls.malformed)


def test_native_calls_beside_a_decoder_are_noted() -> None:
    calls = decode(Reply("[]", (RawCall("f", "{}"),), decoder="json"))
    assert calls.calls == ()
    assert "native tool calls" in calls.notes[0]


def test_the_table_of_decoders_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        DECODERS["mine"] = shout  # type: ignore[index]  # that is the point
