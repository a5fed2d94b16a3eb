from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from pytest_fcall.core.files import case_file_of, create_private, project_folders, shared_folders, shared_path


def test_folders_of_kept_files_are_found_below_a_root_but_not_in_hidden_ones_or_installed_packages(
    tmp_path: Path,
) -> None:
    found = ["a/__fcall__", "b/c/__fcall__", "__fcall__"]
    for name in (*found, "a/__fcall__/model/__fcall__", ".git/__fcall__", "node_modules/x/__fcall__", "venv/__fcall__"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    assert sorted(shared_folders(tmp_path)) == sorted(tmp_path / name for name in found)


def test_folders_of_a_project_are_all_but_hidden_ones_those_of_installed_packages_and_of_kept_files(
    tmp_path: Path,
) -> None:
    for name in ("b/c", "a/__fcall__/model", ".git/x", "node_modules/x", "venv/x", "__pycache__"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    assert [*project_folders(tmp_path)] == [tmp_path / name for name in ("", "a", "a/__fcall__", "b", "b/c")]


def test_the_case_file_of_a_kept_file_is_known_from_its_path() -> None:
    case_file = Path("shop/cases/weather.fc.yaml")
    assert case_file_of(shared_path(case_file, "openai-gpt", ".txt"), ".txt") == case_file


def test_a_loop_of_links_is_no_private_file(tmp_path: Path) -> None:
    loop = tmp_path / "replies.db"
    loop.symlink_to("replies.db")
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        create_private(loop)


def test_a_file_that_others_move_away_all_the_time_is_created_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "replies.db"
    over = Event()

    def move_away() -> None:
        while not over.is_set():
            path.unlink(missing_ok=True)

    with ThreadPoolExecutor(1) as others:
        moving = others.submit(move_away)
        try:
            for _ in range(3_000):
                create_private(path)
        finally:
            over.set()
        moving.result()
