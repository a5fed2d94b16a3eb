"""Ways out of the process in which functions are called: as an administrator and as an ordinary user, one row each.

`namespaces` is the machine as it is; `plain` is one that makes no namespaces for anybody, as in most containers.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.attacks.escapes import ATTEMPTS
from tests.attacks.ordinary import ORDINARY, WITH_PROGRAMS
from tests.by_night import by_night

HAS_WALLS = (
    sys.platform == "linux"
    and platform.machine() in {"x86_64", "aarch64"}
    and ctypes.CDLL(None).syscall(444, None, 0, 1) > 0
)
pytestmark = pytest.mark.skipif(not HAS_WALLS, reason="only Linux with Landlock has these walls")

ROOT = Path(__file__).parents[2]
ONLY_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be root")
USERS = [pytest.param("root", marks=ONLY_ROOT), "user"]
ROOT_BY_NIGHT = [pytest.param("root", marks=[ONLY_ROOT, pytest.mark.nightly]), "user"]
"""For what takes a second each: what is out of reach, and what a killed pytest leaves, is seen of both by day."""
MACHINES = ["namespaces", by_night("plain")]
LASTING = {
    **dict.fromkeys(("ignore_signals", "block_signals", "stop_the_alarm", "stop_itself"), ()),
    **dict.fromkeys(("leave_threads", "close_everything"), ()),
    **dict.fromkeys(("leave_programs", "become_a_daemon", "replace_itself"), ("processes=true",)),
}
STUBBORN = {"stop_the_alarm", "leave_programs"}
"""The one that keeps the process from ending itself, and one whose programs have to end with it."""
REFUSALS = {
    *(errno.EPERM, errno.EACCES, errno.EROFS, errno.EXDEV, errno.ENOSYS, errno.ENOTTY, errno.EOPNOTSUPP),
    errno.EISCONN,  # a stream goes to its other end alone
    errno.ENOENT,  # the number of a process, or a device, is none of this machine's
}
"""What walls answer. Any other error is that of a call which was let through and had wrong arguments."""
LET_THROUGH = {
    "processes-timer_for_others": errno.EINVAL,
    "attributes-by_a_path_without_end": errno.EFAULT,
    "attributes-by_a_path_that_is_none": errno.EFAULT,
}
"""Calls that anybody may make, and that the kernel itself refuses with these arguments."""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tests.attacks.walled", *arguments]


@contextmanager
def surroundings() -> Iterator[dict[str, str]]:
    """The variables of a program, whose temporary files are where another user may write, too."""
    with TemporaryDirectory(prefix="fcall-walls-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o1777)
        yield {**os.environ, "TMPDIR": folder, "PYTHONPATH": str(ROOT)}


def done_inside(user: str, machine: str, task: str) -> Any:
    """What came of a task."""
    with surroundings() as variables:
        done = subprocess.run(command(user, machine, task), cwd=ROOT, env=variables, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def error_number(said: str) -> int | None:
    found = re.search(r"\[Errno (\d+)\]", said)
    return int(found[1]) if found else None


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_outside_is_reached_by_any_user_and_no_attempt_ends_the_process(machine: str, user: str) -> None:
    results = done_inside(user, machine, "attempts")
    assert results.keys() == {"walls", *ATTEMPTS}
    held = results.pop("walls")["held"].split()
    assert {"landlock", "seccomp", "hook"} <= set(held)
    assert "mounts" in held or "asked" in held
    assert machine == "namespaces" or "asked" in held
    assert {name: result for name, result in results.items() if not is_refused(name, result)} == {}
    said = [result["said"] for result in results.values()]
    assert not [each for each in said if "killed" in each or "ended" in each]


def is_refused(attempt: str, result: dict[str, str]) -> bool:
    if result.keys() & {"reached", "changed"}:
        return False
    errors = {*REFUSALS, LET_THROUGH.get(attempt)}
    return "called functions may not" in result["said"] or error_number(result["said"]) in errors


def test_attempts_are_many() -> None:
    assert len(ATTEMPTS) > 350


@pytest.mark.parametrize("user", ROOT_BY_NIGHT)
@pytest.mark.parametrize("machine", MACHINES)
def test_ordinary_functions_and_programs_work_inside(machine: str, user: str) -> None:
    errors = done_inside(user, machine, "ordinary")
    assert errors | {WITH_PROGRAMS: None} == dict.fromkeys(ORDINARY)
    if shutil.which("find") is None:
        pytest.skip("find is not installed; all that runs no program was right")
    assert errors[WITH_PROGRAMS] is None


@contextmanager
def begun(user: str, machine: str, attempt: str, *limits: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A parent whose called function has begun, and the number of its tool process."""
    with (
        surroundings() as variables,
        subprocess.Popen(
            command(user, machine, attempt, *limits), cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True
        ) as parent,
    ):
        assert parent.stdout
        try:
            yield parent, int(parent.stdout.readline())
        finally:
            parent.kill()


def ends_with_all(number: int) -> bool:
    """Whether nothing is left soon of the session of a process; what is killed may yet have to notice."""
    deadline = time.monotonic() + 30
    while (running := running_with(number)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not running


def running_with(number: int) -> int:
    """How many processes run in the session of this one, which nothing inside can leave."""
    found = subprocess.run(["ps", "-A", "-o", "sid=,stat="], capture_output=True, text=True, check=True)
    rows = [line.split() for line in found.stdout.splitlines()]
    return sum(row[0] == str(number) and not row[1].startswith("Z") for row in rows)


@pytest.mark.needs("ps")
@pytest.mark.parametrize("attempt", LASTING)
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_outlives_a_killed_pytest(machine: str, user: str, attempt: str) -> None:
    with begun(user, machine, attempt, "seconds=600", *LASTING[attempt]) as (parent, number):
        assert running_with(number) >= 2
        parent.send_signal(signal.SIGKILL)
    assert ends_with_all(number)


@pytest.mark.needs("ps")
@pytest.mark.parametrize("attempt", [each if each in STUBBORN else by_night(each) for each in LASTING])
@pytest.mark.parametrize("user", ROOT_BY_NIGHT)
@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_outlives_the_time_of_a_call(machine: str, user: str, attempt: str) -> None:
    with begun(user, machine, attempt, "seconds=1", *LASTING[attempt]) as (parent, number):
        assert parent.stdout
        said = parent.stdout.readline()
        parent.wait()
    assert "the process was killed" in said
    assert not running_with(number)


@pytest.mark.needs("ps")
@pytest.mark.parametrize("user", ROOT_BY_NIGHT)
def test_nothing_outlives_its_watcher(user: str) -> None:
    with begun(user, "namespaces", "leave_programs", "seconds=600", "processes=true") as (_, number):
        os.kill(number, signal.SIGKILL)
        assert ends_with_all(number)


@pytest.mark.nightly
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("machine", MACHINES)
def test_processes_without_end_come_to_an_end(machine: str, user: str) -> None:
    with begun(user, machine, "bomb", "seconds=60", "processes=true") as (parent, number):
        assert parent.stdout
        made = int(parent.stdout.readline().split()[1])
        parent.wait()
    assert not running_with(number)
    if (user, machine) == ("user", "namespaces"):  # elsewhere only time is a bound
        assert made < 300


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86-64 has other numbers for calls")
@pytest.mark.parametrize("attempt", ["call_of_32_bits", "call_of_x32"])
def test_calls_by_other_numbers_end_the_process(attempt: str) -> None:
    with begun("root" if os.geteuid() == 0 else "user", "namespaces", attempt) as (parent, _):
        assert parent.stdout
        assert parent.stdout.readline().startswith(("it was killed: SIGSYS", "it was killed: SIGSEGV"))
