from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.backends.local.chat_template import read_template
from pytest_fcall.core import ModelUnavailable


def test_a_template_is_read_from_the_root(tmp_path: Path) -> None:
    (tmp_path / "chat.jinja").write_text("{{ messages }} é", encoding="utf-8")
    assert read_template("chat.jinja", tmp_path) == "{{ messages }} é"
    assert read_template(str(tmp_path / "chat.jinja"), Path("elsewhere")) == "{{ messages }} é"


@pytest.mark.parametrize("file", ["absent.jinja", ".", "\0", "\ud800", "a" * 5000, "latin.jinja"])
def test_a_template_that_cannot_be_read_is_told_in_a_line(file: str, tmp_path: Path) -> None:
    (tmp_path / "latin.jinja").write_bytes(b"\xe9")
    with pytest.raises(ModelUnavailable, match=r"\A`template` must be a file in UTF-8: .{1,200}\Z"):
        read_template(file, tmp_path)
