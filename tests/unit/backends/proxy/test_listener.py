from __future__ import annotations

import os
import socket
import sys
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, closing

import pytest

from pytest_fcall.backends.proxy.listener import LazyListener


async def greet(listening: socket.socket, told: Coroutine[None, None, object]) -> None:
    """Greet whoever came first, and wait for the end."""
    connection, _ = listening.accept()
    with connection:
        connection.sendall(b"hello")
    await told


@pytest.fixture
def many_files() -> Iterator[None]:
    """More open files than `select` knows of."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard) if hard > 0 else 4096, hard))
    with ExitStack() as opened:
        for _ in range(1_100):
            opened.callback(os.close, os.dup(0))
        yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def greeting(listening: LazyListener) -> bytes:
    with socket.create_connection(("127.0.0.1", listening.port), timeout=30) as connection:
        return connection.recv(5)


def test_it_serves_whoever_comes() -> None:
    with closing(LazyListener(greet)) as listening:
        assert greeting(listening) == b"hello"
        assert listening.was_used


def test_where_nobody_comes_nothing_is_served() -> None:
    with closing(LazyListener(greet)) as listening:
        pass
    assert not listening.was_used


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
@pytest.mark.usefixtures("many_files")
def test_it_serves_in_a_process_with_very_many_open_files() -> None:
    with closing(LazyListener(greet)) as listening:
        assert greeting(listening) == b"hello"
