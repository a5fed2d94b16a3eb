"""The connection of a process to the server, and its errors in words."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Event, RLock, Thread
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from pytest_fcall.backends.store.address import StoreAddress
from pytest_fcall.backends.store.database import StoreError
from pytest_fcall.backends.store.postgres import tables
from pytest_fcall.core.commands import install_command

if TYPE_CHECKING:
    import psycopg

PATIENCE: Final = 30.0
"""Seconds to wait for an answer of the server, whose transactions take milliseconds."""
RETURN_SECONDS: Final = 10.0
"""Seconds in which a server may come back."""
_PAUSE: Final = 0.25
_BEAT: Final = 5.0
_REST: Final = 10.0
"""Seconds without another try after the server could not be reached."""
_TRIES: Final = 5
"""Of a transaction that another one got in the way of."""
_DEFAULTS: Final[Mapping[str, object]] = MappingProxyType(
    {
        "fallback_application_name": "pytest-fcall",
        "connect_timeout": 10,
        "client_encoding": "UTF8",
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": int(PATIENCE * 1000),
    }
)
"""The values of parameters that the address does not set."""
_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "25006": "the server only reads; name the primary one",
        "42501": "the user may not do that; grant it the schema {schema}, or CREATE in the database, once: {text}",
        "53100": "the disk of the server is full",
        "53300": "the server takes no more connections; use fewer workers, or raise its max_connections",
        "57014": "the server took too long",
    }
)
"""By the codes of PostgreSQL."""
_SHARED_FATES: Final = frozenset({"40001", "40P01"})
"""The codes of transactions that another one got in the way of."""

Result = TypeVar("Result")
Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
Work: TypeAlias = Callable[[Connection], Result]


class ServerConnection:
    """One connection, which threads take turns with. It is made at first use, and anew once it is lost.

    `on_open` is called with each new connection, and `on_beat` every few seconds as long as there is one, in a thread.
    After a fork, the child makes a connection of its own.
    """

    def __init__(self, address: StoreAddress, on_open: Work[None], on_beat: Callable[[], None]) -> None:
        self.schema = f"fcall_{address.project}"
        self._address = address
        self._on_open = on_open
        self._on_beat = on_beat
        self._lock = RLock()
        self._connection: Connection | None = None
        self._process = os.getpid()
        self._inherited: object = None
        """The connection of the process that this one was forked from. It must be neither used nor closed here."""
        self._patience = 0.0
        """Seconds to wait for a server that does not let us in; none before it ever has."""
        self._busy_since: float | None = None
        self._failed: tuple[float, StoreError] | None = None
        """Until when no other try is made, and why."""
        self._time = 0.0, 0.0
        """A time of the server, and of the monotonic clock."""
        self._over: Event | None = None

    def run(self, work: Work[Result]) -> Result:
        """Do `work`, which takes a short time. It is done once more if the connection is lost. Raises StoreError."""

        def watched(connection: Connection) -> Result:
            with self._watched():
                return work(connection)

        return self.run_for_long(watched)

    def run_for_long(self, work: Work[Result]) -> Result:
        """Do `work`, however long it takes. It is done once more if the connection is lost. Raises StoreError."""
        self._leave_parent_alone()
        with self._lock, self._errors_in_words():
            for left in reversed(range(_TRIES)):
                connection = self._connected()
                try:
                    return work(connection)
                except self._psycopg().Error as error:
                    lost = bool(connection.closed)
                    if lost:
                        self._let_go()
                    may_pass = error.sqlstate in _SHARED_FATES or (lost and left == _TRIES - 1)
                    if not (left and may_pass):
                        raise
            raise AssertionError("the last try returns or raises")

    def now(self) -> float:
        """The time of the server, in seconds since 1970."""
        self._leave_parent_alone()
        if self._connection is None:
            with self._lock, self._errors_in_words():
                self._connected()
        server_time, at = self._time  # no need to wait for the thread that has the connection
        return server_time + time.monotonic() - at

    @property
    def error(self) -> type[Exception]:
        """The class of the exceptions that statements raise."""
        kind: type[Exception] = self._psycopg().Error
        return kind

    def statement(self, statement: str) -> str:
        """The statement for the tables of the project."""
        return tables.of_schema(statement, self.schema)

    def execute(self, connection: Connection, statement: str, *values: object) -> Any:
        """Execute a statement for the tables of the project, in work that has the connection."""
        return connection.execute(self.statement(statement).encode(), values)

    def execute_many(self, connection: Connection, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Execute a statement for each row, if there is any."""
        if rows:
            with connection.cursor() as cursor:
                cursor.executemany(self.statement(statement).encode(), rows)

    def close(self) -> None:
        """Close the connection."""
        self._leave_parent_alone()
        with self._lock:
            if self._connection is not None:
                with suppress(Exception):  # it may be lost already
                    self._connection.close()
            self._let_go()

    def _connected(self) -> Connection:
        if self._connection is None or self._connection.closed:
            if self._failed is not None and time.monotonic() < self._failed[0]:
                raise self._failed[1]
            try:
                self._connection = self._open_when_back()
            except StoreError as error:
                self._failed = time.monotonic() + _REST, error
                raise
            self._failed = None
        return self._connection

    def _leave_parent_alone(self) -> None:
        """After a fork, begin anew: another thread of the parent may have held the lock."""
        if self._process != os.getpid():
            self._process, self._lock = os.getpid(), RLock()
            self._inherited, self._connection, self._over, self._busy_since = self._connection, None, None, None

    def _open_when_back(self) -> Connection:
        """Connect; wait a while for a server that was there before, such as one that is started again."""
        until = time.monotonic() + self._patience
        while True:
            try:
                connection = self._open()
            except StoreError:
                if time.monotonic() + _PAUSE > until:
                    self._patience = 0.0  # what is gone for so long is likely to stay away, and each reply would wait
                    raise
                time.sleep(_PAUSE)
            else:
                self._patience = RETURN_SECONDS
                return connection

    def _open(self) -> Connection:
        """Connect, and make the tables what this version needs. Raises StoreError."""
        psycopg = self._psycopg()
        with self._errors_in_words():
            connection: Connection = psycopg.connect(
                autocommit=True, prepare_threshold=None, **{**_DEFAULTS, **self._parameters()}
            )
            try:
                self._keep_watch(connection)
                with self._watched():
                    self._check_encoding(connection)
                    self._migrate(connection)
                    before = time.monotonic()
                    row = connection.execute(tables.NOW).fetchone()
                    self._time = row[0] if row else 0.0, (before + time.monotonic()) / 2
                self._on_open(connection)
            except BaseException:  # Ctrl+C, too
                connection.close()
                self._let_go()
                raise
        return connection

    def _check_encoding(self, connection: Connection) -> None:
        if (encoding := connection.info.parameter_status("server_encoding")) != "UTF8":
            raise StoreError(self._at_address(f"the database must have the encoding UTF8, not {encoding}"))

    def _parameters(self) -> Mapping[str, object]:
        """The parameters in the address. The message of libpq is not shown, as it quotes parts of passwords."""
        psycopg = self._psycopg()
        from urllib.parse import parse_qsl, urlsplit

        try:
            parameters: Mapping[str, object] = psycopg.conninfo.conninfo_to_dict(self._address.url)
        except psycopg.Error:
            known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
            unknown = [name for name, _ in parse_qsl(urlsplit(self._address.url).query) if name not in known]
            reason = f"there is no parameter {unknown[0]}" if unknown else "the address cannot be read"
            raise StoreError(self._at_address(f"{reason}; see the connection parameters of PostgreSQL")) from None
        return parameters

    def _migrate(self, connection: Connection) -> None:
        """Run the steps that the tables have not seen yet, all of them or none."""
        steps = tables.MIGRATIONS
        if self._version(connection) != len(steps):
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [self.schema])
                version = self._version(connection)
                if version > len(steps):
                    raise StoreError(self._at_address("a newer pytest-fcall wrote them; update this one"))
                if not _is_true(connection, tables.HAS_SCHEMA, self.schema):
                    connection.execute(f'CREATE SCHEMA "{self.schema}"'.encode())
                for step in steps[version:]:
                    connection.execute(self.statement(step).encode())
                connection.execute(self.statement("UPDATE our.version SET version = %s").encode(), [len(steps)])

    def _version(self, connection: Connection) -> int:
        if not _is_true(connection, tables.HAS_TABLES, self.schema):
            return 0
        row = connection.execute(self.statement("SELECT version FROM our.version").encode()).fetchone()
        return int(row[0]) if row else 0

    @contextmanager
    def _errors_in_words(self) -> Iterator[None]:
        psycopg = self._psycopg()
        try:
            yield
        except psycopg.Error as error:
            text = error.diag.message_primary or _one_line(str(error)) or "the connection is lost"
            reason = _REASONS.get(error.sqlstate or "", "{text}").format(schema=self.schema, text=text)
            raise StoreError(self._at_address(reason)) from error
        except UnicodeError as error:
            raise StoreError(self._at_address(str(error))) from error

    def _at_address(self, reason: str) -> str:
        return f"recorded replies in {self._address.shown}: {reason}"

    def _psycopg(self) -> Any:
        try:
            import psycopg
            import psycopg.conninfo
        except ImportError as error:
            reason = f"this needs psycopg: {install_command('postgres')} ({error})"
            raise StoreError(self._at_address(reason)) from None
        return psycopg

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Let the watch end what takes too long."""
        outer, self._busy_since = self._busy_since, self._busy_since or time.monotonic()
        try:
            yield
        finally:
            self._busy_since = outer

    def _keep_watch(self, connection: Connection) -> None:
        if self._over is not None:
            self._over.set()
        self._over = Event()
        Thread(target=self._watch, args=[connection, self._over], name="fcall-store", daemon=True).start()

    def _watch(self, connection: Connection, over: Event) -> None:
        """Cut off a server that does not answer, which would keep tests waiting for good; call `on_beat`."""
        while not over.wait(_BEAT):
            since = self._busy_since
            if since is not None and time.monotonic() - since > PATIENCE:
                with suppress(Exception), socket.socket(fileno=os.dup(connection.fileno())) as cut:
                    cut.shutdown(socket.SHUT_RDWR)
            elif self._lock.acquire(timeout=_BEAT):
                try:
                    if not over.is_set():
                        self._on_beat()
                except StoreError:
                    pass  # the next use of the store reports it
                finally:
                    self._lock.release()

    def _let_go(self) -> None:
        self._connection = None
        if self._over is not None:
            self._over.set()
            self._over = None


@contextmanager
def together(connection: Connection, *, durable: bool = True) -> Iterator[None]:
    """A transaction that waits for the server once, at its end; `durable` if it must outlive a crash of the server.

    The driver's own transactions wait for each of their steps. Rows may be fetched once it is over.
    """
    with rolled_back(connection), connection.pipeline():
        begin(connection, durable=durable)
        yield
        connection.execute("COMMIT")


@contextmanager
def rolled_back(connection: Connection) -> Iterator[None]:
    """Leave no transaction open behind an error."""
    try:
        yield
    except BaseException:  # Ctrl+C, too
        if not connection.closed:
            connection.rollback()
        raise


def begin(connection: Connection, *, durable: bool) -> None:
    """Begin a transaction each of whose statements sees what has ended elsewhere by then."""
    connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
    if not durable:
        connection.execute("SET LOCAL synchronous_commit = off")


def _one_line(text: str) -> str:
    """The messages of libpq about its tries to connect, in one line, each once and without its questions."""
    lines = (line.strip().removeprefix("connection failed: ") for line in text.splitlines())
    return "; ".join(dict.fromkeys(line for line in lines if line and not line.endswith("?")))


def _is_true(connection: Connection, statement: str, *values: object) -> bool:
    row = connection.execute(statement.encode(), values).fetchone()
    return bool(row and row[0])
