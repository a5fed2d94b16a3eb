"""Workers of pytest-xdist: the scheduler that deals cases to them, and the conditions for those on other hosts."""

from __future__ import annotations

import copy
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

from pytest_fcall.core.backend import APP_KINDS
from pytest_fcall.plugin.redaction import print_lines, usage_error
from pytest_fcall.plugin.settings import settings_of
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.settings import Settings

_NODES: Final = pytest.StashKey[list[Any]]()
"""The workers on other hosts that are at work."""
_ANSWER_SECONDS: Final = 60.0
_TRIAL_SECONDS: Final = 1.0
_MOST_NAMED: Final = 10
"""So many of the tests that have not run are named."""
_INTRODUCTION: Final = """
import time
try:
    from importlib.metadata import version
    found = version("pytest-fcall")
except ImportError:
    found = ""
channel.send(found)
channel.receive()
channel.send(time.time())
"""
"""The program that a worker's Python runs before pytest starts there: it sends its version, and its time on demand."""


_LOST: Final = (OSError, EOFError)
"""The errors of a host that goes away while a worker is started there, beside those of execnet."""


class LostHosts:
    """Ends a run in words where pytest-xdist finds no host for a worker, which is an internal error to it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._collected: dict[str, None] = {}
        self._ended: set[str] = set()
        self._due: list[Any] = []
        """Of workers that are to be started, where: those that go on in the place of a lost one, too."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, specs: Sequence[Any]) -> None:
        """Note where workers are to be started."""
        self._due += specs

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Note that another worker has to be started."""
        if error:
            self._due.append(node.gateway.spec)

    @pytest.hookimpl(optionalhook=True, trylast=True)
    def pytest_configure_node(self) -> None:
        """Note that a worker has been started."""
        del self._due[:1]

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Note the tests that there are."""
        self._collected.update(dict.fromkeys(ids))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the tests that have ended; at which one a worker was lost pytest-xdist tells by a report of its own."""
        if report.when not in ("setup", "call"):
            self._ended.add(report.nodeid)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionstart(self) -> Generator[None, object, object]:
        """Refuse a run on a host that is not there."""
        from execnet import HostNotFound, RemoteError

        try:
            return (yield)
        except (HostNotFound, RemoteError, *_LOST):
            if not self._due:
                raise
            host = _host(self._due[0])
            text = f"--tx: no worker can be started on {host}: try there by hand what ssh= and python= say"
            raise usage_error(self._config, text) from None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Break the run off where no host is left."""
        from execnet import HostNotFound, RemoteError

        try:
            result = yield
        except (HostNotFound, RemoteError, *_LOST):
            if not self._due:
                raise
            self._break_off(session)
        if self._due and len(self._ended) < len(self._collected):  # as --max-worker-restart has it
            self._break_off(session)
        return result

    def _break_off(self, session: pytest.Session) -> NoReturn:
        """Keep what came, as with Ctrl+C."""
        left = [each for each in self._collected if each not in self._ended]
        total = len(self._collected)
        count = f"{len(left):,} of {total:,} tests have not run" if total else "no test has run"
        reporter = self._config.pluginmanager.getplugin("terminalreporter")
        if reporter is not None:
            reporter.ensure_newline()
            more = [f"  and {len(left) - _MOST_NAMED:,} more"] if len(left) > _MOST_NAMED else []
            print_lines(reporter, [f"fcall: {count}:", *(f"  {each}" for each in left[:_MOST_NAMED]), *more])
        raise session.Interrupted(f"{_host(self._due[0])} is lost, and none goes on in its place: {count}") from None


def check_copies(config: pytest.Config) -> None:
    """Raise UsageError where replies that hosts record would be deleted with the next run.

    pytest-xdist copies folders to hosts without what begins with a dot, and deletes there what it has not copied.
    """
    settings = settings_of(config)
    if not _keep_replies_apart(settings):
        return
    copied = [*config.getoption("rsyncdir"), *config.getini("rsyncdirs")]
    if any(config.rootpath.is_relative_to(Path(folder).resolve()) for folder in copied):
        raise usage_error(
            config,
            "--rsyncdir: pytest-xdist would delete, with the next run, what hosts have recorded in their copies of the"
            " project, and all of it would be paid for again: share a server by fc_store, run in checkouts of the"
            " hosts' own (--tx ssh=…//chdir=…, no --rsyncdir), or record nothing (--fc-record=off)",
        )


def introduce(node: Any, *, in_use: bool) -> None:
    """Tell a worker how its clock differs from ours. Raises UsageError where its pytest-fcall is another one."""
    from importlib.metadata import version

    channel = node.gateway.remote_exec(_INTRODUCTION)
    found, ours = channel.receive(_ANSWER_SECONDS), version("pytest-fcall")
    asked = time.time()
    channel.send(None)
    theirs = channel.receive(_ANSWER_SECONDS)
    answered = time.time()
    channel.waitclose(_ANSWER_SECONDS)
    spec = node.gateway.spec
    if in_use and found != ours:
        has = f"has pytest-fcall {found}" if found else "has no pytest-fcall"
        raise usage_error(
            node.config, f"--tx: {spec.python or 'python'} on {_host(spec)} {has}, and here it is {ours}: install that"
        )
    node.workerinput["fcall_clock"] = theirs - (asked + answered) / 2
    if not spec.popen:
        node.config.stash.setdefault(_NODES, []).append(node)


def replace_lost(node: Any) -> None:
    """Have the next worker start on a host that is still there, if there is one.

    pytest-xdist starts it where the lost one was, and ends the run with an internal error where it cannot: one host
    without power would take along what all others were about to do.
    """
    nodes = node.config.stash.get(_NODES, [])
    if node not in nodes:
        return
    nodes.remove(node)
    lost = _host(node.gateway.spec)
    others = {_host(spec): spec for each in nodes if _host(spec := each.gateway.spec) != lost}
    other = next(filter(_is_there, others.values()), None)
    if other is None:
        return
    node.gateway.spec = copy.copy(other)  # pytest-xdist gives it an id of its own
    reporter = node.config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None:
        reporter.ensure_newline()
        print_lines(
            reporter, [f"fcall: worker {node.gateway.id} on {lost} is lost: {_host(other)} goes on in its place"]
        )


def _is_there(spec: Any) -> bool:
    """Whether a worker can be started there: what took one host away may have taken others, too."""
    from execnet import Group, HostNotFound

    group = Group()
    trial = copy.copy(spec)
    trial.id = None
    try:
        group.makegateway(trial)
    except (HostNotFound, *_LOST):
        return False
    finally:
        group.terminate(_TRIAL_SECONDS)
    return True


def sharing_lines(config: pytest.Config, settings: Settings) -> Iterator[str]:
    """Lines on what hosts do not share, as long as no server keeps replies for all of them."""
    if settings.store or not has_other_hosts(config):
        return
    if _keep_replies_apart(settings):
        yield "fcall: each host keeps the replies that it asks for in a file of its own: fc_store has them shared"
    limits = {
        "--fc-rpm": settings.requests_per_minute,
        "--fc-tpm": settings.tokens_per_minute,
        "--fc-max-cost": settings.max_cost,
    }
    if given := [name for name, limit in limits.items() if limit is not None]:
        holds = "holds" if len(given) == 1 else "hold"
        yield f"fcall: {' and '.join(given)} {holds} for each host apart: with fc_store, for all of them together"


def has_other_hosts(config: pytest.Config) -> bool:
    """Whether the command line names workers that are not processes of this host."""
    specs: Sequence[str] = config.getoption("tx", None) or ()
    return not all(spec.lstrip("0123456789*").startswith("popen") for spec in specs)


def _keep_replies_apart(settings: Settings) -> bool:
    """Whether replies are recorded, and by each host for itself."""
    live = any(named.live for named in settings.models) or bool(settings.judge and settings.judge.live)
    return live and settings.store is None and settings.record != "off" and not settings.replay


def _host(spec: Any) -> str:
    """The name of the host, without the options of SSH that may stand before it."""
    named = (spec.ssh or spec.vagrant_ssh or spec.socket or spec.via or "").split()
    return safe_line(named[-1]) if named else "this host"


def scheduler(config: pytest.Config, log: object) -> object:
    """A scheduler that gives each worker its whole part at once, so that it can ask ahead; None where none asks ahead.

    A worker that takes a case over finds the reply among the recordings. So where nothing is recorded, where an app
    would have to answer again, and where hosts record each for itself, pytest-xdist deals the cases as usual.
    """
    settings = settings_of(config)
    asks_ahead = any(named.live and named.model.kind not in APP_KINDS for named in settings.models)
    if not asks_ahead or settings.record == "off":
        return None
    if has_other_hosts(config) and _keep_replies_apart(settings):
        return None
    from xdist.scheduler import WorkStealingScheduling  # type: ignore[import-untyped]  # it has no types

    return WorkStealingScheduling(config, log)
