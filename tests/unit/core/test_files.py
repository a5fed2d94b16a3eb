from __future__ import annotations

from pathlib import Path

from pytest_fcall.core.files import shared_folders


def test_folders_of_kept_files_are_found_below_a_root_but_not_in_hidden_ones_or_installed_packages(
    tmp_path: Path,
) -> None:
    found = ["a/__fcall__", "b/c/__fcall__", "__fcall__"]
    for name in (*found, "a/__fcall__/model/__fcall__", ".git/__fcall__", "node_modules/x/__fcall__", "venv/__fcall__"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    assert sorted(shared_folders(tmp_path)) == sorted(tmp_path / name for name in found)
