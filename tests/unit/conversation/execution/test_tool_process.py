from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Thread

import pytest

from pytest_fcall.conversation.execution.limits import DEFAULT_LIMITS, CallLimits, EnvironmentFailed, EnvironmentSpec
from pytest_fcall.core import CallResult, Json
from tests.unit.conversation.execution.processes import started

ROOT = Path(__file__).parents[4]
WORLD = "tests.unit.conversation.execution.world"


def behind(environment: str | None = None, setup: Mapping[str, Json] | None = None, *functions: str) -> EnvironmentSpec:
    target = None if environment is None else f"{WORLD}:{environment}"
    return EnvironmentSpec(ROOT, target, setup or {}, {name: f"{WORLD}:{name}" for name in functions})


async def called(
    spec: EnvironmentSpec,
    *calls: tuple[str, dict[str, Json]],
    limits: CallLimits = DEFAULT_LIMITS,
    state: list[str] | None = None,
) -> list[CallResult]:
    """Make calls, and then read the state."""
    async with started(spec, limits) as worker:
        return [*[await worker.call(*call) for call in calls], await worker.state(state)]


def test_methods_are_called_and_public_attributes_are_the_state() -> None:
    *done, state = asyncio.run(called(behind("Shop", {"stock": 5}), ("buy", {"number": 2}), ("order", {"number": 3})))
    assert done == [CallResult({"left": 3}), CallResult({"left": 0})]
    sold: Json = [{"number": 2}, {"number": 3}]
    expected: Json = {"currency": "EUR", "is_empty": True, "label": "shop", "sold": sold, "stock": 0}
    assert state == CallResult(expected)


def test_only_attributes_that_are_asked_for_are_read() -> None:
    assert asyncio.run(called(behind("Shop"), state=["stock"])) == [CallResult({"stock": 3})]
    assert asyncio.run(called(behind("Shop"), state=["_till"])) == [CallResult(error="`_till` is not a public name")]
    assert asyncio.run(called(behind("Shop"), state=["owner"])) == [CallResult(error="there is no `owner`")]


def test_an_attribute_that_is_not_there_is_named_with_the_one_that_was_probably_meant() -> None:
    (state,) = asyncio.run(called(behind("Shop"), state=["label", "stick"]))
    assert state == CallResult(error="there is no `stick`; did you mean `stock`?")


def test_what_a_method_raises_is_its_result() -> None:
    raised, wrong, *_ = asyncio.run(called(behind("Shop"), ("buy", {"number": 9}), ("buy", {"amount": 9})))
    assert raised == CallResult(error="ValueError: there are only 3")
    assert wrong.error is not None
    assert wrong.error.startswith("TypeError: Shop.buy() got an unexpected keyword argument 'amount'")


def test_a_factory_may_be_asynchronous() -> None:
    *_, state = asyncio.run(called(behind("opened_shop", {"stock": 1}), state=["label", "stock"]))
    assert state == CallResult({"label": "opened", "stock": 1})


def test_tools_may_be_keys_methods_within_and_plain_functions() -> None:
    spec = behind("shelf", None, "double")
    *done, state = asyncio.run(called(spec, ("shop.buy", {"number": 1}), ("double", {"value": 4}), ("size", {})))
    assert done == [CallResult({"left": 2}), CallResult(8), CallResult(error="`size` is not a function")]
    assert isinstance(state.value, dict)
    assert state.value["size"] == 2
    assert state.value["shop"]["stock"] == 2
    assert state.value.keys() == {"shop", "size"}


def test_each_worker_has_a_world_of_its_own() -> None:
    async def both() -> list[CallResult]:
        async with started(behind("Shop")) as one, started(behind("Shop")) as other:
            await one.call("buy", {"number": 1})
            return [await one.state(["stock"]), await other.state(["stock"])]

    assert asyncio.run(both()) == [CallResult({"stock": 2}), CallResult({"stock": 3})]


@pytest.mark.parametrize(
    ("target", "setup", "said"),
    [
        (f"{WORLD}:broken", {}, f"RuntimeError: no shop today ({WORLD.replace('.', '/')}.py, line "),
        (f"{WORLD}:Shop", {"zone": 1}, "TypeError: Shop.__init__() got an unexpected keyword argument 'zone'"),
        (f"{WORLD}:shops", {}, "there is no `shops`"),
        (f"{WORLD}:nothing", {}, "the factory returned None; return an object or a mapping of functions"),
        (f"{WORLD}:_awaited", {}, "`_awaited` is not a public name"),
        ("no_such_module_at_all:make", {}, "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        (f"{WORLD}:ever", {}, "it took longer than 1 s; the process was killed"),
    ],
)
def test_a_world_that_cannot_be_made_is_told_of(target: str, setup: dict[str, Json], said: str) -> None:
    with pytest.raises(EnvironmentFailed) as failed:
        asyncio.run(
            called(EnvironmentSpec(ROOT, target, setup), limits=CallLimits(start_seconds=1 if "ever" in target else 60))
        )
    assert str(failed.value).startswith(f"{target}: {said}")


def test_what_is_printed_is_kept() -> None:
    async def printed(limits: CallLimits) -> str:
        async with started(behind("Shop"), limits) as worker:
            await worker.call("buy", {"number": 1})
            await worker.call("buy", {"number": 2})
        return worker.printed

    assert asyncio.run(printed(CallLimits())) == "sold 1\nsold 2\n"
    assert asyncio.run(printed(CallLimits(printed=4))) == "d 2\n"


def test_variables_are_handed_on_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "kept back")
    asked: tuple[str, dict[str, Json]] = ("variable", {"name": "SHOP_KEY"})
    assert asyncio.run(called(behind(None, None, "variable"), asked))[0] == CallResult(None)
    limits = CallLimits(variables={"SHOP_KEY": "told"})
    assert asyncio.run(called(behind(None, None, "variable"), asked, limits=limits))[0] == CallResult("told")


def test_folders_are_read_when_they_are_named(tmp_path: Path) -> None:
    (tmp_path / "prices").write_text("9.50")
    asked: tuple[str, dict[str, Json]] = ("contents", {"path": str(tmp_path / "prices")})
    refused, _ = asyncio.run(called(behind(None, None, "contents"), asked))
    assert refused.error is not None
    assert refused.error.startswith("PermissionError: called functions may not read")
    allowed, _ = asyncio.run(called(behind(None, None, "contents"), asked, limits=CallLimits(folders=(tmp_path,))))
    assert allowed == CallResult("9.50")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root may give files to others")
def test_root_may_call_functions_of_a_project_that_is_another_users(tmp_path: Path) -> None:
    module = tmp_path / "project" / "theirs.py"
    module.parent.mkdir(mode=0o700)
    module.write_text("def say() -> str:\n    return 'called'\n")
    module.chmod(0o600)
    for path in (module, module.parent):
        os.chown(path, 65_534, 65_534)
    done, _ = asyncio.run(called(EnvironmentSpec(module.parent, functions={"say": "theirs:say"}), ("say", {})))
    assert done == CallResult("called")


def test_files_may_be_written_in_the_working_folder_which_goes_in_the_end() -> None:
    done, _ = asyncio.run(called(behind(None, None, "scribble"), ("scribble", {})))
    assert done.error is None
    assert not Path(str(done.value)).parent.exists()


def test_the_network_may_be_opened() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        asked: tuple[str, dict[str, Json]] = ("greet", {"port": server.getsockname()[1]})
        done, _ = asyncio.run(called(behind(None, None, "greet"), asked, limits=CallLimits(network=True)))
        assert done == CallResult("done")
        connection, _ = server.accept()
        with connection:
            assert connection.recv(5) == b"hello"


@pytest.mark.needs("ps")
@pytest.mark.skipif(sys.platform == "win32", reason="processes are named otherwise there")
def test_children_that_were_allowed_end_with_the_worker() -> None:
    async def run() -> int:
        async with started(behind(None, None, "children"), CallLimits(processes=True)) as worker:
            done = await worker.call("children", {})
            assert isinstance(done.value, list), done
            assert running_with(worker._process.pid) >= 1 + len(done.value)
        return worker._process.pid

    assert ends_with_all(asyncio.run(run()))


@pytest.mark.needs("ps")
@pytest.mark.skipif(sys.platform == "win32", reason="processes are named otherwise there")
def test_children_end_with_a_call_that_is_given_up() -> None:
    async def run() -> int:
        async with started(behind(None, None, "children_and_then_on"), CallLimits(processes=True)) as worker:
            call = asyncio.create_task(worker.call("children_and_then_on", {}))
            while not worker.printed.endswith("]"):
                await asyncio.sleep(0.02)
            assert running_with(worker._process.pid) >= 1 + len(json.loads(worker.printed))
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        return worker._process.pid

    assert ends_with_all(asyncio.run(run()))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, nothing refuses it")
def test_children_cannot_leave_the_group_that_is_ended() -> None:
    name = "leave_with_a_session_of_its_own"
    done, _ = asyncio.run(called(behind(None, None, name), (name, {}), limits=CallLimits(processes=True)))
    assert done.error is not None
    assert "Operation not permitted" in done.error


def test_ordinary_libraries_work_inside() -> None:
    names = ("threads", "database", "temporary_files", "clocks", "random_numbers")
    done = asyncio.run(called(behind(None, None, *names), *[(name, {}) for name in names]))
    assert done[:-1] == [
        CallResult([1, 2, 3]),
        CallResult([[1]]),
        CallResult(["a", "b"]),
        CallResult("+01:00"),
        CallResult(16),
    ]


def test_a_worker_can_be_used_in_any_thread() -> None:
    done: list[CallResult] = []
    thread = Thread(target=lambda: done.extend(asyncio.run(called(behind("Shop"), ("buy", {"number": 1})))))
    thread.start()
    thread.join()
    assert done[0] == CallResult({"left": 2})


def test_a_question_that_cannot_be_written_leaves_the_process_alone() -> None:
    async def asked() -> CallResult:
        async with started(behind("Shop")) as worker:
            with pytest.raises(TypeError):
                await worker.call("buy", {"number": object()})  # type: ignore[dict-item]  # that is the question
            return await worker.call("buy", {"number": 1})

    assert asyncio.run(asked()) == CallResult({"left": 2})


def test_a_call_that_is_given_up_ends_the_process() -> None:
    async def given_up() -> CallResult:
        async with started(behind("Shop", None, "ever")) as worker:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(worker.call("ever", {}), 0.2)
            return await worker.call("buy", {"number": 1})

    done = asyncio.run(given_up())
    assert done.error == "not called: an earlier call ended the process (the call was cancelled)"


_PARENT = f"""
import asyncio, sys
from pathlib import Path
from pytest_fcall.conversation.execution.limits import EnvironmentSpec, CallLimits
from pytest_fcall.conversation.execution.tool_process import ToolProcess

async def main() -> None:
    spec = EnvironmentSpec(Path(sys.argv[1]), functions={{"ever": "{WORLD}:ever"}})
    worker = await ToolProcess.start(spec, CallLimits(seconds=0.1))
    print(worker._process.pid, flush=True)
    if sys.argv[2] == "calling":
        worker._process.stdin.write(b'{{"call": "ever", "arguments": {{}}}}\\n')
    await asyncio.sleep(3600)

asyncio.run(main())
"""


@pytest.mark.needs("ps")
@pytest.mark.skipif(sys.platform == "win32", reason="nothing there ends a process for us")
@pytest.mark.parametrize("at", ["idle", "calling"])
def test_a_worker_ends_when_its_parent_is_killed(at: str, tmp_path: Path) -> None:
    told = [sys.executable, "-c", _PARENT, str(ROOT), at]
    variables = {**os.environ, "TMPDIR": str(tmp_path)}  # nobody takes the worker's folder away
    with subprocess.Popen(told, stdout=subprocess.PIPE, text=True, env=variables) as parent:
        assert parent.stdout
        number = int(parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)
    assert ends_with_all(number)


def ends_with_all(number: int) -> bool:
    """Whether nothing of a process is left soon: what is killed may yet have to notice."""
    deadline = time.monotonic() + 30
    while running_with(number) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not running_with(number)


def running_with(number: int) -> int:
    """How many processes run in the session of this one, or where that is not to be had in its group."""
    column = "sid" if sys.platform == "linux" else "pgid"
    found = subprocess.run(["ps", "-A", "-o", f"{column}=,stat="], capture_output=True, text=True, check=True)
    rows = [line.split() for line in found.stdout.splitlines()]
    return sum(row[0] == str(number) and not row[1].startswith("Z") for row in rows)


def test_the_process_imports_neither_the_package_nor_slow_modules() -> None:
    program = (
        "import sys; sys.path[:] = sys.argv[1:]; import pytest_fcall.conversation.execution.child; "
        "print([name for name in sys.modules if name.startswith(('pytest_fcall.core', 'pytest_fcall.schema')) "
        "or name in {'asyncio', 'dataclasses', 'decimal', 'inspect', 'jsonschema_rs', 'pathlib', 'traceback', 'uuid'}])"
    )
    command = [sys.executable, "-I", "-c", program, str(ROOT), *sys.path]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
