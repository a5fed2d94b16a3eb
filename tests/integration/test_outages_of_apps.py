"""Whose fault it is that an app raised something: a server's, or that of the team's own code."""

from __future__ import annotations

# Each run inside a test forgets the modules that it imported; these are kept, for speed.
import httpx  # noqa: F401
import openai  # noqa: F401
import pytest

from tests.integration.conftest import Shop

FAILED, INCONCLUSIVE = 1, 10
IMPORTS = "import aiohttp, errno, httpx, openai, socket, ssl; from urllib.error import HTTPError, URLError"


def run(weather: Shop, raised: str, own: str = "") -> pytest.RunResult:
    """Run an app that raises, in a module where its own classes are."""
    weather.file("teams.py", f"{own}\ndef answer(request):\n    {IMPORTS}\n    raise {raised}\n")
    return weather.run("--fc-model=python:teams:answer")


@pytest.mark.parametrize(
    "name",
    [
        "Timeout",
        "ConnectionError",
        "TransportError",
        "APIConnectionError",
        "ServiceUnavailable",
        "ReadTimeout",
    ],
)
def test_a_class_of_the_team_is_no_outage_whatever_its_name(weather: Shop, name: str) -> None:
    result = run(weather, f"{name}('ours')", f"class {name}(Exception): ...")
    result.assert_outcomes(errors=2)
    assert result.ret == FAILED


@pytest.mark.parametrize(
    "raised",
    [
        "ConnectionResetError('gone')",
        "TimeoutError('late')",
        "httpx.ConnectTimeout('late')",
        "httpx.RemoteProtocolError('cut off')",
        "openai.APITimeoutError(httpx.Request('POST', 'http://localhost'))",
        "aiohttp.ServerDisconnectedError()",
        "OSError(errno.ENETUNREACH, 'Network is unreachable')",
        "socket.gaierror(socket.EAI_NONAME, 'Name or service not known')",
        "ssl.SSLCertVerificationError('self-signed')",
        "URLError(ConnectionRefusedError(111, 'Connection refused'))",
        "URLError(socket.gaierror(socket.EAI_AGAIN, 'Temporary failure in name resolution'))",
        "URLError(TimeoutError('timed out'))",
        "URLError(OSError(errno.EHOSTUNREACH, 'No route to host'))",
        "URLError(ssl.SSLError('wrong version number'))",
    ],
)
def test_a_failed_connection_of_a_library_is_an_outage(weather: Shop, raised: str) -> None:
    result = run(weather, raised)
    result.assert_outcomes(errors=2)
    assert result.ret == INCONCLUSIVE


@pytest.mark.parametrize("base", ["ConnectionError", "__import__('httpx').ReadTimeout"])
def test_a_class_of_the_team_that_is_a_failed_connection_is_an_outage(weather: Shop, base: str) -> None:
    assert run(weather, "Ours('gone')", f"class Ours({base}): ...").ret == INCONCLUSIVE


@pytest.mark.parametrize(
    "raised",
    [
        "httpx.InvalidURL('http:')",
        "httpx.HTTPStatusError('500', request=None, response=None)",
        "FileNotFoundError(2, 'No such file or directory')",
        "URLError(FileNotFoundError(2, 'No such file or directory'))",
        "URLError('unknown url type: htp')",
        "HTTPError('http://localhost', 500, 'Internal Server Error', None, None)",
        "HTTPError('http://localhost', 401, 'Unauthorized', None, None)",
    ],
)
def test_what_a_library_says_of_the_app_or_of_a_status_is_no_outage(weather: Shop, raised: str) -> None:
    assert run(weather, raised).ret == FAILED


def test_a_server_that_is_down_is_an_outage_for_an_app_of_the_standard_library(weather: Shop) -> None:
    weather.file(
        "teams.py",
        """
        from urllib.request import urlopen

        def answer(request):
            return urlopen("http://127.0.0.1:1/v1").read()
        """,
    )
    assert weather.run("--fc-model=python:teams:answer").ret == INCONCLUSIVE
