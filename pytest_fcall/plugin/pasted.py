"""Ids of tests on the command line that say of which model they were, as `cases/shop.fc.yaml::oslo[openai:gpt-5]`."""

from __future__ import annotations

import re
from typing import Final

import pytest

_MODEL: Final = re.compile(r"(?P<id>.*)\[(?P<model>[^\W\d]\w*:[^\[\]]+)\]")
_OURS: Final = ("python:", "http:", "openai:", "any:", "local:")
_CASE_FILES: Final = (".yaml", ".yml")


def without_model(text: str) -> tuple[str, str | None]:
    """Take an id and the model behind it apart. What stands there may also be a row of the test's own."""
    found = _MODEL.fullmatch(text)
    return (found["id"], found["model"]) if found else (text, None)


def pasted_models(config: pytest.Config) -> frozenset[str]:
    """What stands behind the ids of tests."""
    return frozenset(model for text in _texts(config) if (model := without_model(text)[1]))


def models_of_cases(config: pytest.Config) -> dict[str, str]:
    """The models that ids of cases name, each with such an id: there nobody has rows that look so."""
    found: dict[str, str] = {}
    for text in _texts(config):
        id_, model = without_model(text)
        path, of_file, _ = id_.partition("::")
        if model and model.startswith(_OURS) and (path.endswith(_CASE_FILES) or not of_file):
            found.setdefault(model, text)
    return found


def _texts(config: pytest.Config) -> list[str]:
    """The ids; those of suites without a file are picked."""
    picked: str = config.getoption("fc_pick") or ""
    return [*(arg for arg in config.args if "::" in arg), *(part.strip() for part in picked.split(","))]
