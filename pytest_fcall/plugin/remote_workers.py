"""Workers of pytest-xdist on other hosts, or of another Python: what they must have alike, and what they share."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_fcall.plugin.redaction import tell, usage_error
from pytest_fcall.plugin.settings import settings_of
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.settings import Settings

_NODES: Final = pytest.StashKey[list[Any]]()
"""The workers on other hosts that are at work."""
_ANSWER_SECONDS: Final = 60.0
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
"""What a worker's Python does before pytest starts there: it tells its version, and its time when it is asked."""


def check_copies(config: pytest.Config) -> None:
    """Raise UsageError where replies that hosts record would be deleted with the next run.

    pytest-xdist copies folders to hosts without what begins with a dot, and deletes there what it has not copied.
    """
    settings = settings_of(config)
    if not keep_replies_apart(settings):
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
    other = next((each.gateway.spec for each in nodes if _host(each.gateway.spec) != lost), None)
    if other is None:
        return
    node.gateway.spec = copy.copy(other)  # pytest-xdist gives it an id of its own
    reporter = node.config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None:
        reporter.ensure_newline()
        tell(reporter, [f"fcall: worker {node.gateway.id} on {lost} is lost: {_host(other)} goes on in its place"])


def sharing_lines(config: pytest.Config, settings: Settings) -> Iterator[str]:
    """Lines on what hosts do not share, as long as no server keeps replies for all of them."""
    if settings.store or not has_other_hosts(config):
        return
    if keep_replies_apart(settings):
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


def keep_replies_apart(settings: Settings) -> bool:
    """Whether replies are recorded, and by each host for itself."""
    live = any(named.live for named in settings.models) or bool(settings.judge and settings.judge.live)
    return live and settings.store is None and settings.record != "off" and not settings.replay


def _host(spec: Any) -> str:
    """The name of the host, without the options of SSH that may stand before it."""
    named = (spec.ssh or spec.vagrant_ssh or spec.socket or spec.via or "this host").split()
    return safe_line(named[-1])
