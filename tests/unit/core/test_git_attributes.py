from __future__ import annotations

from pathlib import Path

from pytest_fcall.core.files import write_git_attributes


def test_a_folder_gets_rules_by_which_git_keeps_the_lines_of_both_branches(tmp_path: Path) -> None:
    write_git_attributes(tmp_path / "__fcall__")

    comment, *rules = (tmp_path / "__fcall__" / ".gitattributes").read_text(encoding="utf-8").splitlines()
    assert comment.startswith("# Written by pytest-fcall")
    assert rules == [
        "*.accepted merge=union",
        "*.replies.jsonl merge=union",
        "*.measured.jsonl merge=union -diff linguist-generated",
        "*.recorded.jsonl merge=union -diff linguist-generated",
    ]


def test_rules_of_an_earlier_version_are_replaced(tmp_path: Path) -> None:
    write_git_attributes(tmp_path)
    path = tmp_path / ".gitattributes"
    current = path.read_bytes()
    path.write_bytes(current.splitlines(keepends=True)[0] + b"*.ambr merge=union\n")
    write_git_attributes(tmp_path)

    assert path.read_bytes() == current


def test_rules_that_are_current_are_not_written_again(tmp_path: Path) -> None:
    write_git_attributes(tmp_path)
    path = tmp_path / ".gitattributes"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))  # as git checks it out on some machines
    as_checked_out = path.read_bytes()
    write_git_attributes(tmp_path)

    assert path.read_bytes() == as_checked_out


def test_a_file_that_a_person_wrote_stays(tmp_path: Path) -> None:
    path = tmp_path / ".gitattributes"
    path.write_text("*.jsonl -merge\n", encoding="utf-8")
    write_git_attributes(tmp_path)

    assert path.read_text(encoding="utf-8") == "*.jsonl -merge\n"
