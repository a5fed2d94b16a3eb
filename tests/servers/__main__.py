"""Run a server that echoes until standard input ends: `python -m tests.servers [--latency SECONDS]`.

Its address stands on the first line of standard output.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from tests.servers.answer import Answer, Asked
from tests.servers.server import Server, echo


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    latency = parser.parse_args().latency

    def answer(asked: Asked) -> Answer:
        return replace(echo(asked), latency=latency)

    with Server(answer) as running:
        sys.stdout.write(f"{running.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
