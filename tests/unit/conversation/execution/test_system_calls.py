from __future__ import annotations

import re
import subprocess
from itertools import chain, combinations
from shutil import which

import pytest

from pytest_fcall.conversation.execution import system_calls
from pytest_fcall.conversation.execution.system_calls import CallTable

TABLES = {
    name: table for name, table in vars(system_calls).items() if name.isupper() and name not in {"NEWEST", "LOOKED_AT"}
}
ALL = dict(chain.from_iterable(table.items() for table in (*TABLES.values(), system_calls.LOOKED_AT)))
HEADERS = ["asm/unistd_64.h", "asm-generic/unistd.h"]
"""Of x86-64, and of 64-bit ARM, which has the numbers of all newer architectures."""


def numbers_in(header: str) -> dict[str, int]:
    """The numbers of a header of this machine's kernel, where a compiler can read it."""
    wanted = [
        "-D__BITS_PER_LONG=64",
        "-D__ARCH_WANT_RENAMEAT",
        "-D__ARCH_WANT_NEW_STAT",
        "-D__ARCH_WANT_SET_GET_RLIMIT",
    ]
    command = ["cc", "-E", "-dM", *wanted, "-D__ARCH_WANT_SYS_CLONE3", "-"]
    read = subprocess.run(command, input=f"#include <{header}>\n", capture_output=True, text=True, check=False).stdout
    plain = {
        name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)$", read, re.MULTILINE)
    }
    other = re.findall(r"#define __NR_(\w+) __NR3264_(\w+)$", read, re.MULTILINE)
    return plain | {name: plain[meant] for name, meant in other if meant in plain}


@pytest.mark.skipif(which("cc") is None, reason="a compiler reads the headers")
@pytest.mark.parametrize(("column", "header"), [*enumerate(HEADERS)])
def test_numbers_are_those_of_the_kernel(column: int, header: str) -> None:
    known = numbers_in(header)
    if not known:
        pytest.skip("this machine has no such header")
    newest = max(known.values())
    ours = {name: both[column] for name, both in ALL.items() if 0 <= both[column] <= newest}
    assert ours == {name: known[name] for name in ours}


def test_a_call_is_in_one_table() -> None:
    for one, other in combinations([*TABLES.values(), system_calls.LOOKED_AT], 2):
        assert not one.keys() & other.keys()


@pytest.mark.parametrize("column", [0, 1])
def test_a_number_is_one_calls(column: int) -> None:
    numbers = [both[column] for both in ALL.values() if both[column] >= 0]
    assert len(numbers) == len({*numbers})


@pytest.mark.parametrize("table", [*TABLES.values(), system_calls.LOOKED_AT])
def test_newer_calls_have_one_number(table: CallTable) -> None:
    assert all(one == other for one, other in table.values() if max(one, other) >= 424)


def test_the_newest_call_is_known() -> None:
    assert max(max(both) for both in ALL.values()) <= system_calls.NEWEST


def test_what_a_filter_asks_about_can_be_answered() -> None:
    from pytest_fcall.conversation.execution import file_attributes

    assert file_attributes._CALLS.keys() == system_calls.ATTRIBUTES.keys()
