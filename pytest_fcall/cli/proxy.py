"""`fcall proxy`: an app started by hand, whose model requests go through the proxies of test runs."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from argparse import REMAINDER, ArgumentParser
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.backends.proxy.variables import provider_addresses, proxy_addresses, read_variables
from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.project import root_of
from pytest_fcall.core.provider_variables import PROVIDER_ADDRESSES, placeholder_keys

if TYPE_CHECKING:
    from socket import socket

_EXAMPLES = """\
examples:
  fcall proxy -- npm start                              and then, in another terminal:
  pytest --fc-model=http:http://127.0.0.1:3000/chat     record the model requests of the app, case by case
  pytest --fc-model=http:http://127.0.0.1:3000/chat --fc-replay

While no test run is active, requests go straight to the models and nothing is recorded.
"""


def run(arguments: Sequence[str]) -> int:
    """Start the app, and return its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        parser.error("no command given: write `fcall proxy -- COMMAND`")
    try:
        variables = read_variables(options.variable or ())
    except ValueError as error:
        parser.error(str(error))
    addresses = provider_addresses(variables, os.environ)
    unset = [name for name in variables if name not in addresses and name not in PROVIDER_ADDRESSES]
    if unset:
        parser.error(f"{unset[0]} is not set; write --variable {unset[0]}=https://…")
    return _run_app(command, addresses, root_of([Path.cwd()]))


def _parser() -> ArgumentParser:
    parser = command_parser(
        "proxy",
        "Start an app so that test runs record its model requests.",
        _EXAMPLES,
        usage="fcall proxy [--variable NAME[=URL]] -- COMMAND …",
    )
    parser.add_argument(
        "--variable",
        action="append",
        metavar="NAME[=URL]",
        help="an environment variable with the address of the app's models; may be repeated "
        "(beside those that are known anyway)",
    )
    parser.add_argument("command", nargs=REMAINDER, metavar="COMMAND", help="the app and its arguments")
    return parser


def _run_app(command: Sequence[str], addresses: dict[str, str], root: Path) -> int:
    from pytest_fcall.backends.proxy.listener import LazyListener

    async def serve(connections: socket, end: Coroutine[None, None, object]) -> None:
        from pytest_fcall.backends.proxy.relay import Relay  # only with the first request, so that the app starts fast

        await Relay(token, root, addresses).serve(connections, end)

    token = secrets.token_hex(16)
    listener = LazyListener(serve)
    values = proxy_addresses(addresses, f"http://127.0.0.1:{listener.port}/{token}")
    environment = {**placeholder_keys(addresses), **os.environ, **values}
    try:
        with subprocess.Popen(command, env=environment) as app:  # noqa: S603  the user typed the command
            return _wait_for_app(app)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        print(f"fcall proxy: cannot start {command[0]}: {reason}", file=sys.stderr)
        return 2
    finally:
        listener.close()


def _wait_for_app(app: subprocess.Popen[bytes]) -> int:
    """Wait until the app ends. Ctrl-C reaches the app as well; SIGTERM is passed on to it."""
    signal.signal(signal.SIGTERM, lambda *_: app.terminate())
    while True:
        try:
            status = app.wait()
        except KeyboardInterrupt:
            continue
        return status if status >= 0 else 128 - status
