"""Fuzz: `python -m tests.fuzz [--seconds N] [--seed N] [TARGET …]`, or run one input again: `--replay FILE`.

Half of the time goes to inputs, which must not raise; the other half to long ones, whose time must grow no faster than
their length. What raises is kept in a file.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz.exams import exams
from tests.fuzz.growth import shapes, too_slow
from tests.fuzz.targets import TOOLS, judging, reading
from tests.fuzz.texts import texts

FAILURES = Path(".fcall/fuzz")
BATCH = 100
SLOW = 5.0
"""Seconds of one small input."""

Run = Callable[[Any], object]


def main() -> int:
    """Fuzz until the time is over. Exit with 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("targets", nargs="*", help="names of targets; none: all")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--replay", type=Path, metavar="FILE")
    asked = parser.parse_args()
    warnings.simplefilter("error")
    if asked.replay:
        return _replay(asked.replay)
    print(f"{asked.seconds:.0f} s, seed {asked.seed}", flush=True)
    half = asked.seconds / 2
    raised = _inputs(_chosen(reading(), asked.targets), _chosen(judging(), asked.targets), asked.seed, half)
    slow = _growth(_chosen(reading([TOOLS]), asked.targets), asked.seed, half)
    return 1 if slow or raised else 0


def _chosen(targets: Mapping[str, Run], names: list[str]) -> dict[str, Run]:
    return {name: run for name, run in targets.items() if not names or name in names}


def _growth(readers: Mapping[str, Run], number: int, seconds: float) -> int:
    until = time.monotonic() + seconds
    pairs = [(name, shape) for name in readers for shape in shapes()]
    random.Random(number).shuffle(pairs)  # noqa: S311  who has little time should see a little of everything
    found = tried = 0
    for name, shape in pairs:
        if time.monotonic() > until:
            break
        tried += 1
        if complaint := too_slow(readers[name], shape):
            found += 1
            print(f"SLOW {name}: {complaint}: {shape}", flush=True)
    print(f"growth: {found} found among {tried:,} of {len(pairs):,} pairs of target and shape", flush=True)
    return found


def _inputs(readers: dict[str, Run], judges: dict[str, Run], first: int, seconds: float) -> int:
    until = time.monotonic() + seconds
    found = tried = 0
    while time.monotonic() < until:
        for targets, inputs in ((readers, texts), (judges, exams)):
            failures = try_inputs(targets, inputs, BATCH, first + tried)
            tried += BATCH
            for name, value in failures.items():
                del targets[name]
                found += 1
                print(f"RAISED {name}: python -m tests.fuzz --replay {_kept(name, value)}", flush=True)
    print(f"inputs: {found} found among {tried:,}", flush=True)
    return found


def try_inputs(targets: Mapping[str, Run], inputs: st.SearchStrategy[Any], count: int, number: int) -> dict[str, Any]:
    """Give the smallest input found for each target that failed."""
    failed: dict[str, Any] = {}

    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs)
    def try_all(value: Any) -> None:
        for name, run in targets.items():
            started = time.process_time()
            try:
                run(value)
                assert time.process_time() - started < SLOW
            except Exception:
                failed[name] = value
                raise

    try:
        try_all()
    except Exception:
        if not failed:
            raise
    return failed


def _kept(name: str, value: Any) -> Path:
    text = json.dumps({"target": name, "input": value})
    FAILURES.mkdir(parents=True, exist_ok=True)
    path = FAILURES / f"{sha256(text.encode()).hexdigest()[:12]}.json"
    path.write_text(text, encoding="utf-8")
    return path


def _replay(path: Path) -> int:
    kept = json.loads(path.read_text(encoding="utf-8"))
    run = {**reading(), **judging()}[kept["target"]]
    try:
        run(kept["input"])
    except Exception:
        traceback.print_exc()
        return 1
    print(f"{kept['target']} takes it.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
