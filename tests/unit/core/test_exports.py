from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_fcall
from pytest_fcall import core
from pytest_fcall.core import exports

NAMES = frozenset(name for name in vars(exports) if not name.startswith("_") and name != "annotations")


def test_others_get_each_exported_name_from_the_room() -> None:
    from pytest_fcall.core import Case, Reply, canonical

    assert {"Case", "Reply", "canonical"} <= NAMES
    assert (Case, Reply, canonical) == (exports.Case, exports.Reply, exports.canonical)


def test_a_name_that_is_not_exported_is_none_of_the_rooms() -> None:
    with pytest.raises(AttributeError, match=r"^module 'pytest_fcall.core' has no attribute 'Cases'$"):
        core.Cases  # type: ignore[attr-defined]  # noqa: B018


def test_the_room_alone_imports_none_of_its_modules() -> None:
    code = (
        "import sys, pytest_fcall.core; print([name for name in sys.modules if name.startswith('pytest_fcall.core.')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_this_package_imports_names_from_the_module_that_defines_them() -> None:
    texts = [file.read_text("utf-8") for file in Path(pytest_fcall.__file__).parent.rglob("*.py")]
    lists = [
        found
        for text in texts
        for found in re.findall(r"^ *from pytest_fcall\.core import (\([^)]*|.*)", text, re.MULTILINE)
    ]
    assert "arithmetic" in lists
    assert not NAMES.intersection(name for names in lists for name in re.findall(r"\w+", names))
