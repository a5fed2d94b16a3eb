"""Many tests at once."""

from __future__ import annotations

from collections.abc import Mapping


def holm(chances: Mapping[str, float]) -> dict[str, float]:
    """Adjust the p-value of each test, by Holm.

    With twenty categories, one of them looks significant by chance. Adjusted values may be compared with a level as
    if there were one test: the chance of any false alarm among all of them stays below it.
    """
    adjusted: dict[str, float] = {}
    largest = 0.0
    for place, name in enumerate(sorted(chances, key=lambda name: chances[name])):
        largest = max(largest, min(1.0, chances[name] * (len(chances) - place)))
        adjusted[name] = largest
    return {name: adjusted[name] for name in chances}
