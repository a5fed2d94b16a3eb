"""The models under test, and the model that judges: who named them, and whether they may be asked."""

from __future__ import annotations

import re
from typing import Final

import pytest

from pytest_fcall.session.endings import SettingError
from pytest_fcall.session.models import BUILT_IN_KINDS, NamedModel, parse_model

_ID_WITH_MODEL: Final = re.compile(r"(?P<id>.*)\[(?P<model>[^\W\d]\w*:[^\[\]]+)\]")
_CASE_FILES: Final = (".yaml", ".yml", ".json")
_JUDGE_OPTION: Final = "--fc-judge"


class ModelArguments:
    """The models that the command line, the configuration and the ids of cases name."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._root = config.rootpath
        self._live: bool = config.getoption("fc_live")
        self._replay: bool = config.getoption("fc_replay")
        self._in_ids = _models_in_case_ids(config)

    def under_test(self) -> tuple[NamedModel, ...]:
        """The models of the command line, or else those of the configuration and those in the ids of cases.

        Raises SettingError for a name that cannot be used.
        """
        if self._replay and self._live:
            raise SettingError("--fc-live asks models and --fc-replay asks none: give one of them")
        typed: list[str] = self._config.getoption("fc_model")
        models = [self._typed(text, "--fc-model") for text in typed] if typed else self._without_option()
        ids = [named.model.id for named in models]
        if other := next((text for text in self._in_ids if text not in ids), None):
            raise SettingError(
                f"{self._in_ids[other]} is a case of the model {other}, and --fc-model names {', '.join(ids)}: "
                "leave one out"
            )
        if twice := next((id_ for id_ in ids if ids.count(id_) > 1), None):
            raise SettingError(f"the model {twice} is named twice; a run asks each model once")
        return tuple(models)

    def judge(self) -> NamedModel | None:
        """The model that judges, as the command line names it, or else the configuration. Raises SettingError."""
        if typed := str(self._config.getoption("fc_judge") or "").strip():
            return self._typed(typed, _JUDGE_OPTION)._replace(option=_JUDGE_OPTION)
        if written := str(self._config.getini("fc_judge") or "").strip():
            return self._written(written, "fc_judge")._replace(option=_JUDGE_OPTION)
        return None

    def _without_option(self) -> list[NamedModel]:
        written: list[str] = self._config.getini("fc_model")
        models = [self._written(text, "fc_model") for text in written]
        known = {named.model.id for named in models}
        return models + [
            NamedModel(parse_model(text, id_, self._root), "command line", self._live)
            for text, id_ in self._in_ids.items()
            if text not in known
        ]

    def _typed(self, text: str, option: str) -> NamedModel:
        """A model of the command line, which is asked unless only recordings may answer."""
        return NamedModel(parse_model(text, option, self._root), "command line", live=not self._replay)

    def _written(self, text: str, setting: str) -> NamedModel:
        """A model of the configuration, which is asked only with `--fc-live`."""
        return NamedModel(parse_model(text, setting, self._root), "configuration", live=self._live)


def split_model(nodeid: str) -> tuple[str, str | None]:
    """Split an id from the model in brackets behind it. In ids of plain tests a row may look like a model, too."""
    found = _ID_WITH_MODEL.fullmatch(nodeid)
    return (found["id"], found["model"]) if found else (nodeid, None)


def ids_have_models(config: pytest.Config, models: tuple[NamedModel, ...]) -> bool:
    """Whether the names of cases end in their models: where there are several, or an id on the command line does."""
    ids = {named.model.id for named in models}
    in_ids = {model for text in _id_arguments(config) if (model := split_model(text)[1])}
    return len(ids) > 1 or not in_ids.isdisjoint(ids)


def _models_in_case_ids(config: pytest.Config) -> dict[str, str]:
    """The models in ids of cases, each with such an id."""
    found: dict[str, str] = {}
    for text in _id_arguments(config):
        id_, model = split_model(text)
        path, of_file, _ = id_.partition("::")
        if model and model.partition(":")[0] in BUILT_IN_KINDS and (path.endswith(_CASE_FILES) or not of_file):
            found.setdefault(model, text)
    return found


def _id_arguments(config: pytest.Config) -> list[str]:
    """The ids on the command line; those of suites without a file are given by `--fc-pick`."""
    picked: str = config.getoption("fc_pick") or ""
    return [*(arg for arg in config.args if "::" in arg), *(part.strip() for part in picked.split(","))]
