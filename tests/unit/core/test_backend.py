from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Model

RESERVED = set('<>:"/\\|?*')


def test_an_ordinary_name_is_its_own_folder() -> None:
    assert Model("local", "smollm2").folder == "local-smollm2"
    assert Model("openai", "gpt-5.2").folder == "openai-gpt-5.2"


def test_names_that_differ_in_case_or_punctuation_keep_apart() -> None:
    names = ["Qwen/Qwen3", "qwen/qwen3", "qwen-qwen3", "qwen:qwen3"]
    assert len({Model("local", name).folder.casefold() for name in names}) == len(names)


@given(st.text(min_size=1))
def test_every_name_makes_a_folder_name_that_windows_takes(name: str) -> None:
    folder = Model("local", name).folder
    assert folder.isascii()
    assert not RESERVED & set(folder)
    assert folder[-1] not in ". "
    assert len(folder) < 120


def test_options_are_no_part_of_the_id() -> None:
    assert Model("openai", "gpt-5.2", {"base_url": "http://127.0.0.1"}).id == "openai:gpt-5.2"
