"""Text that was made to break decoders: whatever it is, calls come back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Calls
from pytest_fcall.decoding.decoders import DECODERS
from pytest_fcall.decoding.tagged.families import FAMILIES
from tests.by_night import by_night
from tests.unit.decoding.tools import TOOLS

# One name each of those that have several; the families of models have tests of their own.
NAMES = sorted({DECODERS[name]: name for name in sorted(DECODERS.keys() - FAMILIES.keys())}.values())
SEEDS = [
    "(",
    "[",
    "{",
    "[ping(",
    "ping(",
    "\nping(",
    "ping()\n",
    "ping(a='",
    "ping(a='\\\\",
    "'''\\\\",
    '"""',
    "f'{",
    "9",
    "-",
    "9**",
    "a.",
    "a=b ",
    "A(b=c, ",
    "A[b='c\\\\', ",
    "A(b ; ) [SEP] ",
    ")   ",
    "\ud800",
    "\0",
    "\u00e9\n",
    "```",
    "```\n",
    "```json\n",
    "<think>",
    "</think>",
    "<<function>>",
    "<<function>>f(",
    "<<function>>f(a='x') ",
    "curl a\n",
    "API.f(1)\n",
    "x = Loc('y')\nAPI.f(x, x)\n",
    "x = [x, x]\n",
    '{"name": "f", "arguments": {',
    '{"name": "f", "arguments": {}}\n',
    '{"name": "f", "arguments": {"a": "\\\\',
    '"API"',
    "#",
    ";",
    "`",
    "<tool_call>",
    "</s>",
    "</s>\n.",
    "<|python_start|>",
    "call:f{",
    'f{"a":',
    "x = [\n",
    "curl -d '",
]


@pytest.mark.parametrize("size", [10_000, *map(by_night, (30_000, 300_000))])
@pytest.mark.parametrize("decoder", NAMES)
def test_long_text_that_repeats_itself_gives_calls_in_few_words(decoder: str, size: int) -> None:
    for seed in SEEDS:
        calls = DECODERS[decoder](seed * (size // len(seed)), TOOLS)
        assert isinstance(calls, Calls), seed
        assert len(calls.malformed or "") < 5_000, seed


@given(decoder=st.sampled_from(NAMES), parts=st.lists(st.sampled_from(SEEDS) | st.text(st.characters(codec=None))))
def test_any_text_gives_calls(decoder: str, parts: list[str]) -> None:
    assert isinstance(DECODERS[decoder]("".join(parts), TOOLS), Calls)
