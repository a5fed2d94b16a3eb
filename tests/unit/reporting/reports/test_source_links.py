from __future__ import annotations

import pytest

from pytest_fcall.core import Json
from pytest_fcall.reporting.reports.page.page import source_prefix

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("remote", "folder", "prefix"),
    [
        ("https://github.com/team/shop", None, f"https://github.com/team/shop/blob/{COMMIT}/ #L"),
        ("https://github.com/team/shop", "evals/a b", f"https://github.com/team/shop/blob/{COMMIT}/evals/a%20b/ #L"),
        ("https://git.example.org/a/shop", None, f"https://git.example.org/a/shop/blob/{COMMIT}/ #L"),
        ("https://gitlab.com/a/b/shop", None, f"https://gitlab.com/a/b/shop/-/blob/{COMMIT}/ #L"),
        ("https://gitlab.example.org:8443/shop", None, f"https://gitlab.example.org:8443/shop/-/blob/{COMMIT}/ #L"),
        ("https://bitbucket.org/team/shop", None, f"https://bitbucket.org/team/shop/src/{COMMIT}/ #lines-"),
        ("https://codeberg.org/team/shop", None, f"https://codeberg.org/team/shop/src/commit/{COMMIT}/ #L"),
    ],
)
def test_a_case_is_found_in_its_repository(remote: str, folder: str | None, prefix: str) -> None:
    found = source_prefix({"remote": remote, "commit": COMMIT, **({"folder": folder} if folder else {})})
    assert found is not None
    assert " ".join(found[:2]) == prefix


@pytest.mark.parametrize(
    "provenance",
    [
        {},
        {"remote": "https://github.com/team/shop"},
        {"commit": COMMIT},
        {"remote": "javascript:alert(1)//", "commit": COMMIT},
        {"remote": "https://me:secret@github.com/team/shop", "commit": COMMIT},
        {"remote": 'https://github.com/team/"onclick=', "commit": COMMIT},
        {"remote": "https://github.com/team/shop?a", "commit": COMMIT},
        {"remote": "https://github.com/team/shop", "commit": "../../x"},
        {"remote": 5, "commit": COMMIT},
    ],
)
def test_nothing_but_an_address_of_the_web_is_a_link(provenance: dict[str, Json]) -> None:
    assert source_prefix(provenance) is None


@pytest.mark.parametrize("folder", ["//evil.example", "..", "\ud800", 5])
def test_a_strange_folder_leads_to_no_other_host(folder: Json) -> None:
    found = source_prefix({"remote": "https://github.com/team/shop", "commit": COMMIT, "folder": folder})
    assert found is not None
    assert found[0].startswith("https://github.com/team/shop/blob/")
