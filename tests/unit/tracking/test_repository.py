from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.tracking.revision import repository_of, run_git, web_address


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/team/shop.git", "https://github.com/team/shop"),
        ("https://github.com/team/shop/", "https://github.com/team/shop"),
        ("https://me:secret@github.com/team/shop.git", "https://github.com/team/shop"),
        ("https://me:s@cr@t@github.com/team/shop", "https://github.com/team/shop"),
        (
            "https://gitlab-ci-token:abc@gitlab.example.org:8443/a/b/shop.git",
            "https://gitlab.example.org:8443/a/b/shop",
        ),
        ("http://git.local/team/shop", "http://git.local/team/shop"),
        ("https://github.com/team/shop?token=abc", ""),
        ("git@github.com:team/shop.git", "https://github.com/team/shop"),
        ("gitlab.example.org:team/sub/shop", "https://gitlab.example.org/team/sub/shop"),
        ("ssh://git@gitlab.example.org:2222/team/shop.git", "https://gitlab.example.org/team/shop"),
        ("git+ssh://git:pw@host.example/team/shop", "https://host.example/team/shop"),
        ("https://github.com/team/sh%20op", "https://github.com/team/sh%20op"),
        ('https://github.com/team/<script>"', "https://github.com/team/%3Cscript%3E%22"),
        ("https://github.com/team/\u202e\ud800", "https://github.com/team/%E2%80%AE%3F"),
        ("git@server:/srv/git/shop.git", ""),
        ("/srv/git/shop.git", ""),
        ("../shop", ""),
        ("file:///srv/git/shop.git", ""),
        ("C:\\git\\shop", ""),
        ("C:/git/shop", ""),
        ("javascript://x/%0Aalert(1)", ""),
        ("https:///team/shop", ""),
        ("", ""),
    ],
)
def test_a_remote_has_an_address_without_credentials(remote: str, address: str) -> None:
    assert web_address(remote) == address


@pytest.mark.needs("git")
def test_a_project_knows_its_repository_and_its_folder_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "none"))
    folder = tmp_path / "shop" / "evals"
    folder.mkdir(parents=True)
    assert run_git(folder.parent, "init", "--quiet") is not None
    assert repository_of(folder) == {}
    assert run_git(folder, "remote", "add", "origin", "https://me:secret@github.com/team/shop.git") is not None
    assert repository_of(folder) == {"remote": "https://github.com/team/shop", "folder": "evals"}
    assert repository_of(folder.parent) == {"remote": "https://github.com/team/shop"}
    assert repository_of(tmp_path) == {}
