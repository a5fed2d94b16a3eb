"""A PostgreSQL server of the tests' own, in a temporary folder and on loopback."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from select import select
from types import MappingProxyType
from typing import Any, Self
from urllib.parse import quote, urlencode

from pytest_fcall.backends.store.address import StoreAddress, server_address

PASSWORD = "s3cret-of-the-Tests/@:%1"  # noqa: S105  of a server that lives for a few seconds
CERTIFICATE = Path(__file__).with_name("loopback.pem")
_USER = "fcall"


def programs() -> Path | None:
    """The folder of the server's programs; Debian keeps them out of PATH."""
    if found := shutil.which("postgres"):
        return Path(found).parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)


def free_port(host: str) -> int:
    """A port of those that the system gives to nobody by itself: the server leaves its port, and comes back to it."""
    first = 20_000 + os.getpid() % 10_000
    for port in range(first, first + 100):
        with suppress(OSError), socket.socket() as tried:
            tried.bind((host, port))
            return port
    raise AssertionError(f"no port from {first} on is free")


class Postgres:
    """Runs from `start` to `stop`, as often as wanted; replies stay in between. Never as root, which it refuses."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        folder = programs()
        assert folder is not None, "there is no PostgreSQL here: apt-get install postgresql"
        self._programs = folder
        self.host = host
        self._folder = Path(tempfile.mkdtemp(prefix="fcall-postgres-"))
        self._data = self._folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self._as: Mapping[str, str] = MappingProxyType({"user": "postgres"} if os.geteuid() == 0 else {})
        self.port = free_port(host)
        self._make()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _make(self) -> None:
        password, certificate = self._folder / "password", self._folder / "loopback.pem"
        password.write_text(PASSWORD)
        shutil.copy(CERTIFICATE, certificate)
        for path in (self._folder, password, certificate):
            path.chmod(0o700 if path.is_dir() else 0o600)
            if self._as:
                shutil.chown(path, self._as["user"])
        authentication = ["--auth=scram-sha-256", f"--username={_USER}", f"--pwfile={password}"]
        self._run("initdb", "--no-sync", "--encoding=UTF8", "--locale=C", *authentication, str(self._data))
        with (self._data / "postgresql.conf").open("a") as settings:
            settings.write(
                f"listen_addresses = '{self.host}'\nport = {self.port}\nunix_socket_directories = ''\n"
                # What a killed process has written is there without: only a crash of the machine would lose it.
                "fsync = off\nfull_page_writes = off\n"
                f"ssl = on\nssl_cert_file = '{certificate}'\nssl_key_file = '{certificate}'\n"
            )
        with (self._data / "pg_hba.conf").open("a") as access:
            access.write("host all all all scram-sha-256\n")

    def start(self) -> None:
        """Start the server, and wait until it lets somebody in."""
        with (self._folder / "log").open("ab") as log:
            command = [str(self._programs / "postgres"), "-D", str(self._data)]
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **self._as)  # type: ignore[call-overload]
        while not self._is_ready(str(self._process.pid)):
            try:
                self._process.wait(0.02)
            except subprocess.TimeoutExpired:
                continue
            raise AssertionError((self._folder / "log").read_text())

    def _is_ready(self, pid: str) -> bool:
        """Whether the file of its status says so. That of a killed server goes away while this one starts."""
        try:
            words = (self._data / "postmaster.pid").read_text().split()
        except FileNotFoundError:
            return False
        return words[:1] == [pid] and words[-1] == "ready"

    def stop(self) -> None:
        """Have the server end at once, with all of its connections."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        """End the server and its processes as a machine that loses its power does."""
        if self._process is not None:
            self._stop_main()
            for process in self.processes():
                with suppress(ProcessLookupError):
                    watched = os.pidfd_open(process)
                    os.kill(process, signal.SIGKILL)
                    select([watched], [], [])
                    os.close(watched)
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """Have the server answer nobody, until `resume`."""
        self._stop_main()
        for process in self.processes():
            os.kill(process, signal.SIGSTOP)

    def resume(self) -> None:
        """Go on after `pause`."""
        for process in self.processes():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)

    def _stop_main(self) -> None:
        """Stop the main process: from now on it starts no other, and lets none that has ended go away."""
        assert self._process is not None, "the server does not run"
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOWAIT)

    def processes(self) -> list[int]:
        """The server's main process, and those that it has started; none while it does not run."""
        if self._process is None:
            return []
        main = self._process.pid
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(main)], capture_output=True, text=True, check=False)
        return [main, *map(int, listed.stdout.split())]

    def url(self, project: str = "", *, user: str = _USER, password: str = PASSWORD, **parameters: str) -> str:
        """The address, as `fc_store` names it; without a project as others do."""
        query = urlencode({**({"project": project} if project else {}), **parameters}, quote_via=quote)
        return f"postgresql://{user}:{quote(password, safe='')}@{self.host}:{self.port}/postgres?{query}"

    def forget(self, project: str) -> None:
        """Delete all that a project keeps."""
        self.execute(f'DROP SCHEMA IF EXISTS "fcall_{project}" CASCADE')

    def execute(self, statement: str, project: str = "") -> list[tuple[Any, ...]]:
        """Execute statements of SQL, where `our` is the schema of the project, and return the rows."""
        import psycopg

        from pytest_fcall.backends.store.postgres.tables import of_schema

        with psycopg.connect(self.url(), autocommit=True) as connection:
            cursor = connection.execute(of_schema(statement, f"fcall_{project}").encode())
            rows: list[tuple[Any, ...]] = cursor.fetchall() if cursor.description else []
        return rows

    def address(self, project: str, root: Path, **parameters: str) -> StoreAddress:
        """The address of a project whose root folder this is."""
        return server_address(self.url(project, **parameters), root)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", **self._as)  # type: ignore[call-overload]
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"
