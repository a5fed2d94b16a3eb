from __future__ import annotations

from tests.unit.backends.local.asking import request
from tests.unit.backends.local.engines import spelling


def test_samples_by_lot_have_seeds_of_their_own() -> None:
    answerer = spelling({})
    drawn = [answerer.prompt(request("x", sample, temperature=1, seed=7)).settings["seed"] for sample in range(3)]
    likely = [answerer.prompt(request("x", sample, seed=7)).settings["seed"] for sample in range(3)]
    assert (drawn, likely) == ([7, 8, 9], [7, 7, 7])
