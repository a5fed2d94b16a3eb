from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from pytest_fcall.cases import scope as reading
from pytest_fcall.core import Retrieval
from tests.unit.cases.reading import TOOLS, case, faults

SAID = "prompt: hello\nexpect: no_call\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", None),
        ("retrieve: {with: bm25, k: 2}", Retrieval("bm25", 2)),
        ("retrieve: {with: oracle}", Retrieval("oracle", 5)),
        ("retrieve: {with: embeddings, model: python:shop:embed}", Retrieval("embeddings", 5, "python:shop:embed")),
    ],
)
def test_a_case_says_who_chooses_its_tools(tmp_path: Path, text: str, found: Retrieval | None) -> None:
    assert case(SAID + text, tmp_path).retrieve == found


def test_defaults_hold_where_a_case_is_silent(tmp_path: Path) -> None:
    head = TOOLS + "defaults: {retrieve: {with: bm25, k: 2}}\n"
    assert case(SAID, tmp_path, head=head).retrieve == Retrieval("bm25", 2)
    assert case(SAID + "retrieve: {with: oracle}", tmp_path, head=head).retrieve == Retrieval("oracle")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("retrieve: bm25", "`retrieve` must be a mapping, not a string"),
        ("retrieve: {k: 2}", "`retrieve` needs a `with`"),
        ("retrieve: {with: bm52}", "`with` cannot be `bm52`"),
        ("retrieve: {with: bm25, k: 0}", "`k` must be a positive integer"),
        ("retrieve: {with: bm25, k: many}", "`k` must be an integer"),
        ("retrieve: {with: bm25, top: 2}", "`retrieve` has no key `top`"),
        ("retrieve: {with: oracle, model: x}", "`model` is not allowed with `oracle`"),
    ],
)
def test_what_means_nothing_is_a_fault(tmp_path: Path, text: str, message: str) -> None:
    (fault,) = faults(SAID + text, tmp_path)
    assert message in fault.message


def test_embeddings_need_a_model_and_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "find_spec", {}.get)
    model, library = faults(SAID + "retrieve: {with: embeddings}", tmp_path)
    assert "sentence-transformers, which is not installed" in library.message
    assert library.hint == 'pip install "pytest-fcall[embeddings]"'
    assert model.message == "`with: embeddings` needs a `model`"
    monkeypatch.setattr(reading, "find_spec", importlib.util.find_spec)
    assert faults(SAID + "retrieve: {with: bm25}", tmp_path) == ()


def test_embeddings_name_their_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "find_spec", str)
    found = case(SAID + "retrieve: {with: embeddings, k: 3, model: tiny}", tmp_path).retrieve
    assert found == Retrieval("embeddings", 3, "tiny")
