"""Attempts to get out of the process in which functions are called, one row each."""

from __future__ import annotations

import asyncio
import ctypes
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.conversation.execution.limits import CallLimits, EnvironmentSpec
from pytest_fcall.conversation.execution.tool_process import ToolProcess
from pytest_fcall.core import CallResult
from tests.unit.conversation.execution.attempts import conduct, excess, files, others
from tests.unit.conversation.execution.processes import started

HAS_LANDLOCK = sys.platform == "linux" and ctypes.CDLL(None).syscall(444, None, 0, 1) > 0
pytestmark = pytest.mark.skipif(not HAS_LANDLOCK, reason="without Linux and its Landlock, only Python itself refuses")

ROOT = Path(__file__).parents[4]
FUNCTIONS = {
    name: f"{module.__name__}:{name}"
    for module in (files, others, excess, conduct)
    for name, value in vars(module).items()
    if callable(value) and value.__module__ == module.__name__
}
SPEC = EnvironmentSpec(ROOT, functions=FUNCTIONS)
LIMITS = CallLimits(seconds=20, memory=1 << 30, result=100_000, printed=1_000, file=1 << 20)
SHORT = replace(LIMITS, seconds=0.2)
SECRET = "sk-test-1234567890"  # noqa: S105  # it opens nothing

REFUSED_FILES = (
    *("read", "read_around_python", "read_by_a_link", "read_by_a_way_up", "read_as_a_database", "read_a_copy"),
    *("write", "append", "write_around_python", "write_beside", "write_in_the_shared_temporary_folder"),
    *(
        "remove",
        "remove_around_python",
        "remove_the_tree",
        "rename",
        "link",
        "truncate",
        "make_it_anybodys",
        "make_a_folder_beside",
    ),
    *("list_the_folder", "walk_into_the_folder", "walk_the_classes"),
)
PAST_PYTHON = ("read_with_realpath_replaced", "take_the_hook_away")
REFUSED_NETWORK = ("connect", "fetch", "send_a_datagram", "connect_asynchronously")
REFUSED_OF_THE_PARENT = (
    *("read_the_parents_environment", "read_the_parents_environment_around_python", "read_the_parents_memory"),
    *("signal_the_parent", "signal_the_parent_around_python", "signal_the_parents_group", "trace_the_parent"),
    "leave_the_group",
)
REFUSED = (
    *("write_into_this_module", "share_memory", "share_memory_around_python"),
    *("connect_around_python", "look_a_name_up", "listen", "reach_a_local_service", "ask_the_kernel_to_connect"),
    *("run_a_program", "run_a_shell", "run_a_shell_around_python", "become_a_program"),
    *("become_a_program_around_python", "spawn", "fork", "fork_around_python", "fork_bomb", "use_multiprocessing"),
    *("signal_everybody", "start_a_session", "raise_the_limits", "enter_a_world_of_its_own", "change_the_root"),
)
FAILING = {
    "fill_a_file": "OSError: [Errno 27] File too large",
    "open_many_files": "OSError: [Errno 24] Too many open files",
    "a_string_of_10_gb": "MemoryError",
    "a_list_without_end": "MemoryError",
    "a_map_of_10_gb": "OSError: [Errno 12] Cannot allocate memory",
    "unpack_10_gb": "MemoryError",
    "recurse": "RecursionError: maximum recursion depth exceeded",
    "give_a_bomb": "the result cannot be returned: it has more than 100,000 bytes",
    "give_10_mb": "the result cannot be returned: it has more than 100,000 bytes",
    "give_without_end": "the result cannot be returned: it has more than 100,000 bytes",
    "give_great_depth": "the result cannot be returned: it is nested more than 100 levels deep",
    "give_itself": "the result cannot be returned: it contains itself",
    "give_a_huge_number": "the result cannot be returned: it contains an integer with more than 4,000 digits",
    "give_what_has_every_attribute": "the result cannot be returned: it contains a value of type Endless",
    "give_a_function": "the result cannot be returned: it contains a value of type function",
    "give_bytes": "the result cannot be returned: it contains bytes, whose meaning is not known; decode them",
    "give_infinity": "the result cannot be returned: it contains an infinite number",
    "leave": "SystemExit: 3",
    "interrupt": "KeyboardInterrupt",
    "raise_loudly": "Loud: " + "x" * 2_000,
    "raise_mutely": "Mute",
    "raise_baselessly": "Baseless: from nothing",
}
HARMLESS = (
    *(
        "print_much",
        "write_on_the_descriptors",
        "close_the_streams",
        "replace_the_streams",
        "leave_a_thread",
        "ignore_signals",
    ),
    *("nest_folders", "lock_the_folder"),
)
TOO_LONG = (
    *(
        "loop",
        "loop_and_catch",
        "hold_the_interpreter",
        "wait_forever",
        "stop",
        "take_long_to_say_why",
        "take_long_to_be_told",
    ),
)
DEADLY = {
    "exit_at_once": "it ended the process with status 0",
    "abort": "it was killed: SIGABRT",
    "crash": "it was killed: SIGSEGV",
    "kill_itself": "it was killed: SIGKILL",
    "close_everything": "it ended the process with status",
    "flood_everything": "the result is larger than 100,000 bytes; the process was killed",
    "forge": "it wrote into the channel of the results; the process was killed",
    "forge_nonsense": "it wrote into the channel of the results; the process was killed",
    "forge_a_number": "it wrote into the channel of the results; the process was killed",
    "forge_an_error": "it wrote into the channel of the results; the process was killed",
    "forge_more": "it wrote into the channel of the results; the process was killed",
}
NAMES = [
    "__class__",
    "read.__globals__",
    "os.system",
    "_private",
    "",
    ".",
    "read.__class__.__mro__",
    "read ",
    "nothing",
    "NULL",
]


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def worker(runner: asyncio.Runner) -> Iterator[ToolProcess]:
    """One process for all attempts that are only refused; it must live through them all."""
    worker = runner.run(ToolProcess.start(SPEC, LIMITS))
    yield worker
    assert runner.run(worker.call("wait_for_input", {})) == CallResult("nothing")
    runner.run(worker.close())


async def alone(limits: CallLimits, *calls: str, **arguments: str) -> list[CallResult]:
    """Call in a process that nobody else uses, and see that nothing of it stays behind."""
    async with started(SPEC, limits) as worker:
        number, folder = worker._process.pid, worker._folder
        done = [await worker.call(name, arguments) for name in calls]
    with pytest.raises(ProcessLookupError):
        os.killpg(number, 0)
    assert not folder.exists()
    return done


def test_the_pipe_of_a_process_that_floods_it_between_calls_is_closed(runner: asyncio.Runner) -> None:
    async def is_closed() -> bool:
        async with started(SPEC, LIMITS) as worker:
            await worker.call("flood_everything_afterwards", {})
            pipe = worker._process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]
            # Until nobody reads it any more. Before Python 3.11.4 the transport itself does not say so.
            while not (pipe.is_closing() or worker._process.stdout._paused):  # type: ignore[union-attr]
                await asyncio.sleep(0)
        return bool(pipe.is_closing())

    assert runner.run(is_closed())


def is_refusal(done: CallResult) -> bool:
    said = done.error or ""
    return done.value is None and (
        said.startswith(
            ("PermissionError", "OperationalError: unable to open", "URLError: <urlopen error called functions may not")
        )
        or "Operation not permitted" in said
        or "Read-only file system" in said
        or "not allowed" in said
    )


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A file that nobody may touch, alone in its folder."""
    folder = tmp_path / "outside"
    folder.mkdir()
    path = folder / "secret"
    path.write_text(SECRET)
    mode = path.stat().st_mode
    yield path
    assert list(folder.iterdir()) == [path]
    assert (path.read_text(), path.stat().st_mode, path.stat().st_nlink) == (SECRET, mode, 1)


@pytest.mark.parametrize("attempt", REFUSED_FILES)
def test_files_outside_are_out_of_reach(
    runner: asyncio.Runner, worker: ToolProcess, outside: Path, attempt: str
) -> None:
    done = runner.run(worker.call(attempt, {"path": str(outside)}))
    assert is_refusal(done), done
    assert SECRET not in str(done)


@pytest.mark.parametrize("attempt", PAST_PYTHON)
def test_the_kernel_holds_where_python_does_not(runner: asyncio.Runner, outside: Path, attempt: str) -> None:
    (done,) = runner.run(alone(LIMITS, attempt, path=str(outside)))
    assert done == CallResult(error=f"PermissionError: [Errno 13] Permission denied: {str(outside)!r}")


@pytest.mark.parametrize("attempt", REFUSED_NETWORK)
def test_a_server_on_this_machine_is_out_of_reach(runner: asyncio.Runner, worker: ToolProcess, attempt: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        done = runner.run(worker.call(attempt, {"port": server.getsockname()[1]}))
        assert is_refusal(done), done
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize("attempt", REFUSED_OF_THE_PARENT)
def test_the_parent_is_out_of_reach(runner: asyncio.Runner, worker: ToolProcess, attempt: str) -> None:
    done = runner.run(worker.call(attempt, {"number": os.getpid()}))
    assert is_refusal(done), done


@pytest.mark.parametrize("attempt", REFUSED)
def test_the_rest_of_the_machine_is_out_of_reach(runner: asyncio.Runner, worker: ToolProcess, attempt: str) -> None:
    done = runner.run(worker.call(attempt, {}))
    assert is_refusal(done), done


@pytest.mark.parametrize(("attempt", "said"), FAILING.items())
def test_what_is_too_much_is_an_error_and_no_more(
    runner: asyncio.Runner, worker: ToolProcess, attempt: str, said: str
) -> None:
    done = runner.run(worker.call(attempt, {}))
    assert done.value is None
    assert done.error is not None
    assert done.error.startswith(said)
    assert len(done.error) < 3_000


@pytest.mark.parametrize("name", NAMES)
def test_a_name_leads_to_public_functions_only(runner: asyncio.Runner, worker: ToolProcess, name: str) -> None:
    done = runner.run(worker.call(name, {}))
    assert done.error is not None
    assert done.error.startswith(("there is no", "`"))


def test_no_variable_tells_a_secret(runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("LC_SECRET_X", "told, since it is a setting of the language")
    (done,) = runner.run(alone(LIMITS, "take_the_variables"))
    assert isinstance(done.value, dict)
    assert SECRET not in str(done)
    assert done.value["HOME"] == done.value["TMPDIR"] != os.environ.get("HOME")


@pytest.mark.parametrize("attempt", HARMLESS)
def test_what_hurts_nobody_is_followed_by_further_calls(runner: asyncio.Runner, attempt: str) -> None:
    done = runner.run(alone(LIMITS, attempt, "wait_for_input"))
    assert done == [CallResult("done"), CallResult("nothing")]


@pytest.mark.parametrize("attempt", TOO_LONG)
def test_what_takes_too_long_is_ended(runner: asyncio.Runner, attempt: str) -> None:
    said = "it took longer than 0.2 s; the process was killed"
    first, second = runner.run(alone(SHORT, attempt, "wait_for_input"))
    assert first == CallResult(error=said)
    assert second == CallResult(error=f"not called: an earlier call ended the process ({said})")


@pytest.mark.parametrize(("attempt", "said"), DEADLY.items())
def test_the_end_of_the_process_is_told_as_an_error(runner: asyncio.Runner, attempt: str, said: str) -> None:
    first, second = runner.run(alone(LIMITS, attempt, "wait_for_input"))
    assert first.error is not None
    assert first.error.startswith(said)
    assert second == CallResult(error=f"not called: an earlier call ended the process ({first.error})")


@pytest.mark.parametrize("attempt", ["recurse_without_limit", "start_threads_without_end"])
def test_resources_without_end_come_to_an_end(runner: asyncio.Runner, attempt: str) -> None:
    (done,) = runner.run(alone(replace(SHORT, memory=1 << 29), attempt))
    assert done.value is None
    assert done.error is not None


def test_the_walls_of_linux_stand(worker: ToolProcess) -> None:
    assert {"resources", "landlock", "seccomp", "hook"} <= set(worker.sandbox)


def test_attempts_are_many() -> None:
    rows = [
        REFUSED_FILES,
        PAST_PYTHON,
        REFUSED_NETWORK,
        REFUSED_OF_THE_PARENT,
        REFUSED,
        FAILING,
        NAMES,
        HARMLESS,
        TOO_LONG,
        DEADLY,
    ]
    assert sum(map(len, rows)) > 100
