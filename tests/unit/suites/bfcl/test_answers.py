from __future__ import annotations

import pytest

from pytest_fcall.core import Json
from pytest_fcall.suites.bfcl.answers import BfclAnswer, read_answer
from pytest_fcall.suites.json_files import BrokenRow

BOTH: dict[str, Json] = {"style": "prompt", "decoder": "prompt_default", "raw": "[f()]", "decoded": [{"f": {}}]}


@pytest.mark.parametrize(
    ("row", "answer"),
    [
        pytest.param({"decoder": "fc_json", "raw": []}, BfclAnswer("fc", []), id="native"),
        pytest.param({"style": "FC", "raw": []}, BfclAnswer("fc", []), id="native_by_its_style"),
        pytest.param({"decoder": "fc_json", "raw": None}, BfclAnswer("fc", None), id="null_is_an_answer"),
        pytest.param(BOTH, BfclAnswer("prompt", "[f()]"), id="raw_is_preferred"),
        pytest.param({"style": "prompt", "decoded": []}, BfclAnswer("decoded", []), id="decoded_where_there_is_no_raw"),
        pytest.param({"style": "calls", "decoder": None, "decoded": []}, BfclAnswer("decoded", []), id="calls"),
        pytest.param({"decoded": []}, BfclAnswer("decoded", []), id="neither_style_nor_decoder"),
        pytest.param(
            {"style": "FC", "decoder": "2024-08:Some", "raw": "x", "decoded": [{"f": {}}]},
            BfclAnswer("decoded", [{"f": {}}]),
            id="the_decoder_is_not_known_here",
        ),
        pytest.param(
            {"style": "FC", "decoder": "2024-08:Some", "raw": "x", "decoded": None},
            BfclAnswer("undecodable", "x"),
            id="the_decoder_failed",
        ),
        pytest.param(
            {"decoder": "2024-08:Some", "decoded": None, "decode_error": None},
            BfclAnswer("decoded", None),
            id="the_decoder_gave_null",
        ),
        pytest.param({"style": "calls", "decoded": None}, BfclAnswer("decoded", None), id="calls_that_are_null"),
    ],
)
def test_rows_are_taken_by_their_decoder(row: dict[str, Json], answer: BfclAnswer) -> None:
    assert read_answer(row) == answer


def test_the_source_can_be_chosen() -> None:
    assert read_answer(BOTH, "raw").form == "prompt"
    assert read_answer(BOTH, "decoded") == BfclAnswer("decoded", [{"f": {}}])
    with pytest.raises(BrokenRow, match="missing `raw`"):
        read_answer({"style": "prompt", "decoded": []}, "raw")
    with pytest.raises(BrokenRow, match="missing `decoded`"):
        read_answer({"style": "prompt", "raw": ""}, "decoded")


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"style": "FC"},
        {"style": 3, "decoded": []},
        {"decoder": [], "decoded": []},
        {"decoded": [], "underscore_to_dot": "yes"},
    ],
)
def test_a_row_without_an_answer_is_broken(row: dict[str, Json]) -> None:
    with pytest.raises(BrokenRow):
        read_answer(row)


def test_nesting_too_deep_to_be_read_is_told() -> None:
    deep: Json = []
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(BrokenRow, match="nested"):
        read_answer({"decoded": deep})
