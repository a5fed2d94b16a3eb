"""The names of the built-in decoders."""

from __future__ import annotations

import subprocess
import sys

from pytest_fcall.decoding.call_marks import FAMILY_MARKS
from pytest_fcall.decoding.decoders import DECODERS, LazyDecoders
from pytest_fcall.decoding.tagged.families import FAMILIES, FAMILY_DECODERS


def test_every_family_of_models_has_a_name_in_the_table() -> None:
    assert {name: DECODERS[name] for name in FAMILIES} == FAMILY_DECODERS


def test_the_marks_are_in_the_order_of_the_families() -> None:
    assert list(FAMILY_MARKS) == [name for name in FAMILIES if name in FAMILY_MARKS]
    assert FAMILIES.keys() - FAMILY_MARKS.keys() == {"glm4", "xlam"}


def test_a_name_is_known_without_importing_its_decoder() -> None:
    decoders = LazyDecoders({"gone": "pytest_fcall.gone:decode"})
    assert "gone" in decoders
    assert list(decoders) == ["gone"]
    assert len(decoders) == 1


def test_native_calls_are_read_without_importing_decoders_of_text() -> None:
    program = (
        "import sys; from pytest_fcall.decoding.decoders import decode; from pytest_fcall.core import RawCall, Reply; "
        "reply = Reply('Let me look that up.', (RawCall('f', {'a': [1.5]}), RawCall('g', '{}'))); "
        "assert len(decode(reply).calls) == 2; "
        "print(*sorted(name.removeprefix('pytest_fcall.decoding') for name in sys.modules if 'fcall.dec' in name))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        ".call_marks",
        ".decoders",
        ".strict_json",
        ".unreadable_text",
    ]
