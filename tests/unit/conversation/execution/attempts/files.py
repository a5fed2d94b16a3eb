"""Files that are none of their business."""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import tempfile
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

from tests.unit.conversation.execution.attempts.c_library import libc


def read(path: str) -> str:
    return Path(path).read_text()


def read_around_python(path: str) -> int:
    return libc("open", path.encode(), os.O_RDONLY)


def read_by_a_link(path: str) -> str:
    Path("link").symlink_to(path)
    return Path("link").read_text()


def read_by_a_way_up(path: str) -> str:
    return Path("../" * 30 + path.lstrip("/")).read_text()


def read_with_realpath_replaced(path: str) -> str:
    os.path.realpath = lambda *_, **__: os.devnull  # type: ignore[assignment]  # to mislead who asks it
    return Path(path).read_text()


def read_as_a_database(path: str) -> list[Any]:
    return sqlite3.connect(path).execute("select * from sqlite_master").fetchall()


def read_a_copy(path: str) -> str:
    return shutil.copy(path, "copy")


def write(path: str) -> int:
    return Path(path).write_text("x")


def append(path: str) -> int:
    with Path(path).open("a") as file:
        return file.write("x")


def write_around_python(path: str) -> int:
    return libc("open", path.encode(), os.O_WRONLY | os.O_TRUNC)


def write_beside(path: str) -> int:
    return Path(path).with_name("new").write_text("x")


def write_in_the_shared_temporary_folder(path: str) -> int:
    tempfile.tempdir = str(Path(path).parent)
    with tempfile.NamedTemporaryFile("w") as file:
        return file.write("x")


def write_into_this_module() -> int:
    return Path(__file__).write_text("x")


def remove(path: str) -> None:
    Path(path).unlink()


def remove_around_python(path: str) -> int:
    return libc("unlink", path.encode())


def remove_the_tree(path: str) -> None:
    shutil.rmtree(Path(path).parent)


def rename(path: str) -> Path:
    return Path(path).rename("mine")


def link(path: str) -> None:
    Path("mine").hardlink_to(path)


def truncate(path: str) -> None:
    os.truncate(path, 0)


def make_it_anybodys(path: str) -> None:
    Path(path).chmod(0o777)


def make_a_folder_beside(path: str) -> None:
    Path(path).with_name("folder").mkdir()


def list_the_folder(path: str) -> list[str]:
    return os.listdir(Path(path).parent)  # noqa: PTH208  # another way than Path.iterdir


def walk_into_the_folder(path: str) -> None:
    os.chdir(Path(path).parent)


def read_the_parents_environment(number: int) -> bytes:
    return Path(f"/proc/{number}/environ").read_bytes()


def read_the_parents_environment_around_python(number: int) -> int:
    return libc("open", f"/proc/{number}/environ".encode(), os.O_RDONLY)


def read_the_parents_memory(number: int) -> bytes:
    with Path(f"/proc/{number}/mem").open("rb") as memory:
        return memory.read(1)


def fill_a_file() -> None:
    with Path("large").open("wb") as file:
        file.writelines(bytes(1 << 20) for _ in range(1_000))


def open_many_files() -> list[Any]:
    return [Path("many").open("w") for _ in range(10_000)]


def share_memory() -> str:
    return shared_memory.SharedMemory(create=True, size=1 << 20).name


def share_memory_around_python() -> int:
    return libc("shmget", 0, 4096, 0o1600)


def walk_the_classes(path: str) -> int:
    """From a literal to a module, as in what is injected into templates."""
    classes: list[Any] = ().__class__.__mro__[1].__subclasses__()
    for each in classes:
        found = getattr(each.__init__, "__globals__", {})
        if "system" in found:
            return int(found["system"](f"touch {path}.new"))
    raise LookupError("no way")


def take_the_hook_away(path: str) -> str:
    """Break the function that refuses, which is found by its name among all objects."""
    for each in list[Any](gc.get_objects()):
        if getattr(each, "__name__", "") == "_is_inside":
            each.__code__ = (lambda _, __: True).__code__
    return Path(path).read_text()


def take_the_variables() -> dict[str, str]:
    return dict(os.environ)
