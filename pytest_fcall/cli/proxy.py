"""`fcall proxy`: an app that is started by hand asks its models through the proxies of runs."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from argparse import REMAINDER, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.backends.proxy.variables import (
    PROVIDER_ADDRESSES,
    is_http_address,
    placeholder_keys,
    provider_addresses,
    proxy_addresses,
    read_variables,
)
from pytest_fcall.cli.project import root_of

if TYPE_CHECKING:
    from socket import socket

_HELP = """\
examples:
  fcall proxy -- npm start                              and then, in another terminal:
  pytest --fc-model=http:http://127.0.0.1:3000/chat     what the app asks is recorded, case by case
  pytest --fc-model=http:http://127.0.0.1:3000/chat --fc-replay

While no run is there, the app asks its models as it would without this command, and nothing is recorded.
"""


def run(arguments: Sequence[str]) -> int:
    """Start the command, and give its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        parser.error("there is no command: write `fcall proxy -- COMMAND`")
    try:
        variables = read_variables(options.variable or PROVIDER_ADDRESSES)
    except ValueError as error:
        parser.error(str(error))
    lost = [name for name, url in variables.items() if not is_http_address(os.environ.get(name, "").strip() or url)]
    if lost:
        parser.error(f"{lost[0]} is not set; write --variable {lost[0]}=https://…")
    return _run_app(command, provider_addresses(variables, os.environ), root_of([Path.cwd()]))


def _run_app(command: Sequence[str], leading: dict[str, str], root: Path) -> int:
    from pytest_fcall.backends.proxy.listener import LazyListener

    async def serve(connections: socket, end: Coroutine[None, None, object]) -> None:
        from pytest_fcall.backends.proxy.relay import Relay  # with the first request, so that the app starts at once

        await Relay(token, root, leading).serve(connections, end)

    token = secrets.token_hex(16)
    listening = LazyListener(serve)
    values = proxy_addresses(leading, f"http://127.0.0.1:{listening.port}/{token}")
    environment = {**placeholder_keys(leading), **os.environ, **values}
    try:
        with subprocess.Popen(command, env=environment) as app:  # noqa: S603  what a person typed
            return _wait_for_app(app)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        print(f"fcall proxy: {command[0]} cannot be started: {why}", file=sys.stderr)
        return 2
    finally:
        listening.close()


def _wait_for_app(app: subprocess.Popen[bytes]) -> int:
    """Wait for the end of the app, which Ctrl-C reaches as well as us; whoever ends us means the app."""
    signal.signal(signal.SIGTERM, lambda *_: app.terminate())
    while True:
        try:
            status = app.wait()
        except KeyboardInterrupt:
            continue
        return status if status >= 0 else 128 - status


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="fcall proxy",
        usage="fcall proxy [--variable NAME[=URL]] -- COMMAND …",
        description="Start an app whose requests to models are recorded by the runs that ask it.",
        epilog=_HELP,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--variable",
        action="append",
        metavar="NAME[=URL]",
        help="a variable that leads the app to its models; repeat it (default: OPENAI_BASE_URL and ANTHROPIC_BASE_URL)",
    )
    parser.add_argument("command", nargs=REMAINDER, metavar="COMMAND", help="the app, with its arguments")
    return parser
