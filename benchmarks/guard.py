"""Refuses a checkout that is slower than the last release: `make bench-guard`, or `python -m benchmarks.guard
[--against COMMIT] [--pairs N]`.

Both are installed into fresh environments with the same versions of all else, and run the same scenarios in turn. What
decides is the median of the ratios, pair by pair, of CPU time and of memory at the peak. A scenario over the limit is
measured once more, with three times the pairs, and the second measurement alone decides: the first was chosen for being
high. The exit status is 0 if nothing got slower, 1 if something did, and 2 if there was nothing to compare.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeAlias

from benchmarks.dispatch import LATENCY, serving
from benchmarks.environments import ROOT, Environment, of_checkout, of_commit
from benchmarks.measure import CommandFailed, Run, in_turn
from benchmarks.releases import Commit, NoSuchCommit, last_release, named
from benchmarks.scenarios import EMPTY, Scenario, cases, requests

LIMIT = 1.10
_ALLOWED = f"{100 * (LIMIT - 1):.0f} %"
RESOURCES = {"cpu": "CPU", "rss": "memory"}


class NotComparable(Exception):
    """The release cannot run a scenario; the message is the last line of its output."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs of the release, and of the checkout beside each."""

    scenario: str
    release: Sequence[Run]
    checkout: Sequence[Run]

    def ratios(self, resource: str) -> list[float]:
        """Checkout ÷ release, pair by pair."""
        pairs = zip(self.release, self.checkout, strict=True)
        return [getattr(now, resource) / getattr(then, resource) for then, now in pairs]

    def excess(self) -> Iterator[str]:
        """What takes more than the limit allows, and how much."""
        for resource, name in RESOURCES.items():
            ratios = self.ratios(resource)
            if median(ratios) > LIMIT:
                yield (
                    f"{self.scenario}: {median(ratios):.2f} times the {name} "
                    f"({min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} pairs)"
                )

    def row(self) -> str:
        """A row of the table."""
        cells = [self.scenario]
        for resource in RESOURCES:
            ratios = self.ratios(resource)
            cells += [f"{median(getattr(run, resource) for run in side):.2f}" for side in (self.release, self.checkout)]
            cells.append(f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
        return f"| {' | '.join(cells)} | {len(self.release)} |"


Measure: TypeAlias = Callable[[int], Comparison]
"""Measures a scenario in so many pairs, or raises NotComparable."""

_HEAD = """\
| scenario | CPU s: {name} | checkout | ratio | MB: {name} | checkout | ratio | pairs |
|---|---|---|---|---|---|---|---|"""


def guard(release: str, scenarios: Iterable[tuple[str, Measure]], pairs: int) -> int:
    """Compare all scenarios, print what comes of it, and return the exit status."""
    print(_HEAD.format(name=release), flush=True)
    compared, slower = 0, list[str]()
    left_out: dict[str, str] = {}
    for name, measure in scenarios:
        try:
            comparison = measure(pairs)
            print(comparison.row(), flush=True)
            if any(comparison.excess()):
                comparison = measure(3 * pairs)
                print(comparison.row(), flush=True)
        except NotComparable as reason:
            left_out[name] = str(reason)
            continue
        compared += 1
        slower += comparison.excess()
    print()
    for name, why in left_out.items():
        print(f"Not compared: {release} cannot run the scenario {name!r}: {why}")
    if not compared:
        print(f"Nothing was compared: choose another commit than {release} by --against.")
        return 2
    for what in slower:
        print(f"Slower than {release}: {what}; {_ALLOWED} more are allowed.")
    if not slower:
        print(f"Nothing takes {_ALLOWED} more than {release} took.")
    return 1 if slower else 0


def _measures(
    scenarios: Sequence[Scenario], release: Environment, checkout: Environment, folder: Path
) -> Iterator[tuple[str, Measure]]:
    for scenario in scenarios:
        place = folder / scenario.name
        then, now = scenario.prepared(release, place / "release"), scenario.prepared(checkout, place / "checkout")
        yield scenario.name, partial(_measured, scenario.name, partial(_at_release, then), now)


def _at_release(run: Callable[[], Run]) -> Run:
    try:
        return run()
    except CommandFailed as failure:
        raise NotComparable(str(failure).rstrip().splitlines()[-1]) from failure


def _measured(name: str, release: Callable[[], Run], checkout: Callable[[], Run], pairs: int) -> Comparison:
    runs = in_turn({"release": release, "checkout": checkout}, pairs)
    return Comparison(name, runs["release"], runs["checkout"])


def main() -> int:
    """Compare the checkout with the last release, or with the commit of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guard")
    parser.add_argument("--against", metavar="COMMIT", help="default: the newest tag v* that HEAD contains")
    parser.add_argument("--pairs", type=int, default=7)
    chosen = parser.parse_args()
    try:
        commit = named(chosen.against, ROOT) if chosen.against else last_release(ROOT)
        return _compare_with(commit, chosen.pairs)
    except (NoSuchCommit, CommandFailed) as failure:
        print(failure, file=sys.stderr)
        return 2


def _compare_with(commit: Commit, pairs: int) -> int:
    print(f"The checkout against {commit.name}: {commit.why}.\n", flush=True)
    checkout = of_checkout()
    release = of_commit(commit.digest, "commit-1", checkout)
    with TemporaryDirectory() as folder, serving(LATENCY) as url:
        scenarios = (
            EMPTY,
            cases(1),
            cases(1_000),
            cases(10_000),
            cases(10_000, "--collect-only"),
            requests(1_000, url),
        )
        return guard(commit.name, _measures(scenarios, release, checkout, Path(folder)), pairs)


if __name__ == "__main__":
    sys.exit(main())
