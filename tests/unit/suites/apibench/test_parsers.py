from __future__ import annotations

import sys

import pytest

from pytest_fcall.suites.apibench.original_rule import NoParser, installed_parser


def test_a_missing_grammar_is_named_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    installed_parser.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_python", None)
    with pytest.raises(NoParser, match=r'tree_sitter_python.*: pip install "pytest-fcall\[apibench\]"'):
        installed_parser()
