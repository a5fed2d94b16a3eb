"""A server of a model, as people start one: `python -m tests.unit.backends.servers.little --port PORT`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

from tests.servers import Answer, Asked, Server, chat, echo, provider_error

DIE = "die"
WHO = "who"
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--pids", type=Path, help="write down who runs: the server, and a child that will not end")
    parser.add_argument("--waits", type=Path, help="listen once something was written here")
    parser.add_argument("--says", help="print this, and end")
    parser.add_argument("--health", type=int, default=200)
    parser.add_argument("--version", default=json.dumps({"version": "1.2.3"}))
    return parser.parse_args()


def begin(given: argparse.Namespace) -> None:
    if given.pids:
        child = subprocess.Popen([sys.executable, "-c", DEAF])
        with given.pids.open("a") as pids:
            pids.write(f"{os.getpid()} {child.pid}\n")
    if given.says:
        sys.stderr.write(f"starting\n{given.says}\n")
        raise SystemExit(3)
    if given.waits:
        given.waits.read_bytes()


def generated(asked: Asked) -> Answer:
    match asked.json["messages"][-1]["content"]:
        case "die":
            sys.stderr.write("illegal instruction\n")
            sys.stderr.flush()
            os._exit(7)
        case "who":
            return chat(str(os.getpid()))
    return echo(asked)


def main() -> None:
    given = options()
    begin(given)
    pages = {
        "/health": Answer(status=given.health),
        "/v1/models": Answer(),
        "/version": Answer(given.version.encode()),
    }

    def answer(asked: Asked) -> Answer:
        return generated(asked) if asked.method == "POST" else pages.get(asked.path, provider_error(404, "not here"))

    with Server(answer, given.port):
        threading.Event().wait()


if __name__ == "__main__":
    main()
