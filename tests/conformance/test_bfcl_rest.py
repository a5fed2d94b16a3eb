"""The right requests of the category `rest`, and what servers once answered, as the official package has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.suites.bfcl.categories import RIGHT_REQUESTS
from pytest_fcall.suites.json_files import read_rows
from tests.bfcl_data import write_rows
from tests.conformance.conftest import Held
from tests.conformance.official.client import PYTHON
from tests.integration.command import fcall

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="`make conformance` makes the official environment")


def test_every_right_request_is_right_and_one_without_its_parameters_is_not(tmp_path: Path, held: Held) -> None:
    (folder,) = PYTHON.parents[1].glob("lib/python*/site-packages/bfcl_eval/data")
    right = [str(row.data["ground_truth"]) for row in read_rows(folder / RIGHT_REQUESTS)]
    assert len(right) == 70
    answers = [*right, *(f"requests.get(url='https://example.org/{number}')" for number in range(70))]
    rows = [{"id": f"rest_{number % 70}", "result": f"[{source}]"} for number, source in enumerate(answers)]
    write_rows(tmp_path / "results.jsonl", rows)
    done = fcall(tmp_path, "score", "--format", "bfcl", "--cases", str(folder), "results.jsonl")
    assert [json.loads(line)["valid"] for line in done.stdout.splitlines()] == [True] * 70 + [False] * 70
    held("BFCL", "right requests of `rest` are right, and others wrong", "the responses in the data", len(rows))
    assert done.stderr.startswith("fcall score: 70 of 140 rows: no recorded response tells")
