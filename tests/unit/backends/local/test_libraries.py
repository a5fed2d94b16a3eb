from __future__ import annotations

import pytest

from pytest_fcall.backends.local.libraries import check_installed
from pytest_fcall.core import ModelUnavailable


def test_a_missing_library_is_named_with_its_extra() -> None:
    check_installed("json")
    with pytest.raises(ModelUnavailable, match=r"need no_such_library, which is not installed; .*\[local\]"):
        check_installed("json", "no_such_library")
