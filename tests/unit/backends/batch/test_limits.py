"""Portions are as large as a provider takes a batch, and not larger."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.batch import batch_service
from pytest_fcall.backends.batch.anthropic import AnthropicBatches
from pytest_fcall.backends.batch.gemini import GeminiBatches
from pytest_fcall.backends.batch.openai import OpenAIBatches
from pytest_fcall.backends.batch.portion import BatchRequest, Division, Portion, PortionFolder, Selection, TooLarge
from pytest_fcall.backends.batch.service import LIMITS, BatchLimits, BatchService
from pytest_fcall.backends.batch_server import BatchInterface, BatchServer
from pytest_fcall.core.backend import OfflineBody
from tests.unit.backends.batch.support import name
from tests.unit.backends.store.entries import MODEL

SERVICES: Mapping[BatchInterface, type[BatchService]] = {
    "openai": OpenAIBatches,
    "anthropic": AnthropicBatches,
    "gemini": GeminiBatches,
}


def divided(root: Path, interface: BatchInterface, texts: Sequence[str], limits: BatchLimits) -> Sequence[Portion]:
    """Requests with these texts, in portions."""
    return asyncio.run(_divided(root, interface, texts, limits))


async def _divided(
    root: Path, interface: BatchInterface, texts: Sequence[str], limits: BatchLimits
) -> Sequence[Portion]:
    folder = PortionFolder(root)
    folder.path.mkdir(parents=True, exist_ok=True)
    division = Division(folder, Selection("cases", ("cases",)), {**LIMITS, interface: limits})
    server = BatchServer(interface, "http://127.0.0.1:9/v1", {})
    service = batch_service(server)
    try:
        for number, text in enumerate(texts):
            offline = OfflineBody("/v1/models/exam-1", {"text": text})
            division.add(BatchRequest(name(number), MODEL, server, offline, 0.01), service)
        division.end()
    finally:
        await service.client.close()
    return division.portions


def sizes(portions: Sequence[Portion]) -> list[int]:
    return [len(portion.digests) for portion in portions]


@pytest.mark.parametrize(("requests", "portions"), [(1, [1]), (3, [3]), (4, [3, 1]), (6, [3, 3]), (7, [3, 3, 1])])
def test_a_portion_has_the_most_requests_of_a_batch_and_not_one_more(
    tmp_path: Path, interface: BatchInterface, requests: int, portions: list[int]
) -> None:
    limits = replace(LIMITS[interface], requests=3)
    assert sizes(divided(tmp_path, interface, ["text"] * requests, limits)) == portions


def test_a_portion_has_the_most_bytes_of_a_batch_and_not_one_more(tmp_path: Path, interface: BatchInterface) -> None:
    texts, limits = ["short", "a longer one", "Übergrößenträger"], LIMITS[interface]
    (whole,) = divided(tmp_path, interface, texts, limits)
    assert PortionFolder(tmp_path).requests_file(whole.name).stat().st_size == whole.bytes
    assert sizes(divided(tmp_path, interface, texts, replace(limits, bytes=whole.bytes))) == [3]
    assert sizes(divided(tmp_path, interface, texts, replace(limits, bytes=whole.bytes - 1))) == [2, 1]


def test_a_request_that_fills_a_batch_is_submitted_and_a_longer_one_is_not(
    tmp_path: Path, interface: BatchInterface
) -> None:
    limits = LIMITS[interface]
    (whole,) = divided(tmp_path, interface, ["text"], limits)
    assert sizes(divided(tmp_path, interface, ["text"] * 2, replace(limits, bytes=whole.bytes))) == [1, 1]
    with pytest.raises(TooLarge, match=f"{whole.bytes:,} bytes, and a batch takes {whole.bytes - 1:,}"):
        divided(tmp_path, interface, ["text"], replace(limits, bytes=whole.bytes - 1))


@given(
    st.sampled_from([*LIMITS]),
    st.lists(st.text("xÜ", max_size=40), min_size=1, max_size=12),
    st.integers(1, 5),
    st.integers(400, 1_200),
)
def test_portions_keep_the_order_and_both_limits_and_begin_where_the_last_is_full(
    interface: BatchInterface, texts: Sequence[str], requests: int, length: int
) -> None:
    limits = replace(LIMITS[interface], requests=requests, bytes=length)
    with TemporaryDirectory() as folder:
        root = Path(folder)
        portions = divided(root, interface, texts, limits)
        files = [PortionFolder(root).requests_file(portion.name).read_bytes() for portion in portions]
        alone = [divided(root, interface, [text], LIMITS[interface])[0].bytes for text in texts]
    assert [len(file) for file in files] == [portion.bytes for portion in portions]
    assert [digest for portion in portions for digest in portion.digests] == [name(n) for n in range(len(texts))]
    assert max(sizes(portions)) <= requests
    assert max(portion.bytes for portion in portions) <= length
    frame = SERVICES[interface].frame
    for before, after in pairwise(portions):
        line = alone[int(after.digests[0], 16)] - len(frame.before) - len(frame.after)
        assert len(before.digests) == requests or before.bytes + len(frame.between) + line > length


DOCUMENTED: Mapping[BatchInterface, tuple[int, int, int]] = {
    "openai": (50_000, 200_000_000, 30),
    "anthropic": (100_000, 256_000_000, 29),
    "gemini": (100_000, 2_000_000_000, 2),
}
"""Requests, bytes and days. Gemini's number of requests is ours, as the provider names none."""


def test_the_limits_are_those_that_providers_document_at_half_the_price(interface: BatchInterface) -> None:
    assert LIMITS[interface] == BatchLimits(*DOCUMENTED[interface], share=0.5)


@pytest.mark.nightly
def test_one_request_more_than_a_provider_takes_goes_into_a_second_batch(
    tmp_path: Path, interface: BatchInterface
) -> None:
    most = DOCUMENTED[interface][0]
    assert sizes(divided(tmp_path, interface, [""] * (most + 1), LIMITS[interface])) == [most, 1]
