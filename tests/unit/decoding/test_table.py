"""The names of the built-in decoders."""

from __future__ import annotations

from pytest_fcall.decoding import DECODERS
from pytest_fcall.decoding.decoders import LazyDecoders
from pytest_fcall.decoding.tagged.families import FAMILIES


def test_every_family_of_models_has_a_name_in_the_table() -> None:
    assert {name: DECODERS[name] for name in DECODERS if DECODERS[name] in FAMILIES.values()} == FAMILIES


def test_a_name_is_known_without_importing_what_it_stands_for() -> None:
    decoders = LazyDecoders({"gone": "pytest_fcall.gone:decode"})
    assert "gone" in decoders
    assert list(decoders) == ["gone"]
    assert len(decoders) == 1
