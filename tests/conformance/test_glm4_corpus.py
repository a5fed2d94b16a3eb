"""Stored answers of GLM 4 are decoded as the official handler of August 2024 decoded them.

The rows are not ours to pass on: FCALL_CORPUS names a folder that holds them.
"""

from __future__ import annotations

import pytest

from pytest_fcall.decoding.decoders import DECODERS
from tests.conformance.conftest import Held
from tests.conformance.corpus import VERDICTS, rows

pytestmark = pytest.mark.skipif(not VERDICTS.is_file(), reason="FCALL_CORPUS names no folder with the corpus")


def test_every_answer_is_decoded_alike(held: Held) -> None:
    counts = {True: 0, False: 0}
    for row in rows(VERDICTS, "GLMHandler"):
        if "GLMHandler" in str(row.get("decoder")):
            found = DECODERS["glm4"](row["raw"], ())
            calls = None if found.malformed else [{call.name: dict(call.arguments)} for call in found.calls]
            assert (calls or None) == row["decoded"], row["id"]
            counts[bool(calls)] += 1
    assert counts == {True: 838, False: 183}
    held("BFCL", "calls in the text of GLM 4", "the official handler of August 2024", sum(counts.values()))
