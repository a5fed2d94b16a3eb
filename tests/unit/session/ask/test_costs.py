from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.core import Usage
from pytest_fcall.session.ask.costs import Costs
from tests.unit.session.settings import settings_of


def costs(root: Path) -> Costs:
    prices = '[tool.fcall.prices."openai:exam"]\ninput = 2\noutput = 10\n'
    (root / "pyproject.toml").write_text(prices, encoding="utf-8")
    return Costs(settings_of(root))


def test_of_replies_to_one_case_only_those_of_batches_cost_less(tmp_path: Path) -> None:
    both = Usage(1_500_000, 300_000, batched=Usage(1_000_000, 100_000))
    assert costs(tmp_path).of("openai:exam", both) == pytest.approx((2 + 1) / 2 + (1 + 2))


@pytest.mark.parametrize("batched", [Usage(10, None), Usage(200, 1)], ids=["uncounted", "more than all"])
def test_a_cost_is_unknown_where_the_part_of_batches_is(batched: Usage, tmp_path: Path) -> None:
    assert costs(tmp_path).of("openai:exam", Usage(100, 10, batched=batched)) is None
    assert costs(tmp_path).of("openai:other", Usage(100, 10, batched=Usage(1, 1))) is None
