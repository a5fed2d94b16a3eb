"""Speed, full batches and memory, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.backends.local.answerer import GeneratedText, WorkFigures, WorkTally, figures_from_data
from pytest_fcall.core.json_data import DamagedData
from tests.unit.backends.local.asking import backends, request

DONE = WorkFigures(
    loading_seconds=2.04,
    batch_size=16,
    busy_seconds=10.0,
    occupied=120.0,
    prompts=24,
    tokens=417,
    peak_bytes=1_260_000_000,
)


def test_figures_are_one_line() -> None:
    assert DONE.text() == "42 tokens a second, batches 75 % full, 1.3 GB at most, loaded in 2.0 s"


def test_what_memory_had_no_room_for_is_told_with_them() -> None:
    figures = WorkFigures(loading_seconds=1.0, batch_size=16, note="memory for at most 4 prompts at once")
    assert figures.text().endswith("loaded in 1.0 s, memory for at most 4 prompts at once")


def test_they_travel_as_json() -> None:
    assert figures_from_data(DONE.to_data()) == DONE
    with pytest.raises(DamagedData):
        figures_from_data({**DONE.to_data(), "tokens": "many"})


def test_batches_are_counted() -> None:
    tally = WorkTally()
    tally.add([GeneratedText("a", 1, 3), GeneratedText("b", 1, 4)], 0.5, 1.0)
    tally.add([GeneratedText("c", 1, 1)], 0.25, 0.25)
    counted = tally.figures(1.5, 2, "")
    assert (counted.occupied, counted.prompts, counted.tokens, counted.busy_seconds) == (1.25, 3, 8, 0.75)
    assert counted.peak_bytes > 1_000_000


@pytest.mark.asyncio
async def test_a_back_end_knows_what_its_process_has_done_for_all(tmp_path: Path) -> None:
    async with backends(tmp_path / "own", 2) as (one, other):
        assert one.throughput() is None
        for text in ("a", "b"):
            await one.complete(request(text))
        await other.complete(request("c"))
        seen, last = one.throughput(), other.throughput()
        assert seen is not None
        assert last is not None
        assert (seen[0], last[0]) == (2, 3)
        assert "tokens a second" in last[1]
